"""How verbs speak: results on stdout, progress on stderr, boards in colour. Knows no verb."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

from palaestra.base.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console
    from rich.progress import Progress
    from rich.text import Text

    from palaestra.base.types import Int8s
    from palaestra.games.base import Game

FIRST_STYLE, SECOND_STYLE, EMPTY_STYLE, LAST_STYLE = "bold bright_yellow", "bold bright_red", "dim", "reverse"


def stdout() -> Console:
    from palaestra.cli.console import PlainConsole

    return PlainConsole()


@cache  # one for all, so that displays that are live at the same time know of each other
def stderr() -> Console:
    from palaestra.cli.console import PlainConsole

    return PlainConsole(stderr=True)


def say(text: str) -> None:
    """A line of a verb that needs no colours, on stdout at once."""
    print(printable(text), flush=True)


def print_json(value: object) -> None:
    """The one JSON value of a verb; NaN and infinities are bugs and refused."""
    print(json.dumps(value, allow_nan=False))


def progress_bar(estimate: bool = True) -> Progress:
    """A bar on stderr that is drawn on a terminal only and leaves nothing behind; `estimate` shows the time left."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = stderr()
    return Progress(
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("{task.description}", markup=False),
        *([TimeRemainingColumn()] if estimate else []),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def board(game: Game, state: Int8s, before: Int8s | None = None) -> Text:
    """The game's drawing in colour; what changed since the state `before` stands out."""
    from rich.text import Text

    drawing = game.render(state)
    earlier = game.render(before) if before is not None else drawing
    if len(earlier) != len(drawing):
        earlier = drawing
    styles = {".": EMPTY_STYLE}
    if game.glyphs is not None:
        styles |= zip(game.glyphs, (FIRST_STYLE, SECOND_STYLE), strict=True)
    text = Text()
    for now, then in zip(drawing, earlier, strict=True):
        style = styles.get(now, "")
        text.append(now, f"{style} {LAST_STYLE}" if now != then and now not in " \n." else style)
    return text


def at_words(text: str, room: int) -> str:
    """A player's text in lines of at most `room` characters where that can be: broken after ( and , alone."""
    lines = [""]
    for word in _words(text):
        if lines[-1] and len(lines[-1]) + len(word.rstrip()) > room:
            lines.append(" ")
        lines[-1] += word
    return "\n".join(line.rstrip() for line in lines)


def least_room(texts: Iterable[str]) -> int:
    """The columns that `at_words` needs to break no word of these texts."""
    return max(len(line) for text in texts for line in at_words(text, 0).split("\n"))


def _words(text: str) -> list[str]:
    import re

    return re.findall(r"[^(,]*[(,]?\s*", text)


def command_name() -> str:
    """How this command can be typed again: by its path where a bare `palaestra` would not be found."""
    import shutil
    import sys
    from pathlib import Path

    own = Path(sys.argv[0])
    return "palaestra" if shutil.which("palaestra") or own.name != "palaestra" else str(own)
