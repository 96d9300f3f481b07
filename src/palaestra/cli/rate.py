"""`palaestra rate`: Bayesian Elo of the players in any PGN file. Needs no game: moves are not read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from palaestra.base.errors import ConfigError, RecordError
from palaestra.cli.files import picture
from palaestra.cli.options import Json, full_game_id
from palaestra.cli.ratings import ADVANTAGE, DRAW, PRIOR, Advantage, Anchor, Draw, Prior

if TYPE_CHECKING:
    from palaestra.arena.ratings import Ratings, Results
    from palaestra.runs.pgn_results import ResultReader

STDIN = "-"
MEGABYTE = 2**20
JSON_PLAYERS = 100  # with more, the matrix of all pairs is written only if it is asked for


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
    from palaestra.arena.ratings import Results
    from palaestra.arena.ratings import rate as rate_results
    from palaestra.cli.output import print_json
    from palaestra.cli.ratings import rating_config
    from palaestra.runs.pgn_results import ResultReader

    config = rating_config(advantage, draw, prior, anchor)
    if plot is not None:
        picture(plot)
    name = "standard input" if file == STDIN else file
    with _opened(file) as (source, listen):
        reader = ResultReader(source, name, variant=game, skip=bad_games is BadGames.SKIP, listen=listen)
        results = Results.count(reader)
    _refuse_nothing(reader)
    if superiority:
        _refuse_large_matrix(results)
    ratings = rate_results(results, config)
    if plot is not None:
        from palaestra.lab.rating_plots import ratings_figure, save_figure

        save_figure(ratings_figure(ratings), plot)
    if json:
        print_json(as_json(ratings, reader, superiority))
    else:
        print_rated(ratings, reader, superiority, plot)


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


def _refuse_nothing(reader: ResultReader) -> None:
    """A file without a game that counts gives no ratings, whatever was skipped."""
    if not reader.games:
        left_out = f"; left out: {_skipped(reader)}" if reader.skipped else ""
        raise RecordError(f"{reader.name} has no games to rate{left_out}; a game names two players and a result")


def _refuse_large_matrix(results: Results) -> None:
    from palaestra.arena.ratings import JOINT_PLAYERS

    if len(results.players) > JOINT_PLAYERS:
        raise ConfigError(
            f"--superiority compares up to {JOINT_PLAYERS:,} players with each other, and here are "
            f"{len(results.players):,}; leave it out"
        )


def as_json(ratings: Ratings, reader: ResultReader, superiority: bool) -> dict[str, Any]:
    """The JSON document, with what was left out by reason; `superiority` has rows in the order of `ratings`."""
    order = ratings.order()
    matrix = ratings.superiority()[order][:, order].tolist() if superiority or len(order) <= JSON_PLAYERS else None
    return {
        "ratings": ratings.as_json(),
        "advantage": ratings.advantage,
        "draw": ratings.draw_elo,
        "games": reader.games,
        "skipped": dict(reader.skipped),
        "superiority": matrix,
        "notes": ratings.notes(),
    }


def print_rated(ratings: Ratings, reader: ResultReader, superiority: bool, plot: Path | None) -> None:
    from rich.text import Text

    from palaestra.cli.output import stdout
    from palaestra.cli.ratings import print_ratings

    console = stdout()
    games = f"{reader.games:,} game{'s' if reader.games > 1 else ''}"
    console.print(Text(f"{reader.name}: {games} of {len(ratings.players):,} players\n", style="bold"))
    print_ratings(ratings, superiority=superiority)
    if reader.skipped:
        console.print(Text(f"Games left out: {_skipped(reader)}.", style="yellow"))
    if plot is not None:
        console.print(Text(f"The picture is in {plot}.", style="dim"), soft_wrap=True)


def _skipped(reader: ResultReader) -> str:
    """ "no result: 3, two results: 1"."""
    return ", ".join(f"{reason}: {count:,}" for reason, count in reader.skipped.most_common())
