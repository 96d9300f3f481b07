"""What thinks in a network match: the seam between the protocol's worker and everything that can choose a move.

A `Mover` is given the rules, follows the match and chooses. `make_mover` makes one from a player's text: in a game that
has the full Game interface (one player, or two in turn) the player that the text describes, with the clock as its limit
of time; in all others a search over the state machine, which works with any number of roles moving at once: decoupled
UCT, flat Monte Carlo where the text is `mcs`. Who plays in place of whom is in `playing`. Knows nothing of processes or
messages.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from palaestra.base.errors import GameError, MoveError, PalaestraError, PlayerError
from palaestra.base.types import Int8s
from palaestra.games.base import RULES, Game
from palaestra.games.rows import ONGOING
from palaestra.ggp.decoupled import Decoupled
from palaestra.ggp.game import GdlGame
from palaestra.ggp.machine import Machine, State, make_machine
from palaestra.ggp.monte_carlo import monte_carlo
from palaestra.ggp.propnet import PropNet
from palaestra.ggp.protocol import read_term
from palaestra.ggp.rules import parse_rules, rulesheet
from palaestra.ggp.terms import Rules, Term, term_text
from palaestra.ggp.worker_process import Playing
from palaestra.players.alphabeta import AlphaBetaPlayer
from palaestra.players.base import Player
from palaestra.players.flat import McsPlayer
from palaestra.players.kinds import Human, Kind, Mcs, Random
from palaestra.players.registry import read_player
from palaestra.players.tree import TreePlayer

GROUNDING_SHARE = 0.5  # of what is left of the start clock, and of the play clock of the first move
SLICE = 100.0  # milliseconds after which a search tells its best move
FIRST_SLICE = 0.1  # of the time for a move, for searches that would begin anew after each slice

Publish = Callable[[Term], None]


class Mover(Protocol):
    """One match at a time, in one role, asked by one thread. Times are those of `time.monotonic`."""

    playing: Playing  # from `begin` on; it may change when a match comes to where a player cannot follow

    @property
    def shared(self) -> Machine | None:
        """The rules as a machine that other threads may ask at the same time, if there is one."""

    def prepare(self) -> None:
        """Before any match: do what takes long the first time, such as compiling."""

    def begin(self, rules: Rules, role: str, deadline: float, play_clock: float) -> None:
        """Get ready by `deadline` for moves of `play_clock` seconds."""

    def played(self, joint: Sequence[Term]) -> None:
        """Every role has moved."""

    def choose(self, deadline: float, publish: Publish) -> Term:
        """A move; there are several. The deadline is to be kept. `publish` takes the best move so far, any time."""

    def end(self) -> None:
        """The match is over: drop whatever was kept for it."""


class MachineMover:
    """A search over the state machine, no longer than the text says; random moves or `mcs` where the text is that."""

    def __init__(self, kind: Kind, seed: int) -> None:
        self.kind = kind
        self.rng = np.random.default_rng(seed)
        self.machine: Machine | None = None
        self.state: State = None
        self.seat = 0
        self.tree: Decoupled | None = None
        self.playing = Playing()

    @property
    def shared(self) -> Machine | None:
        return self.machine if isinstance(self.machine, PropNet) else None

    def prepare(self) -> None:
        """A turn of a small game: what has to be compiled for it does not use up the clock of a match."""
        rules = parse_rules(rulesheet("tic_tac_toe-3x3"))
        self.begin(rules, rules.roles[0], time.monotonic() + 60.0, 1.0)
        MachineMover.choose(self, time.monotonic() + 0.05, lambda move: None)
        self.end()

    def begin(self, rules: Rules, role: str, deadline: float, play_clock: float) -> None:
        seconds = GROUNDING_SHARE * (max(deadline - time.monotonic(), 0.0) + play_clock)
        self.machine = make_machine(rules, seconds)
        self.seat = rules.roles.index(role)
        self.state = self.machine.initial()
        self.playing = Playing(self._own_name(), note=self.machine.note)
        if not isinstance(self.kind, Random | Mcs):
            self.tree = Decoupled(self.machine, self.rng)
        if not self.machine.terminal(self.state) and all(self.machine.legal(self.state)):
            self._search(deadline, lambda move: None, playouts=1)  # compiles now what the first move will need

    def _own_name(self) -> str:
        """What plays over the machine."""
        return self.kind.name if isinstance(self.kind, Random | Mcs) else "decoupled_uct"

    def played(self, joint: Sequence[Term]) -> None:
        assert self.machine is not None
        self.state = self.machine.step(self.state, joint)

    def choose(self, deadline: float, publish: Publish) -> Term:
        if (ms := getattr(self.kind, "ms", None)) is not None:
            deadline = min(deadline, time.monotonic() + ms / 1000.0)
        return self._search(deadline, publish, self.kind.playouts if isinstance(self.kind, Mcs) else None)

    def _search(self, deadline: float, publish: Publish, playouts: int | None) -> Term:
        assert self.machine is not None
        if isinstance(self.kind, Random):
            moves = self.machine.legal(self.state)[self.seat]
            return moves[int(self.rng.integers(len(moves)))]
        if self.tree is not None:
            return self.tree.search(self.state, self.seat, deadline, playouts, publish)
        return monte_carlo(self.machine, self.state, self.seat, deadline, self.rng, playouts, publish)

    def end(self) -> None:
        self.machine, self.state, self.tree = None, None, None


class GameMover:
    """A player of a Game: follows the match in the game's own states and speaks in its terms."""

    def __init__(self, kind: Kind, game: Game, rng: np.random.Generator) -> None:
        self.player = kind.build(game, str(kind))
        self.ms: float | None = getattr(kind, "ms", None)
        self.game, self.rng = game, rng
        self.row: Int8s = game.initial(1)[0]
        limit_time(self.player, 1.0)
        self.player.act(self.row[None], self.rng)  # compiles now what the first move will need

    def played(self, joint: Sequence[Term]) -> None:
        """Every role has moved; the move of the one on turn is the action, and the other one's follows from it.

        GameError if the state that follows is none of the game's.
        """
        mover = int(self.game.to_play(self.row[None])[0])
        action = self.game.text_to_action(self.row, term_text(joint[mover]))
        self.row = self.game.advance(self.row[None], np.array([action], dtype=np.int32))[0]

    def choose(self, deadline: float, publish: Publish) -> Term:
        """The player's move. Where it heeds the clock it is asked again and again, so that there is a move to tell."""
        if self.ms is not None:
            deadline = min(deadline, time.monotonic() + self.ms / 1000.0)
        slice = FIRST_SLICE * 1000.0 * (deadline - time.monotonic())
        if goes_on(self.player):
            slice = min(slice, SLICE)
        while True:
            began = time.monotonic()
            left = 1000.0 * (deadline - began)
            heeds = limit_time(self.player, max(min(slice, left), 1.0))
            move = self._move()
            if not heeds or slice >= left or 1000.0 * (time.monotonic() - began) < 0.9 * slice:
                return move  # the time is over, or was not needed
            publish(move)
            if not goes_on(self.player):
                slice = np.inf

    def _move(self) -> Term:
        action = int(self.player.act(self.row[None], self.rng, np.zeros(1, dtype=np.int64))[0])
        return read_term(self.game.action_to_text(self.row, action))


