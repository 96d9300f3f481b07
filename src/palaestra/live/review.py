"""A finished game looked at again: which game of a file it is, who played, and the document of its review."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from palaestra.base.errors import GameError, RecordError
from palaestra.base.reading import opened
from palaestra.games.base import Game
from palaestra.games.registry import make_stored_game
from palaestra.games.rows import ONGOING
from palaestra.lab.review import (
    Review,
    review_game,
    review_page,
    thresholds_in_words,
    value_in_words,
    verdicts_in_words,
)
from palaestra.live import html
from palaestra.live.usual import usual_adviser
from palaestra.live.words import SIDES
from palaestra.players.base import Player
from palaestra.players.registry import make_player
from palaestra.runs.pgn_games import PgnGame, stream_games

MOST_NAME = 60  # characters of a player's name that are shown


class ReviewedMoveDocument(TypedDict):
    ply: int
    side: str
    move: str
    value: float
    best: str
    best_value: float
    fall: float
    exact: bool
    verdict: str | None
    opening: bool
    line: list[str]


class ReviewDocument(TypedDict):
    """A review as JSON; values of moves are for who made them, `first_values` are the first player's."""

    file: str
    number: int
    game: str
    player: str
    seed: int
    first: str
    second: str
    result: str
    judged: str
    verdicts: dict[str, dict[str, int]]
    first_values: list[float]
    moves: list[ReviewedMoveDocument]


@dataclass(frozen=True)
class ReviewedGame:
    """What each move of a game gave away, and what would have been better."""

    review: Review
    file: str
    number: int  # in the file
    seed: int
    first: str
    second: str
    result: str

    @property
    def players(self) -> list[str]:
        return [self.first, self.second][: self.review.game.players]

    @property
    def title(self) -> str:
        return f"{self.review.game.id}, {' against '.join(self.players)}, {self.result}"

    @property
    def names(self) -> dict[str, str]:
        return {"first": self.first, "second": self.second, "result": self.result}

    def page(self) -> str:
        """One HTML page with the game to step through."""
        return review_page(self.review, self.names)

    def verdicts(self) -> list[str]:
        """ "first player: 2 mistakes", a line for each side."""
        alone = self.review.game.players == 1
        sides = ["you"] if alone else [f"{side} player" for side in SIDES]
        return [f"{side}: {verdicts_in_words(self.review, mover)}" for mover, side in enumerate(sides)]

    def document(self) -> ReviewDocument:
        found = self.review
        return {
            "file": self.file,
            "number": self.number,
            "game": found.game.id,
            "player": found.adviser,
            "seed": self.seed,
            "first": self.first,
            "second": self.second,
            "result": self.result,
            "judged": thresholds_in_words(found.game),
            "verdicts": {SIDES[mover]: found.counts(mover) for mover in range(found.game.players)},
            "first_values": found.values,
            "moves": [
                {
                    "ply": move.ply,
                    "side": SIDES[move.mover],
                    "move": move.text,
                    "value": move.value,
                    "best": move.best,
                    "best_value": move.best_value,
                    "fall": move.fall,
                    "exact": move.exact,
                    "verdict": move.verdict or None,
                    "opening": move.opening,
                    "line": list(move.line),
                }
                for move in found.moves
            ],
        }

    def rows(self) -> list[tuple[str, ...]]:
        """The moves that have a verdict: ply, side, move, value, verdict, better move, its value, the line expected."""
        game = self.review.game
        return [
            (
                str(move.ply),
                SIDES[move.mover],
                move.text,
                value_in_words(game, move.value).removeprefix("score "),
                move.verdict + (", exact" if move.exact else ""),
                move.best,
                value_in_words(game, move.best_value).removeprefix("score "),
                " ".join(move.line[1:]),
            )
            for move in self.review.moves
            if move.verdict
        ]

    def __repr__(self) -> str:
        return "\n".join([self.title, *self.verdicts()])

    def _repr_html_(self) -> str:
        titles = ("ply", "side", "move", "value", "", "better", "value", "line")
        words = html.heading(self.title) + "".join(map(html.note, self.verdicts()))
        return words + html.table(titles, self.rows()) + html.note(thresholds_in_words(self.review.game))


def review(
    file: str | Path,
    player: Player | str | None = None,
    *,
    number: int | None = None,
    game: Game | str | None = None,
    seed: int = 0,
    listen: Callable[[int, int], None] | None = None,
) -> ReviewedGame:
    """Look at a finished game of a PGN file again: mistakes and better moves, and the value from move to move.

    `number` picks one of several games, the first is 1. `game` names the rules where the file does not, or where they
    are code of one's own. `listen` hears how many positions are done, and of how many.
    """
    chosen, played = pick_game(Path(file), number)
    rules = game if isinstance(game, Game) else _rules(played, game, file)
    adviser = player if isinstance(player, Player) else make_player(player or usual_adviser(rules), rules)
    done, total = 0, len(played.moves) + 1

    def count() -> None:
        nonlocal done
        done += 1
        if listen is not None:
            listen(done, total)

    try:
        found = review_game(rules, played, adviser, seed, count)
    except RecordError as error:
        raise RecordError(f"{file}, game {chosen}: {error}") from None
    return ReviewedGame(found, str(file), chosen, seed, *_names(played, found))


def pick_game(file: Path, number: int | None) -> tuple[int, PgnGame]:
    """The game of this number and the number; without one the file must hold a single game."""
    try:
        with opened(file) as source:
            last, found = 0, None
            for count, one in enumerate(stream_games(source, str(file)), start=1):
                if count == (number or 1):
                    found = one
                if number is None and count == 2:
                    raise RecordError(f"{file} holds several games; say which one, for example --number 2")
                last = count
                if found is not None and number is not None:
                    break
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise RecordError(f"cannot read {file} ({reason}); give a PGN file") from None
    if found is None:
        held = f"{last} {'game' if last == 1 else 'games'}" if last else "no game"
        raise RecordError(f"{file} holds {held}" + (f"; --number {number} is none of them" if last else ""))
    return number or 1, found


def _rules(played: PgnGame, game: str | None, file: str | Path) -> Game:
    """The rules that the user names, or those of the file: whose words load no code."""
    named = played.tags.get("Variant", "")
    if not named and game is None:
        raise RecordError(f"{file} does not say which game it is; say it yourself, for example --game connect_four-6x7")
    try:
        return make_stored_game(named, str(file), given=game)
    except GameError as error:
        own = (
            "" if game is not None or "--game" in str(error) else "; if the rules are your own, add --game my_game:GAME"
        )
        raise RecordError(f"{file}: {error}{own}") from None


def _names(played: PgnGame, found: Review) -> tuple[str, str, str]:
    """Players and result in printable letters: a file may hold any. One player's result is the score."""
    result = played.result
    score = int(found.game.outcome(found.states[-1][None])[0])
    if found.game.players == 1 and score != ONGOING:
        result = f"score {score}"
    first, second = played.tags.get("White", "?"), played.tags.get("Black", "?")
    return _shown(first), _shown(second), _shown(result)


def _shown(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text[:MOST_NAME])
