"""`palaestra solve`: restarts of a search for one player, for minutes or for days, and every best solution kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from palaestra.cli import complete
from palaestra.cli.files import picture
from palaestra.cli.options import GameId, Json, Moves, Seed, WorkersText
from palaestra.live.defaults import SOLVE_MINUTES, SOLVER

if TYPE_CHECKING:
    from pathlib import Path

    from palaestra.lab.solve_folder import SolveFolder


def solve(
    game: GameId,
    player: Annotated[
        str,
        typer.Option(
            metavar="PLAYER",
            help="The search that is restarted: nrpa, nmcs, uct, random or any other player.",
            autocompletion=complete.players,
        ),
    ] = SOLVER,
    minutes: Annotated[
        float | None,
        typer.Option(
            help="Stop after this time, counted anew each time.",
            show_default=f"{SOLVE_MINUTES:g} without --restarts and --target",
        ),
    ] = None,
    restarts: Annotated[
        int | None,
        typer.Option(min=1, help="Stop after so many more restarts; random makes 16384 at once.", show_default=False),
    ] = None,
    target: Annotated[
        int | None, typer.Option(help="Stop as soon as this score is reached.", show_default=False)
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, max=1024, help="All cores by default.", show_default=False)
    ] = None,
    workers: WorkersText = None,
    out: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Journal and solutions; again, it goes on.", show_default="solved/GAME"),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw scores over time here, .png or .svg.", show_default=False),
    ] = None,
    moves: Moves = "",
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Search a game for one player again and again, and keep every best solution; Ctrl-C ends it, again goes on."""
    from palaestra.cli.output import print_json
    from palaestra.cli.solve_view import print_summary, shown
    from palaestra.live.solving import solve as search

    drawn = None if plot is None else picture(plot)
    session = search(
        game,
        player,
        minutes=minutes,
        restarts=restarts,
        target=target,
        threads=threads,
        workers=workers,
        out=out,
        moves=moves,
        seed=seed,
        show=shown,
    )
    if drawn is not None:
        _draw(session.folder, drawn)
    if json:
        print_json(session.document(None if drawn is None else str(drawn)))
    else:
        print_summary(session, drawn)
    if session.restarts.stopped_by == "interrupt":
        raise KeyboardInterrupt


def _draw(folder: SolveFolder, path: Path) -> None:
    from palaestra.lab.rating_plots import save_figure
    from palaestra.lab.solo_plots import scores_over_time

    save_figure(scores_over_time([folder.journal]), path)
