"""`palaestra evaluate --curve`: mistakes over the minutes of a run, as a table and a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palaestra.base.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from palaestra.lab.mistake_curves import Point


def curve_file(curve: str | None, points: int | None) -> Path | None:
    """Where the curve will be drawn; None if there is none."""
    from palaestra.cli.files import picture

    if curve is None and points is not None:
        raise ConfigError("--points are those of a curve: give --curve FILE, too")
    return None if curve is None else picture(curve)


def draw_curve(points: Sequence[Point], path: Path) -> None:
    from palaestra.lab.mistake_curves import mistakes_figure
    from palaestra.lab.rating_plots import save_figure

    save_figure(mistakes_figure(points), path)


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
