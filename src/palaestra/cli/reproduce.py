"""`palaestra reproduce`: a published experiment, run again, beside the published numbers; one command an experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from palaestra.base.cores import usable_cores
from palaestra.cli.experiments import Folder, Jobs, home_of, share_cores, train_runs
from palaestra.cli.options import Json, Seed
from palaestra.cli.reproduce_rewards import EXPERIMENTS
from palaestra.cli.reproduce_solo import EXAMPLE, solo
from palaestra.cli.train import Sets

if TYPE_CHECKING:
    from palaestra.lab.table_5_1 import Cell as SearchCell
    from palaestra.lab.table_6_1 import Cell as WarmCell

FIGURES = {
    "figure-2.2": "Q-learning of Tic-Tac-Toe with fixed and decaying ε.",
    "figure-2.3": "Q-learning and TD(λ).",
    "figure-2.4": "Q-learning of three games.",
    "figure-2.5": "Q-learning on three sizes of board.",
    "figure-2.6": "QM-learning beside Q-learning.",
    "figure-2.7": "QM-learning beside Q-learning: where the curves end.",
}
EVEN = "Games of every pairing, an even number"

reproduce = typer.Typer(
    help="Run a published experiment and print a Markdown table with 95 % intervals beside the published numbers.",
    no_args_is_help=True,
)


@reproduce.command("table-5.1", epilog="Example: palaestra reproduce table-5.1 --games 100")
def table_5_1(
    games: Annotated[int, typer.Option(min=2, help=f"{EVEN}; 500 as published.")] = 500,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Search methods against each other on three 6×6 games (thesis, Table 5.1)."""
    from palaestra.cli.output import print_json, progress_bar
    from palaestra.lab.table_5_1 import GAMES, PUBLISHED, table_5_1
    from palaestra.live.match import result_document

    with progress_bar() as bar:
        task = bar.add_task("", total=len(GAMES) * len(PUBLISHED))
        cells = []
        for cell in table_5_1(games, seed, lambda words: bar.update(task, description=words)):
            cells.append(cell)
            bar.advance(task)
    if json:
        rows = [
            {"column": c.column, "row": c.row, "published": c.published, **result_document(c.match, seed)}
            for c in cells
        ]
        print_json({"experiment": "table-5.1", "games": games, "cells": rows})
    else:
        _print_table_5_1(cells)


def _print_table_5_1(cells: list[SearchCell]) -> None:
    from palaestra.cli.output import stdout
    from palaestra.live.words import score_in_words

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


@reproduce.command("table-6.1", epilog="Example: palaestra reproduce table-6.1 --games 400 --networks 20")
def table_6_1(
    games: Annotated[int, typer.Option(min=2, help=f"{EVEN}; the thesis has 100.")] = 400,
    net: Annotated[str, typer.Option(help="The network; the thesis's is thesis256.")] = "b3c32",
    networks: Annotated[int, typer.Option(min=2, help="Random networks that share the games.")] = 20,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Warm-start enhancements against the default search, with untrained networks (thesis, Table 6.1)."""

    from palaestra.cli.output import print_json, progress_bar
    from palaestra.lab.table_6_1 import GAMES, PUBLISHED, table_6_1

    with progress_bar() as bar:
        task = bar.add_task("", total=len(GAMES) * len(PUBLISHED))
        cells = []

        for cell in table_6_1(
            games, seed, net, networks, usable_cores(), lambda words: bar.update(task, description=words)
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
    from palaestra.cli.output import stdout
    from palaestra.lab.table_6_1 import NAMES
    from palaestra.live.words import score_in_words

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


@reproduce.command("table-6.2", epilog="Example: palaestra reproduce table-6.2 --seeds 4 --limit 12")
def table_6_2(
    game: Annotated[
        str, typer.Option(metavar="GAME", help="connect_four-6x6, othello-6x6 or gobang-6x6.")
    ] = "connect_four-6x6",
    runs: Annotated[int, typer.Option("--seeds", min=1, help="Runs of every enhancement; 8 as published.")] = 8,
    limit: Annotated[int, typer.Option(min=1, help="Iterations after which a run is given up.")] = 20,
    sets: Sets = None,
    folder: Folder = None,
    jobs: Jobs = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """When adaptive warm starts switch to plain self-play (thesis, Table 6.2); b3c32 unless --set net=thesis256."""

    from palaestra.cli.output import print_json, stdout
    from palaestra.lab.table_6_1 import NAMES
    from palaestra.lab.table_6_2 import folders, switch_of, table_configs
    from palaestra.lab.table_6_2 import rows as rows_of

    home = home_of(folder, "table-6.2")
    jobs, threads = share_cores(jobs)
    changed = ("net=b3c32", *(sets or ()))
    configs = table_configs(game, range(seed, seed + runs), limit, sets=changed, threads=threads)
    train_runs("table-6.2", folders(home, configs), jobs, switch_of)
    rows = rows_of(home, configs)
    if json:
        lines = [
            {"enhancement": r.enhancement, "switches": list(r.switches), "mean": r.mean, "sd": r.spread,
             "open": r.open, "published": list(r.published), "agrees": r.agrees}
            for r in rows
        ]  # fmt: skip
        about = {"experiment": "table-6.2", "game": game, "runs": runs, "limit": limit, "seed": seed}
        print_json({**about, "folder": str(home), "rows": lines})
        return
    console = stdout()
    console.print(
        f"| {game} | switch after iteration, mean ± sd | runs | not switched at {limit} | published | agrees |",
        soft_wrap=True,
    )
    console.print("| --- | --- | --- | --- | --- | --- |")
    for r in rows:
        console.print(
            f"| {NAMES[r.enhancement]} | {r.mean:.2f} ± {r.spread:.2f} | {runs} | {r.open} "
            f"| {r.published[0]:.2f} ± {r.published[1]:.2f} | {'yes' if r.agrees else 'no'} |",
            soft_wrap=True,
        )


def _add_figure(name: str, about: str) -> None:
    @reproduce.command(name, help=f"{about} (thesis)", epilog=f"Example: palaestra reproduce {name} --seeds 2")
    def figure(
        repeats: Annotated[
            int, typer.Option("--seeds", min=1, help="Tables learned for every curve; 5 as published.")
        ] = 5,
        scale: Annotated[float, typer.Option(min=0.001, max=100, help="Times the published matches.")] = 1.0,
        plot: Annotated[
            str | None,
            typer.Option(metavar="FILE", help=".png or .svg; the figure's name by default.", show_default=False),
        ] = None,
        seed: Seed = 0,
        json: Json = False,
    ) -> None:
        from palaestra.cli.figures import reproduce_figure

        reproduce_figure(name, repeats, scale, seed, plot, json)


for _name, _about in FIGURES.items():
    _add_figure(_name, _about)
for _name, (_function, _example) in {**EXPERIMENTS, "solo": (solo, EXAMPLE)}.items():
    reproduce.command(_name, epilog=f"Example: palaestra reproduce {_name} {_example}")(_function)
