"""`palaestra reproduce`: a published experiment, run again, beside the published numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from palaestra.cli.options import Json, Seed
from palaestra.errors import ConfigError

if TYPE_CHECKING:
    from palaestra.lab.table_5_1 import Cell as SearchCell
    from palaestra.lab.table_6_1 import Cell as WarmCell

GAMES = {"table-5.1": 500, "table-6.1": 400}  # of every pairing by default; the thesis: 500 and 100
REPEATS = 5  # of every curve, as in the thesis


def reproduce(
    experiment: Annotated[
        Literal[
            "table-5.1", "table-6.1", "figure-2.2", "figure-2.3", "figure-2.4", "figure-2.5", "figure-2.6", "figure-2.7"
        ],
        typer.Argument(
            help="table-5.1: search methods on 6×6 games; table-6.1: warm-start enhancements, untrained networks; "
            "figure-2.2: fixed and decaying ε; 2.3: Q-learning and TD(λ); 2.4: three games; 2.5: board sizes; "
            "2.6 and 2.7: QM-learning, its curves and where they end."
        ),
    ],
    games: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Games of every pairing, an even number: 500 for table-5.1 (as published), 400 for 6.1 (100).",
            show_default=False,
        ),
    ] = None,
    net: Annotated[
        str | None,
        typer.Option(help="table-6.1: the network, b3c32 by default; the thesis's is thesis256.", show_default=False),
    ] = None,
    networks: Annotated[
        int | None,
        typer.Option(min=2, help="table-6.1: random networks that share the games, 20 by default.", show_default=False),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(min=1, help="figure-2.x: tables learned for every curve, 5 by default.", show_default=False),
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option(
            min=0.001, max=100, help="figure-2.x: times the published matches, 1 by default.", show_default=False
        ),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="figure-2.x: .png or .svg; figure-2.x.svg by default.", show_default=False),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Run a published experiment and print a Markdown table with 95 % intervals beside the published numbers."""
    if experiment.startswith("figure"):
        if games is not None or net is not None or networks is not None:
            raise ConfigError(f"{experiment} has --repeats and --scale: --games, --net and --networks belong to tables")
        from palaestra.cli.figures import reproduce_figure

        reproduce_figure(experiment, repeats or REPEATS, scale or 1.0, seed, plot, json)
        return
    if repeats is not None or scale is not None or plot is not None:
        raise ConfigError(f"{experiment} has --games: --repeats, --scale and --plot belong to figures")
    wanted = GAMES[experiment] if games is None else games
    if experiment == "table-5.1":
        if net is not None or networks is not None:
            raise ConfigError("table-5.1 has no networks: --net and --networks belong to table-6.1")
        _table_5_1(wanted, seed, json)
    else:
        _table_6_1(wanted, seed, net or "b3c32", 20 if networks is None else networks, json)


def _table_5_1(games: int, seed: int, json: bool) -> None:
    from palaestra.cli.match import as_json
    from palaestra.cli.output import print_json, progress_bar
    from palaestra.lab.table_5_1 import GAMES, PUBLISHED, table_5_1

    with progress_bar() as bar:
        task = bar.add_task("", total=len(GAMES) * len(PUBLISHED))
        cells = []
        for cell in table_5_1(games, seed, lambda words: bar.update(task, description=words)):
            cells.append(cell)
            bar.advance(task)
    if json:
        rows = [{"column": c.column, "row": c.row, "published": c.published, **as_json(c.match, seed)} for c in cells]
        print_json({"experiment": "table-5.1", "games": games, "cells": rows})
    else:
        _print_table_5_1(cells)


def _print_table_5_1(cells: list[SearchCell]) -> None:
    from palaestra.cli.output import score_in_words, stdout

    console = stdout()
    console.print("| game | pairing | score, % (95 %) | + = − | published, % | inside | distinct |", soft_wrap=True)
    console.print("| --- | --- | --- | --- | --- | --- | --- |")
    for cell in cells:
        match = cell.match
        console.print(
            f"| {match.game} | {cell.column} : {cell.row} | {score_in_words(match.score, match.interval)} "
            f"| {match.wins} {match.draws} {match.losses} | {cell.published:g} | {'yes' if cell.agrees else 'no'} "
            f"| {match.distinct_games} |",
            soft_wrap=True,
        )


def _table_6_1(games: int, seed: int, net: str, networks: int, json: bool) -> None:
    import os

    from palaestra.cli.output import print_json, progress_bar
    from palaestra.lab.table_6_1 import GAMES, PUBLISHED, table_6_1

    with progress_bar() as bar:
        task = bar.add_task("", total=len(GAMES) * len(PUBLISHED))
        cells = []

        for cell in table_6_1(
            games, seed, net, networks, os.cpu_count() or 1, lambda words: bar.update(task, description=words)
        ):
            cells.append(cell)
            bar.advance(task)
    if json:
        rows = [
            {
                "game": cell.game,
                "enhancement": cell.enhancement,
                "published": cell.published,
                "score": cell.score,
                "interval": list(cell.interval),
                "spread": cell.spread,
                **{what: cell.total(what) for what in ("wins", "draws", "losses", "games", "distinct_games")},
            }
            for cell in cells
        ]
        about = {"experiment": "table-6.1", "games": games, "net": net, "networks": networks, "seed": seed}
        print_json({**about, "cells": rows})
    else:
        _print_table_6_1(cells)


def _print_table_6_1(cells: list[WarmCell]) -> None:
    from palaestra.cli.output import score_in_words, stdout
    from palaestra.lab.table_6_1 import NAMES

    console = stdout()
    console.print(
        "| game | enhancement | score, % (95 %) | + = − | between networks, sd | published, % | inside | distinct |",
        soft_wrap=True,
    )
    console.print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for cell in cells:
        console.print(
            f"| {cell.game} | {NAMES[cell.enhancement]} | {score_in_words(cell.score, cell.interval)} "
            f"| {cell.total('wins')} {cell.total('draws')} {cell.total('losses')} | {100 * cell.spread:.0f} "
            f"| {cell.published:g} | {'yes' if cell.agrees else 'no'} "
            f"| {cell.total('distinct_games')} of {cell.games} |",
            soft_wrap=True,
        )
