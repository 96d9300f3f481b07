"""Games by name: `make_game("connect_four-6x7")`, `gdl:FILE.kif` for rules in GDL, `module:attribute` for Python."""

from __future__ import annotations

import importlib
import os
import re
import sys
from dataclasses import dataclass
from functools import lru_cache

from palaestra.errors import GameError
from palaestra.games.base import RULES, Game


@dataclass(frozen=True)
class Entry:
    """A family of games: where its maker is, how its ids are written, and ids to show."""

    maker: str  # module:function; takes the numbers of the id, or the word after the dash
    pattern: str
    form: str
    examples: tuple[str, ...]


_RxC = r"(\d{1,3})x(\d{1,3})"
FAMILIES: dict[str, Entry] = {
    "tic_tac_toe": Entry(
        "palaestra.games.lines:make_tic_tac_toe", _RxC, "tic_tac_toe-ROWSxCOLS",
        ("tic_tac_toe-3x3", "tic_tac_toe-4x4", "tic_tac_toe-5x5"),
    ),
    "gobang": Entry(
        "palaestra.games.lines:make_gobang", _RxC + r"(?:-(\d{1,2}))?", "gobang-ROWSxCOLS or gobang-ROWSxCOLS-K",
        ("gobang-5x5", "gobang-6x6", "gobang-15x15-5"),
    ),
    "connect_four": Entry(
        "palaestra.games.connect_four:make", _RxC, "connect_four-ROWSxCOLS",
        ("connect_four-4x4", "connect_four-5x5", "connect_four-6x6", "connect_four-6x7"),
    ),
    "othello": Entry(
        "palaestra.games.othello:make", _RxC, "othello-NxN",
        ("othello-4x4", "othello-5x5", "othello-6x6", "othello-8x8", "othello-10x10"),
    ),
    "hex": Entry("palaestra.games.hex:make", _RxC, "hex-NxN", ("hex-3x3", "hex-5x5", "hex-11x11")),
    "opposition": Entry(
        "palaestra.games.opposition:make", _RxC + r"(?:-(absolute))?",
        "opposition-WIDTHxHEIGHT or opposition-WIDTHxHEIGHT-absolute",
        ("opposition-3x9", "opposition-3x9-absolute", "opposition-5x9", "opposition-8x8"),
    ),
    "morpion": Entry(
        "palaestra.games.morpion:make", r"([45][dt])", "morpion-5d, 5t, 4d or 4t",
        ("morpion-4d", "morpion-4t", "morpion-5d", "morpion-5t"),
    ),
    "bin_packing": Entry(
        "palaestra.games.bin_packing:make", r"(2d)(?:-(\d{1,2}))?", "bin_packing-2d or bin_packing-2d-ITEMS",
        ("bin_packing-2d", "bin_packing-2d-20", "bin_packing-2d-30", "bin_packing-2d-50"),
    ),
}  # fmt: skip


GDL = "palaestra.ggp.game:make"  # takes the whole id; by name, because games know nothing of GDL


def example_ids() -> list[str]:
    """One id for every size that is listed; other sizes work too."""
    return [id for entry in FAMILIES.values() for id in entry.examples]


def make_game(id: str) -> Game:
    """The game with this id; games are immutable, so one object serves all."""
    return _call(GDL, id) if id.startswith(RULES) else _make_game(id)  # whose maker notices a file that changed


@lru_cache(maxsize=64)
def _make_game(id: str) -> Game:
    if ":" in id:
        return _user_game(id)
    family, _, size = id.partition("-")
    if family not in FAMILIES:
        raise GameError(
            f"unknown game {id!r}; known: {', '.join(FAMILIES)}; for example connect_four-6x7; rules in GDL are"
            " gdl:FILE.kif"
        )
    entry = FAMILIES[family]
    match = re.fullmatch(entry.pattern, size, flags=re.ASCII)
    if match is None:
        raise GameError(f"{id!r} is not a size of {family}: write {entry.form}, for example {entry.examples[0]}")
    parts = tuple(int(part) if part.isdigit() else part for part in match.groups() if part is not None)
    return _call(entry.maker, parts)


def _call(maker: str, argument: object) -> Game:
    module, _, function = maker.partition(":")
    game = getattr(importlib.import_module(module), function)(argument)
    assert isinstance(game, Game)
    return game


def _user_game(id: str) -> Game:
    """A game from the user's own module; the current folder is searched first."""
    module_name, _, attribute = id.partition(":")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # the user's own file may fail in any way at all
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise GameError(f"cannot import {module_name!r} ({reason}); a user's game is module:attribute") from error
    game = getattr(module, attribute, None)
    if not isinstance(game, Game):
        raise GameError(f"{id!r} is not a palaestra Game; a user's game is module:attribute, for example my_game:GAME")
    return game
