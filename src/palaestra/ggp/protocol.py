"""Messages as data and as text: INFO, PREVIEW, START, PLAY, STOP, ABORT (sources: match protocol).

    (INFO)                                          ((name …) (status available|busy) (species …))
    (PREVIEW rules clock)                           ready | busy
    (START match role rules startclock playclock)   ready | busy
    (PLAY match NIL)  or  (PLAY match (move …))     a move; the moves are those of the last turn in the order of roles
    (STOP match (move …))                           done | busy
    (ABORT match)                                   aborted | busy

Rules stay text here: they may be a megabyte, and whoever answers INFO in time cannot stop to read them. Clocks are in
seconds; whole numbers are what every player understands. Knows neither HTTP nor games.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeAlias

from palaestra.base.errors import GdlError
from palaestra.ggp.kif import Limits, read_kif
from palaestra.ggp.terms import Term, term_text

PORT = 9147
CONTENT_TYPE = "text/acl"
READY, BUSY, DONE, ABORTED, NIL = "ready", "busy", "done", "aborted", "nil"
AVAILABLE = "available"
MESSAGE_BYTES = 1_100_000  # rules of a million characters and what stands around them
SMALL = Limits(characters=16_384, tokens=4_096)  # of moves, and of every reply
LONGEST_CLOCK = 99_999

_WORD = r"([^\s()]{1,1000})"
_CLOCK = r"([0-9]{1,5}(?:\.[0-9]{1,3})?)"
_NAME = re.compile(r"\(\s*([a-z]+)\b", re.IGNORECASE)
# How a message begins and how it ends; what is in between is never searched, so that reading takes no time to speak of.
_BEGINNINGS = {
    "info": r"\(\s*info",
    "preview": r"\(\s*preview\s+(?=\()",
    "start": rf"\(\s*start\s+{_WORD}\s+{_WORD}\s+(?=\()",
    "play": rf"\(\s*play\s+{_WORD}",
    "stop": rf"\(\s*stop\s+{_WORD}",
    "abort": rf"\(\s*abort\s+{_WORD}",
}
_BEGIN = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _BEGINNINGS.items()}
_END = {
    "preview": re.compile(rf"(?<=\))\s+{_CLOCK}\s*\)\Z"),
    "start": re.compile(rf"(?<=\))\s+{_CLOCK}\s+{_CLOCK}\s*\)\Z"),
}
_PLAIN_END = re.compile(r"\)\Z")
_LONGEST_END = 100  # characters
_ACCEPTED = {
    "info": "(INFO)",
    "preview": "(PREVIEW (rules) clock)",
    "start": "(START match role (rules) startclock playclock)",
    "play": "(PLAY match NIL) or (PLAY match (move ...))",
    "stop": "(STOP match (move ...))",
    "abort": "(ABORT match)",
}


@dataclass(frozen=True)
class Info:
    """Who are you, and are you free?"""


@dataclass(frozen=True)
class Preview:
    """A game that may be played soon."""

    rules: str  # KIF without the outer bracket
    clock: float


@dataclass(frozen=True)
class Start:
    """A match begins; the rules are KIF without the outer bracket."""

    match: str
    role: str
    rules: str
    start_clock: float
    play_clock: float


@dataclass(frozen=True)
class Play:
    """Choose a move. `moves` are everybody's of the last turn; None at the first."""

    match: str
    moves: tuple[Term, ...] | None


@dataclass(frozen=True)
class Stop:
    """The match is over, with these last moves."""

    match: str
    moves: tuple[Term, ...] | None


@dataclass(frozen=True)
class Abort:
    """The match is given up."""

    match: str


Message: TypeAlias = Info | Preview | Start | Play | Stop | Abort


