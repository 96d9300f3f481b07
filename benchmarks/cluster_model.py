"""The model of many machines: games/s for 1 to 5,000 workers from measured constants, as a table and a picture.

.venv/bin/python -m benchmarks.cluster --json constants.json
.venv/bin/python -m benchmarks.cluster_model constants.json --svg docs/results/cluster.svg
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from palaestra.lab.plots import BLUE, GREEN, ORANGE, PURPLE, STYLE, picture
from palaestra.lab.scale_model import Costs, Plan, Speed, simulate

WORKERS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
RELAYS = 32  # machines that hand shares out and pass networks and games on
GAMES_A_WORKER = 64  # of an iteration, at least
CASES = ("200 games an iteration", "learner 100 times as fast", "and 64 games a worker, overlap", "and 32 relays")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("constants", type=Path)
    parser.add_argument("--svg", type=Path)
    given = parser.parse_args()
    costs = Costs(**json.loads(given.constants.read_text(encoding="utf-8"))["costs"])
    curves = {case: [speed_of(costs, case, workers) for workers in WORKERS] for case in CASES}
    print("| workers | " + " | ".join(CASES) + " |")
    print("| ---: |" + " ---: |" * len(CASES))
    for row, workers in enumerate(WORKERS):
        cells = (f"{curves[case][row].games_per_second:,.0f} ({curves[case][row].bound})" for case in CASES)
        print(f"| {workers:,} | " + " | ".join(cells) + " |")
    if given.svg is not None:
        given.svg.write_bytes(drawn(costs, curves))


def speed_of(costs: Costs, case: str, workers: int) -> Speed:
    """One point of a curve."""
    number = CASES.index(case)
    games = 200 if number < 2 else max(200, GAMES_A_WORKER * workers)
    if number >= 1:
        costs = replace(costs, samples_a_second=100 * costs.samples_a_second)
    if number == 3:
        costs = replace(costs, dispatch=costs.dispatch / RELAYS, settle=costs.settle / RELAYS)
    return simulate(costs, Plan(workers, games, overlap=number >= 2, relays=RELAYS if number == 3 else 1))


def drawn(costs: Costs, curves: dict[str, list[Speed]]) -> bytes:
    """Games/s over workers, both logarithmic, beside what so many workers could play if they never waited."""
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": "cluster"}):
        figure = Figure(figsize=(7.2, 4.2), layout="constrained")
        axes = figure.add_subplot()
        ideal = [workers / costs.seconds_a_game for workers in WORKERS]
        axes.plot(WORKERS, ideal, color="0.6", linestyle="--", label="if nobody waited")
        for (case, speeds), colour in zip(curves.items(), (BLUE, ORANGE, GREEN, PURPLE), strict=True):
            axes.plot(WORKERS, [speed.games_per_second for speed in speeds], color=colour, marker=".", label=case)
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis, ticks in ((axes.xaxis, (1, 10, 100, 1000, 5000)), (axes.yaxis, (10, 100, 1000, 10_000, 100_000))):
            axis.set_ticks(ticks, [f"{tick:,}" for tick in ticks])
            axis.set_minor_locator(NullLocator())
        axes.set_xlabel("workers")
        axes.set_ylabel("games a second")
        axes.legend(loc="upper left")
        return picture(figure, "svg")


if __name__ == "__main__":
    main()
