"""Where the facts and moves of a game in GDL stand on a board: what a network sees and what a person is shown.

A board is found where some fact has two arguments with an order, as in (cell ?row ?column ?content): numbers, letters
from a on, or constants that a successor relation of the rules strings together. The first of them counts rows, the
second columns; all else of a fact, (cell · · x), is its plane. Facts without a place on the board fill whole planes,
and a counter of moves is one plane that rises from 0 to 1. Without a board, planes have one cell.

If exchanging the roles, and perhaps two more constants such as x and o, leaves the rules the same, the second role sees
every fact where the first one would see it with roles exchanged: both see their own stones on the same planes.
Otherwise both see the same, and one plane more says who is to play. Knows no states and no compiled code.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from string import ascii_lowercase

import numpy as np

from palaestra.base.types import Float32s, Int64s
from palaestra.ggp.terms import Rule, Rules, Term, arguments, name_of, substitute, subterms, term_text

MOST_DIGITS = 1000

LONGEST_SIDE = 32
MOST_ACTION_PLANES = 128
BLANKS = ("b", "blank", "empty")
ALL_CELLS = -1


@dataclass(frozen=True)
class Place:
    """A term on a board: what is left of it without coordinates, and its cell."""

    key: Term
    cell: int


@dataclass(frozen=True)
class Board:
    """Two axes, and for terms of each name and arity which two arguments lie on them."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    coordinates: dict[tuple[str, int], tuple[int, int]]

    def place(self, term: Term) -> Place | None:
        """Where a term stands; None if it is not on the board."""
        inside = arguments(term)
        axes = self.coordinates.get((name_of(term), len(inside)))
        if axes is None:
            return None
        row, column = (inside[axis] for axis in axes)
        key = (name_of(term), *(part for i, part in enumerate(inside) if i not in axes))
        return Place(key, self.rows.index(str(row)) * len(self.columns) + self.columns.index(str(column)))


@dataclass(frozen=True, eq=False)
class Layout:
    """What is seen of a game; `places` and `weights` are those of `palaestra.ggp.game_kernels.observe_rows`."""

    board: Board | None
    shape: tuple[int, int, int]
    places: Int64s  # [2, facts, 2]
    weights: Float32s  # [facts]
    turn_at: int  # the plane that says who is to play, or -1
    action_places: tuple[int, ...] | None  # as in a Game


def lay_out(
    rules: Rules, board: Board | None, facts: Sequence[Term], actions: Sequence[Term], counter: Sequence[int]
) -> Layout:
    """The layout of a game's facts and actions; `counter` are the facts that count moves."""
    weights = np.ones(len(facts), dtype=np.float32)
    weights[list(counter)] = np.linspace(0.0, 1.0, len(counter))
    counting, keys = set(counter), dict[Term, int]()
    places = np.full((2, len(facts), 2), ALL_CELLS, dtype=np.int64)
    for number, fact in enumerate(facts):
        place = board.place(fact) if board else None
        key = name_of(fact) if number in counting else fact
        places[0, number] = (
            (keys.setdefault(place.key, len(keys)), place.cell)
            if place
            else (keys.setdefault(key, len(keys)), ALL_CELLS)
        )
    places[1] = places[0]
    twins = _twins(rules, facts) if len(rules.roles) == 2 else None
    if twins is not None:
        places[1] = places[0][twins]
    turn_at = len(keys) if twins is None and len(rules.roles) == 2 else -1
    shape = (len(keys) + (turn_at >= 0), len(board.rows) if board else 1, len(board.columns) if board else 1)
    return Layout(board, shape, places, weights, turn_at, _action_places(board, actions) if board else None)


def find_board(rules: Rules, facts: Iterable[Term]) -> Board | None:
    """The board of the largest family of facts that has one; smaller families lie on it where their arguments fit."""
    families = _families(facts)
    chains = list(_chains(rules))
    axes: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    coordinates: dict[tuple[str, int], tuple[int, int]] = {}
    for family, rows in sorted(families.items(), key=lambda item: (-len(item[1]), item[0][0].lower(), item[0])):
        for one, other in combinations(range(family[1]), 2):
            found = _ordered({row[one] for row in rows}, chains), _ordered({row[other] for row in rows}, chains)
            if not (found[0] and found[1]):
                continue
            if axes is None:
                axes = found
            if set(found[0]) <= set(axes[0]) and set(found[1]) <= set(axes[1]):
                coordinates[family] = (one, other)
                break
    return Board(*axes, coordinates) if axes else None


def _families(terms: Iterable[Term]) -> dict[tuple[str, int], list[tuple[Term, ...]]]:
    """The arguments of all terms of one name and arity."""
    families: dict[tuple[str, int], list[tuple[Term, ...]]] = {}
    for term in terms:
        families.setdefault((name_of(term), len(arguments(term))), []).append(arguments(term))
    return families


def _ordered(values: set[Term], chains: list[tuple[str, ...]]) -> tuple[str, ...]:
    """The values in their order; nothing if they have none, or are too few or too many for a board."""
    names = [value for value in values if isinstance(value, str)]
    if len(names) < len(values) or not 2 <= len(names) <= LONGEST_SIDE:
        return ()
    if all(map(is_number, names)):
        return tuple(sorted(names, key=int))
    if sorted(map(str.lower, names)) == list(ascii_lowercase[: len(names)]):
        return tuple(sorted(names, key=str.lower))
    for chain in chains:
        if set(names) <= set(chain):
            return tuple(name for name in chain if name in values)
    return ()


