"""The gate: thresholds over decisive games, the sequential test, and results that depend on nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from palaestra.arena.match import MatchResult, Running, points_of_a
from palaestra.games.registry import make_game
from palaestra.learn import gate
from palaestra.learn.config import RunConfig
from palaestra.learn.gate import GateResult, judge, passes
from tests.arena.fakes import counted
from tests.players.run_folders import random_model

FOUR = make_game("connect_four-4x4")
TIC = make_game("tic_tac_toe-3x3")


def config(**settings: Any) -> RunConfig:
    threads = settings.pop("threads", 1)
    return RunConfig(
        game="connect_four-4x4", iterations=1, seed=7, threads=threads, gate={"simulations": 8, **settings}
    )


def outcome(result: GateResult) -> tuple[Any, ...]:
    return result.accepted, result.wins, result.draws, result.losses, result.reason, result.distinct_games


@pytest.mark.parametrize(
    ("wins", "losses", "threshold", "accepted"),
    [
        (24, 16, 0.6, True), (23, 17, 0.6, False), (11, 9, 0.55, True), (3, 2, 0.6, True), (0, 0, 0.0, False),
        (0, 1, 0.0, True),
    ],
)  # fmt: skip
def test_the_share_of_decisive_games_must_reach_the_threshold(
    wins: int, losses: int, threshold: float, accepted: bool
) -> None:
    assert passes(wins, losses, threshold) is accepted


def test_the_same_seed_and_iteration_give_the_same_games_whatever_the_threads() -> None:
    one, other = random_model(FOUR, 1), random_model(FOUR, 2)
    first = judge(FOUR, one, other, config(games=12), iteration=3)
    assert outcome(judge(FOUR, one, other, config(games=12, threads=2), iteration=3)) == outcome(first)
    assert first.wins + first.draws + first.losses == first.games == 12
    assert 6 <= first.distinct_games <= 12
    later = [judge(FOUR, one, other, config(games=12), iteration=i) for i in (4, 5, 6)]
    assert any(outcome(result)[1:4] != outcome(first)[1:4] for result in later)


def test_who_is_the_candidate_turns_the_result_around() -> None:
    one, other = random_model(FOUR, 1), random_model(FOUR, 2)
    there, back = (judge(FOUR, *pair, config(games=20), iteration=1) for pair in ((one, other), (other, one)))
    assert (there.wins, there.draws, there.losses) == (back.losses, back.draws, back.wins)
    assert sum(there.first) == sum(back.first) == 10
    as_second = [whole - began for whole, began in zip((back.wins, back.draws, back.losses), back.first, strict=True)]
    assert list(there.first) == as_second[::-1], "what one began, the other followed"
    assert there.wins != there.losses


def test_a_network_against_itself_is_rejected() -> None:
    """With sides swapped it wins as often as it loses: half of the decisive games, or none is decisive."""
    model = random_model(TIC)
    settings = RunConfig(game="tic_tac_toe-3x3", iterations=1, threads=1, gate={"simulations": 200, "games": 8})
    result = judge(TIC, model, model, settings, iteration=1)
    assert not result.accepted and result.wins == result.losses


def test_without_a_decisive_game_the_candidate_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    records = tuple(counted(number, 0.5, (0, number)) for number in range(4))
    drawn = MatchResult("tic_tac_toe-3x3", "a", "b", records, 0, 0.0, (0.0, 0.0))
    monkeypatch.setattr(gate, "play_parallel", lambda *_, **__: drawn)
    result = judge(FOUR, random_model(FOUR), random_model(FOUR), config(games=4, threshold=0.0), iteration=1)
    assert outcome(result)[:5] == (False, 0, 4, 0, "no decisive game")


def test_a_gate_that_is_off_accepts_without_a_game() -> None:
    assert judge(FOUR, b"", b"", config(kind="off"), iteration=1) == GateResult(True, 0, 0, 0, "no gate")


def scripted(monkeypatch: pytest.MonkeyPatch, points: tuple[float, float]) -> list[range]:
    """Every pair of a match ends with these points of the candidate; returns the parts that were asked for."""
    asked: list[range] = []

    def play(*_: Any, pairs: range, listen: Any = None, **__: Any) -> MatchResult:
        asked.append(pairs)
        records = [counted(2 * pair + side, points[side], (pair, side)) for pair in pairs for side in (0, 1)]
        if listen:
            listen(Running(*(sum(points_of_a(r) == p for r in records) for p in (1.0, 0.5, 0.0)), len(records)))
        return MatchResult("connect_four-4x4", "a", "b", tuple(records), 2, 0.0, (0.0, 0.0))

    monkeypatch.setattr(gate, "play_parallel", play)
    return asked


@pytest.mark.parametrize(("points", "accepted"), [((1.0, 1.0), True), ((0.0, 0.0), False)])
def test_the_sequential_test_stops_when_the_games_decide(
    monkeypatch: pytest.MonkeyPatch, points: tuple[float, float], accepted: bool
) -> None:
    asked = scripted(monkeypatch, points)
    heard: list[Running] = []
    settings = config(kind="sprt", games=1000, elo1=100.0)
    result = judge(FOUR, random_model(FOUR), random_model(FOUR), settings, 1, listen=heard.append)
    assert result.accepted is accepted
    assert result.games == 32 * len(asked) < 1000
    assert [part.start for part in asked] == list(range(0, 16 * len(asked), 16))
    assert heard[-1].finished == result.games and heard[-1].games == 1000
    assert "log-likelihood ratio" in result.reason


def test_a_sequential_test_without_a_verdict_rejects(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = scripted(monkeypatch, (1.0, 0.5))
    result = judge(FOUR, random_model(FOUR), random_model(FOUR), config(kind="sprt", games=20, elo1=10.0), 1)
    assert not result.accepted and result.reason.startswith("undecided") and result.wins == 10
    assert asked == [range(0, 10)]


def test_the_hypotheses_of_the_test_are_those_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, (1.0, 0.5))
    results = [
        judge(FOUR, random_model(FOUR), random_model(FOUR), config(kind="sprt", games=400, elo0=low, elo1=high), 1)
        for low, high in ((0.0, 200.0), (300.0, 500.0))
    ]
    assert [result.accepted for result in results] == [True, False]


def test_a_real_sequential_test_runs_to_its_last_pair() -> None:
    settings = config(kind="sprt", games=40, elo1=5.0)
    result = judge(FOUR, random_model(FOUR, 1), random_model(FOUR, 2), settings, iteration=1)
    assert result.games == 40 and result.reason.startswith("undecided")


def test_the_simulations_of_the_gate_are_read() -> None:
    one, other = random_model(FOUR, 1), random_model(FOUR, 2)
    few, many = (judge(FOUR, one, other, config(games=20, simulations=n), 1) for n in (1, 60))
    assert outcome(few)[1:4] != outcome(many)[1:4]
