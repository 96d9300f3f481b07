"""Where the games of a PGN file begin and end, in bounded memory and at the speed of the regular-expression engine.

A game is a block of tags and everything up to the next block. A block begins a line (comments aside): what looks like a
tag in the middle of a line of moves or of other text is a part of it. Two patterns do the work, each matched once a
game, and neither goes back over what it has read. Moves are not looked at; whoever needs them reads the game's text
with `palaestra.runs.pgn_games`. Knows no game and no player.

Taken as they come: CRLF or CR, a byte-order mark, any encoding that keeps ASCII, blank lines or none, comments between
tags, quotes inside quotes, lines of dots where a printed excerpt leaves something out. Refused with the line's number:
text before the first tag that is no game, a `[` that begins a line and no tag, a comment that is never closed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from palaestra.base.errors import RecordError

CHUNK = 2**20  # bytes read at once
MOST_BYTES = 2**24  # of one game; in what is longer a comment was not closed
MOST_TAG_BYTES = 2**16
SHOWN = 40  # characters of the file in a message

# Comments, lines for programs, lines of dots.
SKIPPED = rb"\{[^}]*+\}|;[^\r\n]*+|(?<![^\r\n])(?:%[^\r\n]*+|\.{3,}+[^\S\r\n]*+(?![^\r\n]))"
ONCE = ("White", "Black", "Result", "Variant")  # a game has one of each: the second one begins the next game
_VALUE = rb'"(%b(?:[^"\\\n]++|\\.|"(?!\s*+\]))*+)"\s*+\]'
_TAGS = [rb"%b\s*+(?(%d)(?!)|%b)" % (name.encode(), group, _VALUE % b"") for group, name in enumerate(ONCE, start=2)]
_OTHER = rb'(?!(?:%b)\s*+")[A-Za-z0-9_][^\s"\[\]]*+\s*+%b' % ("|".join(ONCE).encode(), _VALUE % b"?:")
_HEADER = re.compile(rb"(?:\s++|%b|(\[)\s*+(?:%b))*+" % (SKIPPED, b"|".join([*_TAGS, _OTHER])))
_NEW_LINE = rb"[\r\n](?:\s++|%b)*+" % SKIPPED
_MOVES = re.compile(rb"(?:(?!\[)(?:[^\[{;%%\r\n]++|%b(?!\[)|%b|[%%\[])++(?:%b)?)?" % (_NEW_LINE, SKIPPED, _NEW_LINE))
_MOVES_ALONE = re.compile(rb"\d+\s*+\.|1-0|0-1|1/2-1/2|\*")  # how a game without tags begins

# Packed files that people take for PGN, by their first bytes, and what unpacks them.
_PACKED = {b"\x1f\x8b": "gzip -dc", b"BZh": "bzip2 -dc", b"\x28\xb5\x2f\xfd": "zstd -dc", b"\xfd7zXZ": "xz -dc"}


@dataclass(slots=True, eq=False)  # a frozen one takes twice as long to make, and there are millions
class Section:
    """One game as bytes: `header` holds its tags, `moves` the rest, comments and all."""

    header: re.Match[bytes]
    moves: re.Match[bytes]
    lines_before: int  # in the file, before the buffer that was matched

    @property
    def kept(self) -> tuple[bytes | None, bytes | None, bytes | None, bytes | None]:
        """The raw values of the tags White, Black, Result and Variant; None for one that the game does not have."""
        white, black, result, variant = self.header.group(2, 3, 4, 5)
        return white, black, result, variant

    @property
    def text(self) -> bytes:
        return self.header.string[self.header.start() : self.moves.end()]

    @property
    def line(self) -> int:
        """The number of the line in which the game begins."""
        text = self.text
        return self.lines_before + _lines(self.header.string, self.header.start() + len(text) - len(text.lstrip())) + 1


def split_games(file: BinaryIO, name: str, listen: Callable[[int], None] | None = None) -> Iterator[Section]:
    """The games of a file in their order; `name` is for messages, `listen` hears how many bytes more have been read."""
    chunk = file.read(max(CHUNK, 8))  # a mark or a magic number is whole
    _refuse_packed(chunk, name)
    buffer = chunk.removeprefix(b"\xef\xbb\xbf")
    lines = 0  # before the buffer
    while chunk:
        if listen is not None:
            listen(len(chunk))
        chunk = file.read(CHUNK)
        buffer += chunk
        done = 0
        for section in _sections(buffer, lines, name, last=not chunk):
            yield section
            done = section.moves.end()
        lines += _lines(buffer, done)
        buffer = buffer[done:]
        if len(buffer) > MOST_BYTES:
            raise RecordError(f"{name}, line {lines + 1}: a game of more than {MOST_BYTES >> 20} MB begins here")


def _sections(buffer: bytes, lines: int, name: str, last: bool) -> Iterator[Section]:
    """The games of a buffer; unless it is the `last` one, the game at its end is kept back because it may go on."""
    at = 0
    waiting: Section | None = None  # whole only once the next game has begun: the rest of its tags may not be here yet
    while at < len(buffer):
        header = _HEADER.match(buffer, at)
        moves = header and _MOVES.match(buffer, header.end())
        assert header is not None and moves is not None  # either may be empty
        tagged, end = header[1] is not None, moves.end()
        if tagged and waiting is not None:
            yield waiting
        stop = buffer[end : end + 1]  # a bracket, the brace of a comment without an end, or nothing
        if not tagged and moves[0] and not _MOVES_ALONE.match(moves[0]) and (stop or last or len(moves[0]) > SHOWN):
            raise _not_pgn(buffer, moves.start(), lines, name, 'a game begins with tags such as [White "name"]')
        if stop == b"{" or (stop == b"[" and not tagged and not moves[0]):
            if last or len(buffer) - end > (MOST_BYTES if stop == b"{" else MOST_TAG_BYTES):
                accepted = "the comment is not closed" if stop == b"{" else 'a tag looks like [White "name"]'
                raise _not_pgn(buffer, end, lines, name, accepted)
            return
        at, waiting = end, Section(header, moves, lines)
        if not stop:
            if last and (tagged or moves[0]):
                yield waiting
            return


def _refuse_packed(start: bytes, name: str) -> None:
    for magic, unpack in _PACKED.items():
        if start.startswith(magic):
            raise RecordError(f"{name} is packed, not PGN; unpack it first: {unpack} {name} > games.pgn")


def _not_pgn(buffer: bytes, at: int, lines: int, name: str, why: str) -> RecordError:
    shown = buffer[at : at + SHOWN].splitlines()[0].decode("utf-8", "replace")
    return RecordError(f"{name}, line {lines + _lines(buffer, at) + 1}: {shown!r} is not PGN; {why}")


def _lines(buffer: bytes, end: int) -> int:
    return buffer.count(b"\n", 0, end)
