"""What a network has to know about a game: its shapes and its outcomes, none of its rules."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from palaestra.base.errors import ConfigError, ModelError
from palaestra.base.reading import parse_json
from palaestra.base.types import Float32s
from palaestra.games.base import Game
from palaestra.rewards.outcomes import OutcomeSpace

WIN_DRAW_LOSS = OutcomeSpace(tiebreak="none", max_plies=1, lowest=-1, highest=1)


MOST_PLANES = 1024  # of what a stranger's file says


def kind_of(id: str) -> str:
    """The game without the size of its board: `gobang-5` for gobang-9x9-5, `othello` for othello-8x8."""
    return re.sub(r"-[0-9]+x[0-9]+", "", id, count=1)


@dataclass(frozen=True)
class Shared:
    """How a network that learns several kinds of games sees each of them.

    The planes of a game are filled up with empty ones; then comes a plane for each kind, full for the game that it is.
    Actions are cells, and a pass where any of the games has one.
    """

    planes: int  # of the game with the most
    kinds: tuple[str, ...]
    has_pass: bool

    @classmethod
    def among(cls, games: Sequence[Game]) -> Shared | None:
        """What these games share; None if they are of one kind. ConfigError if they do not share their actions."""
        facts = [GameFacts.of(game) for game in games]
        kinds = tuple(dict.fromkeys(kind_of(one.id) for one in facts))
        if len(kinds) < 2:
            return None
        for one in facts:
            if one.layout != "cells" or one.action_planes != 1:
                others = ", ".join(kind for kind in kinds if kind != kind_of(one.id))
                raise ConfigError(
                    f"{one.id} cannot share a network with {others}:"
                    " only games whose actions are the cells of the board share them, such as gobang, hex and othello"
                )
        return cls(max(one.observation_shape[0] for one in facts), kinds, any(one.has_pass for one in facts))

    @classmethod
    def from_text(cls, text: str, name: str) -> Shared:
        """What `text` wrote; ModelError, which names the file, for anything else."""
        try:
            planes, kinds, has_pass = parse_json(text.encode())
            if not (type(planes) is int and 0 < planes <= MOST_PLANES and type(has_pass) is bool and len(kinds) > 1):
                raise ValueError
            return cls(planes, tuple(map(str, kinds)), has_pass)
        except (ValueError, TypeError):
            raise ModelError(f"{name}: what it says about the games that it learned cannot be read") from None

    @property
    def text(self) -> str:
        return json.dumps([self.planes, list(self.kinds), self.has_pass])

    def fill(self, game: Game, planes: Float32s) -> Float32s:
        """float32[B, planes + kinds, H, W] of a game's own observations."""
        count, own, height, width = planes.shape
        filled = np.zeros((count, self.planes + len(self.kinds), height, width), dtype=np.float32)
        filled[:, :own] = planes
        filled[:, self.planes + self.kinds.index(kind_of(game.id))] = 1.0
        return filled


@dataclass(frozen=True)
class GameFacts:
    """All that a network has to know about a game."""

    id: str
    version: int
    observation_shape: tuple[int, int, int]
    num_actions: int
    action_places: tuple[int, ...] | None = None  # plane · cells + cell of each action, if they are only some of those
    space: OutcomeSpace = WIN_DRAW_LOSS
    action_layout: str = ""  # as the game declares it
    shared: Shared | None = None  # where the network learns several kinds of games

    @classmethod
    def of(cls, game: Game, shared: Shared | None = None) -> Self:
        """The facts of a game, or of what a network that learns several games sees of it."""
        space = OutcomeSpace.of(game)
        if shared is not None:
            _, height, width = game.observation_shape
            seen = (shared.planes + len(shared.kinds), height, width)
            actions = height * width + shared.has_pass
            return cls(game.id, game.version, seen, actions, None, space, "cells", shared)
        shape, layout = game.observation_shape, game.action_layout
        return cls(game.id, game.version, shape, game.num_actions, game.action_places, space, layout)

    @property
    def cells(self) -> int:
        return self.observation_shape[1] * self.observation_shape[2]

    @property
    def action_planes(self) -> int:
        """How many planes of cells the actions are (action = plane · cells + cell), or 0 if they are something else."""
        if self.action_places is not None:
            return max(self.action_places) // self.cells + 1
        planes, rest = divmod(self.num_actions, self.cells)
        return planes if rest == 0 or self.has_pass else 0

    @property
    def layout(self) -> str:
        """Where actions lie on a board of any size: cells, columns, global (on none), places (some cells), or ""."""
        if self.action_places is not None:
            return "places"
        return self.action_layout or ("cells" if self.action_planes else "")

    @property
    def has_pass(self) -> bool:
        """Whether one more action follows the planes of cells."""
        if self.action_places is not None:
            return False
        return self.cells > 1 and self.num_actions > self.cells and self.num_actions % self.cells == 1
