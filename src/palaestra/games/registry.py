"""Games by name: `make_game("connect_four-6x7")`, `gdl:FILE.kif` for rules in GDL, `openspiel:NAME` and `pgx:NAME` for
games of other libraries, `module:attribute` for Python."""

from __future__ import annotations

import importlib
import re
import sys
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType

from palaestra.base.errors import GameError
from palaestra.base.suggest import nearest
from palaestra.base.text import clip, refuse_long
from palaestra.base.user_code import is_code, load, trust
from palaestra.games.base import RULES, Game


@dataclass(frozen=True)
class Entry:
    """A family of games: where its maker is, how its ids are written, and ids to show."""

    maker: str  # module:function; takes the numbers of the id, or the word after the dash
    pattern: str
    form: str
    usual: str  # the id that the family's name alone stands for
    examples: tuple[str, ...]


_RxC = r"(\d{1,3})x(\d{1,3})"
FAMILIES: dict[str, Entry] = {
    "tic_tac_toe": Entry(
        "palaestra.games.lines:make_tic_tac_toe", _RxC, "tic_tac_toe-ROWSxCOLS", "tic_tac_toe-3x3",
        ("tic_tac_toe-3x3", "tic_tac_toe-4x4", "tic_tac_toe-5x5"),
    ),
    "gobang": Entry(
        "palaestra.games.lines:make_gobang", _RxC + r"(?:-(\d{1,2}))?", "gobang-ROWSxCOLS or gobang-ROWSxCOLS-K",
        "gobang-15x15-5",
        ("gobang-5x5", "gobang-6x6", "gobang-15x15-5"),
    ),
    "connect_four": Entry(
        "palaestra.games.connect_four:make", _RxC, "connect_four-ROWSxCOLS", "connect_four-6x7",
        ("connect_four-4x4", "connect_four-5x5", "connect_four-6x6", "connect_four-6x7"),
    ),
    "othello": Entry(
        "palaestra.games.othello:make", _RxC, "othello-NxN", "othello-8x8",
        ("othello-4x4", "othello-5x5", "othello-6x6", "othello-8x8", "othello-10x10"),
    ),
    "hex": Entry("palaestra.games.hex:make", _RxC, "hex-NxN", "hex-11x11", ("hex-3x3", "hex-5x5", "hex-11x11")),
    "opposition": Entry(
        "palaestra.games.opposition:make", _RxC + r"(?:-(absolute))?",
        "opposition-WIDTHxHEIGHT or opposition-WIDTHxHEIGHT-absolute", "opposition-3x9",
        ("opposition-3x9", "opposition-3x9-absolute", "opposition-5x9", "opposition-8x8"),
    ),
    "morpion": Entry(
        "palaestra.games.morpion:make", r"([45][dt])(?:-(\d{1,2})x(\d{1,2}))?",
        "morpion-5d, 5t, 4d or 4t, or with a board's size morpion-5d-22x22", "morpion-5d",
        ("morpion-4d", "morpion-4t", "morpion-5d", "morpion-5t"),
    ),
    "bin_packing": Entry(
        "palaestra.games.bin_packing:make", r"([23]d)(?:-(\d{1,2}))?", "bin_packing-2d, 3d, or either with -ITEMS",
        "bin_packing-2d",
        ("bin_packing-2d", "bin_packing-2d-20", "bin_packing-2d-30", "bin_packing-2d-50",
         "bin_packing-3d", "bin_packing-3d-20"),
    ),
    "tsp": Entry(
        "palaestra.games.tsp:make", r"(\d{1,3})", "tsp-CITIES", "tsp-20", ("tsp-10", "tsp-20", "tsp-50"),
    ),
}  # fmt: skip
OTHER_NAMES = {  # what families are called elsewhere
    "connect4": "connect_four", "four-in-a-row": "connect_four", "ttt": "tic_tac_toe", "xo": "tic_tac_toe",
    "noughts-and-crosses": "tic_tac_toe", "reversi": "othello", "gomoku": "gobang", "five-in-a-row": "gobang",
    "morpion-solitaire": "morpion", "join-five": "morpion", "travelling-salesman": "tsp", "salesman": "tsp",
}  # fmt: skip
_SIZED = re.compile(r"(.{1,40}?)(?:[-_ ]([0-9][0-9x-]*[0-9dt]))?", re.ASCII)


# Makers of the ids that begin so; each takes the whole id. By name: games know nothing of GDL and of other libraries.
MAKERS = {
    RULES: "palaestra.ggp.game:make",
    "openspiel:": "palaestra.adapters.openspiel:make",
    "pgx:": "palaestra.adapters.pgx_game:make",
}


def example_ids() -> list[str]:
    """One id for every size that is listed; other sizes work too."""
    return [id for entry in FAMILIES.values() for id in entry.examples]


