"""`nmcs` and `nrpa`: nested searches as players of games for one (sources: NMCS; NRPA).

A search finds a whole line of play, so a player that is told which game a position belongs to (`slots`) remembers the
best line of that game. Every `act` searches anew from where the game stands; while the game has followed the line, the
line is kept unless the search found a better one. So the final score is the best that any of the searches found.
Without slots every call stands alone. A forced move needs no search.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from palaestra.base.errors import PlayerError
from palaestra.base.streams import Rng, seeds_from
from palaestra.base.types import Int8s, Int32s, Int64s, UInt64s
from palaestra.games.base import Game
from palaestra.players.base import Analysis, Player
from palaestra.players.known_grids import KnownGrids
from palaestra.rewards.base import default_reward
from palaestra.search.code_images import shared_codes, shared_logits, symmetries_of
from palaestra.search.code_prior import code_logits
from palaestra.search.evaluator import Evaluator
from palaestra.search.nested import Found, nmcs, nrpa

MAX_LEVEL = 6


@dataclass(frozen=True)
class _Line:
    """The rest of a line and its outcome, from the position whose bytes are `state`."""

    state: bytes
    outcome: int
    actions: tuple[int, ...]


class NestedPlayer(Player):
    """What the two have in common: one player, a level, and the memory of lines."""

    def __init__(self, game: Game, text: str, level: int) -> None:
        super().__init__(game, text)
        name = text.partition("(")[0]
        if game.players != 1:
            raise PlayerError(f"{text} plays games for one player, and {game.id} is for two; try {name} on morpion-5d")
        if not 1 <= level <= MAX_LEVEL:
            raise PlayerError(
                f"{text}: level is {level}; it must be from 1 to {MAX_LEVEL}, for example {name}(level=2)"
            )
        self.level = level
        self.reward = default_reward(game)
        self._lines: dict[int, _Line] = {}

    @abstractmethod
    def search(self, state: Int8s, streams: UInt64s, stopped: threading.Event | None = None) -> Found:
        """The best line from state int8[S] that one search finds; draws from streams[0].

        It leaves the player as it was, so that several threads may search with one player. `stopped` makes it raise
        Stopped.
        """

    def act(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Int32s:
        streams = seeds_from(rng, len(states))
        chosen = np.empty(len(states), dtype=np.int32)
        counts, actions = self.game.legal(states)
        for row, state in enumerate(states):
            slot = None if slots is None else int(slots[row])
            if counts[row] == 1:
                chosen[row] = actions[row, 0]
            else:
                chosen[row] = self._best_line(state, streams[row : row + 1], slot).actions[0]
            if slot is not None:
                self._step(slot, state, int(chosen[row]))
        return chosen

    def _best_line(self, state: Int8s, streams: UInt64s, slot: int | None) -> _Line:
        """The better of a new search and the slot's line, if the game followed it; of equals the slot's."""
        key = state.tobytes()
        found = self.search(state, streams)
        kept = None if slot is None else self._lines.get(slot)
        if kept is not None and kept.state == key and kept.outcome >= found.outcome:
            return kept
        line = _Line(key, found.outcome, found.actions)
        if slot is not None:
            self._lines[slot] = line
        return line

    def _step(self, slot: int, state: Int8s, action: int) -> None:
        """Move the slot's line on by `action`, played at `state`; a line that differs or ends here is dropped."""
        line = self._lines.pop(slot, None)
        if line is None or line.state != state.tobytes() or line.actions[0] != action or len(line.actions) == 1:
            return
        after = self.game.advance(state[None, :], np.array([action], dtype=np.int32))[0]
        self._lines[slot] = _Line(after.tobytes(), line.outcome, line.actions[1:])

    def forget(self, slots: Int64s | None = None) -> None:
        if slots is None:
            self._lines.clear()
            return
        for slot in slots:
            self._lines.pop(int(slot), None)

    def analyse(self, state: Int8s, rng: Rng) -> Analysis:
        """The line is the best one found, the value its reward."""
        found = self.search(state, seeds_from(rng, 1))
        value = float(self.reward.value(np.array([found.outcome], dtype=np.int32))[0])
        note = f"score {found.outcome} in {len(found.actions)} moves, {found.playouts} games"
        return Analysis(found.actions[0], value, pv=list(found.actions), note=note)


class NmcsPlayer(NestedPlayer):
    """Nested Monte Carlo search of `level` 1 to 6; every level costs some hundred times the one below."""

    def __init__(self, game: Game, text: str, level: int = 2) -> None:
        super().__init__(game, text, level)

    def search(self, state: Int8s, streams: UInt64s, stopped: threading.Event | None = None) -> Found:
        return nmcs(self.game, state, streams, self.level, stopped)


class NrpaPlayer(NestedPlayer):
    """Nested rollout policy adaptation of `level` 1 to 6: `n` ≥ 1 calls a level, step size 0 < `alpha` ≤ 100.

    `playouts` games come before each adaptation of level 1; a level ends when its best line has come `repeats` times
    again; the top level keeps `beam` lines. `symmetric` lets actions that are images of each other share a code.

    With a `network`, the logits begin at `prior` times its mean opinion of each action (`palaestra.search.code_prior`):
    the games for that are played here, once, from a fixed seed, so that equal players have equal priors. With `known`
    grids they are lower by `penalty` times the share of the grids that play the action.
    """

    def __init__(
        self,
        game: Game,
        text: str,
        level: int = 2,
        n: int = 100,
        alpha: float = 1.0,
        network: Evaluator | None = None,
        prior: float = 1.0,
        playouts: int = 1,
        repeats: int | None = None,
        beam: int = 1,
        symmetric: bool = False,
        known: KnownGrids | None = None,
        penalty: float = 1.0,
    ) -> None:
        super().__init__(game, text, level)
        if n < 1:
            raise PlayerError(f"{text}: n is {n}; it must be at least 1, for example nrpa(n=100)")
        if not 0.0 < alpha <= 100.0:
            raise PlayerError(
                f"{text}: alpha is {alpha}; it must be more than 0, at most 100, for example nrpa(alpha=1)"
            )
        self.n, self.alpha, self.playouts, self.repeats, self.beam = n, float(alpha), playouts, repeats, beam
        self.images = _shared_codes(game, text) if symmetric else None
        logits = None if network is None else prior * code_logits(game, network, np.random.default_rng(0))
        if known is not None:
            self.avoided = known.digest
            logits = (0.0 if logits is None else logits) - penalty * known.shares
        self.logits = logits if logits is None or self.images is None else shared_logits(logits, self.images)

    def search(self, state: Int8s, streams: UInt64s, stopped: threading.Event | None = None) -> Found:
        return nrpa(
            self.game, state, streams, self.level, self.n, self.alpha, self.logits, stopped,
            playouts=self.playouts, repeats=self.repeats, beam=self.beam, images=self.images,
        )  # fmt: skip


def _shared_codes(game: Game, text: str) -> Int32s:
    """int32[A, K]: which actions share a code; PlayerError if no two do."""
    if len(game.symmetries) == 1:
        raise PlayerError(f"{text}: {game.id} has no symmetries, so no moves share a code; leave out symmetric=true")
    if game.num_starts > 1:
        raise PlayerError(
            f"{text}: {game.id} has {game.num_starts:,} initial positions, and symmetric codes need one that is its own"
            " image; leave out symmetric=true"
        )
    symmetries = symmetries_of(game, game.initial(1)[0])
    if len(symmetries) == 1:
        raise PlayerError(
            f"{text}: no symmetry of {game.id} leaves its initial position as it is; leave out symmetric=true"
        )
    return shared_codes(symmetries)
