"""Selection rules: which move a search follows from a node. What a rule is given and gives back, and how it gets in.

A rule is a compiled function of the user's or of `palaestra.search.rules`, and is bound into the search as a game's
rules are (`base.jit.bind`). There are two forms:

    score(move, node, settings) -> float
        How much one legal move deserves the next visit. `move` is a `Move`, `node` a `Node`, `settings` the record
        SETTINGS below, of which most rules read `settings.c` alone.
    score_all(node, edges, settings, scores)
        The same for all legal moves at once, where a score depends on the other moves. `node` and `edges` are records
        of `palaestra.search.tree`: move i is edges[node.first + i], and scores[i] receives its score.

The search follows the move with the highest score, the first of several; inf is followed at once. With the solver on, a
move that is proven to be no better than what the node is already sure of is passed over.

This module knows no rule by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError

from palaestra.base.errors import SearchError
from palaestra.base.jit import bind, fingerprint, inlined, kernel, reason
from palaestra.base.types import Float64s, Int32s, Int64s
from palaestra.base.user_code import is_code
from palaestra.search.tree import Records

DESCENT = "palaestra.search.descent"

SETTINGS = np.dtype(
    [
        ("rave", np.int32),  # whether values of moves played later are kept for the rule
        ("solver", np.int32),
        ("gumbel_root", np.int32),
        ("has_fpu", np.int32),
        ("rave_cell", np.int32),  # an action counts only for the side that plays it next
        ("leaves", np.int32),  # leaves of one tree per step
        ("limit", np.int32),  # simulations of one tree per search
        ("c", np.float64),  # exploration
        ("fpu", np.float64),
        ("rave_k", np.float64),
        ("dirichlet_fraction", np.float64),
        ("gumbel_visits", np.float64),
        ("gumbel_scale", np.float64),
    ],
    align=True,
)


# How all trees of a search are searched, and what their simulations note on the way.
Method = tuple[
    Records,  # settings: SETTINGS[1]
    Int32s,  # schedule: [moves + 1, simulations] visits that a Gumbel root wants its next move to have
    Int64s,  # marks: [2, A] by player and action: the simulation in which the player last made the move, for RAVE
    Int64s,  # clock: [1] the number of the last simulation that was marked
]


class Move(NamedTuple):
    """A legal move as a rule sees it. Values are in [-1, 1], for the player who makes the move."""

    value: float  # Q(s,a): exact once proven, else the mean of its visits; before the first, 0 or what `fpu` says
    visits: int  # N(s,a); visits under way count, as losses
    prior: float  # P(s,a), with the root's noise; without a network all moves have the same
    rave_sum: float  # sum of the values of simulations in which the player made the move here or later
    rave_visits: int  # how many these are; both stay 0 unless the rule asks for them (`Rule.rave`)


class Node(NamedTuple):
    """The position that the moves are made in."""

    visits: int  # N(s): sum of the visits of its moves
    value: float  # what the network, or a random game, said about it, for the player to move
    moves: int  # number of legal moves
    rave_visits: int  # sum of the rave_visits of its moves


@inlined
def edge_value(edge, unvisited: float) -> float:  # type: ignore[no-untyped-def]  # a record has no Python type
    """Q(s,a): exact where proven, else the mean, else `unvisited`; visits under way count as losses."""
    if edge.low == edge.high:
        return np.float64(edge.low)
    n = edge.N + edge.pending
    return (edge.W - edge.pending) / n if n > 0 else unvisited


@inlined
def node_mean(node, edges: Records) -> float:  # type: ignore[no-untyped-def]
    """Mean of the values backed up through a node; the evaluator's value before the first."""
    if node.visits == 0:
        return np.float64(node.value)
    total = 0.0
    for e in range(node.first, node.first + node.count):
        total += edges[e].W
    return total / node.visits


@kernel
def no_score(move: Move, node: Node, settings: Any) -> float:
    """Stands in where a rule scores all moves at once; never called then."""
    return 0.0


@kernel
def no_score_all(node: Any, edges: Records, settings: Any, scores: Float64s) -> None:
    """Stands in where a rule scores one move at a time; never called then."""


@dataclass(frozen=True)
class Rule:
    """A selection rule: one of the two functions, and whether RAVE's sums are kept for it."""

    score: Any = no_score
    score_all: Any = no_score_all
    rave: bool = False
    # Taken when the rule is made, so that a file edited afterwards cannot pass for the code that was read from it.
    stamp: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        functions = {"score": self.score, "score_all": self.score_all}
        for name, function in functions.items():
            if not isinstance(function, Dispatcher):
                raise SearchError(f"{name} is {function!r}: a compiled function is needed, put @njit above it")
        if (self.score is no_score) == (self.score_all is no_score_all):
            raise SearchError("a selection rule has either a score or a score_all")
        object.__setattr__(self, "stamp", fingerprint(self._names()))

    @property
    def at_once(self) -> bool:
        return self.score_all is not no_score_all

    @property
    def function(self) -> Any:
        """The one that the author wrote."""
        return self.score_all if self.at_once else self.score

    def bind(self, template: str) -> ModuleType:
        """The template's functions compiled with this rule."""
        return bind(template, self._names(), self.function.py_func.__module__, self.stamp)

    def _names(self) -> Mapping[str, Any]:
        return {"score": self.score, "score_all": self.score_all, "AT_ONCE": self.at_once}


class NoScore(ArithmeticError):
    """A rule gave a move no number, or all moves minus infinity; raised in compiled code."""


@contextmanager
def refusing(rule: str) -> Iterator[None]:
    """What goes wrong in the compiled code of a rule becomes one line."""
    try:
        yield
    except NumbaError as error:
        raise SearchError(f"the rule {rule} does not compile: {reason(error)}") from error
    except NoScore as error:
        raise SearchError(f"the rule {rule} gives no score: {error}") from error
    except (ArithmeticError, ValueError, IndexError) as error:
        if not is_code(rule):
            raise
        raise SearchError(f"the rule {rule} fails: {error}") from error


# Free names of the templates, for readers and type checkers only: `Rule.bind` supplies a rule's own.
score: Any
score_all: Any
AT_ONCE: bool
