"""Agents that come with the package: for some games a network and its card, two files of one name in `agents`.

A card says by which command the network was made, how the agent searches, and how strong it is. A network that is not
the one of its card is refused. Reading a card loads no network. What makes these files is `palaestra.lab.agent_maker`.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from palaestra.base.errors import ModelError, PlayerError
from palaestra.base.reading import parse_toml, read_bytes
from palaestra.base.suggest import did_you_mean
from palaestra.base.text import clip
from palaestra.games.base import Game

FOLDER = Path(__file__).parent / "agents"
CARD, NETWORK = ".toml", ".onnx"

LevelName = Literal["easy", "medium", "hard"]
LEVELS: tuple[LevelName, ...] = ("easy", "medium", "hard")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Elo(_Part):
    """A rating above `random`, and its 95 % interval."""

    elo: float
    plus: float
    minus: float


class Level(Elo):
    """How an agent plays at one of its strengths, and how strong it is then."""

    simulations: int = Field(ge=0)  # 0: the network alone, moves drawn from its policy
    temperature: float = Field(ge=0)


class Anchor(Elo):
    """Somebody who never changes, in the same tournament."""

    player: str


class Stage(Elo):
    """How strong the agent was on its way, with the simulations of `hard`, in the same tournament."""

    minutes: float = Field(ge=0)  # of its run
    iteration: int = Field(ge=0)


class Card(_Part):
    """What there is to say of an agent."""

    game: str
    version: int  # of the game's rules
    net: str
    start: str = ""  # what its run took its first weights from; empty: from nothing
    reward: str  # under which it plays
    sha256: str
    bytes: int
    command: str  # that makes its run again
    seed: int
    iterations: int
    games: int
    minutes: float  # that its threads computed
    threads: int
    date: str
    palaestra: str
    revision: str
    rated_games: int  # of each pairing of the tournament that gave the ratings
    mistakes: dict[str, float] = {}  # % of positions, by "positions, simulations", where an oracle knows the game
    search: dict[str, Any] = {}  # that of its self-play; the agent takes over what `players.runs.JUDGED_BY` names
    levels: dict[LevelName, Level]
    anchors: tuple[Anchor, ...] = ()
    curve: tuple[Stage, ...] = ()  # ascending; the last is `hard`

    def after(self, minutes: float) -> Stage | None:
        """The newest stage of its training at that time; None before the first one."""
        return max((one for one in self.curve if one.minutes <= minutes), key=lambda one: one.minutes, default=None)

    def text(self, level: LevelName = "hard") -> str:
        """The player's text."""
        return f"agent:{self.game}" + ("" if level == "hard" else f"(level={level})")


def read_card(path: Path) -> Card:
    """A card from its file; ModelError if it is none."""
    try:
        return Card.model_validate(parse_toml(read_bytes(path)))
    except OSError as error:
        raise ModelError(f"the card {path} cannot be read ({error.strerror})") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ModelError(f"{path} is not the card of an agent: {where}: {first['msg']}") from None
    except ValueError as error:
        raise ModelError(f"{path} is not the card of an agent: {error}") from None


@cache
def cards(folder: Path = FOLDER) -> dict[str, Card]:
    """The cards by the games' ids, in alphabetic order."""
    return {path.stem: read_card(path) for path in sorted(folder.glob(f"*{CARD}"))}


def find_card(id: str) -> Card:
    """The card of the agent for a game; PlayerError lists those that there are."""
    known = cards()
    if id not in known:
        raise PlayerError(
            f"no agent for {clip(id)} comes with the package{did_you_mean(id, known)}; there are agents for"
            f" {', '.join(known)}; to make one of your own: palaestra train GAME, and then run:NAME"
        )
    return known[id]


def agent_text(game: Game, level: LevelName) -> str | None:
    """The text of the agent that comes with the package for a game; None where there is none for these rules."""
    card = cards().get(game.id)
    return card.text(level) if card is not None and card.version == game.version else None


def network(card: Card, folder: Path = FOLDER) -> bytes:
    """The network of a card; ModelError if the file is missing, or another than that of the card."""
    path = folder / f"{card.game}{NETWORK}"
    try:
        content = read_bytes(path)
    except OSError as error:
        raise ModelError(f"the network {path} cannot be read ({error.strerror}): install the package again") from None
    if hashlib.sha256(content).hexdigest() != card.sha256:
        raise ModelError(f"{path} is not the network of its card: its SHA-256 differs; install the package again")
    return content
