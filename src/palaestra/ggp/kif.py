"""KIF text to terms: brackets, atoms and comments, within limits. Knows nothing of what the terms mean.

Rules and the messages of the match protocol are both written so. An atom keeps its spelling: who answers a server must
write names as its rules do. Commas count as space, before an atom as well as between two; `;` begins a comment.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

from palaestra.base.errors import GdlError
from palaestra.ggp.terms import DEEPEST, Term, complaint, term_text

__all__ = ["USUAL", "Limits", "Located", "Term", "read_kif", "term_text"]

TOKEN = re.compile(r";[^\n]*|[()]|[^\s,;()]+")


@dataclass(frozen=True)
class Limits:
    """How much is read before a text is refused."""

    characters: int = 1_000_000
    nesting: int = 256  # brackets within brackets
    tokens: int = 500_000
    expanded: int = 1_000_000  # words of all rules, when every `or` has been multiplied out
    conditions: int = 1_000  # of one rule, then

    def __post_init__(self) -> None:
        for name, limit in vars(self).items():
            if limit < 1:
                raise GdlError(f"the limit of {name} is {limit}; it is at least 1")
        if self.nesting > DEEPEST:
            raise GdlError(f"the limit of nesting is {self.nesting}; it is at most {DEEPEST}")


USUAL = Limits()


@dataclass(frozen=True)
class Located:
    """A term and where it begins; lines and columns count from 1."""

    term: Term
    line: int
    column: int


def read_kif(text: str, limits: Limits = USUAL) -> list[Located]:
    """The forms of a text in order, each an atom or a bracketed list; GdlError says where it cannot be read."""
    if len(text) > limits.characters:
        raise GdlError(f"the text has {len(text):,} characters; at most {limits.characters:,} are read")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    newlines = [found.start() for found in re.finditer("\n", text)]
    forms: list[Located] = []
    open_lists: list[list[Term]] = []
    opened_at: list[int] = []
    tokens = 0

    def locate(term: Term, offset: int) -> Located:
        above = bisect_left(newlines, offset)
        return Located(term, above + 1, offset - (newlines[above - 1] if above else -1))

    for match in TOKEN.finditer(text):
        token, start = match.group(), match.start()
        if token[0] == ";":
            continue
        tokens += 1
        if tokens > limits.tokens:
            raise complaint(
                locate(token, start), f"more than {limits.tokens:,} words and brackets; the rest is not read"
            )
        if token == "(":
            if len(open_lists) == limits.nesting:
                raise complaint(locate(token, start), f"brackets are nested deeper than {limits.nesting}")
            open_lists.append([])
            opened_at.append(start)
            continue
        term: Term
        if token == ")":
            if not open_lists:
                raise complaint(locate(token, start), "this ')' closes no bracket")
            term, start = tuple(open_lists.pop()), opened_at.pop()
        else:
            term = token
            flaw = _flaw(term)
            if flaw:
                raise complaint(locate(token, start), flaw)
        if open_lists:
            open_lists[-1].append(term)
        else:
            forms.append(locate(term, start))
    if open_lists:
        raise complaint(locate("(", opened_at[-1]), "this '(' is never closed")
    return forms


def _flaw(atom: str) -> str:
    """What is wrong with an atom; empty if nothing is."""
    if not atom.isprintable():
        odd = next(character for character in atom if not character.isprintable())
        return f"the character U+{ord(odd):04X} belongs to no word; is this a text file in UTF-8?"
    for quote in '"|':
        if quote in atom:
            return f"the character {quote} is not used in GDL: names are plain words such as xplayer or cell_1"
    return "a '?' alone is no variable; a variable has a name, for example ?x" if atom == "?" else ""
