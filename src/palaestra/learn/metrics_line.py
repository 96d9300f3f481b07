"""One line of metrics.jsonl: what an iteration did, in numbers that JSON can hold.

All but the entries named in TIMES are a function of the run's configuration: a resumed run repeats them exactly. Where
minutes end a run, `progress`, and with it the learning rate, is a function of the `elapsed` of the line before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from palaestra.learn.running_elo import Lines, playing, running_line

if TYPE_CHECKING:
    from palaestra.learn.config import RunConfig
    from palaestra.learn.demerits import Demerits
    from palaestra.learn.due_evaluations import Judged
    from palaestra.learn.evaluation import AnchorResult
    from palaestra.learn.gate import GateResult
    from palaestra.learn.scores import Score
    from palaestra.rewards.base import Reward
    from palaestra.runs.manifest import Manifest

STAGES = ("selfplay", "deep", "training", "gate", "evaluation")
LOSSES = ("policy", "value", "sum", "product")
TIMES = ("seconds", "elapsed", "network_share", "simulations_per_second")  # what a clock decides


def measure(
    config: RunConfig,
    manifest: Manifest,
    played: Any,
    report: Any,
    judged: Judged,
    reward: Reward,
    *,
    seconds: Mapping[str, float],
    buffer: int,
    earlier: Lines,
    progress: float,
    diverged: str | None,
    solo: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The line of the manifest's iteration; `seconds` are those of its stages (Eq. 3.2), `earlier` the lines before.

    `reward` has learned from the iteration's games; `progress` is where the run was for its schedules, `diverged` why
    training ran away, if it did. `solo` is what only one player has (`solo.solo_line`).
    """
    from palaestra.learn.evaluation import elo_by_anchor

    gate, results, history, demerits, scores = judged
    line = {
        "iteration": manifest.iteration,
        "games": len(played.records),
        "positions": len(played.examples),
        "seconds": {stage: seconds.get(stage, 0.0) for stage in STAGES if stage != "deep" or solo is not None},
        "elapsed": manifest.seconds,
        "losses": {name: _number(getattr(report, name)) for name in LOSSES},
        "loss_minimised": config.learn.loss,
        "progress": progress,
        "lr": report.lr,
        "steps": report.steps,
        "diverged": diverged,
        "mean_plies": played.mean_plies,
        "results": played.results if solo is None else None,
        "reward": reward.text,
        "learned": learned_line(reward, played.records) if solo is None else None,
        "gate": gate_line(gate, manifest.iteration, playing(earlier)),
        "elo": None if results is None else elo_by_anchor(results),
        "against": None if results is None else [anchor_line(result) for result in results],
        "history": None if history is None else asdict(history),
        "demerits": demerits_line(demerits),
        "score": score_line(scores),
        **(solo or {"scores": None, "ranked": None, "exploration": None}),
        "network_share": played.network_share,
        "simulations": played.simulations,
        "simulations_per_second": played.simulations_per_second,
        "warm": None if played.warm is None else played.warm.to_json(),
        "buffer": buffer,
    }
    return {**line, "running_elo": running_line([*earlier, line])}


def gate_line(gate: GateResult | None, network: int, against: int) -> dict[str, Any] | None:
    """The gate's result without its time, with the iterations of the candidate and of the network that it met."""
    if gate is None:
        return None
    line = asdict(gate)
    del line["seconds"]
    return {**line, "network": network, "against": against}


def learned_line(reward: Reward, records: Sequence[Any]) -> dict[str, Any] | None:
    """What a reward that learns says now: how many results it remembers, and the first player's value of a draw and of
    the median among the wins that these games brought (null without a win); None for a reward that learns nothing."""
    if not reward.learns:
        return None
    wins = sorted(record.outcome for record in records if record.outcome > 0)
    ends = np.array([0, *wins[len(wins) // 2 : len(wins) // 2 + 1]], dtype=np.int32)
    draw, *median_win = reward.value(ends).tolist()
    window = max((array.size for array in reward.state().values()), default=0)
    return {"window": window, "draw": draw, "median_win": median_win[0] if median_win else None}


def demerits_line(demerits: Demerits | None) -> dict[str, Any] | None:
    """Demerits without their time."""
    if demerits is None:
        return None
    return {name: getattr(demerits, name) for name in ("demerits", "wins", "draws", "losses", "mean_plies")}


def score_line(scores: Sequence[Score] | None) -> dict[str, Any] | None:
    """The agent's scores, and those of the anchors from the same beginnings; None where there was no evaluation."""
    if scores is None:
        return None
    agent, *anchors = scores
    return {**agent.to_json(), "anchors": [anchor.to_json() for anchor in anchors]}


def anchor_line(result: AnchorResult) -> dict[str, Any]:
    """A result against an anchor without its time; `anchor_result` is the inverse."""
    line = asdict(result)
    del line["seconds"]
    return line


def anchor_result(line: Mapping[str, Any]) -> AnchorResult:
    """The result that a line of metrics keeps."""
    from palaestra.learn.evaluation import AnchorResult

    low, high = line["interval"]
    return AnchorResult(**{**line, "interval": (low, high), "elo": tuple(line["elo"]), "seconds": 0.0})


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None  # a loss that overflowed is not a number JSON knows
