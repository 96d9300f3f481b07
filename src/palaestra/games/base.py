"""The interface of every game: an immutable object that holds rules and no position.

Positions are rows of int8[B, S] with the header of `palaestra.games.rows`. B games are handled at once; S, A, L and
C×H×W are the sizes of a state, of the action set, of the longest list of legal actions, and of an observation.

The laws, run by `palaestra.games.laws` over every registered game and by `palaestra check-game` over yours:

- play ends within `max_plies`, and `plies` counts it;
- `legal` is ascending and never empty before the end, and empty after it;
- `advance` never changes its input, and a batch equals its rows one by one;
- symmetries commute with `advance`, `legal` and `observe`; exchanging the players negates the outcome;
- state → text → state and action → text → action round trip;
- actions lie on the board as `action_layout` says: a symmetry moves them with their cells or columns.

Turns need not alternate: compare `to_play`.

`action_layout` is for networks that play on boards of every size. "cells": an action is plane · H·W + cell, and one
more may be a pass; "columns": an action is a column of the board; "global": the actions are the same on every board,
such as the directions of a king.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, get_args

import numpy as np

from palaestra.base.errors import GameError, MoveError
from palaestra.base.jit import allocating
from palaestra.base.streams import below
from palaestra.base.text import clip, refuse_long, whole_number
from palaestra.base.types import Float32s, Int8s, Int32s, Int64s, UInt64s
from palaestra.games.rows import HEADER, ONGOING
from palaestra.games.symmetry import Symmetry, identity

if TYPE_CHECKING:
    from palaestra.games.svg import Spot

Tiebreak = Literal["none", "plies", "margin", "score"]
ActionLayout = Literal["", "cells", "columns", "global"]
RULES = "gdl:"  # ids of games that are rules in GDL begin so
MOST_OUTCOMES = 2**20  # rewards keep a value for every one of them
MOST_MOVES = 2**20  # characters of the moves of a game


@dataclass(frozen=True, eq=False)
class Playouts:
    """Ends of random games: states int8[B, S], outcomes int32[B]; moves and movers [B, max_plies] if traced."""

    states: Int8s
    outcomes: Int32s
    lengths: Int32s | None = None
    moves: Int32s | None = None
    movers: Int8s | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Game(ABC):
    """Facts about a game, and its rules over batches of states."""

    id: str
    num_actions: int
    max_plies: int
    max_legal: int
    state_size: int
    observation_shape: tuple[int, int, int]
    version: int = 1
    players: int = 2
    tiebreak: Tiebreak = "none"
    largest_outcome: int = 0  # no outcome is larger in size; completed below when it is not given
    symmetries: tuple[Symmetry, ...] = ()  # identity first; completed below when none are given
    exchange: Symmetry | None = None  # the map of the board that goes with exchanging the players, if there is one
    num_starts: int = 1  # how many initial positions there are; `initial` chooses among them uniformly
    action_places: tuple[int, ...] | None = None  # plane · H·W + cell of each action, where they are some of those
    action_layout: ActionLayout = ""  # what actions are on a board of any size, see below; "": seen from their number
    goal: str = ""  # what a player tries to reach, in a sentence or two for people
    glyphs: tuple[str, str] | None = None  # the letters in `render` that are the first and the second player's stones
    made_from: str = field(
        default="", init=False, repr=False
    )  # what makes it again, if the registry made it from a text

    def __post_init__(self) -> None:
        if self.players not in (1, 2):
            raise GameError(f"{self.id}: players is {self.players}; 1 and 2 are supported")
        if self.state_size < HEADER or self.state_size % 8:
            raise GameError(
                f"{self.id}: state_size is {self.state_size}; it must be a multiple of 8, at least {HEADER}"
            )
        if not 0 < self.max_plies < 2**15:
            raise GameError(f"{self.id}: max_plies is {self.max_plies}; it must be between 1 and {2**15 - 1}")
        for name in ("num_actions", "num_starts"):
            if getattr(self, name) < 1:
                raise GameError(f"{self.id}: {name} is {getattr(self, name)}; a game has at least 1")
        if not 1 <= self.max_legal:
            raise GameError(f"{self.id}: max_legal is {self.max_legal}; it must be at least 1")
        if self.tiebreak not in get_args(Tiebreak):
            raise GameError(f"{self.id}: tiebreak is {self.tiebreak!r}; known: {', '.join(get_args(Tiebreak))}")
        if self.action_places is not None and len(self.action_places) != self.num_actions:
            raise GameError(
                f"{self.id}: action_places has {len(self.action_places)} entries for {self.num_actions} actions"
            )
        self._check_layout()
        if not 0 <= self.largest_outcome <= MOST_OUTCOMES:
            raise GameError(
                f"{self.id}: largest_outcome is {self.largest_outcome}; it must be between 1 and {MOST_OUTCOMES}"
            )
        if self.largest_outcome == 0:
            object.__setattr__(self, "largest_outcome", self._usual_largest_outcome())
        if not self.symmetries:
            _, height, width = self.observation_shape
            object.__setattr__(self, "symmetries", (identity(height * width, self.num_actions),))

    def _check_layout(self) -> None:
        """GameError if there are not as many actions as the layout has places."""
        _, height, width = self.observation_shape
        planes, rest = divmod(self.num_actions, height * width)
        fits = {"": True, "cells": planes > 0 and rest < 2, "columns": self.num_actions == width, "global": True}
        if self.action_layout not in fits:
            known = ", ".join(name for name in fits if name)
            raise GameError(f"{self.id}: action_layout is {self.action_layout!r}; known: {known}")
        if not fits[self.action_layout] or (self.action_layout and self.action_places is not None):
            what = "action_places are given" if fits[self.action_layout] else f"there are {self.num_actions} actions"
            raise GameError(f"{self.id}: action_layout is {self.action_layout!r} on {height}×{width} cells, and {what}")

    def _usual_largest_outcome(self) -> int:
        """A win is 1, or counts plies; a score counts moves; a margin counts moves or cells."""
        if self.tiebreak == "margin":
            return max(self.max_plies, self.observation_shape[1] * self.observation_shape[2])
        return 1 if self.tiebreak == "none" and self.players == 2 else self.max_plies

    # Other processes.

    @property
    def fingerprint(self) -> str:
        """Equal for equal rules: a process that makes the game again must come to the same."""
        return f"{self.id} version {self.version}"

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """Pickled as the text that makes it again; by its parts, where it was made by hand."""
        if not self.made_from:
            return super().__reduce_ex__(protocol)
        from palaestra.games.registry import make_again

        return make_again, (self.made_from, self.fingerprint)

    def __getstate__(self) -> dict[str, Any]:
        """All parts but those that are computed when they are first asked for: they hold what is compiled."""
        kind = type(self)
        return {key: part for key, part in vars(self).items() if not isinstance(getattr(kind, key, 0), cached_property)}

    # Rules: what a subclass must give.

    @abstractmethod
    def start(self, choices: Int64s) -> Int8s:
        """Initial states by number, 0 … num_starts-1."""

    @abstractmethod
    def advance(self, states: Int8s, actions: Int32s) -> Int8s:
        """New states int8[B, S] after one legal action each; the input is left alone."""

    @abstractmethod
    def legal(self, states: Int8s) -> tuple[Int32s, Int32s]:
        """counts int32[B] and actions int32[B, L], ascending; the rest of each row is undefined."""

    @abstractmethod
    def observe(self, states: Int8s) -> Float32s:
        """float32[B, C, H, W], from the side of the player to move."""

    def permute(self, states: Int8s, symmetry: Symmetry, swap: bool = False) -> Int8s:
        """Images of states under a symmetry; with `swap`, the players change places."""
        if symmetry is self.symmetries[0] and not swap:
            return states.copy()
        raise GameError(f"{self.id} has no symmetries")

    def is_called(self, id: str) -> bool:
        """Whether a file that was made for `id` may be about this game, as far as names tell.

        Of rules in GDL the id is but where their file lay; their version, a digest, tells them from others.
        """
        return id == self.id or (id.startswith(RULES) and self.id.startswith(RULES))

    # What follows from the header.

    def initial(self, count: int, rng: np.random.Generator | None = None) -> Int8s:
        """`count` initial states; a game with several starts needs a generator to choose."""
        if self.num_starts == 1:
            return self.start(np.zeros(count, dtype=np.int64))
        if rng is None:
            raise GameError(f"{self.id} has {self.num_starts} initial positions: give a random generator to choose")
        return self.start(rng.integers(self.num_starts, size=count))

    def to_play(self, states: Int8s) -> Int8s:
        return states[:, 0].copy()

    def outcome(self, states: Int8s) -> Int32s:
        """int32[B]: ONGOING, or the first player's outcome; larger is better for the first player."""
        return np.ascontiguousarray(states[:, 4:8]).view(np.int32)[:, 0]

    def plies(self, states: Int8s) -> Int32s:
        return np.ascontiguousarray(states[:, 2:4]).view(np.int16)[:, 0].astype(np.int32)

    # Compositions that a subclass may fuse.

    def step(self, states: Int8s, actions: Int32s) -> tuple[Int8s, Int32s, Int32s]:
        """`advance` and then `legal` of the new states."""
        after = self.advance(states, actions)
        return after, *self.legal(after)

    def rollout(self, states: Int8s, streams: UInt64s, trace: bool = False) -> Playouts:
        """Uniform random play to the end; row i draws from streams[i] alone, which is advanced in place."""
        states = states.copy()
        lengths = np.zeros(len(states), dtype=np.int32)
        moves = np.zeros((len(states), self.max_plies if trace else 0), dtype=np.int32)
        movers = np.zeros(moves.shape, dtype=np.int8)
        running = np.flatnonzero(self.outcome(states) == ONGOING)
        while running.size:
            counts, actions = self.legal(states[running])
            chosen = pick_rows(counts, actions, streams, running)
            if trace:
                moves[running, lengths[running]] = chosen
                movers[running, lengths[running]] = states[running, 0]
            lengths[running] += 1
            states[running] = self.advance(states[running], chosen)
            running = running[self.outcome(states[running]) == ONGOING]
        if not trace:
            return Playouts(states, self.outcome(states))
        return Playouts(states, self.outcome(states), lengths, moves, movers)

    def playout_outcomes(self, states: Int8s, streams: UInt64s) -> Int32s:
        """int32[B]: how one uniform random game from each state ends, for whoever needs no more than that.

        Row i draws from streams[i] alone; a library that plays on its own may draw other games than `rollout` does.
        """
        return self.rollout(states, streams).outcomes

    def score(self, states: Int8s) -> Int32s:
        """int32[B]: a rough static estimate from the first player's side; zeros where a game offers none."""
        return np.zeros(len(states), dtype=np.int32)

    def count_leaves(self, state: Int8s, depth: int) -> int:
        """Leaves `depth` plies below one state; a game that ended earlier counts once (sources: leaf counts)."""
        ended, frontier = 0, state[None, :]
        for _ in range(depth):
            over = self.outcome(frontier) != ONGOING
            ended += int(over.sum())
            frontier = frontier[~over]
            counts, actions = self.legal(frontier)
            parents = np.repeat(np.arange(len(frontier)), counts)
            moves = actions[np.arange(actions.shape[1]) < counts[:, None]]
            frontier = self.advance(frontier[parents], moves)
        return ended + len(frontier)

    # Text.

    def render(self, state: Int8s) -> str:
        """A drawing for the terminal."""
        return self.state_to_text(state)

    def svg(self, state: Int8s) -> str:
        """A drawing as a complete SVG document; by default squares, where `render` draws a board in letters."""
        from palaestra.games.svg import text_document
        from palaestra.games.text_board import read_board

        text = self.render(state)
        board = read_board(text)
        return text_document(text) if board is None else board.svg()

    def spot(self, state: Int8s, action: int, drawn: Int8s) -> Spot | None:
        """Where `svg` of the state `drawn` shows an action of `state`; None where it shows none, as for a pass.

        By default what the action's text names on a board in letters: a cell, the way between two, or a column.
        """
        from palaestra.games.text_board import read_board

        board = read_board(self.render(drawn))
        return None if board is None else board.spot_of(self.action_to_text(state, action))

    def deciding(self, state: Int8s) -> list[Spot]:
        """The places in `svg` that decided the game: a line of stones, a chain; empty while nothing did."""
        return []

    def action_to_text(self, state: Int8s, action: int) -> str:
        """How a person writes this action here."""
        return str(action)

    def line_to_texts(self, state: Int8s, actions: Sequence[int]) -> list[str]:
        """A line of actions as a person writes it, each in the position where it is played."""
        texts = []
        for action in actions:
            texts.append(self.action_to_text(state, action))
            state = self.advance(state[None], np.array([action], dtype=np.int32))[0]
        return texts

    def text_to_action(self, state: Int8s, text: str) -> int:
        """The legal action that a person means; MoveError says what is legal when there is none."""
        counts, actions = self.legal(state[None, :])
        known = {self.action_to_text(state, int(a)): int(a) for a in actions[0, : counts[0]]}
        wanted = text.strip()
        if wanted in known:
            return known[wanted]
        for written, action in known.items():
            if written.lower() == wanted.lower():
                return action
        if not known:
            raise MoveError(f"the game is over: {clip(wanted)} cannot be played")
        raise MoveError(f"{clip(wanted)} is not a legal move here; legal: {', '.join(known)}")

    def split_moves(self, text: str) -> list[str]:
        """The moves in a line of text; by default they stand apart by spaces or commas."""
        return text.replace(",", " ").split()

    def from_moves(self, text: str) -> Int8s:
        """The state int8[S] after moves from the start; `@k` in front chooses initial position k."""
        *_, state = self.replay(text)
        return state

    def replay(self, text: str) -> Iterator[Int8s]:
        """Every state on the way of `from_moves`, the initial one first."""
        refuse_long(text, "a game", MoveError, MOST_MOVES)
        words = text.split(maxsplit=1)
        choice = 0
        if words and words[0].startswith("@"):
            chosen = words[0][1:]
            if (number := whole_number(chosen)) is None or number >= self.num_starts:
                raise MoveError(
                    f"{clip(words[0])} is not an initial position of {self.id}; they are @0 to @{self.num_starts - 1}"
                )
            choice = number
            text = words[1] if len(words) > 1 else ""
        state = self.start(np.array([choice], dtype=np.int64))[0]
        yield state
        for number, word in enumerate(self.split_moves(text), start=1):
            try:
                action = self.text_to_action(state, word)
            except MoveError as error:
                raise MoveError(f"move {number}: {error}") from None
            state = self.advance(state[None, :], np.array([action], dtype=np.int32))[0]
            yield state

    def state_to_text(self, state: Int8s) -> str:
        """One line from which `state_from_text` makes the same state: by default the bytes in hexadecimal."""
        return state.tobytes().hex()

    def state_from_text(self, text: str) -> Int8s:
        try:
            state = np.frombuffer(bytes.fromhex(text.strip()), dtype=np.int8).copy()
        except ValueError:
            state = np.empty(0, dtype=np.int8)
        if state.shape != (self.state_size,):
            raise MoveError(
                f"{clip(text)} is not a position of {self.id}: {2 * self.state_size} hexadecimal digits are needed"
            )
        return state


@allocating
def pick_rows(counts: Int32s, actions: Int32s, streams: UInt64s, rows: Int64s) -> Int32s:
    """One uniform action for each row of (counts, actions), drawn from streams[rows[i]]."""
    chosen = np.empty(counts.shape[0], dtype=np.int32)
    for i in range(counts.shape[0]):
        chosen[i] = actions[i, below(streams, rows[i], counts[i])]
    return chosen
