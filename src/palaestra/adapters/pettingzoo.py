"""Our games as environments of PettingZoo: `env("connect_four-6x7")`, agents player_0 and player_1 in turn (AEC).

An observation is a dict with `observation`, the planes that the player to move sees, and `action_mask`, zeros for
whoever is not to move. Rewards come at the end, in [-1, 1]. An illegal move loses at once. Knows no players.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from palaestra.base.errors import ConfigError
from palaestra.base.packages import need
from palaestra.base.text import clip
from palaestra.base.types import Float32s, Int8s
from palaestra.base.user_code import trust
from palaestra.games.base import Game
from palaestra.games.registry import full_id, make_game
from palaestra.games.rows import ONGOING
from palaestra.rewards.base import default_reward

need("pettingzoo", "pettingzoo", "palaestra.adapters.pettingzoo", ConfigError)

from gymnasium import spaces  # noqa: E402  # only after the line above has said what is missing
from pettingzoo import AECEnv  # noqa: E402
from pettingzoo.utils import wrappers  # noqa: E402

MODES = ("human", "ansi")


def env(game: str | Game, render_mode: str | None = None) -> Any:
    """The environment with PettingZoo's usual wrappers: order of calls, actions in range, illegal moves lose."""
    guarded = wrappers.TerminateIllegalWrapper(raw_env(game, render_mode), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(guarded))


def raw_env(game: str | Game, render_mode: str | None = None) -> GameEnv:
    """The environment alone."""
    if isinstance(game, str):
        trust(game)
        game = make_game(full_id(game))
    return GameEnv(game, render_mode)


class GameEnv(AECEnv):  # type: ignore[misc]  # PettingZoo is not always there to be read
    """One game in play."""

    def __init__(self, game: Game, render_mode: str | None) -> None:
        super().__init__()
        if render_mode is not None and render_mode not in MODES:
            raise ConfigError(f"render_mode is {clip(str(render_mode))}; known: {', '.join(MODES)}")
        self.game, self.render_mode = game, render_mode
        self.metadata = {"name": game.id, "render_modes": list(MODES), "is_parallelizable": False, "render_fps": 1}
        self.possible_agents = [f"player_{number}" for number in range(game.players)]
        self._rng = np.random.default_rng()
        self._state: Int8s = game.initial(1, self._rng)
        seen = spaces.Box(-np.inf, np.inf, game.observation_shape, np.float32)
        mask = spaces.Box(0, 1, (game.num_actions,), np.int8)
        self.observation_spaces = {
            agent: spaces.Dict({"observation": seen, "action_mask": mask}) for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(game.num_actions) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> Any:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """A new game; the seed chooses among initial positions, where there are several."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._state = self.game.initial(1, self._rng)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self._mover()

    def step(self, action: int | None) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        assert action is not None
        self._cumulative_rewards[agent] = 0.0
        self._state = self.game.advance(self._state, np.array([action], dtype=np.int32))
        outcome = self.game.outcome(self._state)
        self._clear_rewards()
        if outcome[0] != ONGOING:
            value = float(default_reward(self.game).value(outcome)[0])
            for number, one in enumerate(self.possible_agents):
                self.rewards[one] = value if number == 0 else -value
            self.terminations = dict.fromkeys(self.agents, True)
            number = self.possible_agents.index(agent)
            self.agent_selection = self.possible_agents[(number + 1) % len(self.possible_agents)]
        else:
            self.agent_selection = self._mover()
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> dict[str, Any]:
        mask = np.zeros(self.game.num_actions, dtype=np.int8)
        if agent == self.agent_selection:
            counts, actions = self.game.legal(self._state)
            mask[actions[0, : counts[0]]] = 1
        planes: Float32s = self.game.observe(self._state)[0]
        return {"observation": planes, "action_mask": mask}

    def render(self) -> str | None:
        if self.render_mode is None:
            return None
        drawing = self.game.render(self._state[0])
        if self.render_mode == "ansi":
            return drawing
        print(drawing)
        return None

    def close(self) -> None:
        """There is nothing to close."""

    def _mover(self) -> str:
        return self.possible_agents[int(self.game.to_play(self._state)[0])]