class TextMover(MachineMover):
    """The player of a text where the rules are a Game that it can play, and a search over the machine elsewhere."""

    def __init__(self, kind: Kind, seed: int) -> None:
        super().__init__(kind, seed)
        self.inner: GameMover | None = None

    def begin(self, rules: Rules, role: str, deadline: float, play_clock: float) -> None:
        super().begin(rules, role, deadline, play_clock)
        assert self.machine is not None
        if isinstance(self.kind, Random):
            return
        try:
            self.inner = GameMover(self.kind, _game(rules, self.machine), self.rng)
            self.playing = Playing(self.kind.name, note=self.machine.note)
        except PalaestraError as error:
            self._substitute(str(error))

    def _substitute(self, reason: str) -> None:
        """From now on the machine's own search plays."""
        assert self.machine is not None
        self.inner, own, note = None, self._own_name(), self.machine.note
        if own != self.kind.name:
            said = f"{own} plays instead of {self.kind}, which cannot play this: {reason}. {note}"
            self.playing = Playing(own, self.kind.name, " ".join(said.split()))

    def played(self, joint: Sequence[Term]) -> None:
        super().played(joint)
        if self.inner is None:
            return
        try:
            self.inner.played(joint)
        except (GameError, MoveError) as error:  # rules that took turns until now, or a game longer than a Game may be
            self._substitute(str(error))

    def choose(self, deadline: float, publish: Publish) -> Term:
        inner = self.inner
        if inner is not None and inner.game.outcome(inner.row[None])[0] != ONGOING:
            self._substitute("the match is longer than its game may be")
        elif inner is not None:
            try:
                return inner.choose(deadline, publish)
            except (GameError, PlayerError) as error:  # the search met what is no Game, a table other rules
                self._substitute(str(error))
        return super().choose(deadline, publish)

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


def goes_on(player: Player) -> bool:
    """Whether a player that is asked once more about a position goes on where it was."""
    if not isinstance(player, TreePlayer):
        return False
    config = player.search.config
    return config.reuse and config.simulations is None and not config.gumbel_root


def _game(rules: Rules, machine: Machine) -> Game:
    """The rules as a Game; GameError if they are none."""
    if not isinstance(machine, PropNet):
        raise GameError("the rules are interpreted")
    return GdlGame.of(f"{RULES}match", rules, machine)
