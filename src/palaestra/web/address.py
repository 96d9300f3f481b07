"""What the address of the page "Play" holds: game, players, moves, and which of the positions is shown.

An address may come from anywhere; all of it is read, and checked, before it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from palaestra.base.errors import ConfigError
from palaestra.base.text import clip, refuse_long, whole_number
from palaestra.games.base import MOST_MOVES

KNOWN = ("game", "first", "second", "moves", "at", "seed", "role", "think")
USUAL_GAME = "connect_four-6x7"


@dataclass(frozen=True)
class Address:
    """Where a game stands. `players` are texts; what is not said is None and left to the page."""

    game: str = USUAL_GAME
    players: tuple[str | None, str | None] = (None, None)
    moves: str = ""  # all moves of the line
    at: int | None = None  # the ply that is shown; the last one by default
    seed: int | None = None
    role: str | None = None  # of the person, in games of several roles
    think: str | None = None  # the adviser that thinks

    @classmethod
    def read(cls, given: Mapping[str, str]) -> Address:
        """The address that a browser names; ConfigError for what is none of it."""
        for name, value in given.items():
            if name not in KNOWN:
                raise ConfigError(f"the address has {clip(name)}, which is not known; it may have {', '.join(KNOWN)}")
            refuse_long(value, f"{name} in an address", ConfigError, MOST_MOVES if name == "moves" else 500)
        return cls(
            game=given.get("game") or USUAL_GAME,
            players=(given.get("first") or None, given.get("second") or None),
            moves=given.get("moves", ""),
            at=_number(given, "at"),
            seed=_number(given, "seed"),
            role=given.get("role") or None,
            think=given.get("think") or None,
        )

    def __str__(self) -> str:
        """ "/play?game=…", without what is not said."""
        said = {
            "game": self.game,
            "first": self.players[0],
            "second": self.players[1],
            "role": self.role,
            "think": self.think,
            "seed": self.seed or None,
            "at": self.at,
            "moves": self.moves or None,
        }
        shown = {key: str(value) for key, value in said.items() if value is not None}
        return "/play?" + urlencode(shown, quote_via=quote, safe="(),:@=*")


def _number(given: Mapping[str, str], name: str) -> int | None:
    text = given.get(name)
    if text is None:
        return None
    if (number := whole_number(text)) is None:
        raise ConfigError(f"{name} in the address is {clip(text)}; it must be a whole number such as 0")
    return number
