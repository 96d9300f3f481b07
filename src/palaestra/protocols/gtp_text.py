"""The words of the Go Text Protocol, version 2: commands taken apart, answers put together. Knows no game.

A line is `[id] command [argument …]`; # begins a comment, tabs are spaces, other control characters are dropped. An
answer is `=[id] text` or `?[id] reason`, ended by an empty line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from palaestra.base.printable import printable
from palaestra.base.text import clip
from palaestra.protocols.lines import TOO_LONG, clean

SYNTAX = "syntax error"
_ID = re.compile(r"[0-9]{1,10}")
_NUMBER = re.compile(r"-?[0-9]{1,9}(\.[0-9]{0,6})?")
_VERTEX = re.compile(r"[A-Za-z][0-9]{1,3}")


class Refusal(Exception):
    """A command that cannot be obeyed, in the protocol's words."""


@dataclass(frozen=True)
class Command:
    """A line taken apart; `id` is empty where there is none."""

    id: str
    name: str
    arguments: tuple[str, ...]
    cut: bool = False  # whether the line was longer than any that is read


def parse(line: str) -> Command | None:
    """The command of a line; None for an empty line or one that is a comment."""
    cut = line.endswith(TOO_LONG)
    words = clean(line).partition("#")[0].split()
    if not words:
        return Command("", "", (), cut) if cut else None
    id = words.pop(0) if _ID.fullmatch(words[0]) else ""
    name, *arguments = words or [""]
    return Command(id, name, tuple(arguments), cut)


def success(id: str, text: str = "") -> str:
    """`=id text` and the empty line that ends it; a text may have several lines, none of them empty."""
    body = "\n".join(printable(line.rstrip()) for line in text.split("\n") if line.strip())
    return f"={id} {body}".rstrip() + "\n\n" if "\n" not in body else f"={id}\n{body}\n\n"


def failure(id: str, reason: str) -> str:
    return f"?{id} {printable(' '.join(reason.split()))}\n\n"


# Arguments.


def read_colour(word: str) -> int:
    """0 for black, who moves first, and 1 for white."""
    try:
        return {"b": 0, "black": 0, "w": 1, "white": 1}[word.lower()]
    except KeyError:
        raise Refusal(SYNTAX) from None


def read_vertex(word: str) -> str:
    """A point or PASS in capital letters; whether it is on the board is not known here."""
    upper = word.upper()
    if upper != "PASS" and not _VERTEX.fullmatch(word):
        raise Refusal(SYNTAX)
    return upper


def read_number(word: str) -> float:
    if not _NUMBER.fullmatch(word):
        raise Refusal(SYNTAX)
    return float(word)


def read_whole(word: str, least: int = 0) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 10) or int(word) < least:
        raise Refusal(SYNTAX)
    return int(word)


def unknown(name: str) -> Refusal:
    return Refusal("unknown command" if name else f"{SYNTAX}: no command stands in {clip(name)}")
