"""What a network has to know about a game: its shapes and its outcomes, none of its rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from palaestra.games.base import Game
from palaestra.rewards.outcomes import OutcomeSpace

WIN_DRAW_LOSS = OutcomeSpace(tiebreak="none", max_plies=1, lowest=-1, highest=1)


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

    @classmethod
    def of(cls, game: Game) -> Self:
        space = OutcomeSpace.of(game)
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
