"""`palaestra qlearn`: learn a table of action values by playing, and show how well that went."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from palaestra.cli import complete
from palaestra.cli.files import picture, writable
from palaestra.cli.options import PLAYER_HELP, GameId, Json, Seed

if TYPE_CHECKING:
    from palaestra.live.table_learning import LearnedTables

RANDOM = "random"


def qlearn(
    game: GameId,
    learner: Annotated[
        Literal["q", "qm", "qn", "td"],
        typer.Option(help="q: Q-learning; qm, qn: with flat or nested Monte Carlo in states not seen; td: TD(λ)."),
    ] = "q",
    matches: Annotated[
        int, typer.Option("--games", min=1, max=10**8, help="Sides alternate; the table learns after each.")
    ] = 30_000,
    opponent: Annotated[
        str,
        typer.Option("--against", metavar="PLAYER", help=PLAYER_HELP, autocompletion=complete.players),
    ] = RANDOM,
    repeats: Annotated[
        int, typer.Option("--seeds", min=1, help="Tables learned independently, for the intervals.")
    ] = 5,
    alpha: Annotated[
        float | None, typer.Option(help="Learning rate: 0.1, td 0.3 by default.", show_default=False)
    ] = None,
    gamma: Annotated[
        float | None, typer.Option(help="Discount of a ply: 0.9, td 1 by default.", show_default=False)
    ] = None,
    lambda_: Annotated[
        float | None, typer.Option("--lambda", help="td: decay of traces, 0.7 by default.", show_default=False)
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="A fixed chance of random moves; td: 0.01 by default.", show_default=False)
    ] = None,
    decay: Annotated[
        int | None,
        typer.Option(
            metavar="L",
            help="ε = a·cos(πk/2L) + b in game k ≤ L, then 0; two thirds of the games by default.",
            show_default=False,
        ),
    ] = None,
    a: Annotated[float, typer.Option(help="Of the decay.")] = 0.5,
    b: Annotated[float, typer.Option(help="Of the decay.")] = 0.0,
    playouts: Annotated[
        int | None, typer.Option(help="qm, qn: random games in an unseen state, 50 by default.", show_default=False)
    ] = None,
    ms: Annotated[
        float | None, typer.Option(help="qm: milliseconds in an unseen state, instead.", show_default=False)
    ] = None,
    noops: Annotated[
        bool, typer.Option(help="Learn values off turn, too, as in GDL, where every role moves at every ply.")
    ] = True,
    ply: Annotated[
        bool, typer.Option("--ply/--ignore-ply", help="Whether a position is another state at another ply.")
    ] = True,
    lockstep: Annotated[
        int, typer.Option(help="Games at once, except against random; they learn when all have ended.")
    ] = 32,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw the curve, .png or .svg.", show_default=False)
    ] = None,
    save: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Keep the first table, for qtable:FILE.", show_default=False),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Learn tables against an opponent; print the win rate over the games, with 95 % intervals over the seeds."""
    from palaestra.cli.output import print_json, progress_bar
    from palaestra.games.registry import make_game
    from palaestra.learn.tabular import read_config
    from palaestra.live.table_learning import learn_tables

    rules = make_game(game)
    config = read_config(
        learner=learner, matches=matches, alpha=alpha, gamma=gamma, lambda_=lambda_, epsilon=epsilon, decay=decay,
        a=a, b=b, playouts=playouts, ms=ms, noops=noops, ply=ply, lockstep=lockstep,
    )  # fmt: skip
    _check_files(plot, save)
    with progress_bar() as bar:
        task = bar.add_task(f"table 1 of {repeats}", total=repeats * matches)

        def show(table: int, ended: int) -> None:
            bar.update(task, description=f"table {table + 1} of {repeats}", advance=ended)

        found = learn_tables(rules, config, opponent, repeats=repeats, seed=seed, listen=show)
    _write_files(found, plot, save)
    if json:
        print_json({**found.document(), "plot": plot, "save": save})
    else:
        _print(found)
        _print_end(found, save)


def _check_files(plot: str | None, save: str | None) -> None:
    if plot is not None:
        picture(plot)
    if save is not None:
        writable(save)


def _write_files(found: LearnedTables, plot: str | None, save: str | None) -> None:
    game, first, ceiling = found.game, found.first, found.ceiling
    if save is not None:
        from palaestra.base.atomic import write_file
        from palaestra.players.table import table_bytes

        write_file(Path(save), table_bytes(first.table, first.about))
    if plot is not None:
        from palaestra.lab.rating_plots import save_figure
        from palaestra.lab.tabular_plots import curves_figure
        from palaestra.learn.tabular import NAMES

        lines = {} if ceiling is None else {"best against random": sum(ceiling) / 2}
        greedy_from = {game.id: first.config.horizon} if first.config.epsilon is None else None
        label = f"{NAMES[first.config.learner]} (dashed: all matches so far)"
        save_figure(curves_figure({game.id: {label: found.curve}}, {game.id: lines}, greedy_from), Path(plot))


def _print(found: LearnedTables) -> None:
    from rich.table import Table
    from rich.text import Text

    from palaestra.cli.output import stdout
    from palaestra.learn.tabular import NAMES
    from palaestra.live.table_learning import rate_in_words

    console, config, curve = stdout(), found.config, found.curve
    console.print(Text(f"{NAMES[config.learner]} against {found.opponent} on {found.game.id}", style="bold"))
    table = Table(box=None, pad_edge=False)
    for heading in ("matches", "win rate, %", "of all so far, %", "ε"):
        table.add_column(heading, justify="right")
    epsilons = config.epsilons()
    for i, at in enumerate(curve.matches):
        rates = rate_in_words(curve.rates[:, i]), rate_in_words(curve.so_far[:, i])
        table.add_row(f"{at:,}", *rates, f"{epsilons[at - 1]:.3f}")
    console.print(table)
    if found.ceiling is not None:
        one, two = (f"{100 * goal:.2f}" for goal in found.ceiling)
        best = 50 * sum(found.ceiling)
        console.print(f"best possible against random: {best:.2f} % ({one} moving first, {two} second)")


def _print_end(found: LearnedTables, save: str | None) -> None:
    from shlex import quote

    from rich.text import Text

    from palaestra.cli.output import command_name, stdout

    console, states = stdout(), found.states
    console.print(f"{sum(states) / len(states):,.0f} states a table, {len(states)} tables, {found.seconds:.1f} s")
    console.print(Text("Win rates are from row to row; a win is 1, a draw ½; ± is 95 % over the tables.", style="dim"))
    if save is not None:
        again = f"{command_name()} match {quote(found.game.id)} {quote(f'qtable:{save}')} random"
        console.print(f"It plays as qtable:{save}, for example: {again}", markup=False, soft_wrap=True)
