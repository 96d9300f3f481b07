"""`palaestra evaluate --curve`: mistakes over the minutes of a run, as a table and a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from palaestra.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from palaestra.games.base import Game
    from palaestra.lab.mistake_curves import Point
    from palaestra.learn.oracles import ErrorRate, PositionSet
    from palaestra.players.runs import StoredRun


def measure_curve(
    game: Game,
    run: StoredRun,
    sets: Sequence[PositionSet],
    budgets: tuple[int, ...],
    points: int,
    settings: dict[str, Any],
    path: Path,
) -> list[Point]:
    """Mistakes of networks of the whole run, drawn into a file."""
    from palaestra.cli.output import progress_bar
    from palaestra.lab.mistake_curves import curve, mistakes_figure, moments
    from palaestra.lab.rating_plots import save_figure

    at = moments(run, points)
    if not at:
        raise ConfigError(f"run {run.name} has no trained network yet, and --curve would be empty")
    found: list[Point] = []
    with progress_bar() as bar:
        task = bar.add_task("mistakes over minutes", total=len(at))
        for point in curve(game, run, sets, (0, *budgets), at, **settings):
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

    return {**asdict(rate), "error_rate": rate.rate, "interval": rate.interval}
