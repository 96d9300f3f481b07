"""`palaestra reproduce figure-2.x`: a figure of the thesis's second chapter, drawn and beside the published numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from palaestra.lab.chapter_2 import Measured


def reproduce_figure(name: str, repeats: int, scale: float, seed: int, plot: str | None, json: bool) -> None:
    """Run the learners of a figure, write the picture, and print a Markdown table or JSON."""
    from palaestra.cli.files import picture
    from palaestra.cli.output import print_json, progress_bar
    from palaestra.cli.qlearn import curve_json
    from palaestra.lab.chapter_2 import ceilings_of, matches_of, run_figure
    from palaestra.lab.rating_plots import save_figure

    path = picture(plot or f"{name}.svg")
    with progress_bar() as bar:
        task = bar.add_task("", total=matches_of(name, repeats, scale))
        measured = list(
            run_figure(name, repeats, seed, scale, lambda what, n: bar.update(task, description=what, advance=n))
        )
    ceilings = ceilings_of(name)
    save_figure(_draw(name, measured, ceilings), path)
    if json:
        series = [
            {
                "panel": one.series.panel,
                "label": one.series.label,
                "game": one.series.game,
                "l": one.config.horizon,
                "published": one.series.published,
                "ceiling": ceilings.get(one.series.game),
                "states": one.states,
                **curve_json(one.curve),
                "seconds": one.seconds,
            }
            for one in measured
        ]
        print_json({"experiment": name, "repeats": repeats, "scale": scale, "seed": seed, "plot": str(path),
                    "series": series})  # fmt: skip
    else:
        _print(measured, ceilings, path)


def _draw(name: str, measured: list[Measured], ceilings: dict[str, float]) -> Any:
    from palaestra.lab.tabular_plots import curves_figure, finals_figure

    if name == "figure-2.7":
        finals: dict[str, dict[int, Any]] = {}
        for one in measured:
            finals.setdefault(one.series.label, {})[one.config.horizon] = one.finals
        return finals_figure(finals, {f"best against random, {game}": value for game, value in ceilings.items()})
    panels: dict[str, dict[str, Any]] = {}
    lines: dict[str, dict[str, float]] = {}
    greedy: dict[str, int] = {}
    for one in measured:
        panel, game = one.series.panel, one.series.game
        panels.setdefault(panel, {})[one.series.label] = one.curve
        greedy[panel] = one.config.horizon
        if game in ceilings:
            lines.setdefault(panel, {})[f"best against random, {game}"] = ceilings[game]
    return curves_figure(panels, lines, greedy)


def _print(measured: list[Measured], ceilings: dict[str, float], path: Path) -> None:
    from palaestra.cli.output import stdout
    from palaestra.cli.qlearn import rate_in_words

    console = stdout()
    console.print(
        "| game | learner | l | matches | final win rate, % (95 %) | of all matches | published | ceiling | states |",
        soft_wrap=True,
    )
    console.print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for one in measured:
        ceiling = ceilings.get(one.series.game)
        console.print(
            f"| {one.series.game} | {one.series.label} | {one.config.horizon:,} | {one.config.matches:,} "
            f"| {rate_in_words(one.finals)} | {rate_in_words(one.so_far)} | {one.series.published or '–'} "
            f"| {'–' if ceiling is None else f'{100 * ceiling:.1f}'} | {one.states:,.0f} |",
            soft_wrap=True,
        )
    console.print(f"\nThe figure is in {path}.", markup=False, soft_wrap=True)
