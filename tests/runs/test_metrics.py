"""The line of metrics: what is written is read again, old lines too, and what cannot be read says so."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from palaestra.base.errors import DamagedRunError, RunError
from palaestra.runs.metrics import (
    VERSION,
    AgentScore,
    AnchorResult,
    CourseGame,
    CourseState,
    DeepScores,
    Demerits,
    Encounter,
    GameResults,
    LearnedReward,
    LossMeans,
    MetricsLine,
    RankedReward,
    Score,
    SelfPlayScores,
    StageSeconds,
    WarmStartState,
    WorkerSpeed,
    read_lines,
    write_line,
)
from tests.learn.run_folders import metrics_line

PATH = Path("runs/a/metrics.jsonl")
# As version 0.1 wrote it.
OLD: dict[str, Any] = {
    "iteration": 1, "games": 50, "positions": 900, "elapsed": 7.25,
    "seconds": {"selfplay": 5.0, "training": 1.5, "gate": 0.5, "evaluation": 0.0},
    "losses": {"policy": 1.9, "value": 0.8, "sum": 2.7, "product": None}, "loss_minimised": "sum", "lr": 0.005,
    "steps": 14, "mean_plies": 18.0, "results": {"first": 25, "draw": 5, "second": 20},
    "gate": {"accepted": True, "wins": 12, "draws": 2, "losses": 6, "reason": "12 of 18"}, "elo": None, "against": None,
    "network_share": 0.5, "simulations": 90000, "simulations_per_second": 18000.5, "warm": None, "buffer": 900,
}  # fmt: skip


def read(line: dict[str, Any] | bytes) -> MetricsLine:
    (found,) = read_lines(line if isinstance(line, bytes) else json.dumps(line).encode(), PATH)
    return found


def full_line() -> MetricsLine:
    """A line with every part, of numbers whose last bits matter."""
    anchor = AnchorResult("random", 100, 7, 1, 2, 0.75, (0.4, 0.9), (190.8, None, None), 10, 10)
    return replace(
        metrics_line(4, diverged="a loss was not finite", progress=0.5),
        version=VERSION,
        seconds=StageSeconds(0.1 + 0.2, 1 / 3, 1e-9, 0.0, 2.5),
        losses_by_epoch=(LossMeans(0.1, 0.2, 0.1 + 0.2, 0.1 * 0.2), LossMeans(None, None, None, None)),
        against=(anchor,),
        history=Encounter(3, 1, 2, 1, 1, (1, 1, 0), 4, 4),
        demerits=Demerits(16.5, 1, 0, 17, 30.0),
        learned=LearnedReward(125, 0.1, None),
        score=AgentScore("agent", 61.5, 60.0, 63.0, 66, 10, 9, (Score("random", 40.0, None, None, 40, 1, 1),)),
        scores=SelfPlayScores(50.5, 60, 40, DeepScores(61.0, 63), 66),
        ranked=RankedReward(55.0, 200, False, False),
        exploration=1.5,
        warm=WarmStartState("wro", 0.5, None, False),
        workers=(WorkerSpeed("thread 1", 3, 1 / 3), WorkerSpeed("thread 2", 2, 0.1)),
        ages=(3, 2),
        course=CourseState((CourseGame("hex-5x5", 3, 60, 20.0, GameResults(2, 0, 1), None),), "a reason"),
    )


def test_every_part_of_a_line_comes_back_as_it_was_to_the_last_bit() -> None:
    line = full_line()
    text = write_line(line)
    assert read(text) == line and write_line(read(text)) == text
    assert all(value is not None for value in asdict(line).values()), "no part was left out"


def test_the_fields_of_the_file_keep_their_names_and_deep_search_is_told_of_with_one_player_only() -> None:
    document = json.loads(write_line(full_line()))
    assert set(OLD) < set(document) and document["version"] == VERSION
    assert list(document["seconds"]) == ["selfplay", "deep", "training", "gate", "evaluation"]
    two = replace(full_line(), seconds=StageSeconds(1.0, 2.0, 3.0, 4.0))
    assert json.loads(write_line(two))["seconds"] == {"selfplay": 1.0, "training": 2.0, "gate": 3.0, "evaluation": 4.0}


def test_a_line_of_version_0_1_is_read_and_what_came_later_is_none() -> None:
    line = read(OLD)
    assert (line.version, line.iteration, line.lr, line.losses.product) == (0, 1, 0.005, None)
    assert line.running_elo is line.demerits is line.progress is line.reward is None and line.losses_by_epoch == ()
    assert line.gate is not None and line.gate.encounter is None and line.is_accepted and not line.is_evaluated


def test_a_line_of_a_newer_version_is_refused_with_what_to_do() -> None:
    with pytest.raises(RunError, match=rf"metrics\.jsonl, line 2 has version {VERSION + 1}, .* use the newer one$"):
        read_lines(write_line(read(OLD)) + json.dumps({**OLD, "version": VERSION + 1}).encode(), PATH)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"[1]", "it is no JSON object"),
        (b'{"iteration": 1', "delimiter"),
        ({**OLD, "lr": "fast"}, "lr: input should be a valid number"),
        ({**OLD, "losses": {"policy": 1.0}}, "losses.value: field required"),
        ({**OLD, "elo": {"random": [1.0, 2.0]}}, "elo.random.2: field required"),
        ({**OLD, "mean_plies": "inf"}, "mean_plies: input should be a finite number"),
        ({name: value for name, value in OLD.items() if name != "buffer"}, "buffer: field required"),
    ],
)
def test_a_line_that_is_none_is_refused_in_one_line_that_says_where_and_why(
    line: dict[str, Any] | bytes, words: str
) -> None:
    with pytest.raises(DamagedRunError) as error:
        read(line)
    assert str(error.value).startswith(f"{PATH}, line 1 is not a line of metrics (") and words in str(error.value)
    assert str(error.value).endswith("restore the file from a copy") and "\n" not in str(error.value)
