"""Texts from outside made safe to show: what a terminal or a page would obey as a command becomes visible characters.

A name in a file may hold codes that clear a terminal, move its cursor or turn the direction of writing. This module
does not know where texts come from.
"""

from __future__ import annotations

import html
import unicodedata

REPLACEMENT = "\ufffd"  # what stands where a character cannot be shown


def printable(text: str) -> str:
    """The text with every character replaced that is not for printing; ends of lines stay, tabs become spaces.

    These are control characters, marks of direction, other invisible formats, and halves of characters, which no file
    can hold.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else _shown(c) for c in text)


def escape(text: str) -> str:
    """The text for HTML and SVG, in elements and attributes."""
    return html.escape(printable(text))


def _shown(character: str) -> str:
    if character == "\t":
        return " "
    return character if unicodedata.category(character) == "Zs" else REPLACEMENT  # a space of another width is harmless
