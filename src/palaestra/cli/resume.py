"""`palaestra resume`: goes on exactly where a run stopped, or extends one that is finished."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from palaestra.cli.options import Json, RunName, StoredGame, WorkersText
from palaestra.cli.train import Sets, finish, watch

if TYPE_CHECKING:
    from palaestra.learn.events import Listener, Summary


def resume(
    run: RunName,
    minutes: Annotated[
        float | None, typer.Option(help="Extend it to so many minutes in all.", show_default=False)
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(help="Extend it to so many iterations in all.", show_default=False)
    ] = None,
    back: Annotated[
        int | None,
        typer.Option(
            "--from",
            metavar="ITERATION",
            min=0,
            help="Go back to this iteration first, one of the last that are kept, and to its settings.",
            show_default=False,
        ),
    ] = None,
    game: StoredGame = None,
    sets: Sets = None,
    threads: Annotated[
        int | None,
        typer.Option(
            help="Use so many from now on: results are repeatable for one number of threads.", show_default=False
        ),
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="Train the network there from now on: cpu, cuda or mps.", show_default=False)
    ] = None,
    workers: WorkersText = None,
    json: Json = False,
) -> None:
    """Go on where a run stopped. Settings that cannot change in a run's life are refused, others recorded."""
    from palaestra.live.run import existing_folder
    from palaestra.live.training import resume as resume_run

    folder = existing_folder(run)

    def work(listeners: list[Listener]) -> Summary:
        return resume_run(
            folder,
            sets or (),
            iterations=iterations,
            minutes=minutes,
            from_iteration=back,
            game=game,
            threads=threads,
            device=device,
            workers=workers,
            listeners=listeners,
        )

    finish(watch(folder, work), json)
