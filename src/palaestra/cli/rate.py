"""`palaestra rate`: Bayesian Elo of the players in any PGN file. Needs no game: moves are not read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from palaestra.base.errors import RecordError
from palaestra.cli.files import picture
from palaestra.cli.options import Json, full_game_id
from palaestra.cli.ratings import ADVANTAGE, DRAW, PRIOR, Advantage, Anchor, Draw, Prior

if TYPE_CHECKING:
    from palaestra.live.ratings import RatedPlayers

STDIN = "-"
MEGABYTE = 2**20


class BadGames(StrEnum):
    """What to do with games that have no players, no result or two, or are of another game than asked for."""

    REFUSE = "refuse"
    SKIP = "skip"


def rate(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A PGN file, or - for what is piped in.")],
    advantage: Advantage = ADVANTAGE,
    draw: Draw = DRAW,
    prior: Prior = PRIOR,
    anchor: Anchor = None,
    game: Annotated[
        str | None,
        typer.Option(
            metavar="GAME", help="Rate games of this Variant only; others are bad games.", callback=full_game_id
        ),
    ] = None,
    bad_games: Annotated[
        BadGames, typer.Option(help="Games without two players, or without exactly one result: stop, or count them.")
    ] = BadGames.REFUSE,
    superiority: Annotated[bool, typer.Option("--superiority", help="Also show who is probably stronger.")] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the ratings into a .png or .svg file.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Rate the players of a PGN file: Bayesian Elo with 95 % intervals."""
    from palaestra.cli.output import print_json
    from palaestra.live.ratings import rate_games, rating_config

    config = rating_config(advantage, draw, prior, anchor)
    if plot is not None:
        picture(plot)
    name = "standard input" if file == STDIN else file
    with _opened(file) as (source, listen):
        skip = bad_games is BadGames.SKIP
        rated = rate_games(source, name, config, game=game, skip=skip, superiority=superiority, listen=listen)
    if plot is not None:
        from palaestra.lab.rating_plots import ratings_figure, save_figure

        save_figure(ratings_figure(rated.ratings), plot)
    if json:
        print_json(rated.document(superiority))
    else:
        print_rated(rated, superiority, plot)


@contextmanager
def _opened(file: str) -> Iterator[tuple[BinaryIO, Callable[[int], None]]]:
    """The file's bytes, and what shows how many of them have been read."""
    import os
    import sys

    from palaestra.base.reading import opened
    from palaestra.cli.output import progress_bar

    if os.path.isdir(file):
        raise RecordError(f"{file} is a folder; give one PGN file, for example {os.path.join(file, 'games.pgn')}")
    with ExitStack() as stack:
        try:
            if file == STDIN:
                source: BinaryIO = sys.stdin.buffer
            elif file.startswith("/dev/"):  # what the shell has opened: rate <(zcat games.pgn.gz)
                source = stack.enter_context(open(file, "rb"))
            else:
                source = stack.enter_context(opened(file))
        except OSError as error:
            raise RecordError(f"cannot read {file}: {(error.strerror or str(error)).lower()}") from None
        total = None if file == STDIN else os.fstat(source.fileno()).st_size / MEGABYTE
        bar = stack.enter_context(progress_bar())
        task = bar.add_task("MB read", total=total)
        yield source, lambda count: bar.advance(task, count / MEGABYTE)


def print_rated(rated: RatedPlayers, superiority: bool, plot: Path | None) -> None:
    from rich.text import Text

    from palaestra.cli.output import stdout
    from palaestra.cli.ratings import print_ratings

    console = stdout()
    console.print(Text(f"{rated.title}\n", style="bold"))
    print_ratings(rated.ratings, superiority=superiority)
    if rated.skipped:
        console.print(Text(f"Games left out: {rated.skipped_in_words}.", style="yellow"))
    if plot is not None:
        console.print(Text(f"The picture is in {plot}.", style="dim"), soft_wrap=True)
