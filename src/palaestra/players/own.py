"""Players of the user's own, `module:attribute(arguments)`: loaded, and watched while they play.

The attribute is a class or a function that is called with the game and the arguments of the text, and gives a Player;
or a model of arguments as the built-in kinds are (`players.kinds.Kind`), which then checks their types and ranges.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from palaestra.base.errors import PlayerError
from palaestra.base.streams import Rng
from palaestra.base.text_model import fill
from palaestra.base.types import Int8s, Int32s, Int64s
from palaestra.base.user_code import call, in_words, load
from palaestra.games.base import Game
from palaestra.players.base import EVERY, Analysis, Choice, Player
from palaestra.players.kinds import Kind
from palaestra.players.text import PLAYERS, parse_player


class Own(Kind):
    """A player of your own."""

    name = "module:attribute"
    example = "my_players:Careful(depth=3)"

    written: str

    def __str__(self) -> str:
        return str(parse_player(self.written))

    def build(self, game: Game, text: str) -> Player:
        parts = parse_player(self.written)
        name = f"{parts.name}:{parts.subject}"
        made: Any = load(name, PlayerError, "a player of your own")
        expected = f"{name}(game, …) gives a palaestra.players.base.Player"
        if inspect.isclass(made) and issubclass(made, Kind):
            with in_words(name, PlayerError, expected):
                player = fill(made, replace(parts, subject=None), PLAYERS).build(game, text)
        else:
            player = call(made, parts, (game,), PlayerError, expected)
        if not isinstance(player, Player):
            raise PlayerError(f"{name} gave {type(player).__name__}, not a palaestra.players.base.Player")
        player.text = text
        return OwnPlayer(player, name)


class OwnPlayer(Player):
    """The user's player: what it answers is looked at, and what goes wrong in it is one line."""

    def __init__(self, inner: Player, name: str) -> None:
        super().__init__(inner.game, inner.text)
        self.inner, self.name = inner, name

    def act(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Int32s:
        return self.choose(states, rng, slots).actions

    def choose(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Choice:
        count = len(states)
        with in_words(self.name, PlayerError, f"act gives one legal action for each of {count} states"):
            choice = self.inner.choose(states, rng, slots)
            if not isinstance(choice, Choice):
                raise PlayerError(f"{self.name} gave {type(choice).__name__}, not a palaestra.players.base.Choice")
            actions = np.asarray(choice.actions)
            if actions.shape != (count,) or actions.dtype.kind not in "iu":
                raise PlayerError(
                    f"{self.name} gave {actions.dtype}{list(actions.shape)} for {count} states; expected: one legal"
                    f" action for each, int32[{count}]"
                )
            self._refuse_illegal(states, actions)
            return Choice(actions.astype(np.int32), choice.values, choice.proven)

    def _refuse_illegal(self, states: Int8s, actions: Int32s) -> None:
        counts, legal = self.game.legal(states)
        fits = (legal == actions[:, None]) & (np.arange(legal.shape[1]) < counts[:, None])
        if not fits.any(axis=1).all():
            row = int(np.argmin(fits.any(axis=1)))
            raise PlayerError(
                f"{self.name} answered with the illegal action {actions[row]}; legal there are"
                f" {', '.join(map(str, legal[row, : min(counts[row], 12)]))}"
            )

    def forget(self, slots: Int64s | None = None) -> None:
        with in_words(self.name, PlayerError, "forget(slots) drops what was kept for these games"):
            self.inner.forget(slots)

    @property
    def network_seconds(self) -> float | None:
        return self.inner.network_seconds

    def analyse(self, state: Int8s, rng: Rng) -> Analysis:
        with in_words(self.name, PlayerError, "analyse(state, rng) gives a palaestra.players.base.Analysis"):
            return self._checked(state, self.inner.analyse(state, rng))

    def thoughts(self, state: Int8s, rng: Rng, every: float = EVERY) -> Iterator[Analysis]:
        with in_words(self.name, PlayerError, "thoughts(state, rng, every) gives palaestra.players.base.Analysis"):
            for found in self.inner.thoughts(state, rng, every):
                yield self._checked(state, found)

    def _checked(self, state: Int8s, found: Analysis) -> Analysis:
        if not isinstance(found, Analysis):
            raise PlayerError(f"{self.name} gave {type(found).__name__}, not a palaestra.players.base.Analysis")
        self._refuse_illegal(state[None], np.array([found.action], dtype=np.int32))
        return found
