"""The grammar of short texts that describe a thing: `random`, `uct(simulations=200)`, `cdf(generations=5)`.

    text      = name [ ":" subject ] [ "(" [ argument { "," argument } ] ")" ]
    argument  = [ name "=" ] value              positional arguments come first
    value     = whole number | decimal number | true | false | "quoted, as in JSON" | anything else without , ( ) = "

One pass over the characters, nothing evaluated, nothing nested: a text inside a text stands in double quotes,
`switch(primitive, "cdf(generations=3)", at=20)`. This module knows no player and no reward: a `Grammar` lends it the
words of its complaints, and `palaestra.base.text_model` gives the names their meaning.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field

Value = int | float | bool | str

MOST_CHARACTERS = 4096  # of a text that describes something

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")  # what stands before the colon of code
_KEYWORD = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)", re.DOTALL)
_INT = re.compile(r"[+-]?[0-9]{1,18}")
_FLOAT = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]{1,3})?", re.IGNORECASE)
_BARE = re.compile(r"[^\s,()=\"](?:[^,()=\"\x00-\x1f]*[^\s,()=\"])?")


@dataclass(frozen=True)
class Parts:
    """A text taken apart: `name:subject(*positional, **keywords)`."""

    name: str
    subject: str | None = None
    positional: tuple[Value, ...] = ()
    keywords: dict[str, Value] = field(default_factory=dict)

    def __str__(self) -> str:
        head = self.name if self.subject is None else f"{self.name}:{self.subject}"
        arguments = [format_value(value) for value in self.positional]
        arguments += [f"{key}={format_value(value)}" for key, value in self.keywords.items()]
        return f"{head}({', '.join(arguments)})" if arguments else head


@dataclass(frozen=True)
class Grammar:
    """What the texts describe, in words, and the error that says why one cannot be read."""

    noun: str
    example: str
    error: type[Exception]
    subject_example: str | None = None  # a text with something after its colon, where there are such

    def parse(self, text: str) -> Parts:
        """Take a text apart; `error` says in one line where it cannot be read."""
        refuse_long(text, f"the text of a {self.noun}", self.error)
        head, opening, tail = text.strip().partition("(")
        name, colon, subject = (part.strip() for part in head.partition(":"))
        if not (_MODULE if colon else _NAME).fullmatch(name):
            raise self.error(
                f"{clip(text)} is not a {self.noun}: it must begin with a name in small letters; {self._for_example}"
            )
        if colon and not subject:
            shown = self.subject_example or self.example
            raise self.error(f"{clip(text)}: nothing stands after the colon; for example {shown}")
        if not subject.isprintable():
            raise self.error(f"{clip(text)}: {clip(subject)} has a character that cannot be shown; {self._for_example}")
        if not opening:
            return Parts(name, subject if colon else None)
        if not tail.endswith(")"):
            raise self.error(f"{clip(text)}: the bracket is not closed at the end; {self._for_example}")
        positional: list[Value] = []
        keywords: dict[str, Value] = {}
        for piece in self._split(tail[:-1], text):
            match = None if piece.lstrip().startswith('"') else _KEYWORD.fullmatch(piece)
            if match is None:
                if keywords and piece.strip():
                    raise self.error(
                        f"{clip(text)}: {clip(piece)} has no name but follows a named argument; {self._for_example}"
                    )
                positional.append(self._value(piece, text))
            elif match[1] in keywords:
                raise self.error(f"{clip(text)}: {match[1]} is given twice; {self._for_example}")
            else:
                keywords[match[1]] = self._value(match[2], text)
        return Parts(name, subject if colon else None, tuple(positional), keywords)

    @property
    def _for_example(self) -> str:
        return f"for example {self.example}"

    def _split(self, arguments: str, text: str) -> list[str]:
        """The pieces between commas that stand outside quotes; no pieces for an empty list."""
        if not arguments.strip():
            return []
        pieces = [""]
        quoted = escaped = False
        for character in arguments:
            if quoted:
                quoted = escaped or character != '"'
                escaped = character == "\\" and not escaped
            elif character == ",":
                pieces.append("")
                continue
            elif character in "()":
                raise self.error(
                    f"{clip(text)}: brackets cannot be nested; put a text that holds them in double quotes"
                )
            else:
                quoted = character == '"'
            pieces[-1] += character
        if quoted:
            raise self.error(f"{clip(text)}: a double quote is not closed")
        return pieces

    def _value(self, piece: str, text: str) -> Value:
        piece = piece.strip()
        if piece.startswith('"'):
            try:
                value = json.loads(piece)
            except ValueError:
                value = None
            if not isinstance(value, str):
                raise self.error(f"{clip(text)}: {clip(piece)} is not a text in double quotes")
            return value
        if not (_BARE.fullmatch(piece) and piece.isprintable()):
            what = "an argument is empty" if not piece else f"{clip(piece)} cannot be read as a value"
            raise self.error(f"{clip(text)}: {what}; {self._for_example}")
        return _plain_value(piece)


def format_value(value: Value) -> str:
    """How a value is written so that reading gives it back."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    bare = _BARE.fullmatch(value) and value.isprintable() and isinstance(_plain_value(value), str)
    return value if bare else json.dumps(value)


def can_be_subject(text: str) -> bool:
    """Whether a text can stand after a colon; any text can stand in quotes."""
    return bool(text) and text.isprintable() and "(" not in text and text == text.strip()


def refuse_long(text: str, what: str, error: type[Exception], most: int = MOST_CHARACTERS) -> None:
    """`error` if a text that a user gave is longer than anything of its kind can be."""
    if len(text) > most:
        raise error(f"{clip(text)} has {len(text):,} characters; {what} has at most {most:,}")


def whole_number(text: str) -> int | None:
    """The number that up to nine digits write; None for any other text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def clip(text: str, width: int = 80) -> str:
    """The text in quotes and on one line, shortened if it is long: for error messages."""
    shown = repr(text.strip())
    return shown if len(shown) <= width else shown[: width - 2] + "…" + shown[0]


def _plain_value(piece: str) -> Value:
    if _INT.fullmatch(piece):
        return int(piece)
    if _FLOAT.fullmatch(piece) and math.isfinite(float(piece)):
        return float(piece)
    return {"true": True, "false": False}.get(piece.lower(), piece)
