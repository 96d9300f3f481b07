"""Sentences and numbers as people read them, whoever shows them. Imports nothing heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from palaestra.base.types import Int8s
    from palaestra.games.base import Game
    from palaestra.runs.overview import Strength

SIDES = ("first", "second")


def outcome_in_words(game: Game, state: Int8s) -> str:
    """The result of a finished game."""
    outcome = int(game.outcome(state[None])[0])
    plies = int(game.plies(state[None])[0])
    if game.players == 1:
        return f"over: score {outcome} after {plies} moves"
    if outcome == 0:
        return f"a draw after {plies} plies"
    winner = SIDES[0] if outcome > 0 else SIDES[1]
    return f"the {winner} player wins" + (f" by {abs(outcome)}" if game.tiebreak == "margin" else f" at ply {plies}")


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def score_in_words(score: float, interval: tuple[float, float]) -> str:
    """ "63.0 % (57.2–68.5)"."""
    return f"{percent(score)} ({100 * interval[0]:.1f}–{100 * interval[1]:.1f})"


def mean_in_words(mean: float, low: float | None, high: float | None) -> str:
    """ "61.3 (60.1–62.5)"; a single game has no interval."""
    return f"{mean:.1f}" if low is None or high is None else f"{mean:.1f} ({low:.1f}–{high:.1f})"


def value_in_words(value: float | None) -> str:
    """ "+0.420 for the player to move"; nothing where there is no value."""
    return "" if value is None else f"{round(value, 3) + 0.0:+.3f} for the player to move"  # never minus zero


def short_value(value: float) -> str:
    """ "+.42", "-1", "0": a value that fits on a cell."""
    return f"{value:+.2f}".replace("0.", ".").removesuffix(".00") if abs(value) >= 0.005 else "0"


def short_count(number: int) -> str:
    """A whole number in four letters: 950, 12k, 3M."""
    for unit, letter in ((10**6, "M"), (10**3, "k")):
        if number >= 10 * unit:
            return f"{number // unit}{letter}"
    return str(number)


def strength_in_words(strength: Strength | None) -> str:
    """ "+636 ±290", ">+412" where it has no upper end, "61.3 ±1.2" for a score; "–" if it was never measured."""
    if strength is None:
        return "–"
    signed = "+.0f" if strength.against is not None else ".1f"
    if strength.value is None or strength.low is None or strength.high is None:
        if strength.low is not None:
            return f">{strength.low:{signed}}"
        if strength.high is not None:
            return f"<{strength.high:{signed}}"
        return "–" if strength.value is None else f"{strength.value:{signed}}"
    margin = max(strength.high - strength.value, strength.value - strength.low)
    words = f"{strength.value:{signed}} ±{margin:{signed[-3:]}}"
    return words if strength.against in (None, "random") else f"{words} on {strength.against}"


def clock(seconds: float) -> str:
    """ "2:05", "1:02:05"."""
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, rest = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def ago(seconds: float) -> str:
    """ "now", "5 min", "3 h", "12 days" ago."""
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size or (size == 60 and seconds >= size):
            return f"{seconds // size:.0f} {unit}"
    return "now"
