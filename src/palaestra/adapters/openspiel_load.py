"""From the text `openspiel:NAME(parameters)` to a loaded game of OpenSpiel, or one line that says what is wrong.

Parameters are OpenSpiel's own, and two of ours: `max_plies`, after which a game is a draw (one player keeps what it
has), and for chess `fen`, the position to begin with. OpenSpiel writes to the standard error when it refuses
something; its words are put into our one line instead. Knows nothing of batches.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from palaestra.adapters.openspiel_catalogue import kinds, library, names, why_not
from palaestra.base.errors import GameError
from palaestra.base.suggest import did_you_mean
from palaestra.base.text import Grammar, Parts, Value, clip, format_value

PREFIX = "openspiel"
EXAMPLE = "openspiel:breakthrough(rows=6,columns=6)"
LONGEST = 1024  # plies that OpenSpiel may need on its own
CAP = 512  # plies of a game that would need more, as AlphaZero's chess
MOST_PLIES = 2**14
MOST_ACTIONS = 2**16
MOST_CELLS = 2**18  # numbers of an observation
LARGEST = {"dims": 3, "max_game_length": 2**14, "max_moves": 2**14, "horizon": 2**14}  # of parameters; others 1000
STARTS = {"chess"}  # where a state can be made from a FEN

_GRAMMAR = Grammar("game of OpenSpiel", EXAMPLE, GameError, subject_example=EXAMPLE)


@dataclass(frozen=True)
class Loaded:
    """A game of OpenSpiel that passed: its text in one way of writing, its initial state, the bound on its plies."""

    id: str
    name: str
    spiel: Any
    first: Any
    max_plies: int


def load(id: str) -> Loaded:
    """The game behind an id; GameError says why there is none."""
    parts = _GRAMMAR.parse(id)
    name = parts.subject or ""
    kind = next((kind for kind in kinds() if kind.short_name == name), None)
    if kind is None:
        raise GameError(
            f"{clip(id)}: OpenSpiel has no game {clip(name)}{did_you_mean(name, names())}; for example {EXAMPLE};"
            " docs/openspiel.md lists them"
        )
    if (reason := why_not(kind)) is not None:
        raise GameError(f"openspiel:{name} is not a game here: {reason}; for example {EXAMPLE}")
    given, bound, fen = _parameters(parts, kind)
    spiel = _made(name, given, kind)
    if (reason := why_not(spiel.get_type(), spiel.num_players())) is not None:
        raise GameError(f"{clip(id)} is not a game here: {reason}; for example {EXAMPLE}")
    _refuse_sizes(id, spiel)
    first = _first(id, spiel, fen)
    longest = spiel.max_game_length()
    own = {"max_plies": bound, "fen": fen}
    written = _listed(dict(sorted(given.items())) | {key: value for key, value in own.items() if value is not None})
    max_plies = min(longest, bound or (longest if longest <= LONGEST else CAP))
    return Loaded(f"{PREFIX}:{name}({written})" if written else f"{PREFIX}:{name}", name, spiel, first, max_plies)


def _parameters(parts: Parts, kind: Any) -> tuple[dict[str, Value], int | None, str | None]:
    """OpenSpiel's parameters by name with the types that it wants; our bound on plies; our first position."""
    known = {key: value for key, value in kind.parameter_specification.items() if key != "ansi_color_output"}
    ours = ["max_plies", *(["fen"] if kind.short_name in STARTS else [])]
    if parts.positional:
        raise GameError(f"{clip(str(parts))}: parameters have names, for example {EXAMPLE}")
    given: dict[str, Value] = {}
    bound: int | None = None
    fen: str | None = None
    for key, value in parts.keywords.items():
        if key == "max_plies":
            bound = _whole(parts, key, value, 1, MOST_PLIES)
        elif key == "fen" and "fen" in ours and isinstance(value, str):
            fen = value
        elif key in known:
            given[key] = _typed(parts, key, value, known[key])
        else:
            accepted = ", ".join([*sorted(known), *ours])
            raise GameError(
                f"{clip(str(parts))}: unknown parameter {clip(key)}{did_you_mean(key, [*known, *ours])};"
                f" {kind.short_name} takes {accepted}"
            )
    return given, bound, fen


def _typed(parts: Parts, key: str, value: Value, usual: Any) -> Value:
    """A value of the type of the parameter's usual value."""
    if isinstance(usual, bool):
        if not isinstance(value, bool):
            raise GameError(f"{clip(str(parts))}: {key} is true or false, not {format_value(value)}")
        return value
    if isinstance(usual, float) and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(usual, int):
        return _whole(parts, key, value, -1000, LARGEST.get(key, 1000))
    if isinstance(usual, str) and not isinstance(value, bool):
        text = str(value)
        if not set(text) & set("(),="):
            return text
    raise GameError(f"{clip(str(parts))}: {key} cannot be {format_value(value)}; usual is {usual!r}")


def _whole(parts: Parts, key: str, value: Value, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise GameError(
            f"{clip(str(parts))}: {key} is {format_value(value)}; it must be a whole number from {low} to {high}"
        )
    return value


def _made(name: str, given: dict[str, Value], kind: Any) -> Any:
    plain = {"ansi_color_output": False} if "ansi_color_output" in kind.parameter_specification else {}
    spiel = library()
    with _silent():
        try:
            return spiel.load_game(name, {**plain, **given})
        except (spiel.SpielError, MemoryError, RuntimeError, ValueError) as error:
            raise GameError(f"OpenSpiel cannot make {name}({_listed(given)}): {_reason(error)}") from None


def _refuse_sizes(id: str, spiel: Any) -> None:
    actions, plies = spiel.num_distinct_actions(), spiel.max_game_length()
    if not 1 <= actions <= MOST_ACTIONS:
        raise GameError(f"{clip(id)} has {actions:,} actions; a game has 1 to {MOST_ACTIONS:,}")
    if plies < 1:
        raise GameError(f"{clip(id)} is over before it begins")
    kind = spiel.get_type()
    if kind.provides_observation_tensor and spiel.observation_tensor_size() > MOST_CELLS:
        raise GameError(f"{clip(id)} has observations of {spiel.observation_tensor_size():,} numbers: it is too large")
    if not all(float(value).is_integer() for value in (spiel.min_utility(), spiel.max_utility())):
        raise GameError(f"{clip(id)} does not end with whole numbers")


def _first(id: str, spiel: Any, fen: str | None) -> Any:
    library_ = library()
    with _silent():
        try:
            first = spiel.new_initial_state() if fen is None else spiel.new_initial_state(fen)
            over = first.is_terminal() or not first.legal_actions()
        except (library_.SpielError, MemoryError, RuntimeError, ValueError) as error:
            where = clip(id) if fen is None else f"{clip(fen)} is not a position of chess"
            raise GameError(f"{where}: OpenSpiel cannot begin ({_reason(error)})") from None
    if over:
        raise GameError(f"{clip(id)} is over before it begins")
    return first


def _listed(given: dict[str, Value]) -> str:
    return ",".join(f"{key}={format_value(value)}" for key, value in given.items())


def _reason(error: BaseException) -> str:
    """OpenSpiel's words in one line, without the place in its own files."""
    words = " ".join(str(error).split())
    return words.partition(" ")[2] if words.startswith("/") else words


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Nothing that C++ writes to the standard error is seen: it writes there before it raises."""
    try:
        sys.stderr.flush()
        kept = os.dup(2)
    except (OSError, ValueError, AttributeError):  # closed, as under some servers
        yield
        return
    try:
        with open(os.devnull, "wb") as nothing:
            os.dup2(nothing.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
