"""`palaestra evaluate --curve`: mistakes over the minutes of a run, as a table and a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from palaestra.base.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from palaestra.games.base import Game
    from palaestra.lab.mistake_curves import Point
    from palaestra.learn.oracles import ErrorRate, PositionSet
    from palaestra.players.runs import StoredRun

POINTS = 8  # of a curve, unless others are asked for


def curve_file(curve: str | None, points: int | None) -> Path | None:
    """Where the curve will be drawn; None if there is none."""
    from palaestra.cli.files import picture

    if curve is None and points is not None:
        raise ConfigError("--points are those of a curve: give --curve FILE, too")
    return None if curve is None else picture(curve)


def curve_moments(run: StoredRun, sets: Sequence[PositionSet], points: int | None) -> dict[int, float]:
    """Iteration -> minutes of the networks of a curve; ConfigError if it would be empty."""
    from palaestra.lab.mistake_curves import moments

    if not sets:
        raise ConfigError(f"--curve draws mistakes, and no oracle knows {run.game}: give scored ones with --positions")
    at = moments(run, POINTS if points is None else points)
    if not at:
        raise ConfigError(f"run {run.name} has no trained network yet, and --curve would be empty")
    return at


def measure_curve(
    game: Game,
    run: StoredRun,
    sets: Sequence[PositionSet],
    budgets: tuple[int, ...],
    at: Mapping[int, float],
    known: Mapping[int, Sequence[ErrorRate]],
    settings: dict[str, Any],
    path: Path,
) -> list[Point]:
    """Mistakes of the networks at these moments of the run, drawn into a file; `known` ones are not measured again."""
    from palaestra.cli.output import progress_bar
    from palaestra.lab.mistake_curves import curve, mistakes_figure
    from palaestra.lab.rating_plots import save_figure

    found: list[Point] = []
    with progress_bar() as bar:
        task = bar.add_task("mistakes over minutes", total=len(at))
        for point in curve(game, run, sets, (0, *budgets), at, known, **settings):
            found.append(point)
            bar.advance(task)
    save_figure(mistakes_figure(found), path)
    return found


def print_curve(points: Sequence[Point], path: Path) -> None:
    """A Markdown table: one row a set and number of simulations, one column a network."""
    from palaestra.cli.output import stdout
    from palaestra.lab.mistake_curves import by_simulations

    console = stdout()
    heads = " | ".join(f"{point.minutes:.1f}" for point in points)
    console.print(f"\n| sims | mistakes in %, after minutes | {heads} |", soft_wrap=True)
    console.print("| --- | --- |" + " ---: |" * len(points), soft_wrap=True)
    for simulations, sets in by_simulations(points).items():
        for name, rates in sets.items():
            cells = " | ".join(f"{100 * rate.rate:.1f}" for rate in rates)
            console.print(f"| {simulations or 'net alone'} | {name} | {cells} |", markup=False, soft_wrap=True)
    console.print(f"Picture: {path}", markup=False, soft_wrap=True)


def point_json(point: Point) -> dict[str, Any]:
    rates = [rate_json(rate) for rate in point.rates]
    return {"network": point.iteration, "minutes": point.minutes, "error_rates": rates}


def rate_json(rate: ErrorRate) -> dict[str, Any]:
    from dataclasses import asdict

    counts = asdict(rate)
    counts["telling"] = counts.pop("fallible")
    return {**counts, "error_rate": rate.rate, "interval": rate.interval}
