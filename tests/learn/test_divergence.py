from __future__ import annotations

import math
from dataclasses import replace

import pytest

from palaestra.learn.config import LearnConfig
from palaestra.learn.divergence import diverged_error, diverged_in_a_row, divergence
from tests.learn.fakes import Report

GOOD = Report(2.0, 0.5, 2.5, 1.0, 10, 0.01)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, None),
        ({"policy": 1.2 * math.log(9)}, None),  # a network that knows less than nothing, as in first iterations
        ({"value": 400.0}, None),  # of margins, told as 0
        ({"policy": math.nan, "stopped": "a loss was not finite"}, "not finite"),
        ({"policy": 19.0}, "policy's loss is 19, where even odds over all moves have 2.2"),
        ({"value": 1.5e11}, "value's loss is 1.5e+11"),
    ],
)
def test_a_loss_that_no_network_has_counts_as_diverged(changes: dict[str, object], words: str | None) -> None:
    reason = divergence(replace(GOOD, **changes), num_actions=9)  # type: ignore[arg-type]
    assert reason is None if words is None else words in (reason or "")


def test_only_the_newest_iterations_since_settings_changed_are_counted() -> None:
    lines = [{"iteration": i, "diverged": reason} for i, reason in enumerate(["x", None, "x", "x"], start=1)]
    assert diverged_in_a_row(lines, ()) == 2
    assert diverged_in_a_row(lines, [{"after_iteration": 3}]) == 1
    assert diverged_in_a_row([*lines, {"iteration": 5}], ()) == 0  # a line of before there was such an entry


def test_the_advice_names_a_command_that_goes_on() -> None:
    text = str(diverged_error("runs/a", LearnConfig(lr=0.5, clip=1.0), 12, "x", finished=True))
    assert text.endswith("palaestra resume runs/a --set learn.lr=0.05 --iterations 22")
