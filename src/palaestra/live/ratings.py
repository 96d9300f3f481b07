"""Ratings of players, and the cross table they come from: documents, sentences, tables for notebooks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypedDict

from palaestra.arena.crosstable import Crosstable
from palaestra.arena.ratings import JOINT_PLAYERS, RatingConfig, Ratings, Results
from palaestra.arena.ratings import rate as rate_results
from palaestra.arena.statistics import score_of
from palaestra.base.errors import ConfigError, RecordError
from palaestra.live import html
from palaestra.live.defaults import ADVANTAGE, DRAW, PRIOR
from palaestra.live.words import percent
from palaestra.runs.pgn_results import ResultReader

FIT = "fit"
JSON_PLAYERS = 100  # with more, the matrix of all pairs is written only if it is asked for


class RatingsDocument(TypedDict):
    """The ratings of a file of games; `superiority` has rows in the order of `ratings`."""

    ratings: list[dict[str, Any]]
    advantage: float
    draw: float
    games: int
    skipped: dict[str, int]
    superiority: list[list[float]] | None
    notes: list[str]


@dataclass(frozen=True)
class RatedPlayers:
    """Bayesian Elo of the players of some games."""

    ratings: Ratings
    name: str  # of the file
    games: int
    skipped: Mapping[str, int] = field(default_factory=dict)  # reason -> games that were left out

    @property
    def title(self) -> str:
        games = f"{self.games:,} game{'s' if self.games > 1 else ''}"
        return f"{self.name}: {games} of {len(self.ratings.players):,} players"

    @property
    def skipped_in_words(self) -> str:
        return skipped_in_words(self.skipped)

    def document(self, superiority: bool = False) -> RatingsDocument:
        """The ratings as JSON, best player first; the matrix of all pairs where there are few players."""
        order = self.ratings.order()
        small = superiority or len(order) <= JSON_PLAYERS
        return {
            "ratings": self.ratings.as_json(),
            "advantage": self.ratings.advantage,
            "draw": self.ratings.draw_elo,
            "games": self.games,
            "skipped": dict(self.skipped),
            "superiority": self.ratings.superiority()[order][:, order].tolist() if small else None,
            "notes": self.ratings.notes(),
        }

    def __repr__(self) -> str:
        lines = [f"  {' '.join(cells)}" for cells in _text_rows(rating_rows(self.ratings))]
        return "\n".join([self.title, *lines, how_in_words(self.ratings)])

    def _repr_html_(self) -> str:
        return html.heading(self.title) + ratings_html(self.ratings)


def rate(
    file: str | Path,
    *,
    advantage: float | Literal["fit"] = ADVANTAGE,
    draw: float | Literal["fit"] = DRAW,
    prior: float = PRIOR,
    anchor: tuple[str, float] | str | None = None,
    game: str | None = None,
    skip: bool = False,
) -> RatedPlayers:
    """Bayesian Elo, with 95 % intervals, of the players of a PGN file. Moves are not read, so no rules are needed.

    `anchor` fixes a player's Elo: ("random", 0) or "random=0"; without one the mean is 0. `game` rates games of this
    Variant only. Games without two players or one result are refused, or with `skip` left out and counted.
    """
    from palaestra.base.reading import opened

    config = rating_config(advantage, draw, prior, anchor)
    try:
        with opened(file) as source:
            return rate_games(source, str(file), config, game=game, skip=skip)
    except OSError as error:
        raise RecordError(f"cannot read {file}: {(error.strerror or str(error)).lower()}") from None


def rate_games(
    source: BinaryIO,
    name: str,
    config: RatingConfig,
    *,
    game: str | None = None,
    skip: bool = False,
    superiority: bool = False,
    listen: Callable[[int], None] | None = None,
) -> RatedPlayers:
    """The ratings of an opened PGN file; `listen` hears how many bytes were read. `superiority`: refuse too many."""
    reader = ResultReader(source, name, variant=game, skip=skip, listen=listen)
    results = Results.count(reader)
    if not reader.games:
        left_out = f"; left out: {skipped_in_words(reader.skipped)}" if reader.skipped else ""
        raise RecordError(f"{name} has no games to rate{left_out}; a game names two players and a result")
    if superiority and len(results.players) > JOINT_PLAYERS:
        raise ConfigError(
            f"--superiority compares up to {JOINT_PLAYERS:,} players with each other, and here are "
            f"{len(results.players):,}; leave it out"
        )
    return RatedPlayers(rate_results(results, config), name, reader.games, reader.skipped)


def rating_config(
    advantage: float | str = ADVANTAGE,
    draw: float | str = DRAW,
    prior: float | str = PRIOR,
    anchor: tuple[str, float] | str | None = None,
) -> RatingConfig:
    """The configuration that numbers, their texts or "fit" describe; ConfigError names the option."""
    from pydantic import ValidationError

    from palaestra.base.fields import accepted

    given = {"advantage": advantage, "draw": draw, "prior": prior}
    usual = {"advantage": ADVANTAGE, "draw": DRAW, "prior": PRIOR}

    def refused(name: str) -> ConfigError:
        words = accepted(RatingConfig.model_fields[name]) + (f", or {FIT}" if name != "prior" else "")
        return ConfigError(f"--{name} is {str(given[name])!r}; it must be {words}; for example {usual[name]:g}")

    values: dict[str, Any] = {name: _number(value) for name, value in given.items()}
    for name, value in given.items():
        if values[name] is None and (str(value).strip() != FIT or name == "prior"):
            raise refused(name)
    try:
        return RatingConfig(**values, anchor=read_anchor(anchor) if isinstance(anchor, str) else anchor)
    except ValidationError as error:
        raise refused(str(error.errors()[0]["loc"][0])) from None


def read_anchor(text: str) -> tuple[str, float]:
    """("uct(simulations=50)", 100.0) from "uct(simulations=50)=100": the last = parts the player from its Elo."""
    player, _, elo = text.rpartition("=")
    number = _number(elo)
    if not player.strip() or number is None:
        raise ConfigError(f"--anchor is {text!r}; write a player, = and its Elo, for example --anchor random=0")
    return player.strip(), number


def _number(given: float | str) -> float | None:
    """A finite number; None where the text is none."""
    try:
        number = float(given)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def rating_rows(ratings: Ratings) -> list[tuple[str, ...]]:
    """Rank, player, Elo with its 95 % interval, games, score, the opponents' mean and draws, best first.

    The columns of Table A.3; nothing but 0 games without any.
    """
    games, draws, score, opponents = ratings.games, ratings.draws, ratings.score, ratings.opponents
    rows: list[tuple[str, ...]] = []
    for place, i in enumerate(ratings.order(), start=1):
        if not games[i]:
            rows.append(("", ratings.players[i], "–", "", "", "0", "", "", ""))
            continue
        numbers = (ratings.elo[i], ratings.plus[i], ratings.minus[i], opponents[i])
        *figures, faced = (f"{round(float(x))}".replace("-", "−") for x in numbers)
        row = (*figures, str(games[i]), percent(score[i]), faced, percent(draws[i] / games[i]))
        rows.append((str(place), ratings.players[i], *row))
    return rows


def how_in_words(ratings: Ratings) -> str:
    """How the ratings were made."""
    config = ratings.config
    level = "the mean is 0" if config.anchor is None else f"{config.anchor[0]} is {config.anchor[1]:g}"
    advantage = f"{ratings.advantage:.1f}{' (fitted)' if config.advantage is None else ''}"
    draw = f"{ratings.draw_elo:.1f}{' (fitted)' if config.draw is None else ''}"
    return f"Bayesian Elo, {level}, 95 % intervals; advantage {advantage}, draw {draw}, prior {config.prior:g}."


def ratings_html(ratings: Ratings) -> str:
    """The table for a notebook, with what a reader must know."""
    titles = ("player", "Elo", "+", "−", "games", "score", "oppo.", "draws")
    rows = [(f"{place} {name}".strip(), *cells) for place, name, *cells in rating_rows(ratings)]
    notes = "".join(html.note(f"Note: {note}.") for note in ratings.notes())
    return html.table(titles, rows) + html.note(how_in_words(ratings)) + notes


def crosstable_rows(table: Crosstable) -> list[tuple[str, ...]]:
    """Rank and player, percents against each other player, and the score of all games, best first."""
    order = table.standings()
    rows = []
    for place, row in enumerate(order, start=1):
        low, high = table.interval(row)
        score = f"{100 * table.score(row):.1f} ({100 * low:.1f}–{100 * high:.1f})" if any(table.total(row)) else ""
        cells = (_percent_against(table, row, column) for column in order)
        rows.append((f"{place} {table.players[row]}", *cells, score))
    return rows


def _percent_against(table: Crosstable, row: int, column: int) -> str:
    if row == column:
        return "·"
    tally = table.tallies.get((row, column))
    return "" if tally is None else f"{100 * score_of(*tally):.1f}"


def crosstable_html(table: Crosstable) -> str:
    titles = ("player", *(f"vs {place + 1}" for place in range(len(table.players))), "score (95 %)")
    return html.table(titles, crosstable_rows(table))


def skipped_in_words(skipped: Mapping[str, int]) -> str:
    """ "no result: 3, two results: 1"."""
    return ", ".join(f"{reason}: {count:,}" for reason, count in Counter(skipped).most_common())


def _text_rows(rows: list[tuple[str, ...]]) -> list[list[str]]:
    """Cells of equal width in every column."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [[row[i].ljust(width) if i == 1 else row[i].rjust(width) for i, width in enumerate(widths)] for row in rows]
