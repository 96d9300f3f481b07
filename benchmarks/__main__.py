"""`python -m benchmarks`: all figures in one run, as tables; nothing is written unless asked for."""

from __future__ import annotations

import json as json_format
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks import machine
from benchmarks.table import Table, as_json, document, rich_table, summary

PARTS = ("network", "rollouts", "games", "memory", "cost", "start", "inference", "training", "gdl", "solo", "adapters")
FILE_WIDTH = 132  # columns when the output is no terminal


@dataclass(frozen=True)
class Effort:
    """How much is measured: rounds of each comparison, and how long one turn lasts."""

    rounds: int
    seconds: float
    batches: tuple[int, ...]  # of mctx, of which the fastest is kept
    policies: tuple[str, ...]
    most: int  # simulations × games in the table of costs


FULL = Effort(rounds=5, seconds=2.0, batches=(64, 256, 1024), policies=("gumbel", "muzero"), most=102_400)
QUICK = Effort(rounds=2, seconds=0.8, batches=(64,), policies=("gumbel",), most=51_200)


def measure(part: str, effort: Effort) -> Table:
    """One table. Modules are imported here, so that a part whose peer is missing does not stop the others."""
    short = effort.seconds / 8
    few = max(1, effort.rounds // 2)
    if part == "network":
        from benchmarks import network_search

        return network_search.run(effort.rounds, 2 * effort.seconds, effort.batches, effort.policies)
    if part == "rollouts":
        from benchmarks import rollout_search

        return rollout_search.run(effort.rounds, effort.seconds / 2)
    if part == "games":
        from benchmarks import game_speed

        return game_speed.run(few, 2 * short)
    if part == "inference":
        from benchmarks import inference

        return inference.run(few, short)
    if part == "training":
        from benchmarks import training

        return training.run(2 * effort.rounds, effort.seconds)
    if part == "start":
        from benchmarks import start_up

        return start_up.run(effort.rounds)
    if part == "gdl":
        from benchmarks import gdl

        return gdl.run(few, 2 * short)
    if part == "solo":
        from benchmarks import solo

        return solo.run(effort.rounds, effort.seconds / 2)
    if part == "adapters":
        from benchmarks import adapters

        return adapters.run(effort.rounds, effort.seconds)
    from benchmarks import growth

    return growth.memory() if part == "memory" else growth.cost(few, effort.most)


def main(
    parts: Annotated[list[str] | None, typer.Argument(help=f"Some of {', '.join(PARTS)}; none: all.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer and shorter rounds: about two minutes.")] = False,
    markdown: Annotated[Path | None, typer.Option(help="Also write the tables to this file, in Markdown.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Speed beside peers and limits, each pair measured in turns in one run."""
    if unknown := set(parts or ()) - set(PARTS):
        raise typer.BadParameter(f"{sorted(unknown)[0]!r} is not measured here; known: {', '.join(PARTS)}")
    console, progress = Console(), Console(stderr=True)
    if not console.is_terminal:
        console.width = FILE_WIDTH
    effort, tables = QUICK if quick else FULL, list[Table]()
    for part in parts or PARTS:
        try:
            with progress.status(f"measuring {part} …"):
                tables.append(measure(part, effort))
        except ModuleNotFoundError as error:
            progress.print(f"{part}: left out, {error.name} is not installed; make bench installs the peers")
            continue
        if not json:
            console.print(rich_table(tables[-1]), "")
    facts = machine.facts()
    if markdown is not None:
        markdown.write_text(document(facts, [summary(tables), *tables]), encoding="utf-8")
    if json:
        print(json_format.dumps(as_json(facts, tables)))
        return
    console.print(" · ".join(f"{name} {value}" for name, value in facts.items()), "", style="dim")
    console.print(rich_table(summary(tables)))


if __name__ == "__main__":
    typer.run(main)
