"""One side of our games as an environment of Gymnasium, against any player that a text makes.

    environment = env("connect_four-6x7", against="uct(simulations=100)", side="second")

The observation is what the player to move sees; `info["action_mask"]` says what is legal, as
`action_space.sample(mask)` takes it. The reward comes at the end, in [-1, 1]; an illegal move loses at once, and
`info["illegal"]` says so. A game for one player has no opponent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from palaestra.base.errors import ConfigError
from palaestra.base.packages import need
from palaestra.base.text import clip
from palaestra.base.types import Float32s, Int8s
from palaestra.base.user_code import trust, trust_commands
from palaestra.games.base import Game
from palaestra.games.registry import full_id, make_game
from palaestra.games.rows import ONGOING
from palaestra.players.base import Player
from palaestra.players.registry import make_player
from palaestra.rewards.base import default_reward

need("gymnasium", "pettingzoo", "palaestra.adapters.gymnasium", ConfigError)

import gymnasium  # noqa: E402  # only after the line above has said what is missing

SIDES = ("first", "second", "random")
MODES = ("human", "ansi")


def env(
    game: str | Game, against: str | Player = "random", side: str = "first", render_mode: str | None = None
) -> OneSide:
    """The environment of one side; `side` is first, second, or random for a new one in every game."""
    if isinstance(game, str):
        trust(game)
        game = make_game(full_id(game))
    if isinstance(against, str):
        trust(against)
        trust_commands(against)
        against = make_player(against, game)
    return OneSide(game, against, side, render_mode)


class OneSide(gymnasium.Env):  # type: ignore[misc]  # Gymnasium is not always there to be read
    """One game in play, seen from one side."""

    def __init__(self, game: Game, opponent: Player, side: str, render_mode: str | None = None) -> None:
        for name, given, known in (("side", side, SIDES), ("render_mode", render_mode, (None, *MODES))):
            if given not in known:
                listed = ", ".join(str(one) for one in known if one)
                raise ConfigError(f"{name} is {clip(str(given))}; known: {listed}")
        self.game, self.opponent, self.side, self.render_mode = game, opponent, side, render_mode
        self.metadata = {"render_modes": list(MODES), "render_fps": 1}
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, game.observation_shape, np.float32)
        self.action_space = gymnasium.spaces.Discrete(game.num_actions)
        self._state: Int8s = game.start(np.zeros(1, dtype=np.int64))
        self._mine = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Float32s, dict[str, Any]]:
        """A new game; the seed fixes the opponent's choices as well."""
        super().reset(seed=seed, options=options)
        while True:
            self._mine = int(self.np_random.integers(2)) if self.side == "random" else SIDES.index(self.side)
            self._mine = 0 if self.game.players == 1 else self._mine
            self._state = self.game.initial(1, self.np_random)
            self.opponent.forget()
            self._let_opponent_move()
            if not self._is_over():  # an opponent may have won before we were asked
                return self._seen(), self._info()

    def step(self, action: np.int64) -> tuple[Float32s, float, bool, bool, dict[str, Any]]:
        counts, actions = self.game.legal(self._state)
        if int(action) not in actions[0, : counts[0]]:
            return self._seen(), -1.0, True, False, {**self._info(), "illegal": True}
        self._state = self.game.advance(self._state, np.array([action], dtype=np.int32))
        self._let_opponent_move()
        if self.render_mode == "human":
            self.render()
        over = self._is_over()
        return self._seen(), self._reward() if over else 0.0, over, False, self._info()

    def render(self) -> Any:
        if self.render_mode is None:
            return None
        drawing = self.game.render(self._state[0])
        if self.render_mode == "ansi":
            return drawing
        print(drawing)
        return None

    def _let_opponent_move(self) -> None:
        while not self._is_over() and int(self.game.to_play(self._state)[0]) != self._mine:
            chosen = self.opponent.act(self._state, self.np_random, np.zeros(1, dtype=np.int64))
            self._state = self.game.advance(self._state, chosen)

    def _is_over(self) -> bool:
        return bool(self.game.outcome(self._state)[0] != ONGOING)

    def _reward(self) -> float:
        value = float(default_reward(self.game).value(self.game.outcome(self._state))[0])
        return value if self._mine == 0 else -value

    def _seen(self) -> Float32s:
        planes: Float32s = self.game.observe(self._state)[0]
        return planes

    def _info(self) -> dict[str, Any]:
        mask = np.zeros(self.game.num_actions, dtype=np.int8)
        counts, actions = self.game.legal(self._state)
        mask[actions[0, : counts[0]]] = 1
        return {"action_mask": mask}
