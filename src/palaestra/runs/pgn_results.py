"""Who played whom, and with which result: all that a rating needs of a PGN file, read as fast as the file comes.

A game counts if it has two different players and one result. The result may stand in the tag, after the moves or in
both; `*` and anything else that PGN does not know says nothing. What a variation or a comment says does not count.
Tags that name neither player nor result, with no moves, are where an excerpt was cut off: no game, and no bad one.
Knows no rules: moves are not read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import BinaryIO

from palaestra.base.errors import RecordError
from palaestra.runs.pgn_scan import SHOWN, SKIPPED, Section, split_games

POINTS = {b"1-0": 1.0, b"1/2-1/2": 0.5, b"0-1": 0.0}  # of White

NO_PLAYERS = "no players"
ONE_PLAYER = "one player on both sides"
NO_RESULT = "no result"
TWO_RESULTS = "two results"
OTHER_GAME = "another game"
CUT_OFF = "tags without a game"

_SKIPPED = re.compile(SKIPPED)
_TOKEN = re.compile(rb"[()]|(?<![^\s()])(?:1-0|0-1|1/2-1/2)(?![^\s()])")  # results, and the brackets of variations


class ResultReader:
    """Iterate to get (White, Black, White's points) of every game that counts; then see what was left out.

    A bad game is a RecordError with its line, or with `skip` one of `skipped`. With `variant` the tag Variant must name
    that game. `listen` hears how many bytes more have been read.
    """

    def __init__(
        self,
        file: BinaryIO,
        name: str,
        *,
        variant: str | None = None,
        skip: bool = False,
        listen: Callable[[int], None] | None = None,
    ) -> None:
        self.name, self.variant, self.skip = name, variant, skip
        self.games = 0  # that counted
        self.skipped: Counter[str] = Counter()  # by reason
        self._sections = split_games(file, name, listen)
        self._names: dict[bytes, str] = {}  # raw names are few and long to decode

    def __iter__(self) -> Iterator[tuple[str, str, float]]:
        for section in self._sections:
            white, black, tag, variant = section.kept
            if white is black is tag is None and not section.moves[0]:
                self.skipped[CUT_OFF] += 1
                continue
            first, second = self._player(white), self._player(black)
            found = results_of(section, tag)
            if reason := self._reason(first, second, found, variant):
                self._leave_out(section, reason)
                continue
            self.games += 1
            yield first, second, POINTS[found.pop()]

    def _player(self, raw: bytes | None) -> str:
        """A player's name; empty where it is not known, which PGN writes as a question mark."""
        if raw is None:
            return ""
        name = self._names.get(raw)
        if name is None:
            name = self._names[raw] = "" if raw.strip() == b"?" else decode(raw)
        return name

    def _reason(self, first: str, second: str, found: set[bytes], variant: bytes | None) -> str:
        """Why a game does not count; empty if it does."""
        if self.variant is not None and (variant is None or decode(variant) != self.variant):
            return OTHER_GAME
        if not first or not second:
            return NO_PLAYERS
        if first == second:
            return ONE_PLAYER
        return "" if len(found) == 1 else TWO_RESULTS if found else NO_RESULT

    def _leave_out(self, section: Section, reason: str) -> None:
        if self.skip:
            self.skipped[reason] += 1
            return
        white, black, tag, variant = (decode(raw or b"")[:SHOWN] for raw in section.kept)
        found = sorted(result.decode() for result in results_of(section, section.kept[2]))
        words = {
            NO_PLAYERS: f"the tags White and Black must name the players, and are {white!r} and {black!r}",
            ONE_PLAYER: f"{white!r} played both sides",
            NO_RESULT: f"its result is {tag!r}, and must be 1-0, 0-1 or 1/2-1/2",
            TWO_RESULTS: f"it has two results, {' and '.join(found)}",
            OTHER_GAME: f"the tag Variant is {variant!r}, and must be {self.variant!r}",
        }[reason]
        raise RecordError(
            f"{self.name}, line {section.line}: game {self.games + 1}: {words}; --bad-games skip leaves such games out"
        )


def results_of(section: Section, tag: bytes | None) -> set[bytes]:
    """The different results that a game claims to have: its tag's, and those that stand among its moves."""
    moves = section.moves[0]
    found = {tag} if tag in POINTS else set()
    for result in POINTS:
        if result in moves and result != tag:
            break
    else:
        return found  # nothing else to look for, as in nearly all games
    depth = 0
    for token in _TOKEN.findall(_SKIPPED.sub(b" ", moves)):
        if token == b"(":
            depth += 1
        elif token == b")":
            depth = max(depth - 1, 0)
        elif not depth:
            found.add(token)
    return found


def decode(raw: bytes) -> str:
    """A tag's value without its escapes and outer spaces; UTF-8, or Latin-1 as the PGN standard has it."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return " ".join(re.sub(r"\\(.)", r"\1", text).split())
