"""One line of metrics.jsonl: what an iteration did, in numbers that JSON can hold.

All but the entries named in TIMES are a function of the run's configuration: a resumed run repeats them exactly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from palaestra.learn.history import Encounter, Lines, playing, running_line

if TYPE_CHECKING:
    from palaestra.learn.config import RunConfig
    from palaestra.learn.evaluation import AnchorResult
    from palaestra.learn.folder import Manifest
    from palaestra.learn.gate import GateResult

LOSSES = ("policy", "value", "sum", "product")
TIMES = ("seconds", "elapsed", "network_share", "simulations_per_second")  # what a clock decides


def measure(
    config: RunConfig,
    manifest: Manifest,
    played: Any,
    report: Any,
    gate: GateResult | None,
    results: Sequence[AnchorResult] | None,
    history: Encounter | None,
    seconds: Mapping[str, float],
    buffer: int,
    earlier: Lines,
) -> dict[str, Any]:
    """The line of the manifest's iteration; `seconds` are those of its stages (Eq. 3.2), `earlier` the lines before."""
    line = {
        "iteration": manifest.iteration,
        "games": len(played.records),
        "positions": len(played.examples),
        "seconds": {stage: seconds.get(stage, 0.0) for stage in ("selfplay", "training", "gate", "evaluation")},
        "elapsed": manifest.seconds,
        "losses": {name: _number(getattr(report, name)) for name in LOSSES},
        "loss_minimised": config.learn.loss,
        "lr": report.lr,
        "steps": report.steps,
        "mean_plies": played.mean_plies,
        "results": played.results,
        "gate": gate_line(gate, manifest.iteration, playing(earlier)),
        "elo": None if results is None else {result.anchor: list(result.elo) for result in results},
        "against": None if results is None else [anchor_line(result) for result in results],
        "history": None if history is None else asdict(history),
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
