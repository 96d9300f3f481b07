"""When training runs away: how an iteration tells, when a run stops for it, and what to try then.

A loss that is not finite is one sign (`trainer` goes back to its last good weights); the other is one so large that
not even an untrained network has it. Nothing here knows how the network is trained.
"""

from __future__ import annotations

import math

from palaestra.base.errors import DivergedError
from palaestra.learn.config import LearnConfig
from palaestra.learn.learner import TrainReport
from palaestra.runs.metrics import Lines

IN_A_ROW = 3  # iterations that diverge until the run stops
IGNORANCE = 5.0  # how many times the loss of even odds over all moves
LARGEST_VALUE = 1000.0  # no value or margin of a game, told as 0, costs that much


def divergence(report: TrainReport, num_actions: int) -> str | None:
    """Why an iteration's training counts as diverged; None if it does not."""
    if report.stopped:
        return report.stopped
    even = math.log(max(num_actions, 2))
    losses = report.losses
    if losses.policy > IGNORANCE * even:
        return f"the policy's loss is {losses.policy:.3g}, where even odds over all moves have {even:.2g}"
    if losses.value > LARGEST_VALUE:
        return f"the value's loss is {losses.value:.3g}"
    return None


def diverged_in_a_row(lines: Lines, since: int) -> int:
    """How many of the newest iterations diverged, one after the other, of those after iteration `since`."""
    count = 0
    for line in reversed(lines):
        if line.iteration <= since or not line.diverged:
            break
        count += 1
    return count


def diverged_error(run: str, learn: LearnConfig, iteration: int, reason: str, finished: bool) -> DivergedError:
    """What is said when a run stops for it: what happened, and the command that tries again."""
    sets = f"--set learn.lr={learn.lr / 10:g}"
    if learn.clip is None:
        sets += " --set learn.clip=1"
    more = f" --iterations {iteration + 10}" if finished else ""
    return DivergedError(
        f"{run} stopped: {IN_A_ROW} iterations in a row diverged (the last: {reason}); lower learn.lr, which is"
        f" {learn.lr:g}, or learn.policy_weight and learn.value_weight, or limit gradients by learn.clip; for example:"
        f" palaestra resume {run} {sets}{more}"
    )
