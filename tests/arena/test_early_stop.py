"""Matches that a sequential test ends: when they stop, what the listener hears, and that threads change nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from palaestra.arena.early_stop import PAIRS_AT_ONCE, play_until_sure
from palaestra.arena.match import MatchListener, MatchResult, Running, play_match
from palaestra.arena.parallel import play_parallel
from palaestra.arena.sprt import Sprt
from palaestra.games.registry import make_game
from palaestra.players.registry import make_player
from tests.arena.fakes import counted

GAME = make_game("connect_four-4x4")


def scripted(
    points: Callable[[int], float],
) -> tuple[list[range], Callable[[range, MatchListener | None], MatchResult]]:
    """The parts that are asked for, and a way to play them in which game n gives A `points(n)`."""
    asked: list[range] = []

    def play(pairs: range, listen: MatchListener | None) -> MatchResult:
        asked.append(pairs)
        numbers = range(2 * pairs.start, 2 * pairs.stop)
        records = tuple(counted(number, points(number), (number,)) for number in numbers)
        result = MatchResult(GAME.id, "a", "b", records, 0, 1.0, (0.0, 0.0))
        if listen is not None:
            listen(Running(result.wins, result.draws, result.losses, len(numbers), records))
        return result

    return asked, play


@pytest.mark.parametrize(("points", "verdict"), [(1.0, "accepted"), (0.0, "rejected")])
def test_a_clear_match_ends_at_the_first_look(points: float, verdict: str) -> None:
    asked, play = scripted(lambda _: points)
    tested = play_until_sure(Sprt(0.0, 100.0), 1000, play)
    assert (tested.verdict, asked) == (verdict, [range(PAIRS_AT_ONCE)])
    assert tested.match.games == 2 * PAIRS_AT_ONCE
    low, high = tested.test.bounds
    assert not low < tested.ratio < high


def test_games_that_run_out_leave_no_verdict_and_the_last_part_is_shorter() -> None:
    asked, play = scripted(lambda number: number % 2)  # every pair 1 : 1, and elo0 as likely as elo1
    tested = play_until_sure(Sprt(-10.0, 10.0), 2 * (2 * PAIRS_AT_ONCE + 3), play)
    assert tested.verdict is None and tested.ratio == pytest.approx(0.0, abs=1e-9)
    assert [len(part) for part in asked] == [PAIRS_AT_ONCE, PAIRS_AT_ONCE, 3]
    assert [record.number for record in tested.match.records] == list(range(tested.match.games))


def test_the_listener_hears_the_whole_match_and_every_game_once() -> None:
    heard: list[Running] = []
    _, play = scripted(lambda number: (1.0, 0.5, 0.0)[number % 3])
    tested = play_until_sure(Sprt(-10.0, 10.0), 80, play, heard.append)
    assert [running.finished for running in heard] == [32, 64, 80]
    assert {running.games for running in heard} == {80}
    assert (heard[-1].wins, heard[-1].draws) == (tested.match.wins, tested.match.draws)
    assert tuple(record for running in heard for record in running.ended) == tested.match.records


def test_the_verdict_and_the_games_depend_on_no_threads() -> None:
    test, games = Sprt(0.0, 80.0), 200

    def judged(threads: int) -> tuple[object, ...]:
        teams = [(make_player("uct(simulations=30)", GAME), make_player("random", GAME)) for _ in range(threads)]

        def play(pairs: range, listen: MatchListener | None) -> MatchResult:
            return play_parallel(GAME, teams, games, seed=5, pairs=pairs, listen=listen)

        tested = play_until_sure(test, games, play)
        return tested.verdict, tested.ratio, tested.match.records

    alone = judged(1)
    assert alone[0] == "accepted"
    assert judged(2) == judged(3) == alone
    players = make_player("uct(simulations=30)", GAME), make_player("random", GAME)
    whole = play_match(GAME, *players, games, seed=5)
    assert alone[2] == whole.records[: len(alone[2])]  # type: ignore[arg-type]