def _chains(rules: Rules) -> Iterable[tuple[str, ...]]:
    """Constants in a row, from facts such as (succ a b), (succ b c)."""
    following: dict[str, dict[str, str]] = {}
    for rule in rules.rules:
        inside = arguments(rule.head)
        if not rule.body and len(inside) == 2 and isinstance(inside[0], str) and isinstance(inside[1], str):
            known = following.setdefault(name_of(rule.head), {})
            known[inside[0]] = "" if inside[0] in known else inside[1]  # two successors are no order
    for known in following.values():
        starts = known.keys() - known.values()
        if len(starts) != 1 or "" in known.values() or len(set(known.values())) < len(known):
            continue
        chain = [*starts]
        while chain[-1] in known:
            chain.append(known[chain[-1]])
        if len(chain) == len(known) + 1:
            yield tuple(chain)


def _twins(rules: Rules, facts: Sequence[Term]) -> Int64s | None:
    """The number of each fact with the roles exchanged, int64[facts]; None if the rules do not stay the same."""
    numbers = {fact: number for number, fact in enumerate(facts)}
    # Somebody begins: the initial facts need not be alike for both.
    changing = [rule for rule in rules.rules if name_of(rule.head) not in ("init", "base", "input")]
    plain = {_clause(rule, {}) for rule in changing}
    words = {part for fact in facts for part in subterms(fact) if isinstance(part, str) and not part.isdigit()}
    first, second = rules.roles
    for pair in ((), *combinations(sorted(words - {first, second}, key=natural_order), 2)):
        exchange = {first: second, second: first, **dict(zip(pair, reversed(pair), strict=True))}
        if all(_clause(rule, exchange) in plain for rule in changing):
            twins = [numbers.get(substitute(fact, exchange), -1) for fact in facts]
            return None if -1 in twins else np.array(twins, dtype=np.int64)
    return None


def _clause(rule: Rule, exchange: dict[str, str]) -> tuple[object, ...]:
    """A rule with constants exchanged, in a form that does not depend on the order of its conditions."""
    return (
        substitute(rule.head, exchange),
        frozenset((substitute(literal.atom, exchange), literal.positive) for literal in rule.body),
        frozenset(frozenset(substitute(term, exchange) for term in pair) for pair in rule.distinct),
    )


def _action_places(board: Board, actions: Sequence[Term]) -> tuple[int, ...] | None:
    """A place on planes of the board for each action; None if too few of them name a cell, or planes are too many."""
    coordinates: dict[tuple[str, int], tuple[int, int]] = {}
    for family, rows in _families(actions).items():
        for one, other in combinations(range(family[1]), 2):
            if {row[one] for row in rows} <= set(board.rows) and {row[other] for row in rows} <= set(board.columns):
                coordinates[family] = (one, other)
                break
    grid = Board(board.rows, board.columns, coordinates)
    placed = [grid.place(action) for action in actions]
    keys = {place.key: None for place in placed if place}
    cells, elsewhere = len(board.rows) * len(board.columns), placed.count(None)
    if 2 * elsewhere > len(actions) or len(keys) + -(-elsewhere // cells) > MOST_ACTION_PLANES:
        return None
    planes = {key: number for number, key in enumerate(keys)}
    spare = iter(range(len(planes) * cells, len(planes) * cells + elsewhere))
    return tuple(planes[place.key] * cells + place.cell if place else next(spare) for place in placed)


def draw(board: Board | None, facts: Iterable[Term]) -> str:
    """The board with what is in its cells, and all other facts below it, one to a line."""
    cells: dict[int, list[str]] = {}
    others: list[str] = []
    for fact in sorted(facts, key=natural_order):
        place = board.place(fact) if board else None
        if place is None:
            others.append(term_text(fact))
        else:
            inside = arguments(place.key)
            content = " ".join(map(term_text, inside)) if inside else name_of(place.key)
            cells.setdefault(place.cell, []).append("." if content.lower() in BLANKS else content)
    if board is None:
        return "\n".join(others) or "no fact holds"
    lines = [["", *board.columns]]
    for row, name in enumerate(board.rows):
        begin = row * len(board.columns)
        shown = ("/".join(cells.get(cell, ["."])) for cell in range(begin, begin + len(board.columns)))
        lines.append([name, *shown])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    drawn = [" ".join(word.rjust(width) for word, width in zip(line, widths, strict=True)) for line in lines]
    return "\n".join([*drawn, *others])


def natural_order(term: Term) -> tuple[object, ...]:
    """A key that sorts (mark 2 1) before (mark 10 1), and words without arguments, such as noop, last.

    Case matters only between names that differ in nothing else: how a rulesheet is spelled moves no action.
    """
    names = [name_of(part) for part in subterms(term)]
    folded = [(0, int(name), "") if is_number(name) else (1, 0, name.lower()) for name in names]
    return int(isinstance(term, str)), folded, names


def is_number(name: str) -> bool:
    """Whether a word is a whole number, and none that only a hostile rulesheet has."""
    return name.isascii() and name.isdigit() and len(name) <= MOST_DIGITS
