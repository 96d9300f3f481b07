"""A position being analysed: what a player thinks of it and of each move, while it thinks and when it is done.

Values are for the player to move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from palaestra.base.errors import ConfigError, MoveError
from palaestra.games.base import Game
from palaestra.games.overlay import has_spots, overlaid
from palaestra.live import html
from palaestra.live.position import Position
from palaestra.live.usual import usual_adviser
from palaestra.live.words import SIDES, short_count, short_value, value_in_words
from palaestra.players.base import EVERY, UNPROVEN, Analysis, Player
from palaestra.players.exact import InstantJudge
from palaestra.players.registry import make_player

OVERLAYS = ("value", "policy", "visits")
Overlay = Literal["value", "policy", "visits", "none"]
MOST_ROWS = 12  # moves in a table for people


class AnalysisDocument(TypedDict):
    """An analysis as JSON: moves as text; policy, visits, priors, values and exact results by move."""

    game: str
    player: str
    seed: int
    to_play: str
    action: str
    action_id: int
    value: float | None
    proven: bool | None
    policy: dict[str, float] | None
    visits: dict[str, int] | None
    priors: dict[str, float] | None
    values: dict[str, float | None] | None
    exact: dict[str, str | int | None] | None
    pv: list[str]
    note: str


@dataclass(frozen=True)
class MoveRow:
    """One legal move as a player sees it; what it says nothing about is None."""

    move: str
    action: int
    value: float | None
    exact: str | int | None  # win, draw or loss; with one player the score
    probability: float | None
    visits: int | None
    prior: float | None


@dataclass(frozen=True, eq=False)
class PositionAnalysis:
    """What a player thinks of a position."""

    position: Position
    player: str
    seed: int
    analysis: Analysis

    @property
    def move(self) -> str:
        """The move that the player would make."""
        return self.position.game.action_to_text(self.position.state, self.analysis.action)

    @property
    def value(self) -> float | None:
        """In [-1, 1], for the player to move; None if the player has none."""
        return None if self.analysis.value is None else self.analysis.value + 0.0  # never minus zero

    @cached_property
    def line(self) -> list[str]:
        """The moves that the player expects from here on."""
        return self.position.game.line_to_texts(self.position.state, self.analysis.pv)

    @cached_property
    def moves(self) -> list[MoveRow]:
        """Every legal move, the likeliest first."""
        found = self.analysis
        weights = found.visits if found.policy is None else found.policy
        legal = list(self.position.legal.items())
        if weights is not None:
            legal.sort(key=lambda row: -float(weights[row[1]]))
        return [
            MoveRow(
                text,
                action,
                _at(found.values, action, _finite),
                _at(found.exact, action, self._exact),
                _at(found.policy, action, float),
                _at(found.visits, action, int),
                _at(found.priors, action, float),
            )
            for text, action in legal
        ]

    @property
    def summary(self) -> str:
        """ "plays 4; +0.120 for the player to move; 2,000 simulations"."""
        facts = [f"plays {self.move}", value_in_words(self.analysis.value), self.analysis.note]
        return "; ".join(fact for fact in facts if fact)

    def columns(self) -> dict[str, list[str]]:
        """What a table shows beside the moves, the likeliest first; what says nothing is left out."""
        shown: dict[str, list[str]] = {}
        rows = self.moves
        if any(row.value is not None for row in rows):
            shown["value"] = ["" if row.value is None else f"{round(row.value, 3) + 0.0:+.3f}" for row in rows]
        if any(row.exact is not None for row in rows):
            shown["exact"] = ["" if row.exact is None else str(row.exact) for row in rows]
        if self.analysis.policy is not None:
            shown["probability"] = [f"{100 * (row.probability or 0.0):.1f} %" for row in rows]
        if self.analysis.visits is not None:
            shown["visits"] = [f"{row.visits:,}" for row in rows]
        if len({row.prior for row in rows}) > 1:  # equal ones say nothing
            shown["prior"] = [f"{100 * (row.prior or 0.0):.1f} %" for row in rows]
        return shown

    def document(self) -> AnalysisDocument:
        """The analysis as JSON, with every legal move."""
        found, game = self.analysis, self.position.game
        return {
            "game": game.id,
            "player": self.player,
            "seed": self.seed,
            "to_play": SIDES[self.position.to_play],
            "action": self.move,
            "action_id": found.action,
            "value": self.value,
            "proven": found.proven,
            "policy": self._by_move(found.policy, float),
            "visits": self._by_move(found.visits, int),
            "priors": self._by_move(found.priors, float),
            "values": self._by_move(found.values, _finite),
            "exact": self._by_move(found.exact, self._exact),
            "pv": self.line,
            "note": found.note,
        }

    def _by_move(self, of: NDArray[Any] | None, shown: Callable[[Any], Any]) -> dict[str, Any] | None:
        return None if of is None else {text: shown(of[action]) for text, action in self.position.legal.items()}

    def _exact(self, result: int) -> str | int | None:
        """A certain result for the mover: win, draw or loss, with one player the score; None where none is certain."""
        if result == UNPROVEN:
            return None
        return int(result) if self.position.game.players == 1 else {1: "win", 0: "draw", -1: "loss"}[int(result)]

    def svg(self, overlay: Overlay | None = None) -> str:
        """The position with its moves shaded by probability, and the numbers asked for, or the first there are."""
        position, game = self.position, self.position.game
        if overlay == "none":
            return position.svg()
        if overlay is not None and not has_spots(game):
            raise ConfigError(f"{game.id} has no board with a place for each move: leave out --overlay {overlay}")
        numbers: dict[str, dict[int, str]] = {kind: found for kind in OVERLAYS if (found := self._numbers(kind))}
        if overlay is not None and overlay not in numbers:
            known = ", ".join(numbers) or "none of them"
            raise ConfigError(f"{self.player} has no {overlay} for its moves that could be drawn; it has {known}")
        shares = self.analysis.policy
        if shares is None and self.analysis.visits is not None:
            shares = self.analysis.visits / max(1, self.analysis.visits.sum())
        shades = {} if shares is None else {action: float(shares[action]) for action in position.legal.values()}
        drawn = numbers.get(overlay) if overlay else next(iter(numbers.values()), None)
        return overlaid(game, position.state, shades, drawn, position.last)

    def _numbers(self, kind: str) -> dict[int, str]:
        """The short texts that stand on the moves; a move of which nothing is known has none."""
        if kind == "value":
            return {row.action: short_value(row.value) for row in self.moves if row.value is not None}
        if kind == "policy":
            shares = {row.action: row.probability or 0.0 for row in self.moves}
            return {action: f"{100 * share:.0f}" for action, share in shares.items() if share >= 0.005}
        return {row.action: short_count(row.visits) for row in self.moves if row.visits}

    def __repr__(self) -> str:
        lines = [f"{self.player} {self.summary}"]
        columns = self.columns()
        for place, row in enumerate(self.moves[:MOST_ROWS]):
            cells = (f"{name} {column[place]}" for name, column in columns.items() if column[place])
            lines.append(f"  {row.move:6} {', '.join(cells)}")
        if self.line:
            lines.append(f"  line: {' '.join(self.line)}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        columns = self.columns()
        rows = [(row.move, *(c[place] for c in columns.values())) for place, row in enumerate(self.moves[:MOST_ROWS])]
        words = [html.heading(f"{self.player} {self.summary}"), html.table(("move", *columns), rows)]
        words.append(html.note(f"line: {' '.join(self.line)}" if self.line else ""))
        return html.beside(html.drawing(self.svg()), "".join(words))


def analyse(
    game: Game | str | Position, moves: str = "", player: Player | str | None = None, *, seed: int = 0
) -> PositionAnalysis:
    """What a player thinks of a position: its move, values, visits and probabilities, and the line it expects.

    Where it takes only a moment, every move's certain result is found out as well.

    >>> found = analyse("tic_tac_toe-3x3", "a1 c1 a2 c3", "uct(simulations=200)")
    >>> found.move, found.value, found.moves[0].exact
    ('a3', 1.0, 'win')
    """
    position, thinker = _asked(game, moves, player)
    found = thinker.analyse(position.state, np.random.default_rng(seed))
    return PositionAnalysis(position, thinker.text, seed, InstantJudge(position.game).complete(position.state, found))


def analyse_live(
    game: Game | str | Position,
    moves: str = "",
    player: Player | str | None = None,
    *,
    seed: int = 0,
    every: float = EVERY,
    exact: bool = True,
) -> Iterator[PositionAnalysis]:
    """`analyse` while the search runs: a new analysis every so many seconds, and the finished one at last.

    How often one looks changes nothing: the last one equals that of `analyse`. Whoever has seen enough stops asking.
    Without `exact`, certain results that the search has not proven are not looked for, which on a clock takes too long.

    >>> *earlier, last = analyse_live("connect_four-5x5", "3", "uct(simulations=3000)", every=0.0)
    >>> len(earlier) > 1, last.analysis.visits.sum()
    (True, np.int64(3000))
    """
    position, thinker = _asked(game, moves, player)
    judge, state = InstantJudge(position.game) if exact else None, position.state
    for thought in thinker.thoughts(state, np.random.default_rng(seed), every):
        found = thought if judge is None else judge.complete(state, thought)
        yield PositionAnalysis(position, thinker.text, seed, found)


def _asked(game: Game | str | Position, moves: str, player: Player | str | None) -> tuple[Position, Player]:
    """The position, and who is asked; MoveError if the game is over there."""
    position = game if isinstance(game, Position) else Position(game, moves)
    if position.is_over:
        raise MoveError(
            f"the game is over after these moves; give fewer, as in: palaestra analyse {position.game.id} --moves '',"
            " or draw its end with --svg FILE"
        )
    if isinstance(player, Player):
        return position, player
    return position, make_player(player or usual_adviser(position.game), position.game)


def _at(of: NDArray[Any] | None, action: int, shown: Callable[[Any], Any]) -> Any:
    return None if of is None else shown(of[action])


def _finite(value: float) -> float | None:
    """A value, never minus zero; None where there is none."""
    return float(value) + 0.0 if value == value else None
