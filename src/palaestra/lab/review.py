"""A finished game looked at again: what each move gave away, the value from move to move, and better moves.

A move is judged by its exact result where that is known cheaply (`palaestra.players.exact`), otherwise by how far the
adviser's value falls. Values are for the player to move, except in the curve, which is the first player's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from palaestra.base.errors import RecordError
from palaestra.base.printable import escape
from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.overlay import overlaid
from palaestra.games.rows import ONGOING
from palaestra.lab.pages import Replay, card, fill_page
from palaestra.players.base import UNPROVEN, Analysis, Player
from palaestra.players.exact import InstantJudge
from palaestra.rewards.base import default_reward
from palaestra.runs.pgn_games import PgnGame

VERDICTS = ("inaccuracy", "mistake", "blunder")
FALLS = (0.25, 0.5, 1.0)  # of a value in [-1, 1] that make them, with two players
SCORE_FALLS = (0.04, 0.1, 0.2)  # with one: 2, 5 and 10 % of the largest score
EXACT_FALLS = (2.5, 1.0, 2.0)  # of a certain result: half a point is a mistake, a whole one a blunder
SIDES = ("first", "second")
CURVE = (480, 190)  # width and height of the curve
EDGE = (46.0, 12.0)  # what is left free on its left, and above and below it


@dataclass(frozen=True)
class Move:
    """One move of the game as the adviser sees it; values are for the player who made it."""

    ply: int  # 1 is the first move
    mover: int
    text: str
    action: int
    best: str  # what the adviser would have played
    best_action: int
    best_value: float
    value: float  # of the move that was played
    fall: float  # what was given away, in [0, 2]
    exact: bool  # whether that is certain
    verdict: str  # one of VERDICTS, or nothing
    line: tuple[str, ...]  # what the adviser expected, the best move first
    opening: bool  # whether it was a random move of the opening, which nobody is blamed for


@dataclass(frozen=True, eq=False)
class Review:
    """A whole game: its states, its moves, and the first player's value at each state."""

    game: Game
    adviser: str
    states: list[Int8s]
    moves: list[Move]
    values: list[float]

    def counts(self, mover: int) -> dict[str, int]:
        """How many moves of one side have each verdict."""
        return {word: sum(m.verdict == word and m.mover == mover for m in self.moves) for word in VERDICTS}


def review_game(
    game: Game, played: PgnGame, adviser: Player, seed: int = 0, listen: Callable[[], None] | None = None
) -> Review:
    """Judge every move; `listen` is called after each position. RecordError for a game without a move."""
    states, actions = played.replay(game)
    if not actions:
        raise RecordError("the game has no move that could be reviewed")
    judge = InstantJudge(game)
    analyses: list[Analysis | None] = []
    for ply, state in enumerate(states):
        over = int(game.outcome(state[None])[0]) != ONGOING
        found = None if over else judge.complete(state, adviser.analyse(state, np.random.default_rng([seed, ply])))
        if found is not None and found.value is None:
            raise RecordError(f"{adviser.text} has no value for a position; review with a player that has: uct")
        analyses.append(found)
        if listen is not None:
            listen()
    return judge_line(game, states, actions, analyses, adviser.text, played.opening_plies)


def judge_line(
    game: Game,
    states: Sequence[Int8s],
    actions: Sequence[int],
    analyses: Sequence[Analysis | None],
    adviser: str,
    opening_plies: int = 0,
) -> Review:
    """Judge the moves between some states by what is thought of each state; nothing is where the game is over.

    Every analysis has a value and exact results (`InstantJudge.complete`).
    """
    values = [_value(game, state, found) for state, found in zip(states, analyses, strict=True)]
    moves = [
        _judge(game, ply, states[ply], action, found, values[ply + 1], ply < opening_plies)
        for ply, (action, found) in enumerate(zip(actions, analyses, strict=False))
        if found is not None
    ]
    return Review(game, adviser, list(states), moves, values)


def _value(game: Game, state: Int8s, analysis: Analysis | None) -> float:
    """The first player's value of a state: what is certain, or else what the adviser says."""
    if analysis is None:
        return float(default_reward(game).value(game.outcome(state[None]))[0])
    certain = _best_result(game, state, analysis)
    assert analysis.value is not None
    own = analysis.value if certain is None else _worth(game, certain)
    return own * (1 - 2 * int(state[0])) + 0.0


def _worth(game: Game, result: int) -> float:
    """A result for the mover as a value for the mover."""
    return float(default_reward(game).value(np.array([result], dtype=np.int32))[0])


