"""Small games and slow tools for tests of searches: a one-player tree, a game without compiled rules, a stream."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from palaestra.base.jit import kernel
from palaestra.base.types import Float32s, Int8s, Int32s, Int64s
from palaestra.games.base import Game
from palaestra.games.kernel_game import KernelGame, Rules, state_bytes
from palaestra.games.rows import HEADER, ONGOING, ply

BRANCHES = 4
DEPTH = 5


@kernel
def start(state: Int8s, choice: int, p: Int64s) -> None:
    """The root has an empty path."""


@kernel
def scatter(state: Int8s, p: Int64s) -> int:
    """A number that depends on the path from the root and on the seed p[0]."""
    word = p[0] + 1
    for i in range(ply(state)):
        word = ((word * 31 + state[HEADER + i] + 1) * 48271) % 2147483647
    return word


@kernel
def play(state: Int8s, action: int, p: Int64s) -> int:
    """Outcomes 0 … 49; one node in six from depth 3 on ends early."""
    made = ply(state)
    state[HEADER + made - 1] = action % BRANCHES
    word = scatter(state, p)
    if made == DEPTH or (made >= 3 and word % 6 == 0):
        return (word // 7) % 50
    return ONGOING


@kernel
def legal(state: Int8s, actions: Int32s, p: Int64s) -> int:
    """One to four branches; an action tells the depth as well, so that its code means one thing."""
    offset = scatter(state, p) % BRANCHES
    count = 0
    for branch in range(BRANCHES):
        if branch == offset or (scatter(state, p) >> (8 + branch)) % 3 != 0:
            actions[count] = ply(state) * BRANCHES + branch
            count += 1
    return count


@kernel
def observe(state: Int8s, planes: Float32s, p: Int64s) -> None:
    """Nothing to see."""


RULES = Rules(start, play, legal, observe)


def tree_game(seed: int) -> KernelGame:
    """A one-player game: a random tree of depth at most 5 with a score at every leaf."""
    return KernelGame(
        id=f"tree-{seed}",
        rules=RULES,
        params=np.array([seed], dtype=np.int64),
        players=1,
        num_actions=BRANCHES * DEPTH,
        max_plies=DEPTH,
        max_legal=BRANCHES,
        state_size=state_bytes(DEPTH),
        observation_shape=(1, 1, 1),
        tiebreak="score",
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class Uncompiled(Game):
    """Any game behind the bare interface, as one written in ordinary Python is seen by a search."""

    inner: Game

    def start(self, choices: Int64s) -> Int8s:
        return self.inner.start(choices)

    def advance(self, states: Int8s, actions: Int32s) -> Int8s:
        return self.inner.advance(states, actions)

    def legal(self, states: Int8s) -> tuple[Int32s, Int32s]:
        return self.inner.legal(states)

    def observe(self, states: Int8s) -> Float32s:
        return self.inner.observe(states)


def uncompiled(game: Game) -> Uncompiled:
    return Uncompiled(
        inner=game,
        id=game.id,
        players=game.players,
        num_actions=game.num_actions,
        max_plies=game.max_plies,
        max_legal=game.max_legal,
        state_size=game.state_size,
        observation_shape=game.observation_shape,
        tiebreak=game.tiebreak,
    )


class Stream:
    """splitmix64 in plain integers: the numbers of `palaestra.base.streams`, one call at a time."""

    def __init__(self, seed: int) -> None:
        self.word = seed

    def next_word(self) -> int:
        self.word = (self.word + 0x9E3779B97F4A7C15) % 2**64
        z = self.word
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        return ((self.next_word() >> 32) * n) >> 32

    def uniform(self) -> float:
        return ((self.next_word() >> 11) + 0.5) / 2**53


def legal_list(game: Game, state: Int8s) -> list[int]:
    counts, actions = game.legal(state[None, :])
    return actions[0, : counts[0]].tolist()


def after(game: Game, state: Int8s, action: int) -> Int8s:
    return game.advance(state[None, :], np.array([action], dtype=np.int32))[0]


def outcome_of(game: Game, state: Int8s) -> int | None:
    """The first player's outcome, or None before the end."""
    outcome = int(game.outcome(state[None, :])[0])
    return None if outcome == ONGOING else outcome


def leaves(game: Game) -> dict[tuple[int, ...], int]:
    """Every line of a small game from its first position, with its outcome."""
    found: dict[tuple[int, ...], int] = {}
    waiting: list[tuple[tuple[int, ...], Int8s]] = [((), game.initial(1)[0])]
    while waiting:
        line, state = waiting.pop()
        outcome = outcome_of(game, state)
        if outcome is not None:
            found[line] = outcome
            continue
        waiting += [((*line, action), after(game, state, action)) for action in legal_list(game, state)]
    return found


def random_positions(game: Game, count: int, seed: int) -> Int8s:
    """Positions of random games that are not over, at all depths."""
    rng = np.random.default_rng(seed)
    positions: list[Int8s] = []
    while len(positions) < count:
        state = game.initial(1, rng)[0]
        game_states: list[Int8s] = []
        while outcome_of(game, state) is None:
            game_states.append(state)
            state = after(game, state, int(rng.choice(legal_list(game, state))))
        positions.append(game_states[rng.integers(len(game_states))])
    return np.stack(positions)
