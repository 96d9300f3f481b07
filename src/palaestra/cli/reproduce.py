"""`palaestra reproduce`: a published experiment, run again, beside the published numbers."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from palaestra.cli.options import Json, Seed


def reproduce(
    experiment: Annotated[Literal["table-5.1"], typer.Argument(help="table-5.1: search methods on 6×6 games.")],
    games: Annotated[int, typer.Option(min=2, help="Games of every pairing, an even number; the thesis: 500.")] = 500,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Run a published experiment and print a Markdown table with 95 % intervals beside the published numbers."""
    from palaestra.cli.match import as_json
    from palaestra.cli.output import print_json, progress_bar, score_in_words, stdout
    from palaestra.lab.table_5_1 import GAMES, PUBLISHED, table_5_1

    with progress_bar() as bar:
        task = bar.add_task("", total=len(GAMES) * len(PUBLISHED))
        cells = []
        for cell in table_5_1(games, seed, lambda words: bar.update(task, description=words)):
            cells.append(cell)
            bar.advance(task)
    if json:
        rows = [{"column": c.column, "row": c.row, "published": c.published, **as_json(c.match, seed)} for c in cells]
        print_json({"experiment": experiment, "games": games, "cells": rows})
        return
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