def make_game(id: str) -> Game:
    """The game with this id; games are immutable, so one object serves all. Code needs the user's consent."""
    refuse_long(id, "the name of a game", GameError)
    if (maker := _maker(id)) is not None:
        return _call(maker, id)  # which notices a file that changed
    return _user_game(id) if is_code(id) else _make_game(full_id(id))


def full_id(text: str) -> str:
    """The id that a text stands for: a family's name alone takes its usual size."""
    return FAMILIES[text].usual if text in FAMILIES else text


def text_of(game: Game) -> str:
    """The text from which `make_game` makes this game again; GameError if there is none.

    A game of the user's own is looked for where its module, or a notebook, keeps it: `my_game:GAME`, `__main__:GAME`.
    """
    family = game.id.partition("-")[0]
    if (family in FAMILIES or _maker(game.id)) and type(made := make_game(game.id)) is type(game):
        if made.version == game.version:
            return game.id
    for name, module in list(sys.modules.items()):
        for attribute, value in list(vars(module).items()) if isinstance(module, ModuleType) else ():
            if value is game and not attribute.startswith("_"):
                return f"{name}:{attribute}"
    raise GameError(
        f"{game.id} has no name by which it could be made again; keep it in a variable of a module, and give that:"
        " my_game:GAME"
    )


def make_stored_game(text: str, where: str, *, id: str | None = None, given: str | None = None) -> Game:
    """The game that a file names: `text` in the file `where`, and `id`, the game's own, if the file has it.

    `given` is what the user says it is, in place of what stands in the file: the module may have moved. GameError says
    what to add to the command where neither can be used.
    """
    if given is not None:
        trust(given)
        game = make_game(given)
    elif is_code(text):
        game = _user_game(text, where)
    elif _maker(text) is None and text.partition("-")[0] not in FAMILIES:
        raise GameError(
            f"{where} is of {clip(text)}, an unknown game; if it is one of your own, add --game module:attribute"
        )
    else:
        game = make_game(text)
    if id is not None and game.id != id:
        raise GameError(f"{where} is of {clip(id)}, and {given or text} is {game.id}")
    return game


@lru_cache(maxsize=64)
def _make_game(id: str) -> Game:
    family, _, size = id.partition("-")
    if family not in FAMILIES:
        raise GameError(
            f"unknown game {clip(id)}{_did_you_mean(id)}; known: {', '.join(FAMILIES)}; for example connect_four-6x7;"
            " rules in GDL are gdl:FILE.kif, games of OpenSpiel openspiel:NAME"
        )
    entry = FAMILIES[family]
    match = re.fullmatch(entry.pattern, size, flags=re.ASCII)
    if match is None:
        raise GameError(f"{clip(id)} is not a size of {family}: write {entry.form}, for example {entry.usual}")
    parts = tuple(int(part) if part.isdigit() else part for part in match.groups() if part is not None)
    return _made_from(id, _call(entry.maker, parts))


def make_again(text: str, fingerprint: str) -> Game:
    """For pickles, which travel between the processes of one command: the game that another of them has made.

    Code has been imported there because the user had named it, and is looked for here as there.
    """
    module, _, attribute = text.partition(":")
    game = getattr(importlib.import_module(module), attribute, None) if is_code(text) else make_game(text)
    if not isinstance(game, Game) or game.fingerprint != fingerprint:
        raise GameError(f"{clip(text)} is another version here than where work was asked for: its files have changed")
    return _made_from(text, game)


def _made_from(text: str, game: Game) -> Game:
    if not game.made_from:  # a user's module may give a game of the package another name
        object.__setattr__(game, "made_from", text)
    return game


def _did_you_mean(id: str) -> str:
    """ " (did you mean connect_four-6x7?)" for connect4, connect-four-6x7 and the like."""
    if (match := _SIZED.fullmatch(id)) is None:
        return ""
    name, size = match.groups()
    if (family := nearest(name, FAMILIES, OTHER_NAMES)) is None:
        return ""
    fits = size is not None and re.fullmatch(FAMILIES[family].pattern, size, flags=re.ASCII)
    return f" (did you mean {f'{family}-{size}' if fits else FAMILIES[family].usual}?)"


def _maker(id: str) -> str | None:
    """What makes an id that is no family's."""
    return next((maker for prefix, maker in MAKERS.items() if id.startswith(prefix)), None)


def _call(maker: str, argument: object) -> Game:
    module, _, function = maker.partition(":")
    game = getattr(importlib.import_module(module), function)(argument)
    assert isinstance(game, Game)
    return game


def _user_game(text: str, where: str = "a file") -> Game:
    """A game from the user's own module."""
    game = load(text, GameError, "a user's game", where)
    if not isinstance(game, Game):
        raise GameError(
            f"{clip(text)} is not a palaestra Game; a user's game is module:attribute, for example my_game:GAME"
        )
    return _made_from(text, game)
