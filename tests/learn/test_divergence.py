from __future__ import annotations

import math
from dataclasses import replace

import pytest

from palaestra.learn.config import LearnConfig
from palaestra.learn.divergence import diverged_error, diverged_in_a_row, divergence
from palaestra.learn.learner import Losses, TrainReport
from tests.learn.run_folders import metrics_line

GOOD = Losses(2.0, 0.5, 2.5, 1.0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, None),
        ({"policy": 1.2 * math.log(9)}, None),  # a network that knows less than nothing, as in first iterations
        ({"value": 400.0}, None),  # of margins, told as 0
        ({"policy": math.nan}, "not finite"),
        ({"policy": 19.0}, "policy's loss is 19, where even odds over all moves have 2.2"),
        ({"value": 1.5e11}, "value's loss is 1.5e+11"),
    ],
)
def test_a_loss_that_no_network_has_counts_as_diverged(changes: dict[str, float], words: str | None) -> None:
    stopped = "a loss was not finite" if words == "not finite" else None
    report = TrainReport((replace(GOOD, **changes),), 10, 640, 1.0, 0.01, stopped)
    reason = divergence(report, num_actions=9)
    assert reason is None if words is None else words in (reason or "")


def test_only_the_newest_iterations_since_settings_changed_are_counted() -> None:
    lines = [metrics_line(i, diverged=reason) for i, reason in enumerate(["x", None, "x", "x"], start=1)]
    assert diverged_in_a_row(lines, since=0) == 2
    assert diverged_in_a_row(lines, since=3) == 1
    assert diverged_in_a_row([*lines, metrics_line(5)], since=0) == 0  # a line of before there was such an entry


def test_the_advice_names_a_command_that_goes_on() -> None:
    text = str(diverged_error("runs/a", LearnConfig(lr=0.5, clip=1.0), 12, "x", finished=True))
    assert text.endswith("palaestra resume runs/a --set learn.lr=0.05 --iterations 22")
