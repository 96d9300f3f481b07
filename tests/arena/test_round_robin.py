from __future__ import annotations

import pytest

from palaestra.arena.round_robin import Crosstable, play_round_robin
from palaestra.errors import PlayerError
from palaestra.games.registry import make_game
from tests.arena.fakes import Drawing, Lowest

TIC = make_game("tic_tac_toe-3x3")


def test_everyone_meets_everyone_and_the_table_adds_up() -> None:
    heard: list[tuple[int, int]] = []
    players = [Drawing(TIC, "one"), Lowest(TIC, "two"), Drawing(TIC, "three")]
    table = play_round_robin(TIC, players, games=20, seed=1, listen=lambda _, pairing: heard.append(pairing))
    assert list(dict.fromkeys(heard)) == [(0, 1), (0, 2), (1, 2)]
    assert all(sum(table.total(row)) == 40 for row in range(3))
    assert sum(table.score(row) for row in range(3)) == pytest.approx(1.5)
    assert table.tallies[2, 1] == table.tallies[1, 2][::-1]
    assert table.distinct_games == sum(match.distinct_games for match in table.matches)


def test_the_standings_go_from_best_to_worst() -> None:
    table = Crosstable(("a", "b", "c"))
    table.enter(0, 1, (1, 0, 9))
    table.enter(0, 2, (5, 0, 5))
    table.enter(1, 2, (9, 1, 0))
    assert table.standings() == [1, 0, 2]
    assert table.total(0) == (6, 0, 14)
    low, high = table.interval(0)
    assert low < table.score(0) < high


def test_pairings_have_openings_of_their_own() -> None:
    players = [Lowest(TIC, "a"), Lowest(TIC, "b"), Lowest(TIC, "c")]
    table = play_round_robin(TIC, players, games=10, seed=1)
    openings = [[record.moves[:2] for record in match.records] for match in table.matches]
    assert openings[0] != openings[1] != openings[2]


@pytest.mark.parametrize("names", [[], ["a"], ["a", "b", "a"]])
def test_too_few_or_equal_players_are_refused(names: list[str]) -> None:
    with pytest.raises(PlayerError, match="two different players"):
        play_round_robin(TIC, [Lowest(TIC, name) for name in names], games=10)
