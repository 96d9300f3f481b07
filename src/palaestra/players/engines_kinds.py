"""Programs as kinds of players: `gtp:COMMAND` and `uci:COMMAND`, which only the user's own words start.

A command that holds brackets stands in quotes: gtp(command="palaestra gtp hex-5x5 --player 'uct(ms=50)'").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field, model_validator

from palaestra.base.text import clip
from palaestra.players.kinds import MAX_MS, MAX_SIMULATIONS, Kind

if TYPE_CHECKING:
    from palaestra.games.base import Game
    from palaestra.players.base import Player

USUAL_MS = 1000.0  # of a program that is given no other limit


class Gtp(Kind):
    """A program that speaks GTP 2, started as a process; only where you type it."""

    name = "gtp"
    example = "gtp:gnugo --mode gtp"
    subject = "command"

    command: str = Field(min_length=1)  # the program and its arguments, started without a shell
    ms: float | None = Field(None, gt=0, le=MAX_MS)  # a move, in whole seconds rounded up; none: as the program likes
    wait: float = Field(60.0, gt=0, le=86_400)  # seconds for an answer in a game, then it counts as hanging

    def build(self, game: Game, text: str) -> Player:
        from palaestra.players.engines_gtp import GtpPlayer

        return GtpPlayer(game, text, self.command, self.wait, self.ms)


class Uci(Kind):
    """A program that speaks UCI, started as a process; only where you type it."""

    name = "uci"
    example = "uci:stockfish(ms=100)"
    subject = "command"

    command: str = Field(min_length=1)  # the program and its arguments, started without a shell
    ms: float | None = Field(None, gt=0, le=MAX_MS)  # a move; 1000 when no limit is given
    nodes: int | None = Field(None, ge=1, le=MAX_SIMULATIONS)  # a move
    depth: int | None = Field(None, ge=1, le=1000)  # plies
    options: str | None = Field(None, min_length=1)  # set before the first game: "Skill Level=3; Hash=16"
    wait: float = Field(60.0, gt=0, le=86_400)  # seconds for an answer in a game, beyond ms

    @model_validator(mode="before")
    @classmethod
    def _limit(cls, data: Any) -> Any:
        if isinstance(data, dict) and not {"ms", "nodes", "depth"} & data.keys():
            return {**data, "ms": USUAL_MS}
        return data

    @model_validator(mode="after")
    def _readable_options(self) -> Uci:
        read_options(self.options or "")
        return self

    def build(self, game: Game, text: str) -> Player:
        from palaestra.players.engines_uci import UciPlayer

        limits = {
            "movetime": None if self.ms is None else max(1, round(self.ms)),
            "nodes": self.nodes,
            "depth": self.depth,
        }
        limit = " ".join(f"{name} {value}" for name, value in limits.items() if value is not None)
        options = read_options(self.options or "")
        return UciPlayer(game, text, self.command, self.wait, limit, (self.ms or 0.0) / 1000, options)


def read_options(text: str) -> dict[str, str]:
    """`Skill Level=3; Hash=16` as names and values; ValueError says what is wrong."""
    options: dict[str, str] = {}
    for piece in filter(None, (piece.strip() for piece in text.split(";"))):
        name, equals, value = (part.strip() for part in piece.partition("="))
        if not (equals and name and value):
            raise ValueError(f"options is {clip(text)}; it must be NAME=VALUE; NAME=VALUE; …")
        options[name] = value
    return options
