"""Finished games as text: one PGN layout for everything that keeps games, and a reader for it.

    [Event "self-play"]                 seven tags that every PGN has, and of our own:
    [Site "?"] [Date "????.??.??"]      Variant      the game's id
    [Round "17"]                        Start        number of the initial position
    [White "run@12"] [Black "run@12"]   Opening      how many plies were random
    [Result "1-0"]                      Outcome      the first player's outcome, an integer, larger is better
                                        Termination  normal, adjudication, rules infraction: …, unterminated
    1. 4 4 2. 3 {+0.20} 5 {-0.31} 1-0

White moves first, whatever the colours of the stones are. Moves are in the game's own notation; a number with a dot
counts pairs of plies and means nothing, because turns need not alternate. A move whose text would not stand alone
between spaces is written as its action, `#17`. The comment after a move is what the player who made it thought of the
position before, in [-1, 1]; there is none where nobody thought.

The reader takes any PGN: comments, variations and annotations are passed over, tags are kept as they are. It knows no
game; `PgnGame.states` replays moves with the game that it is given. Who needs players and results only is served much
faster by `palaestra.runs.pgn_results`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np

from palaestra.base.errors import MoveError, RecordError
from palaestra.base.text import clip, whole_number
from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.runs.game_record import GameRecord
from palaestra.runs.pgn_scan import ONCE, split_games

RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
RESULT_OF = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}  # by the points of the player who moved first
POINTS_OF = {result: points for points, result in RESULT_OF.items()}
FAULT, ADJUDICATED = "rules infraction: ", "adjudication"  # the tag Termination, as the PGN standard words it
ROSTER = {"Event": "?", "Site": "?", "Date": "????.??.??", "Round": "?", "White": "?", "Black": "?"}
WIDTH = 100  # characters of a line of moves

_PLAIN = re.compile(r"[^\s{}();\[\]\"$#%.*!?]+")
_TOKEN = re.compile(
    r"\s+"
    r"|(?P<tag>\[\s*(?P<name>[A-Za-z0-9_][^\s\"\[\]]*)\s*\"(?P<value>(?:[^\"\\\n]|\\.|\"(?!\s*\]))*+)\"\s*\])"
    r"|(?P<comment>\{[^}]*\}|;[^\r\n]*|(?<![^\r\n])(?:%[^\r\n]*|\.{3,}+[^\S\r\n]*(?![^\r\n])))"
    r"|(?P<bracket>[()])"
    r"|(?P<number>\d+\.+)"
    r"|(?P<note>\$\d+|[!?]+)"
    r"|(?P<word>[^\s{}();\[\]\"$!?]+)",
)


@dataclass(frozen=True)
class PgnGame:
    """One game as it was read: tags, move texts, and the result that stands after the moves (`*` if none does).

    Rules turn it into a `GameRecord`.
    """

    tags: Mapping[str, str] = field(default_factory=dict)
    moves: tuple[str, ...] = ()
    result: str = "*"

    @property
    def opening_plies(self) -> int:
        return _count(self.tags.get("Opening", "0"), "Opening")

    def states(self, game: Game) -> list[Int8s]:
        """Every state of the game, the initial one first."""
        return self.replay(game)[0]

    def record(self, game: Game, number: int = 0) -> GameRecord:
        """The game with its moves as actions; RecordError if these rules do not allow it."""
        _, moves = self.replay(game)
        termination, outcome = self.tags.get("Termination", ""), self.tags.get("Outcome")
        return GameRecord(
            number=number,
            start=_count(self.tags.get("Start", "0"), "Start"),
            moves=moves,
            opening_plies=self.opening_plies,
            outcome=None if outcome is None else _outcome(outcome),
            points=POINTS_OF.get(self.result),
            first=self.tags.get("White", "?"),
            second=self.tags.get("Black", "?"),
            values=(None,) * len(moves),
            fault=termination.removeprefix(FAULT) if termination.startswith(FAULT) else "",
            adjudicated=termination == ADJUDICATED,
        )

    def replay(self, game: Game) -> tuple[list[Int8s], tuple[int, ...]]:
        """Every state of the game, the initial one first, and the actions between them."""
        choice = _count(self.tags.get("Start", "0"), "Start")
        if choice >= game.num_starts:
            raise RecordError(f"start {choice} is not one of {game.id}: they are 0 to {game.num_starts - 1}")
        state = game.start(np.array([choice], dtype=np.int64))[0]
        states, actions = [state], []
        for number, text in enumerate(self.moves, start=1):
            try:
                actions.append(_action(game, state, text))
            except MoveError as error:
                raise RecordError(f"move {number} of the game: {error}") from None
            state = game.advance(state[None], np.array(actions[-1:], dtype=np.int32))[0]
            states.append(state)
        return states, tuple(actions)


def write_game(record: GameRecord, game: Game, tags: Mapping[str, str] | None = None) -> str:
    """One game as PGN text with an empty line after it; `tags` replace or add to what the record says."""
    outcome = record.outcome
    header = {
        **ROSTER,
        "Round": str(record.number + 1),
        "White": record.first,
        "Black": record.second,
        "Result": "*" if record.points is None else RESULT_OF[record.points],
        "Variant": game.id,
        "Start": str(record.start),
        "Opening": str(record.opening_plies),
        **({} if outcome is None else {"Outcome": str(outcome)}),
        "Termination": _termination(record),
        **(tags or {}),
    }
    if header["Result"] not in RESULTS:
        raise RecordError(f"{header['Result']!r} is not a result; PGN knows {', '.join(RESULTS)}")
    words: list[str] = []
    values = record.values or (None,) * len(record.moves)
    state = game.start(np.array([record.start], dtype=np.int64))
    for ply, (action, value) in enumerate(zip(record.moves, values, strict=True)):
        text = game.action_to_text(state[0], int(action))
        plain = _PLAIN.fullmatch(text) and text not in RESULTS
        number = f"{ply // 2 + 1}. " if ply % 2 == 0 else ""
        words.append(number + (text if plain else f"#{action}") + _comment(value))
        state = game.advance(state, np.array([action], dtype=np.int32))
    return pgn_text(header, [*words, header["Result"]])


def pgn_text(tags: Mapping[str, str], words: Sequence[str]) -> str:
    """Tags, an empty line, the words of the game in lines, and an empty line after them."""
    lines = [f'[{name} "{_escaped(value)}"]' for name, value in tags.items()]
    return "\n".join([*lines, "", *_wrapped(words), "", ""])


def stream_games(file: BinaryIO, name: str = "the file") -> Iterator[PgnGame]:
    """The games of a PGN file in their order, one in memory at a time; `name` is for messages."""
    for section in split_games(file, name):
        try:
            text = section.text.decode()
        except UnicodeDecodeError:
            text = section.text.decode("latin-1")  # the encoding of the PGN standard
        try:
            yield from read_games(text)
        except RecordError as error:
            raise RecordError(f"{name}, the game in line {section.line}: {error}") from None


def read_games(text: str) -> list[PgnGame]:
    """All games of a PGN text in their order; RecordError says in which line it cannot be read."""
    text = text.removeprefix("\ufeff")  # the byte-order mark of some editors
    games: list[PgnGame] = []
    tags: dict[str, str] = {}
    moves: list[str] = []
    at = depth = 0
    in_header, new_line = True, True  # since the last tag, in this line: nothing but spaces and comments
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise RecordError(f"line {text.count(chr(10), 0, at) + 1} of the games is not PGN: {_excerpt(text, at)}")
        at, kind, token = match.end(), match.lastgroup, match.group()
        is_tag = kind == "tag" and (in_header or new_line)  # elsewhere it is a part of other text
        if kind == "bracket":
            depth += 1 if token == "(" else -1
            if depth < 0:
                raise RecordError(f"line {text.count(chr(10), 0, at) + 1} of the games closes no variation")
        elif is_tag:
            name = match["name"]
            if moves or (name in ONCE and name in tags):  # a game without a result ends where the next one begins
                games.append(PgnGame(tags, tuple(moves), "*"))
                tags, moves = {}, []
            tags[name] = re.sub(r"\\(.)", r"\1", match["value"])
        elif kind == "word" and not depth:
            if token in RESULTS:
                games.append(PgnGame(tags, tuple(moves), token))
                tags, moves = {}, []
            else:
                moves.append(token)
        silent = kind in (None, "comment")
        in_header = is_tag or (in_header and silent)
        new_line = (new_line and silent) or (kind is None and ("\n" in token or "\r" in token))
    if depth:
        raise RecordError("a variation of the games is never closed: a ) is missing")
    if tags or moves:
        games.append(PgnGame(tags, tuple(moves), "*"))
    return games


def _action(game: Game, state: Int8s, text: str) -> int:
    if not text.startswith("#"):
        return game.text_to_action(state, text)
    counts, actions = game.legal(state[None])
    legal = actions[0, : counts[0]].tolist()
    if (number := whole_number(text[1:])) is not None and number in legal:
        return number
    raise MoveError(f"{clip(text)} is not a legal action here; legal: {', '.join(f'#{action}' for action in legal)}")


def _count(text: str, tag: str) -> int:
    if (number := whole_number(text)) is not None:
        return number
    raise RecordError(f"the tag {tag} is {clip(text)}; it must be a whole number such as 0")


def _outcome(text: str) -> int:
    if (size := whole_number(text.removeprefix("-"))) is not None:
        return -size if text.startswith("-") else size
    raise RecordError(f"the tag Outcome is {clip(text)}; it must be an integer such as 0 or -12")


def _termination(record: GameRecord) -> str:
    """In the words of the PGN standard, with the reason where a player broke the rules."""
    if record.fault:
        return FAULT + record.fault
    if record.adjudicated:
        return ADJUDICATED
    return "unterminated" if record.outcome is None else "normal"


def _comment(value: float | None) -> str:
    return "" if value is None else f" {{{round(value, 2) + 0.0:+.2f}}}"  # + 0.0: there is no -0.00


def _escaped(value: str) -> str:
    """A tag's value on one line, with quotes and backslashes marked."""
    return " ".join(value.split()).replace("\\", "\\\\").replace('"', '\\"')


def _wrapped(words: Sequence[str]) -> list[str]:
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > WIDTH:
            lines.append(word)
        else:
            lines[-1] += f" {word}" if lines[-1] else word
    return lines


def _excerpt(text: str, at: int) -> str:
    shown = text[at : at + 40].splitlines()[0]
    return repr(shown)
