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
from typing import Protocol

import numpy as np

from palaestra.errors import GameError, MoveError, PlayerError
from palaestra.games.base import Game
from palaestra.games.rows import ONGOING
from palaestra.ggp.game import GdlGame
from palaestra.ggp.machine import Machine, State, make_machine
from palaestra.ggp.monte_carlo import monte_carlo
from palaestra.ggp.propnet import PropNet
from palaestra.ggp.protocol import read_term
from palaestra.ggp.rules import parse_rules, rulesheet
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

    def prepare(self) -> None:
        """Before any match: do what takes long the first time, such as compiling."""

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

    def prepare(self) -> None:
        """A turn of a small game: what has to be compiled for it does not use up the clock of a match."""
        rules = parse_rules(rulesheet("tic_tac_toe-3x3"))
        self.begin(rules, rules.roles[0], time.monotonic() + 60.0, 1.0)
        self.choose(self.machine.initial(), time.monotonic() + 0.01)
        self.end()

    def begin(self, rules: Rules, role: str, deadline: float, play_clock: float) -> str:
        self.machine = make_machine(rules, seconds=GROUNDING_SHARE * max(deadline - time.monotonic(), 0.0))
        self.seat = rules.roles.index(role)
        state = self.machine.initial()
        if not self.machine.terminal(state) and all(self.machine.legal(state)):
            self._search(state, deadline, playouts=1)  # compiles now what the first move will need
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

    def __init__(self, kind: Kind, game: Game, rng: np.random.Generator) -> None:
        self.player = kind.build(game, str(kind))
        self.ms: float | None = getattr(kind, "ms", None)
        self.game, self.rng = game, rng
        self.row: Int8s = game.initial(1)[0]
        if limit_time(self.player, 1.0):
            self.player.act(self.row[None], self.rng)  # compiles now what the first move will need

    def played(self, joint: Sequence[Term]) -> None:
        """Every role has moved; the move of the one on turn is the action, and the other one's follows from it.

        GameError if the state that follows is none of the game's.
        """
        mover = int(self.game.to_play(self.row[None])[0])
        action = self.game.text_to_action(self.row, term_text(joint[mover]))
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
            self.inner = GameMover(self.kind, _game(rules, self.machine), self.rng)
        except (GameError, PlayerError) as error:
            return f"{self.kind} cannot play this ({error}); Monte Carlo does. {note}".strip()
        return note

    def played(self, state: State, joint: Sequence[Term]) -> None:
        if self.inner is None:
            return
        try:
            self.inner.played(joint)
        except (GameError, MoveError):  # rules that took turns until now, or a game longer than a Game may be
            self.inner = None

    def choose(self, state: State, deadline: float) -> Term:
        inner = self.inner
        # The game is over for the player, and not for the rules, when it is longer than a Game may be.
        if inner is not None and inner.game.outcome(inner.row[None])[0] == ONGOING:
            try:
                return inner.choose(inner.row, deadline)
            except GameError:
                pass  # the search met what is no Game
        self.inner = None
        return super().choose(state, deadline)

    def end(self) -> None:
        super().end()
        self.inner = None


def make_mover(text: str, seed: int) -> Mover:
    """The mover that a player's text describes; PlayerError if it is none, or needs a person at the terminal."""
    kind = read_player(text)
    if isinstance(kind, Human):
        raise PlayerError("human has no terminal in a network match; for example uct(ms=10000)")
    return TextMover(kind, seed)


def limit_time(player: Player, ms: float) -> bool:
    """Let a player think no longer than this about its next move; whether it is one that heeds it."""
    if isinstance(player, TreePlayer):
        player.search.config = player.search.config.model_copy(update={"ms": ms})
        return True
    if isinstance(player, AlphaBetaPlayer) or (isinstance(player, McsPlayer) and player.ms is not None):
        player.ms = ms
        return True
    return False


def _game(rules: Rules, machine: Machine) -> Game:
    """The rules as a Game; GameError if they are none."""
    if not isinstance(machine, PropNet):
        raise GameError("the rules are interpreted")
    return GdlGame.of("the game", rules, machine)
