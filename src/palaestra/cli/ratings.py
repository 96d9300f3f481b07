"""Ratings in the terminal, and the options that decide how they are made; shared by the verbs that rate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from palaestra.base.errors import ConfigError

if TYPE_CHECKING:
    from rich.table import Table

    from palaestra.arena.ratings import RatingConfig, Ratings

FIT = "fit"
FIGURES = 43  # columns of a rank, an Elo, its interval, games, score and draws

Advantage = Annotated[str, typer.Option("--advantage", metavar="ELO|fit", help="What moving first is worth.")]
Draw = Annotated[str, typer.Option("--draw", metavar="ELO|fit", help="The larger, the more draws are expected.")]
Prior = Annotated[str, typer.Option("--prior", metavar="DRAWS", help="Virtual draws of a player; fewer pull less.")]
Anchor = Annotated[
    str | None,
    typer.Option("--anchor", metavar="PLAYER=ELO", help="Fixes a player's Elo, as random=0; else the mean is 0."),
]
ADVANTAGE, DRAW, PRIOR = "32.8", "97.3", "2"  # BayesElo's


def rating_config(
    advantage: str = ADVANTAGE, draw: str = DRAW, prior: str = PRIOR, anchor: str | None = None
) -> RatingConfig:
    """The configuration that the options describe; ConfigError names the option."""
    from pydantic import ValidationError

    from palaestra.arena.ratings import RatingConfig
    from palaestra.base.fields import accepted

    given = {"advantage": advantage, "draw": draw, "prior": prior}
    usual = {"advantage": ADVANTAGE, "draw": DRAW, "prior": PRIOR}

    def refused(name: str) -> ConfigError:
        words = accepted(RatingConfig.model_fields[name]) + (f", or {FIT}" if name != "prior" else "")
        return ConfigError(f"--{name} is {given[name]!r}; it must be {words}; for example {usual[name]}")

    values: dict[str, Any] = {name: _number(text) for name, text in given.items()}
    for name, text in given.items():
        if values[name] is None and (text.strip() != FIT or name == "prior"):
            raise refused(name)
    try:
        return RatingConfig(**values, anchor=read_anchor(anchor))
    except ValidationError as error:
        raise refused(str(error.errors()[0]["loc"][0])) from None


def read_anchor(text: str | None) -> tuple[str, float] | None:
    """("uct(simulations=50)", 100.0) from "uct(simulations=50)=100": the last = parts the player from its Elo."""
    if text is None:
        return None
    player, _, elo = text.rpartition("=")
    number = _number(elo)
    if not player.strip() or number is None:
        raise ConfigError(f"--anchor is {text!r}; write a player, = and its Elo, for example --anchor random=0")
    return player.strip(), number


def _number(text: str) -> float | None:
    """A finite number; None where the text is none."""
    import math

    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def ratings_table(ratings: Ratings, width: int = 80) -> Table:
    """Rank, player, Elo with its 95 % interval, games, score and draws, best first; groups apart."""
    from palaestra.cli.output import at_words
    from palaestra.live.words import percent

    table = _table("player", gap=2, overflow="fold")
    for heading in ("Elo", "+", "−", "games", "score", "draws"):
        table.add_column(heading, justify="right", no_wrap=True)
    games, draws, score = ratings.games, ratings.draws, ratings.score
    before = 0
    for place, i in enumerate(ratings.order(), start=1):
        name = at_words(ratings.players[i], width - FIGURES)
        if not games[i]:
            table.add_row("", name, "–", "", "", "0")
            continue
        if ratings.groups[i] != before:
            table.add_row()
        before = ratings.groups[i]
        figures = (f"{round(float(x))}".replace("-", "−") for x in (ratings.elo[i], ratings.plus[i], ratings.minus[i]))
        table.add_row(str(place), name, *figures, str(games[i]), percent(score[i]), percent(draws[i] / games[i]))
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

    console = stdout()
    console.print(ratings_table(ratings, console.width))
    if superiority and sum(ratings.games > 0) > 1:
        console.print(Text("\nLikelihood of superiority, in percent", style="bold"))
        console.print(superiority_table(ratings, console.width))
    config = ratings.config
    level = "the mean is 0" if config.anchor is None else f"{config.anchor[0]} is {config.anchor[1]:g}"
    advantage = f"{ratings.advantage:.1f}{' (fitted)' if config.advantage is None else ''}"
    draw = f"{ratings.draw_elo:.1f}{' (fitted)' if config.draw is None else ''}"
    how = f"Bayesian Elo, {level}, 95 % intervals; advantage {advantage}, draw {draw}, prior {config.prior:g}."
    console.print(Text("\n" + how, style="dim"))
    for note in ratings.notes():
        console.print(Text(f"Note: {note}.", style="yellow"))
