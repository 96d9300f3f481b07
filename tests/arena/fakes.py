"""Players for tests of the arena, each with one habit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from palaestra.base.streams import Rng, seeds_from
from palaestra.base.types import Int8s, Int32s, Int64s
from palaestra.games.base import Game, pick_rows
from palaestra.players.base import Player
from palaestra.runs.game_record import GameRecord


class Drawing(Player):
    """Draws a legal move from each row's stream, and remembers how it was called."""

    def __init__(self, game: Game, text: str = "drawing") -> None:
        super().__init__(game, text)
        self.batches: list[list[int]] = []
        self.forgotten: list[int] = []

    def act(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Int32s:
        assert slots is not None and len(slots) == len(states)
        self.batches.append(slots.tolist())
        counts, actions = self.game.legal(states)
        return np.asarray(pick_rows(counts, actions, seeds_from(rng, len(states)), np.arange(len(states))))

    def forget(self, slots: Int64s | None = None) -> None:
        assert slots is not None
        self.forgotten += slots.tolist()


class Lowest(Player):
    """Always the legal move with the lowest number."""

    def act(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Int32s:
        return self.game.legal(states)[1][:, 0].copy()


class Faulty(Lowest):
    """Does what `habit` says with the slots of a batch, before or instead of answering."""

    def __init__(self, game: Game, habit: Callable[[list[int]], object]) -> None:
        super().__init__(game, "faulty")
        self.habit = habit

    def act(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Int32s:
        assert slots is not None
        answer = self.habit(slots.tolist())
        return super().act(states, rng, slots) if answer is None else np.asarray(answer)


def counted(number: int, points: float, moves: tuple[int, ...] = ()) -> GameRecord:
    """Game `number` of a match, in which A made these points."""
    return GameRecord(number, 0, moves, 0, 1, points if number % 2 == 0 else 1.0 - points)
