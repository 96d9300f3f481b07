"""Arguments and options that several verbs share, so that they read the same everywhere."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Annotated, Any

import typer

from palaestra.cli import complete

if TYPE_CHECKING:
    from collections.abc import Callable

    from palaestra.work.workers import Kind


def full_game_id(text: str | None) -> str | None:
    """What a verb is given for GAME: a family's name alone becomes the id of its usual size."""
    if text is None:
        return None
    from palaestra.games.registry import full_id

    return full_id(text)


Trust = Annotated[
    list[str] | None,
    typer.Option(
        "--trust",
        metavar="MODULE:NAME",
        help="Code of your own that a file names; may be repeated. It is never loaded because a file says so.",
        show_default=False,
    ),
]


def with_trust(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb with the option --trust, for verbs that may read files which name code.

    Its value has done its work before the verb runs: the user trusts whatever the words of a command name
    (`user_code.begin_command`).
    """
    signature = inspect.signature(verb, eval_str=True)
    if "trust" in signature.parameters:
        return verb

    @functools.wraps(verb)
    def trusting(*arguments: Any, trust: Trust = None, **named: Any) -> None:
        verb(*arguments, **named)

    own = inspect.Parameter("trust", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Trust)
    parameters = [*signature.parameters.values(), own]
    del trusting.__wrapped__  # whoever looks at the signature is to see all of it
    trusting.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    trusting.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return trusting


GAME_HELP = (
    "A game's id such as connect_four-6x7, or connect_four for its usual size; gdl:FILE.kif for rules in GDL,"
    " openspiel:NAME or pgx:NAME for games of these libraries, or module:attribute for your own."
)
GameId = Annotated[
    str, typer.Argument(metavar="GAME", help=GAME_HELP, callback=full_game_id, autocompletion=complete.games)
]
StoredGame = Annotated[
    str | None,
    typer.Option(
        "--game",
        metavar="GAME",
        help="The rules, for a game of your own: module:attribute. Code is never loaded because a file names it.",
        show_default="as in the file",
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Random numbers are a function of this.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON value on stdout and nothing else there.")]
Moves = Annotated[
    str,
    typer.Option(
        "--moves", "-m", metavar="MOVES", help="Moves from the start, in the game's notation; @K first picks start K."
    ),
]
RunName = Annotated[
    str,
    typer.Argument(metavar="RUN", help="A run's name below ./runs, or its folder.", autocompletion=complete.runs),
]
PLAYER_HELP = "A player such as random, alphabeta(depth=6) or uct(simulations=200)."
OpeningsText = Annotated[
    str | None,
    typer.Option(
        "--openings",
        metavar="OPENINGS",
        help="How games begin: random:PLIES; all:PLIES, every position at a ply; or FILE, an opening a line or a PGN "
        "(FILE:PLIES: only the first plies).",
        show_default=False,
    ),
]
WORKERS_HELP = (
    "Who does the work: threads:N, processes:N, ray for a cluster of this machine, or ray:HOST:PORT or ray://HOST:PORT"
    " for one that runs. Changes no result."
)
WorkersText = Annotated[
    str | None,
    typer.Option("--workers", metavar="WORKERS", help=WORKERS_HELP, show_default=False),
]


def run_workers(workers: str | None, jobs: int | None) -> Kind:
    """Who does whole runs: --workers, or --jobs, which is short for so many processes."""
    from palaestra.base.errors import ConfigError
    from palaestra.work.workers import chosen_workers

    who = chosen_workers(workers, jobs, "processes", "--jobs")
    if who.name == "threads":
        raise ConfigError(f"runs are done in processes, not on threads; for example --workers processes:{who.count}")
    return who


OpeningPlies = Annotated[
    int | None,
    typer.Option(help="Random plies before the players take over; 2 to 4 by default.", show_default=False),
]
