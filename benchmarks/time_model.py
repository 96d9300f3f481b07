"""How well a run's time is foretold: estimates beside runs, on settings that nothing was fitted to.

    python -m benchmarks.time_model               wall time, as many threads as cores: for a machine that is idle
    python -m benchmarks.time_model --processor   time of the processor, one thread: also on a shared machine

Each game is calibrated anew just before its runs, with the settings of the preset; the runs then change games,
simulations, epochs, batch, gate, evaluation, warm start. Loading and compiling are done before.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

GAMES = ("connect_four-5x5", "othello-6x6", "gobang-6x6")
EPOCHS = "thesis-small"
SMALL = "net=b2c16"
QUIET = ("evaluation.every=0", "evaluation.anchors=[]")
# preset, iterations, settings; three games make 21 rows
SETTINGS = (
    (EPOCHS, 10, (SMALL, "selfplay.games=40", "selfplay.search.simulations=32", "gate.kind=off", *QUIET)),
    (EPOCHS, 5, (SMALL, "selfplay.games=60", "selfplay.search.simulations=60", "gate.kind=off", *QUIET)),
    (EPOCHS, 6, (SMALL, "selfplay.games=25", "gate.games=20", "gate.simulations=32", "learn.window=2", *QUIET)),
    (EPOCHS, 4, (SMALL, "selfplay.games=30", "warm.enhancement=rollout", "warm.length=2", "gate.kind=off", *QUIET)),
    ("fast", 5, (SMALL, "selfplay.games=100", *QUIET)),
    ("fast", 3, (SMALL, "selfplay.games=100", "selfplay.search.simulations=48", "evaluation.every=2",
                 "evaluation.games=20")),
    ("fast", 4, (SMALL, "selfplay.games=80", "learn.samples_per_position=6.0", "learn.batch=128", *QUIET)),
)  # fmt: skip
TARGET = 0.15


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processor", action="store_true", help="measure processor time on one thread")
    parser.add_argument("--games", nargs="*", default=GAMES)
    arguments = parser.parse_args()
    if arguments.processor:  # before anything measures: on one thread both clocks agree where nothing else runs
        time.perf_counter = time.process_time
    print("| game | preset | settings | foretold s | measured s | error |\n| --- | --- | --- | ---: | ---: | ---: |")
    errors = [error for game in arguments.games for error in compare(game, 1 if arguments.processor else 2)]
    within = sum(abs(error) <= TARGET for error in errors)
    middle, largest = statistics.median(map(abs, errors)), max(map(abs, errors))
    print(f"\n{within} of {len(errors)} within {TARGET:.0%}; median {middle:.1%}, largest {largest:.1%}")


def compare(game: str, threads: int) -> list[float]:
    """The relative error of every run of one game; rows are printed as they come."""
    from palaestra.learn.calibration import calibrate
    from palaestra.learn.loop import train
    from palaestra.learn.presets import configure
    from palaestra.learn.time_model import estimate

    errors, calibrated = [], set[str]()
    for preset, iterations, sets in SETTINGS:
        if preset not in calibrated:
            calibrated.add(preset)
            began = time.perf_counter()
            calibrate(configure(game, preset, [SMALL], iterations=1, threads=threads), anew=True)
            print(f"| {game} | {preset} | *calibration* | | {time.perf_counter() - began:.1f} | |", flush=True)
        config = configure(game, preset, sets, iterations=iterations, threads=threads)
        told = estimate(config, calibrate(config))
        foretold = told.total - told.start_up  # functions are loaded already
        with tempfile.TemporaryDirectory() as folder:
            measured = train(config, Path(folder) / "run").seconds
        errors.append(foretold / measured - 1)
        row = (
            game,
            preset,
            f"I={iterations} {' '.join(sets)}",
            f"{foretold:.1f}",
            f"{measured:.1f}",
            f"{errors[-1]:+.0%}",
        )
        print(f"| {' | '.join(row)} |", flush=True)
    return errors


if __name__ == "__main__":
    main()
