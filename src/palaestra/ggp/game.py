"""Rules in GDL as a Game: `gdl:FILE.kif`, or `gdl:NAME` for a rulesheet of the package (sources: GDL).

Games of one role, and of two roles that take turns, which a propositional network holds; all else is refused with a
sentence. The first role is the first player, whoever begins. A state is the header of `palaestra.games.rows` and one
bit for each fact. An action is a move's term; equal terms of both roles are one action.

The outcome of two players compares their goals: its sign, or, where random games end in more than one kind of win, the
difference of their places among all goals of the rules (tiebreak margin). One player's outcome is its goal (tiebreak
score). A game ends at the latest when the rules' own counter of moves does, or after `turn_taking.CAP` plies: then two
players draw, and one has the goal that it stands at. `version` is a digest of the rules, so that a run or a table of
other rules is noticed. Knows no players.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import Any, SupportsIndex

import numpy as np

from palaestra.base.errors import GameError, GdlError, MoveError
from palaestra.base.types import Float32s, Int8s, Int32s, Int64s, UInt64s
from palaestra.games.base import Game, Playouts, Tiebreak
from palaestra.games.rows import HEADER, ONGOING
from palaestra.games.svg import Spot, text_document
from palaestra.ggp import game_kernels
from palaestra.ggp.board_drawing import BoardDrawing, draw_board
from palaestra.ggp.board_layout import Layout, draw, find_board, lay_out, natural_order
from palaestra.ggp.budget import BudgetError
from palaestra.ggp.game_kernels import AT_ONCE, STUCK, Turns
from palaestra.ggp.game_playouts import play_out_rows
from palaestra.ggp.kif import read_kif
from palaestra.ggp.propnet import PropNet, block_words
from palaestra.ggp.rules import load_rules, parse_rules, rulesheet, rulesheet_names
from palaestra.ggp.terms import Rules, Term, is_variable, name_of, subterms, term_text
from palaestra.ggp.turn_taking import Habits, NotInTurn, look, refuse

FORMAT = 1  # of states and observations: part of every version, so that a change of this module is noticed as well
HIGHEST_GOAL = 100
GROUNDING_SECONDS = 120.0  # whoever asks for a game by name has no clock running


def make(id: str) -> GdlGame:
    """The game of `gdl:FILE` or `gdl:NAME`, a file read again if it changed; GdlError or GameError if there is none."""
    name = id.partition(":")[2]
    if name in rulesheet_names():
        return _load(id, None)
    try:
        found = os.stat(name)
    except (OSError, ValueError):
        known = ", ".join(rulesheet_names())
        raise GameError(f"{id!r}: there is no file {name!r}, and no rulesheet of that name; known: {known}") from None
    return _load(id, (os.path.abspath(name), found.st_mtime_ns, found.st_size))


@lru_cache(maxsize=16)
def _load(id: str, stamp: tuple[str, int, int] | None) -> GdlGame:
    return _of_rules(id, (load_rules(stamp[0]) if stamp else parse_rules(rulesheet(id.partition(":")[2]))).source)


@lru_cache(maxsize=16)
def _of_rules(id: str, source: str) -> GdlGame:
    rules = parse_rules(source)
    elsewhere = "it can still be played in network matches: palaestra ggp player"
    try:
        return GdlGame.of(id, rules, PropNet(rules, GROUNDING_SECONDS))
    except BudgetError as error:
        raise GameError(f"{id}: as a network the rules are too large ({error}); {elsewhere}") from error
    except NotInTurn as error:
        raise GameError(f"{id}: {error}; {elsewhere}") from error
    except GameError as error:
        raise GameError(f"{id}: {error}") from error


@dataclass(frozen=True, eq=False, kw_only=True)
class GdlGame(Game):
    """A propositional network with the batch interface of a Game; made by `of`."""

    net: PropNet
    turns: Turns
    layout: Layout
    moves: tuple[Term, ...]  # by action
    source: str  # the rules' text

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """Pickled as its rules: what is made of them takes far more room."""
        return _of_rules, (self.id, self.source)

    @classmethod
    def of(cls, id: str, rules: Rules, net: PropNet) -> GdlGame:
        """The game of some rules, of which `net` is the network; GameError if they are not played in turn."""
        board = find_board(rules, net.all_facts)
        habits = look(net, board)
        moves = tuple(sorted({move for own in net.moves for move in own}, key=natural_order))
        turns, largest = _turns(net, habits, moves)
        layout = lay_out(rules, board, net.all_facts, moves, habits.counter)
        tiebreak: Tiebreak = "score" if len(net.roles) == 1 else "margin" if turns.margin else "none"
        return cls(
            id=id,
            num_actions=len(moves),
            max_plies=habits.max_plies,
            max_legal=max(map(len, net.moves)),
            state_size=HEADER + 8 * net.words,
            observation_shape=layout.shape,
            version=_version(rules),
            players=len(net.roles),
            tiebreak=tiebreak,
            largest_outcome=largest,
            action_places=layout.action_places,
            goal="The rules are in GDL: reach the highest goal.",
            net=net,
            turns=turns,
            layout=layout,
            moves=moves,
            source=rules.source,
        )

    # Rules.

    def start(self, choices: Int64s) -> Int8s:
        # As if the last role had moved: where the rules do not tell who begins, the first one does.
        before = np.concatenate((_header(0, self.players - 1, ONGOING), self.net.initial_states(1)[0].view(np.int8)))
        state = self._step(before[None], np.zeros(0, dtype=np.int32), 0)[0]
        return np.repeat(state, len(choices), axis=0)

    def advance(self, states: Int8s, actions: Int32s) -> Int8s:
        return self._step(states, actions, 0)[0]

    def step(self, states: Int8s, actions: Int32s) -> tuple[Int8s, Int32s, Int32s]:
        return self._step(states, actions, self.max_legal)

    def _step(self, states: Int8s, actions: Int32s, room: int) -> tuple[Int8s, Int32s, Int32s]:
        rows = np.array(states, dtype=np.int8, order="C").view(np.uint64)
        counts, listed = np.zeros(len(rows), dtype=np.int32), np.empty((len(rows), room), dtype=np.int32)
        faults = np.zeros(len(rows), dtype=np.int8)
        chosen = np.ascontiguousarray(actions, dtype=np.int32)
        width = block_words(len(rows))
        game_kernels.step_rows(self.net.gates, self.turns, rows, chosen, width, counts, listed, faults)
        self._check(faults)
        return rows.view(np.int8), counts, listed

    def legal(self, states: Int8s) -> tuple[Int32s, Int32s]:
        rows = _words(states)
        counts = np.zeros(len(rows), dtype=np.int32)
        listed = np.empty((len(rows), self.max_legal), dtype=np.int32)
        game_kernels.legal_rows(self.net.gates, self.turns, rows, block_words(len(rows)), counts, listed)
        return counts, listed

    def observe(self, states: Int8s) -> Float32s:
        channels, height, width = self.observation_shape
        planes = np.zeros((len(states), channels, height * width), dtype=np.float32)
        layout = self.layout
        game_kernels.observe_rows(_words(states), layout.places, layout.weights, layout.turn_at, planes)
        return planes.reshape(len(states), *self.observation_shape)

    def rollout(self, states: Int8s, streams: UInt64s, trace: bool = False) -> Playouts:
        rows = np.array(states, dtype=np.int8, order="C").view(np.uint64)
        lengths, faults = np.zeros(len(rows), dtype=np.int32), np.zeros(1, dtype=np.int8)
        moves = np.zeros((len(rows), self.max_plies if trace else 0), dtype=np.int32)
        movers = np.zeros(moves.shape, dtype=np.int8)
        width = block_words(len(rows))
        record = (lengths, moves, movers)
        play_out_rows(self.net.gates, self.turns, rows, streams, width, record, faults)
        self._check(faults)
        ends = rows.view(np.int8)
        if not trace:
            return Playouts(ends, self.outcome(ends))
        return Playouts(ends, self.outcome(ends), lengths, moves, movers)

    def _check(self, faults: Int8s) -> None:
        if faults.any():
            try:
                refuse(stuck=bool((faults == STUCK).any()), at_once=bool((faults == AT_ONCE).any()))
            except GameError as error:
                raise GameError(f"{self.id}: {error}") from None

    # Text.

    def facts(self, state: Int8s) -> list[Term]:
        """What is true in a state."""
        bits = np.unpackbits(_words(state[None])[0, 1:].view(np.uint8), bitorder="little")
        return [self.net.all_facts[number] for number in np.flatnonzero(bits)]

    def render(self, state: Int8s) -> str:
        return draw(self.layout.board, self.facts(state))

    @cached_property
    def _drawing(self) -> BoardDrawing | None:
        return draw_board(self.layout.board, self.net.roles, self.moves)

    def svg(self, state: Int8s) -> str:
        drawing = self._drawing
        return text_document(self.render(state)) if drawing is None else drawing.svg(self.facts(state))

    def spot(self, state: Int8s, action: int, drawn: Int8s) -> Spot | None:
        drawing = self._drawing
        return None if drawing is None else drawing.spot(self.moves[action])

    def action_to_text(self, state: Int8s, action: int) -> str:
        return term_text(self.moves[action])

    def text_to_action(self, state: Int8s, text: str) -> int:
        """Spaces, case and the outermost brackets do not matter: mark 1 1 is (mark 1 1)."""
        words = self.split_moves(text)
        return super().text_to_action(state, words[0] if len(words) == 1 else f"({' '.join(words)})")

    def split_moves(self, text: str) -> list[str]:
        """The terms of a line, (mark 1 1) (mark 2 2); MoveError if its brackets do not match."""
        try:
            return [term_text(form.term) for form in read_kif(text)]
        except GdlError as error:
            raise MoveError(
                f"{text!r} cannot be read as moves ({error}); for example {term_text(self.moves[0])}"
            ) from None

    def state_to_text(self, state: Int8s) -> str:
        """Ply, player to move, outcome or a dash, and the facts: 1 1 - (cell 2 2 x) (control o)."""
        outcome = int(self.outcome(state[None])[0])
        header = [str(int(self.plies(state[None])[0])), str(int(state[0])), "-" if outcome == ONGOING else str(outcome)]
        return " ".join([*header, *map(term_text, sorted(self.facts(state), key=natural_order))])

    def state_from_text(self, text: str) -> Int8s:
        numbers = {term_text(fact): number for number, fact in enumerate(self.net.all_facts)}
        in_any_case = {fact.lower(): number for fact, number in numbers.items()}
        bits = np.zeros(8 * (self.state_size - HEADER), dtype=np.bool_)
        try:
            words = self.split_moves(text)
            ply, mover = int(words[0]), int(words[1])
            outcome = ONGOING if words[2] == "-" else int(words[2])
            bits[[numbers[fact] if fact in numbers else in_any_case[fact.lower()] for fact in words[3:]]] = True
            if not (0 <= ply <= self.max_plies and 0 <= mover < self.players):
                raise ValueError
            if outcome != ONGOING and abs(outcome) > self.largest_outcome:
                raise ValueError
        except (MoveError, ValueError, LookupError):
            example = self.state_to_text(self.initial(1)[0])
            raise MoveError(f"{text!r} is not a position of {self.id}; the initial one is {example!r}") from None
        return np.concatenate((_header(ply, mover, outcome), np.packbits(bits, bitorder="little").view(np.int8)))


def _turns(net: PropNet, habits: Habits, moves: tuple[Term, ...]) -> tuple[Turns, int]:
    """What the compiled rules need beyond the gates, and the largest outcome."""
    number = {move: action for action, move in enumerate(moves)}
    move_of = np.full((len(net.roles), len(moves)), -1, dtype=np.int32)
    for role, begin in enumerate(net.gates.roles[:-1]):
        move_of[role, [number[move] for move in net.moves[role]]] = begin + np.arange(len(net.moves[role]))
    goals = sorted({0, *net.gates.values.tolist()})
    ranks = np.searchsorted(goals, np.arange(HIGHEST_GOAL + 1)).astype(np.int32)
    margin = False
    largest = max(1, goals[-1])
    if len(net.roles) == 2:
        differences = np.abs(ranks[habits.ends[:, 0]] - ranks[habits.ends[:, 1]])
        margin = len(np.unique(differences[differences > 0])) > 1
        largest = max(1, len(goals) - 1) if margin else 1
    return Turns(move_of, habits.idle, ranks, margin, habits.max_plies), largest


def _version(rules: Rules) -> int:
    """A digest of the rules as they are read: comments and spaces do not change it, nor case where it tells nothing."""
    text = " ".join(term_text(form.term) for form in read_kif(rules.source))
    atoms = (atom for rule in rules.rules for atom in (rule.head, *(literal.atom for literal in rule.body)))
    names = {name_of(part) for atom in atoms for part in subterms(atom) if not is_variable(part)}
    if len({name.lower() for name in names}) == len(names):
        text = text.lower()
    return int.from_bytes(blake2b(f"{FORMAT} {text}".encode(), digest_size=6).digest())


def _header(ply: int, mover: int, outcome: int) -> Int8s:
    """int8[HEADER], as in `palaestra.games.rows`."""
    row = np.zeros(HEADER, dtype=np.int8)
    row[0] = mover
    row[2:4] = np.array([ply], dtype=np.int16).view(np.int8)
    row[4:8] = np.array([outcome], dtype=np.int32).view(np.int8)
    return row


def _words(states: Int8s) -> UInt64s:
    """Rows of bytes as uint64[B, 1 + K]."""
    return np.ascontiguousarray(states, dtype=np.int8).view(np.uint64)
