"""Ratings in the terminal, and the options that decide how they are made; shared by the verbs that rate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from palaestra.live import defaults

if TYPE_CHECKING:
    from rich.table import Table

    from palaestra.arena.ratings import Ratings

FIGURES = 43  # columns of a rank, an Elo, its interval, games, score and draws
OPPONENTS = 7  # columns of the opponents' mean

Advantage = Annotated[str, typer.Option("--advantage", metavar="ELO|fit", help="What moving first is worth.")]
Draw = Annotated[str, typer.Option("--draw", metavar="ELO|fit", help="The larger, the more draws are expected.")]
Prior = Annotated[str, typer.Option("--prior", metavar="DRAWS", help="Virtual draws of a player; fewer pull less.")]
Anchor = Annotated[
    str | None,
    typer.Option("--anchor", metavar="PLAYER=ELO", help="Fixes a player's Elo, as random=0; else the mean is 0."),
]
ADVANTAGE, DRAW, PRIOR = (f"{number:g}" for number in (defaults.ADVANTAGE, defaults.DRAW, defaults.PRIOR))


def ratings_table(ratings: Ratings, width: int = 80) -> Table:
    """Rank, player, Elo with its 95 % interval, games, score and draws, best first; groups apart.

    Where names leave room, also the mean Elo of the opponents, as in Table A.3.
    """
    from palaestra.cli.output import at_words
    from palaestra.live.ratings import rating_rows

    table = _table("player", gap=2, overflow="fold")
    room = width - FIGURES
    with_opponents = max(map(len, ratings.players)) <= room - OPPONENTS
    room -= OPPONENTS * with_opponents
    for heading in ("Elo", "+", "−", "games", "score", *(["oppo."] * with_opponents), "draws"):
        table.add_column(heading, justify="right", no_wrap=True)
    before = 0
    for i, (place, name, *cells) in zip(ratings.order(), rating_rows(ratings), strict=True):
        if place and ratings.groups[i] != before:
            table.add_row()
            before = ratings.groups[i]
        table.add_row(place, at_words(name, room), *(cells if with_opponents else [*cells[:5], cells[6]]))
    return table


def superiority_table(ratings: Ratings, width: int = 80) -> Table:
    """How likely a player is stronger than those below it, in percent; where that is too wide, than the next two."""
    from palaestra.cli.output import at_words, least_room

    games = ratings.games
    order = [i for i in ratings.order() if games[i]]
    chances, size = ratings.superiority(), len(order)

    def cell(i: int, j: int) -> str:
        return f"{100 * chances[i, j]:.0f}" if ratings.groups[i] == ratings.groups[j] else "–"

    room = width - 3 - 4 * size
    if room < least_room(ratings.players[i] for i in order):
        table = _table("stronger than", overflow="fold")
        for heading in ("the next", "the next but one"):
            table.add_column(heading, justify="right", no_wrap=True)
        for place, i in enumerate(order, start=1):
            name = at_words(ratings.players[i], width - 32)
            table.add_row(str(place), name, *(cell(i, j) for j in order[place : place + 2]))
        return table
    table = _table("stronger than", overflow="fold")
    for place in range(2, size + 1):
        table.add_column(str(place), justify="right", no_wrap=True, min_width=3)
    for place, i in enumerate(order[:-1], start=1):
        cells = [""] * (place - 1) + [cell(i, j) for j in order[place:]]
        table.add_row(str(place), at_words(ratings.players[i], room), *cells)
    return table


def _table(subject: str, gap: int = 1, **column: Any) -> Table:
    """A table whose first columns are the rank and the player."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="bold")
    table.add_column("", justify="right", style="dim", no_wrap=True)
    table.add_column(subject, **column)
    return table


def print_ratings(ratings: Ratings, superiority: bool = True) -> None:
    """Both tables, or the ratings alone, how they were made, and what a reader must know, on stdout."""
    from rich.text import Text

    from palaestra.cli.output import stdout
    from palaestra.live.ratings import how_in_words

    console = stdout()
    console.print(ratings_table(ratings, console.width))
    if superiority and sum(ratings.games > 0) > 1:
        console.print(Text("\nLikelihood of superiority, in percent", style="bold"))
        console.print(superiority_table(ratings, console.width))
    console.print(Text("\n" + how_in_words(ratings), style="dim"))
    for note in ratings.notes():
        console.print(Text(f"Note: {note}.", style="yellow"))
