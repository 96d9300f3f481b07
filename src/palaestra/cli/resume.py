"""`palaestra resume`: goes on exactly where a run stopped, or extends one that is finished."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from palaestra.cli.options import Json, RunName
from palaestra.cli.train import Sets, existing_folder, finish, watch

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
    sets: Sets = None,
    json: Json = False,
) -> None:
    """Go on where a run stopped. Settings that cannot change in a run's life are refused, others recorded."""
    folder = existing_folder(run)

    def work(listeners: list[Listener]) -> Summary:
        from palaestra.learn.loop import resume as resume_run

        return resume_run(folder, sets or (), iterations=iterations, minutes=minutes, listeners=listeners)

    finish(watch(folder, work), json)
