"""What pages share: their style, and games to step through. A page is one file that needs nothing but itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from string import Template

from palaestra.base.printable import escape

STEPS = (
    ("first", "«", "to the start"),
    ("previous", "‹", "one back"),
    ("next", "›", "one on"),
    ("last", "»", "to the end"),
)


@dataclass(frozen=True)
class Replay:
    """A game to step through: its title, one drawing a position, and the text of each move.

    `classes` are names of styles for each move, apart by spaces; `notes` is HTML that stands below the moves, whose
    elements with data-to lead to a position and those with data-at are shown at one position only.
    """

    title: str
    drawings: list[str]
    moves: list[str]
    opening_plies: int = 0
    classes: Sequence[str] = ()
    notes: str = ""


def fill_page(template: str, replays: Sequence[Replay], **parts: str) -> str:
    """A page of this package with its `parts`, which are HTML, filled in, and with the games that it steps through."""
    # "</" would end the script; in JSON it may be written with a backslash.
    data = json.dumps([game.drawings for game in replays]).replace("</", "<\\/")
    return Template(_text(template)).substitute(style=_text("page.css"), script=_text("steps.js"), data=data, **parts)


def card(index: int, game: Replay) -> str:
    """The HTML of one game; `index` is its place among the page's."""
    moves = "".join(
        f'<button type="button" class="{_classes(game, ply)}" data-to="{ply + 1}">{escape(text)}</button>'
        for ply, text in enumerate(game.moves)
    )
    buttons = "".join(
        f'<button type="button" data-step="{key}" title="{words}">{sign}</button>' for key, sign, words in STEPS
    )
    return (
        f'<article class="game" data-game="{index}"><h3>{escape(game.title)}</h3>'
        f'<div class="board">{game.drawings[-1]}</div>'
        f'<div class="steps">{buttons}<output>{len(game.moves)} / {len(game.moves)}</output></div>'
        f'<div class="moves">{moves}</div>{game.notes}</article>'
    )


def _classes(game: Replay, ply: int) -> str:
    names = ["move", *(["opening"] if ply < game.opening_plies else []), *(game.classes[ply : ply + 1])]
    return escape(" ".join(name for name in names if name))


def _text(name: str) -> str:
    return files("palaestra.lab").joinpath(name).read_text(encoding="utf-8")