def read_message(text: str) -> Message:
    """What a text says; GdlError says in one line what would have been right. Rules are not read."""
    text = text.strip()
    found = _NAME.match(text)
    name = found[1].lower() if found else ""
    if name not in _BEGIN:
        raise GdlError(f"{_clip(text)} is no message; known: {', '.join(form.upper() for form in _BEGIN)}")
    begin = _BEGIN[name].match(text)
    end = begin and _END.get(name, _PLAIN_END).search(text, max(begin.end(), len(text) - _LONGEST_END))
    if begin is None or end is None:
        raise GdlError(f"{_clip(text)} cannot be read; write {_ACCEPTED[name]}")
    inside = text[begin.end() : end.start()]
    if name == "preview":
        return Preview(inside[1:-1], float(end[1]))
    if name == "start":
        return Start(begin[1], begin[2], inside[1:-1], float(end[1]), float(end[2]))
    if name == "play":
        return Play(begin[1], _moves(inside, name))
    if name == "stop":
        return Stop(begin[1], _moves(inside, name))
    if inside.strip():
        raise GdlError(f"{_clip(text)} cannot be read; write {_ACCEPTED[name]}")
    return Abort(begin[1]) if name == "abort" else Info()


def message_text(message: Message) -> str:
    """A message on one line, from which `read_message` makes the same message."""
    match message:
        case Info():
            return "(INFO)"
        case Preview():
            return f"(PREVIEW ({message.rules}) {_seconds(message.clock)})"
        case Start():
            clocks = f"{_seconds(message.start_clock)} {_seconds(message.play_clock)}"
            return f"(START {message.match} {message.role} ({message.rules}) {clocks})"
        case Play():
            return f"(PLAY {message.match} {_moves_text(message.moves)})"
        case Stop():
            return f"(STOP {message.match} {_moves_text(message.moves)})"
        case Abort():
            return f"(ABORT {message.match})"


def rules_text(source: str) -> str:
    """Rules on one line and without comments, as START carries them."""
    return " ".join(term_text(form.term) for form in read_kif(source))


def rules_digest(source: str) -> str:
    """Twelve hexadecimal digits that tell rules from others; comments, spaces and case do not change them."""
    return blake2b(rules_text(source).lower().encode(), digest_size=6).hexdigest()


def read_term(text: str) -> Term:
    """The one term of a short text, such as a move that was sent; GdlError if it is none or several."""
    forms = read_kif(text, SMALL)
    if len(forms) != 1:
        raise GdlError(f"{_clip(text)} is {len(forms)} terms; one is needed, for example (mark 1 1)")
    return forms[0].term


@dataclass(frozen=True)
class Introduction:
    """What an answer to INFO tells besides the status; empty is what was not said.

    `plays` is the kind of player that thinks, and `instead_of` the one that cannot play this match and was asked for.
    Only our own players say so; others take no notice of entries that they do not know.
    """

    name: str = ""
    plays: str = ""
    instead_of: str = ""


def info_text(about: Introduction, busy: bool) -> str:
    """The answer to INFO."""
    more = "".join(f" ({key} {word(text)})" for key in ("plays", "instead_of") if (text := getattr(about, key)))
    return f"((name {word(about.name)}) (status {BUSY if busy else AVAILABLE}) (species computer){more})"


def read_info(reply: str) -> Introduction:
    """What an answer to INFO tells as far as it can be read, each entry cut at a sensible length."""
    try:
        entries = read_term(reply)
    except GdlError:
        return Introduction()
    told: dict[str, str] = {}
    for entry in entries if isinstance(entries, tuple) else ():
        if isinstance(entry, tuple) and len(entry) > 1 and isinstance(entry[0], str):
            told.setdefault(entry[0].lower(), term_text(entry[1:] if len(entry) > 2 else entry[1])[:60])
    return Introduction(**{key: told.get(key, "") for key in ("name", "plays", "instead_of")})


def word(name: str) -> str:
    """A name as one atom of KIF: of a player, or in the id of a match."""
    return re.sub(r"[^\w.@+=-]+", "_", name).strip("_") or "unnamed"


def _moves(text: str, name: str) -> tuple[Term, ...] | None:
    forms = read_kif(text, SMALL)
    if len(forms) == 1 and (forms[0].term == () or term_text(forms[0].term).lower() == NIL):
        return None
    if len(forms) != 1 or isinstance(forms[0].term, str):
        raise GdlError(f"{_clip(text)} is no list of moves; write {_ACCEPTED[name]}")
    return forms[0].term


def _moves_text(moves: tuple[Term, ...] | None) -> str:
    return "NIL" if moves is None else term_text(moves)


def _seconds(clock: float) -> str:
    """ "5", "0.25": to the millisecond, which is as fine as clocks are read."""
    return f"{clock:.3f}".rstrip("0").rstrip(".")


def _clip(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")