def _best_result(game: Game, state: Int8s, analysis: Analysis) -> int | None:
    """The certain result of best play for the mover; None if it is not known."""
    assert analysis.exact is not None
    results = analysis.exact[_legal(game, state)]
    known = results[results != UNPROVEN]
    if len(known) == len(results) or (game.players == 2 and 1 in known):
        return int(known.max())
    return None


def _judge(
    game: Game, ply: int, state: Int8s, action: int, analysis: Analysis, value_after: float, opening: bool
) -> Move:
    assert analysis.exact is not None and analysis.value is not None
    best, certain, result = analysis.action, _best_result(game, state, analysis), int(analysis.exact[action])
    exact = certain is not None and result != UNPROVEN
    if exact:
        assert certain is not None
        best = _best_action(game, state, analysis, certain)
        best_value, value = _worth(game, certain), _worth(game, result)
        limits = EXACT_FALLS if game.players == 2 else SCORE_FALLS
    else:
        own = float("nan") if analysis.values is None else float(analysis.values[best])
        best_value = analysis.value if np.isnan(own) else own
        value = best_value if action == best else value_after * (1 - 2 * int(state[0]))
        limits = FALLS if game.players == 2 else SCORE_FALLS
    fall = max(0.0, best_value - value)
    reached = [word for word, limit in zip(VERDICTS, limits, strict=True) if fall >= limit - 1e-6]
    line = [best] if best != analysis.action else analysis.pv or [best]
    return Move(
        ply=ply + 1,
        mover=int(state[0]),
        text=game.action_to_text(state, action),
        action=action,
        best=game.action_to_text(state, best),
        best_action=best,
        best_value=best_value + 0.0,
        value=value + 0.0,
        fall=fall,
        exact=exact,
        verdict=reached[-1] if reached and not opening else "",
        line=tuple(game.line_to_texts(state, line)),
        opening=opening,
    )


def _best_action(game: Game, state: Int8s, analysis: Analysis, certain: int) -> int:
    """A move that keeps the best result: the adviser's own, or the one that it likes best among them."""
    assert analysis.exact is not None
    if analysis.exact[analysis.action] == certain:
        return analysis.action
    keeping = [int(action) for action in _legal(game, state) if analysis.exact[action] == certain]
    liking = analysis.policy if analysis.visits is None else analysis.visits
    return keeping[0] if liking is None else max(keeping, key=lambda action: float(liking[action]))


def _legal(game: Game, state: Int8s) -> list[int]:
    counts, actions = game.legal(state[None])
    return [int(action) for action in actions[0, : counts[0]]]


def verdicts_in_words(review: Review, mover: int) -> str:
    """ "2 inaccuracies, 1 mistake", or that there was none."""
    plurals = dict(zip(VERDICTS, ("inaccuracies", "mistakes", "blunders"), strict=True))
    counted = [f"{n} {word if n == 1 else plurals[word]}" for word, n in review.counts(mover).items() if n]
    return ", ".join(counted) or "no mistakes"


def value_in_words(game: Game, value: float) -> str:
    """ "+0.42", or with one player the score that the value stands for."""
    if game.players == 1:
        return f"score {(value + 1) / 2 * game.largest_outcome:.0f}"
    return f"{round(value, 2) + 0.0:+.2f}"  # + 0.0: there is no -0.00


def thresholds_in_words(game: Game) -> str:
    """How moves are judged, in a few sentences for people."""
    if game.players == 1:
        shares = ", ".join(f"{50 * fall:.0f} % {word}" for fall, word in zip(SCORE_FALLS, VERDICTS, strict=True))
        return f"A move is judged by how much lower a score it allows, in shares of the largest possible one: {shares}."
    falls = ", ".join(f"{fall:g} {word}" for fall, word in zip(FALLS, VERDICTS, strict=True))
    return (
        "Where best play is certain (marked exact), giving away half a point is a mistake and a whole point a blunder. "
        f"Elsewhere it counts how far the adviser's value, in [-1, 1], falls: {falls}."
    )


# The page.


