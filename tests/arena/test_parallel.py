"""A match on several threads holds the games of the match on one."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palaestra.arena.match import Running, play_match
from palaestra.arena.openings import Opening
from palaestra.arena.parallel import joined, play_parallel, split
from palaestra.base.errors import ConfigError
from palaestra.games.registry import make_game
from palaestra.players.registry import make_player
from tests.arena.fakes import Faulty

GAME = make_game("connect_four-4x4")


def team(a: str = "uct(simulations=20)", b: str = "random"):  # type: ignore[no-untyped-def]
    return make_player(a, GAME), make_player(b, GAME)


def test_the_number_of_threads_changes_no_record() -> None:
    alone = play_match(GAME, *team(), 14, seed=3)
    for threads in (1, 2, 3):
        together = play_parallel(GAME, [team() for _ in range(threads)], 14, seed=3)
        assert together.records == alone.records
        assert (together.a, together.b, together.opening_plies) == (alone.a, alone.b, alone.opening_plies)


def test_threads_share_a_book_and_adjudicate() -> None:
    book = [Opening(0, (column,)) for column in range(4)]
    alone = play_match(GAME, *team("perfect"), 8, book=book, adjudicate=True)
    together = play_parallel(GAME, [team("perfect") for _ in range(3)], 8, book=book, adjudicate=True)
    assert together.records == alone.records
    assert any(record.adjudicated for record in together.records)


def test_parts_of_a_match_are_the_match() -> None:
    whole = play_match(GAME, *team(), 12, seed=5)
    parts = [play_match(GAME, *team(), 12, seed=5, pairs=pairs) for pairs in (range(0, 1), range(1, 4), range(4, 6))]
    assert joined(parts).records == whole.records
    assert joined(parts).pairs == whole.pairs
    assert joined(parts).seconds == pytest.approx(sum(part.seconds for part in parts))


@pytest.mark.parametrize("pairs", [range(0), range(0, 7), range(-1, 2), range(0, 6, 2)])
def test_pairs_that_the_match_does_not_have_are_refused(pairs: range) -> None:
    with pytest.raises(ConfigError, match=r"range\(0, 6\)"):
        play_match(GAME, *team(), 12, pairs=pairs)


def test_the_listener_hears_of_the_whole_match() -> None:
    heard: list[Running] = []
    match = play_parallel(GAME, [team(), team()], 16, seed=1, listen=heard.append)
    last = heard[-1]
    assert (last.wins, last.draws, last.losses, last.games) == (match.wins, match.draws, match.losses, 16)
    assert all(one.finished <= other.finished for one, other in pairwise(heard))


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 9))
def test_a_range_is_split_into_ranges_of_nearly_equal_length(start: int, length: int, parts: int) -> None:
    whole = range(start, start + length)
    pieces = split(whole, parts)
    assert [number for piece in pieces for number in piece] == list(whole)
    assert len(pieces) == min(parts, length)
    assert not pieces or max(map(len, pieces)) - min(map(len, pieces)) <= 1


def test_a_thread_that_fails_stops_the_others_and_its_error_is_the_one_told() -> None:
    """The first thread would play for hours; only the second, whose player cannot go on, has something to say."""

    def refuse(slots: list[int]) -> None:
        raise ConfigError("no more")

    endless = (make_player("uct(simulations=100)", GAME), make_player("uct(simulations=101)", GAME))
    with pytest.raises(ConfigError, match="no more"):
        play_parallel(GAME, [endless, (Faulty(GAME, refuse), make_player("random", GAME))], 200_000, lockstep=2)


def test_every_game_is_told_once_as_it_ends() -> None:
    heard: list[Running] = []
    match = play_parallel(GAME, [team(), team()], 16, seed=1, lockstep=2, listen=heard.append)
    told = [record for running in heard for record in running.ended]
    assert len(heard) > 2 and sorted(told, key=lambda record: record.number) == list(match.records)
