"""`palaestra evaluate`: how strong a run's agent is, against fixed players and where perfect play is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from palaestra.arena.anchors import ANCHORS
from palaestra.base.errors import ConfigError
from palaestra.base.text import clip, whole_number
from palaestra.cli import complete
from palaestra.cli.curves import curve_file, draw_curve, draw_elo_curve, print_curve, print_elo_curve
from palaestra.cli.options import Json, RunName, Seed, StoredGame
from palaestra.live.defaults import CURVE_POINTS, EVALUATION_GAMES, EVALUATION_SIMULATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from palaestra.learn.oracles import ErrorRate
    from palaestra.live.evaluation import EvaluatedRun
    from palaestra.runs.metrics import AnchorResult, Score

NAME = 17  # characters of a line of a player's text in tables: "simulations=1000)"


def evaluate(
    run: RunName,
    network: Annotated[str, typer.Option(help="best, last, or an iteration.")] = "best",
    simulations: Annotated[
        str, typer.Option(help="Simulations a move, several with commas; the network alone is always measured too.")
    ] = str(EVALUATION_SIMULATIONS),
    games: Annotated[
        int, typer.Option(help="Games against each anchor, an even number; 0 plays none.", min=0)
    ] = EVALUATION_GAMES,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PLAYER",
            autocompletion=complete.players,
            help=f"An anchor; may be repeated. By default {' and '.join(ANCHORS)}, with one player nrpa too.",
            show_default=False,
        ),
    ] = None,
    positions: Annotated[
        str | None,
        typer.Option(
            help='Sets of scored positions: JSON {"set": [{"moves": "4453", "scores": [1, 0, null, …]}, …]}, '
            "scores by action for the mover, > 0 wins, null illegal.",
            show_default=False,
        ),
    ] = None,
    late: Annotated[
        int,
        typer.Option(
            min=0,
            max=10_000,
            help="Also count mistakes on so many positions of the last plies of random games, every move solved: for "
            "boards that are too large to be solved as a whole. 200 take a minute or so.",
        ),
    ] = 0,
    averaged: Annotated[
        bool,
        typer.Option(
            "--averaged", help="The search asks the network in every orientation of the board: stronger and slower."
        ),
    ] = False,
    reward: Annotated[
        str | None,
        typer.Option(
            help="What outcomes are worth to the search, such as primitive or 'cdf(generations=5)'; by default the "
            "run's own. A network with an outcome head follows it, too.",
            show_default=False,
        ),
    ] = None,
    curve: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Measure earlier networks too, and draw mistakes over the run's minutes: .png or .svg.",
            show_default=False,
        ),
    ] = None,
    elo_curve: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Let earlier networks and the anchors meet in a tournament, --games a pairing, and draw Elo over the "
            "run's minutes: .png or .svg.",
            show_default=False,
        ),
    ] = None,
    points: Annotated[
        int | None,
        typer.Option(
            min=2,
            max=30,
            help=f"Of a curve, {CURVE_POINTS} by default: at the run's end, half of its time, a quarter of it…",
            show_default=False,
        ),
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="All cores by default.", show_default=False)] = None,
    own: StoredGame = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Play a run's agent against fixed players, and count its mistakes where an oracle knows every move.

    With one player all of them play from the same beginnings, and their scores stand beside each other.
    """
    from palaestra.cli.output import print_json, progress_bar
    from palaestra.live.evaluation import evaluate as measure

    budgets = read_budgets(simulations)
    drawn, drawn_elo = curve_file(curve), curve_file(elo_curve)
    if points is not None and drawn is None and drawn_elo is None:
        raise ConfigError("--points are those of a curve: give --curve FILE or --elo-curve FILE, too")
    with progress_bar() as bar:
        task = bar.add_task("", total=None)

        def show(what: str, done: int, total: int) -> None:
            bar.update(task, completed=done, total=total or None, description=what)

        found = measure(
            run,
            network,
            simulations=budgets,
            games=games,
            against=against,
            positions=positions,
            late=late,
            averaged=averaged,
            reward=reward,
            curve_points=None if drawn is None else points or CURVE_POINTS,
            elo_points=None if drawn_elo is None else points or CURVE_POINTS,
            threads=threads,
            game=own,
            seed=seed,
            listen=show,
        )
    if drawn is not None:
        draw_curve(found.curve or [], drawn)
    if drawn_elo is not None:
        draw_elo_curve(found.elo_curve or [], drawn_elo)
    if json:
        print_json(found.document())
        return
    print_evaluation(found)
    if drawn is not None:
        print_curve(found.curve or [], drawn)
    if drawn_elo is not None:
        print_elo_curve(found.elo_curve or [], drawn_elo, budgets[-1])


def read_budgets(text: str) -> tuple[int, ...]:
    """Numbers of simulations from "100,600"."""
    numbers = [whole_number(word.strip()) or 0 for word in text.split(",")]
    if not all(0 < number <= 10_000_000 for number in numbers):
        raise ConfigError(
            f"--simulations is {clip(text)}; give positive whole numbers with commas, for example 100,600"
        )
    return tuple(dict.fromkeys(numbers))


def print_evaluation(found: EvaluatedRun) -> None:
    if found.scores:
        title = f"{found.title}, reward {found.reward}" if found.own_reward else found.title
        print_scores(title, [*found.scores, *found.anchor_scores])
    else:
        print_strength(found.title, found.game, found.against, found.rates)


def print_scores(title: str, rows: Sequence[Score]) -> None:
    """A table for people: the scores of the agent and of the anchors, from the same beginnings."""
    from rich.table import Table
    from rich.text import Text

    from palaestra.cli.output import stdout
    from palaestra.live.evaluation import SCORE_NOTE, SCORE_TITLES, score_rows

    console = stdout()
    console.print(Text(title, style="bold"))
    table = Table(box=None, pad_edge=False)
    for name in SCORE_TITLES:
        table.add_column(name, no_wrap=name != "player")
    for row in score_rows(rows):
        table.add_row(*row)
    console.print(table)
    console.print(Text(SCORE_NOTE, style="dim"))


def print_strength(title: str, game: str, results: Sequence[AnchorResult], rates: Sequence[ErrorRate]) -> None:
    """Two tables for people, matches and mistakes; above them what was judged."""
    from itertools import groupby

    from rich.table import Table
    from rich.text import Text

    from palaestra.cli.output import at_words, stdout
    from palaestra.live.evaluation import MATCH_TITLES, match_rows, mistake_note, rate_table

    console = stdout()
    console.print(Text(title, style="bold"))
    for simulations, met in groupby(results, lambda result: result.simulations):
        table = Table(box=None, pad_edge=False)
        table.add_column(f"with {simulations} sims")
        for name in MATCH_TITLES:
            table.add_column(name, no_wrap=True)
        for anchor, *cells in match_rows(list(met)):
            table.add_row(Text(at_words(anchor, NAME)), *cells)
        console.print(table)
    if rates:
        table = Table(box=None, pad_edge=False)
        titles, rows = rate_table(rates)
        for name in titles:
            table.add_column(name, no_wrap=name != "mistakes on")
        for row in rows:
            table.add_row(*row)
        console.print(table)
    console.print(Text(mistake_note(rates) if rates else f"Intervals are 95 %. No oracle knows {game}.", style="dim"))
