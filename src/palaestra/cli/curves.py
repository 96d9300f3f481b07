"""`palaestra evaluate --curve` and `--elo-curve`: strength over the minutes of a run, as a table and a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from palaestra.lab.mistake_curves import Point
    from palaestra.lab.strength_curves import Rated


def curve_file(curve: str | None) -> Path | None:
    """Where the curve will be drawn; None if there is none."""
    from palaestra.cli.files import picture

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


def draw_elo_curve(rated: Sequence[Rated], path: Path) -> None:
    from palaestra.lab.rating_plots import save_figure
    from palaestra.lab.strength_curves import strength_figure

    save_figure(strength_figure(rated), path)


def print_elo_curve(rated: Sequence[Rated], path: Path, simulations: int) -> None:
    """A Markdown table: one row a player."""
    from palaestra.cli.output import stdout

    console = stdout()
    console.print(f"\n| minutes | player, networks with {simulations} simulations | Elo (95 %) |", soft_wrap=True)
    console.print("| ---: | --- | ---: |", soft_wrap=True)
    for one in rated:
        minutes = "" if one.minutes is None else f"{one.minutes:.1f}"
        row = f"| {minutes} | {one.player} | {one.elo:.0f} ({one.low:.0f} to {one.high:.0f}) |"
        console.print(row, markup=False, soft_wrap=True)
    console.print(f"The last anchor has Elo 0. Picture: {path}", markup=False, soft_wrap=True)
