"""The network alone at every batch size, beside the matrix products that the same library reaches."""

from __future__ import annotations

import statistics
from collections.abc import Iterable

from benchmarks.table import Table
from benchmarks.timing import ratio
from palaestra.base.cores import usable_cores
from palaestra.games.registry import make_game
from palaestra.nets.inference_speed import Inference, matmul_gflops, measure

GAME, NET = "connect_four-6x7", "b3c32"
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


def run(rounds: int, seconds: float, batches: Iterable[int] = BATCHES) -> Table:
    game, threads = make_game(GAME), usable_cores()
    table = Table(
        f"Inference, {NET} on {GAME}, {threads} one-thread sessions",
        ("batch", "evaluations/s", "GFLOP/s", "matrix products, GFLOP/s", "ratio"),
        "ONNX Runtime on all cores; the limit is its own product of two 256 × 256 matrices, measured in turn.",
    )
    for batch in batches:
        speeds, limits = list[Inference](), list[float]()
        for _ in range(rounds):
            speeds.append(measure(game, NET, batch, threads, seconds))
            limits.append(matmul_gflops(threads, seconds))
        flops = [speed.gflops or 0.0 for speed in speeds]
        table.add(
            batch,
            statistics.median(speed.evaluations_per_second for speed in speeds),
            statistics.median(flops),
            statistics.median(limits),
            ratio(flops, limits),
        )
    return table
