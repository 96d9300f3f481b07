"""Who meets whom: everyone once in a round robin, nobody twice in Swiss, colours always balanced."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from palaestra.arena.openings import Opening
from palaestra.arena.schedule import (
    Pairing,
    check_plan,
    games_of,
    gauntlet,
    match_seed,
    pairings_a_stage,
    round_robin,
    swiss_round,
)
from palaestra.base.errors import ConfigError


def book(seed: int) -> list[Opening]:
    return [Opening(0, (seed % 7, pair)) for pair in range(5)]


@given(st.integers(2, 40))
def test_in_a_round_robin_everyone_meets_everyone_once_and_nobody_plays_twice_in_a_round(players: int) -> None:
    pairings = round_robin(players)
    assert sorted((pairing.a, pairing.b) for pairing in pairings) == [
        (a, b) for a in range(players) for b in range(a + 1, players)
    ]
    assert len(pairings) == pairings_a_stage("round-robin", players)
    seats = Counter((pairing.round, player) for pairing in pairings for player in (pairing.a, pairing.b))
    assert set(seats.values()) == {1}
    assert {pairing.round for pairing in pairings} == set(range(players - 1 + players % 2))


def test_in_a_gauntlet_the_first_player_meets_each_of_the_others() -> None:
    assert [(pairing.a, pairing.b) for pairing in gauntlet(4)] == [(0, 1), (0, 2), (0, 3)]
    assert pairings_a_stage("gauntlet", 4) == 3


@given(st.integers(2, 33), st.integers(0, 2**32), st.booleans())
def test_swiss_has_no_rematch_in_as_many_rounds_as_are_allowed_whatever_the_results(
    players: int, seed: int, fixed: bool
) -> None:
    rng = np.random.default_rng(seed)
    most = (players + 1) // 2
    assert check_plan("swiss", players, most) == most
    before: list[Pairing] = []
    points = rng.random(players)
    for round in range(most):
        pairings = swiss_round(round, points.tolist(), before)
        assert len(pairings) == players // 2
        assert len({player for pairing in pairings for player in (pairing.a, pairing.b)}) == players - players % 2
        before += pairings
        points = points if fixed else rng.random(players)
    assert len({(pairing.a, pairing.b) for pairing in before}) == len(before)
    games = Counter(player for pairing in before for player in (pairing.a, pairing.b))
    assert min(games.values()) >= most - 1, "nobody rests twice"


def test_swiss_pairs_neighbours_in_the_standings() -> None:
    first = swiss_round(0, [0.5] * 4, [])
    assert [(pairing.a, pairing.b) for pairing in first] == [(0, 1), (2, 3)]
    second = swiss_round(1, [1.0, 0.0, 0.0, 1.0], first)
    assert [(pairing.a, pairing.b) for pairing in second] == [(0, 3), (1, 2)]


def test_swiss_breaks_up_a_pairing_where_the_last_two_have_met() -> None:
    # 0 and 1 lead and have not met; that would leave 2 and 3, who have.
    before = [Pairing(0, 2, 3), Pairing(0, 0, 4), Pairing(0, 1, 5)]
    pairings = swiss_round(1, [1.0, 0.9, 0.2, 0.1, 0.8, 0.7], before)
    assert sorted((pairing.a, pairing.b) for pairing in pairings) == [(0, 1), (2, 4), (3, 5)]


def test_the_last_player_that_has_not_rested_rests() -> None:
    first = swiss_round(0, [0.5] * 3, [])
    assert first == [Pairing(0, 0, 1)]
    second = swiss_round(1, [0.2, 0.8, 0.5], first)
    assert second == [Pairing(1, 1, 2)]


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (("knockout", 4, None), "round-robin, gauntlet, swiss"),
        (("round-robin", 4, 3), "leave rounds out"),
        (("swiss", 4, 3), "give 1 to 2"),
        (("swiss", 4, 0), "give 1 to 2"),
    ],
)
def test_a_tournament_that_does_not_exist_is_refused(plan: tuple[str, int, int | None], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        check_plan(*plan)


def test_the_rounds_of_swiss_are_enough_to_find_the_best_by_default() -> None:
    assert [check_plan("swiss", players, None) for players in (2, 3, 4, 5, 8, 9, 33)] == [1, 2, 2, 3, 3, 4, 6]


def test_games_come_in_pairs_from_one_opening_with_sides_swapped_and_all_pairings_take_turns() -> None:
    pairings = round_robin(4)
    games = [game for _, game in games_of(pairings, 6, 7, book, first=10)]
    assert [game.number for game in games] == list(range(10, 10 + 36))
    for one, other in zip(games[::2], games[1::2], strict=True):
        assert (one.first, one.second) == (other.second, other.first)
        assert (one.opening, one.seed, one.key + 1) == (other.opening, other.seed, other.key)
    assert {(game.first, game.second) for game in games[:12:2]} == {(pairing.a, pairing.b) for pairing in pairings}
    assert Counter(game.first for game in games) == Counter(game.second for game in games)


def test_the_games_of_a_pairing_stay_the_same_when_players_join_at_the_end() -> None:
    def of_the_first_two(players: int) -> list[tuple[int, int]]:
        schedule = games_of(round_robin(players), 4, 3, book)
        return [(game.seed, game.key) for pairing, game in schedule if (pairing.a, pairing.b) == (0, 1)]

    assert of_the_first_two(3) == of_the_first_two(6)
    assert match_seed(3, Pairing(0, 0, 1)) != match_seed(3, Pairing(0, 0, 2)) != match_seed(4, Pairing(0, 0, 2))
