"""What thinks in a network match: the seam between the protocol's worker and everything that can choose a move.

A `Mover` is given the rules, follows the match and chooses. `make_mover` makes one from a player's text: in a game that
has the full Game interface (one player, or two in turn) the player that the text describes, with the clock as its limit
of time; in all others Monte Carlo over the state machine, which works with any number of roles moving at once. Knows
nothing of processes or messages.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import numpy as np

from palaestra.errors import GameError, GdlError, PlayerError
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.ggp.machine import Machine, State, make_machine
from palaestra.ggp.monte_carlo import monte_carlo
from palaestra.ggp.protocol import read_term
from palaestra.ggp.terms import Rules, Term, term_text
from palaestra.players.alphabeta import AlphaBetaPlayer
from palaestra.players.base import Player
from palaestra.players.flat import McsPlayer
from palaestra.players.kinds import Human, Kind, Mcs, Random
from palaestra.players.registry import read_player
from palaestra.players.tree import TreePlayer
from palaestra.types import Int8s

GROUNDING_SHARE = 0.5  # of what is left of the start clock


class Mover(Protocol):
    """One match at a time, in one role. Times are those of `time.monotonic`."""

    lock: threading.Lock  # held by whoever uses the machine
    machine: Machine  # from `begin` on

    def begin(self, rules: Rules, role: str, deadline: float, play_clock: float) -> str:
        """Get ready by `deadline` for moves of `play_clock` seconds; gives a line for the user, or nothing."""

    def played(self, state: State, joint: Sequence[Term]) -> None:
        """Every role has moved in this state of the machine."""

    def choose(self, state: State, deadline: float) -> Term:
        """A legal move for this state of the machine; there are several. The deadline is to be kept."""

    def end(self) -> None:
        """The match is over: drop whatever was kept for it."""


class MachineMover:
    """Monte Carlo, or random moves where the text says so; `mcs` keeps its own limits as well as the clock's."""

    def __init__(self, kind: Kind, seed: int) -> None:
        self.kind = kind
        self.rng = np.random.default_rng(seed)
        self.lock = threading.Lock()
        self.machine: Machine
        self.seat = 0

    def begin(self, rules: Rules, role: str, deadline: float, play_clock: float) -> str:
        self.machine = make_machine(rules, seconds=GROUNDING_SHARE * max(deadline - time.monotonic(), 0.0))
        self.seat = rules.roles.index(role)
        state = self.machine.initial()
        if not self.machine.terminal(state) and all(self.machine.legal(state)):
            self._search(state, float("inf"), playouts=1)  # compiles now what the first move will need
        return self.machine.note

    def played(self, state: State, joint: Sequence[Term]) -> None:
        pass  # the machine's state says it all

    def choose(self, state: State, deadline: float) -> Term:
        with self.lock:
            if isinstance(self.kind, Random):
                moves = self.machine.legal(state)[self.seat]
                return moves[int(self.rng.integers(len(moves)))]
            playouts = None
            if isinstance(self.kind, Mcs):
                playouts = self.kind.playouts
                if self.kind.ms is not None:
                    deadline = min(deadline, time.monotonic() + self.kind.ms / 1000.0)
            return self._search(state, deadline, playouts)

    def _search(self, state: State, deadline: float, playouts: int | None) -> Term:
        return monte_carlo(self.machine, state, self.seat, deadline, self.rng, playouts)

    def end(self) -> None:
        del self.machine


class GameMover:
    """A player of a Game: follows the match in the game's own states and speaks in its terms."""

    def __init__(self, kind: Kind, game: Game, machine: Machine, seat: int, rng: np.random.Generator) -> None:
        self.player = kind.build(game, str(kind))
        self.ms: float | None = getattr(kind, "ms", None)
        self.game, self.machine, self.seat, self.rng = game, machine, seat, rng
        self.row: Int8s = game.initial(1)[0]
        if limit_time(self.player, 1.0):
            self.player.act(self.row[None], self.rng)  # compiles now what the first move will need

    def played(self, state: State, joint: Sequence[Term]) -> None:
        """In turn-taking games whoever has a choice is on turn, and where nobody has, the game has one action."""
        counts, actions = self.game.legal(self.row[None])
        action = int(actions[0, 0])
        if counts[0] > 1:
            options = [len(own) for own in self.machine.legal(state)]
            action = self.game.text_to_action(self.row, term_text(joint[options.index(max(options))]))
        self.row = self.game.advance(self.row[None], np.array([action], dtype=np.int32))[0]

    def choose(self, row: Int8s, deadline: float) -> Term:
        """The player's move in a state of the game."""
        left = max(1000.0 * (deadline - time.monotonic()), 1.0)
        limit_time(self.player, left if self.ms is None else min(left, self.ms))
        action = int(self.player.act(row[None], self.rng, np.zeros(1, dtype=np.int64))[0])
        return read_term(self.game.action_to_text(row, action))


class TextMover(MachineMover):
    """The player of a text where the rules are a Game, and Monte Carlo elsewhere."""

    def __init__(self, kind: Kind, seed: int) -> None:
        super().__init__(kind, seed)
        self.inner: GameMover | None = None

    def begin(self, rules: Rules, role: str, deadline: float, play_clock: float) -> str:
        note = super().begin(rules, role, deadline, play_clock)
        if isinstance(self.kind, Random):
            return note
        try:
            self.inner = GameMover(self.kind, _game(rules), self.machine, self.seat, self.rng)
        except (GameError, GdlError, PlayerError) as error:
            return f"{self.kind} cannot play this ({error}); Monte Carlo does. {note}".strip()
        return note

    def played(self, state: State, joint: Sequence[Term]) -> None:
        if self.inner is not None:
            self.inner.played(state, joint)

    def choose(self, state: State, deadline: float) -> Term:
        return super().choose(state, deadline) if self.inner is None else self.inner.choose(self.inner.row, deadline)

    def end(self) -> None:
        super().end()
        self.inner = None
        make_game.cache_clear()  # the registry keeps games, and those of strangers are used once


def make_mover(text: str, seed: int) -> Mover:
    """The mover that a player's text describes; PlayerError if it is none, or needs a person at the terminal."""
    kind = read_player(text)
    if isinstance(kind, Human):
        raise PlayerError("human has no terminal in a network match; for example uct(ms=10000)")
    return TextMover(kind, seed)


def limit_time(player: Player, ms: float) -> bool:
    """Let a player think no longer than this about its next move; whether it is one that heeds it."""
    if isinstance(player, TreePlayer):
        player.search.config = player.search.config.model_copy(update={"milliseconds": ms})
        return True
    if isinstance(player, AlphaBetaPlayer) or (isinstance(player, McsPlayer) and player.ms is not None):
        player.ms = ms
        return True
    return False


def _game(rules: Rules) -> Game:
    """The rules as a Game; GameError or GdlError if they are none."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "rules.kif"
        file.write_text(rules.source)
        return make_game(f"gdl:{file}")