def review_page(review: Review, names: Mapping[str, str]) -> str:
    """One HTML page with the game to step through; `names` of the players and of the result are plain text."""
    title = " against ".join(names[side] for side in SIDES[: review.game.players])
    facts = [("game", review.game.id), ("result", names["result"]), ("adviser", review.adviser)]
    for mover in range(review.game.players):
        who = f"{SIDES[mover]} player" if review.game.players == 2 else "the player"
        facts.append((f"{who}, {names[SIDES[mover]]}", verdicts_in_words(review, mover)))
    game, moves = review.game, review.moves
    notes = ['<p class="note" data-at="0">The start.</p>']
    notes += [f'<p class="note" data-at="{move.ply}">{_note(game, move)}</p>' for move in moves]
    replay = Replay(
        title=f"{game.id}, {len(moves)} {'ply' if len(moves) == 1 else 'plies'}",
        drawings=[_drawing(review, ply) for ply in range(len(review.states))],
        moves=[move.text for move in moves],
        opening_plies=sum(move.opening for move in moves),
        classes=[move.verdict for move in moves],
        notes=_curve(review) + "".join(notes),
    )
    return fill_page(
        "review.html",
        [replay],
        title=escape(title),
        facts="".join(f"<div><b>{escape(value)}</b><span>{escape(key)}</span></div>" for key, value in facts),
        card=card(0, replay),
        thresholds=escape(thresholds_in_words(game)),
    )


def _note(game: Game, move: Move) -> str:
    words = f"Move {move.ply}" + (f", {SIDES[move.mover]} player" if game.players == 2 else "")
    said = f"<b>{escape(words)}: {escape(move.text)}</b>, {escape(value_in_words(game, move.value))}"
    if move.exact:
        said += " (exact)"
    if move.opening:
        return f"{said}. A random move of the opening."
    if move.verdict:
        said += f": <b>{move.verdict}</b>"
    if move.action == move.best_action:
        return f"{said}. The adviser's move as well."
    better = f"{value_in_words(game, move.best_value)}: {' '.join(move.line[:8])}"
    return f"{said}. {'Better' if move.verdict else 'The adviser plays'} {escape(move.best)}, {escape(better)}"


def _drawing(review: Review, ply: int) -> str:
    """The position after `ply` moves with the last one marked, and the better one if there was one."""
    if ply == 0:
        return overlaid(review.game, review.states[0])
    move, before, state = review.moves[ply - 1], review.states[ply - 1], review.states[ply]
    shown = {move.best_action: 0.6} if move.verdict else {}
    number = value_in_words(review.game, move.best_value).removeprefix("score ")
    numbers = dict.fromkeys(shown, number)
    return overlaid(review.game, state, shown, numbers, (before, move.action), played_in=before)


def _curve(review: Review) -> str:
    """The first player's value over the plies, with a strip for each position that leads to it."""
    (width, height), (left, edge) = CURVE, EDGE
    last = len(review.values) - 1
    step = (width - left - edge) / last

    def place(ply: int, value: float) -> tuple[float, float]:
        return left + ply * step, edge + (1 - value) / 2 * (height - 2 * edge)

    best, worst = (value_in_words(review.game, value).removeprefix("score ") for value in (1.0, -1.0))
    what = "score" if review.game.players == 1 else "first player's value"
    style = 'font-family="sans-serif" font-size="12" fill="#5b6270"'
    parts = [
        f'<svg class="curve" viewBox="0 0 {width} {height}" role="img" aria-label="{what} from move to move">',
        f'<path d="M{left} {height / 2}H{width - edge}" stroke="#d9d9d9"/>',
        f'<path d="M{left} {edge}V{height - edge}" stroke="#b9b9b9"/>',
        f'<text x="{left - 6}" y="{edge + 4}" text-anchor="end" {style}>{best}</text>',
        f'<text x="{left - 6}" y="{height - edge + 4}" text-anchor="end" {style}>{worst}</text>',
        f'<text text-anchor="middle" transform="translate(12 {height / 2}) rotate(-90)" {style}>{what}</text>',
    ]
    points = " ".join("{:.1f},{:.1f}".format(*place(ply, value)) for ply, value in enumerate(review.values))
    parts.append(f'<polyline points="{points}" fill="none" stroke="#0072b2" stroke-width="2" stroke-linejoin="round"/>')
    colours = dict(zip(VERDICTS, ("#e6b800", "#e8590c", "#b00020"), strict=True))
    for move in review.moves:
        if move.verdict:
            x, y = place(move.ply, review.values[move.ply])
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colours[move.verdict]}"/>')
    size = f'y="{edge}" width="{step:.1f}" height="{height - 2 * edge}"'
    for ply in range(last + 1):
        parts.append(f'<rect class="step" data-to="{ply}" x="{left + (ply - 0.5) * step:.1f}" {size}/>')
    return "".join([*parts, "</svg>"])
