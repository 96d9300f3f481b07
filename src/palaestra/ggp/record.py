"""What happened in a match: states, moves, errors, times and goals, as JSON and as a text that PGN readers take.

    [White "127.0.0.1:9147"] …      the player of the first role, and of the second
    [Role1 "xplayer"] …             every role has a number, a player and a goal
    1. (mark 1 1) noop 2. noop (mark 3 2) {oplayer TO} … 1-0

Moves are terms of the rules in the order of the roles, one group a turn. A comment names a role whose player gave no
legal move, and why: TO no answer in time, CE no connection or no HTTP, IL no legal move; the move is a random one then.
Knows how a match is told, not how it is played.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Literal

from palaestra.base.types import JsonLike
from palaestra.ggp.kif import Term, term_text
from palaestra.ggp.protocol import Introduction
from palaestra.runs.pgn_games import pgn_text

Code = Literal["TO", "CE", "IL"]
CODES: dict[Code, str] = {"TO": "no answer in time", "CE": "no connection", "IL": "no legal move"}


@dataclass(frozen=True)
class Fault:
    """What was wrong with one answer: turn 0 is START, and the last turn plus one is STOP."""

    turn: int
    role: str
    code: Code
    detail: str


@dataclass(frozen=True)
class Seat:
    """A role and who plays it."""

    role: str
    player: str  # host:port
    name: str = ""  # as the player gave it
    plays: str = ""  # the kind of player that thinks, if it says so,
    instead_of: str = ""  # and the one that was asked for and cannot play this

    def told(self, about: Introduction) -> Seat:
        """The seat with what its player says of itself; what it does not say any more stays as it was."""
        if not about.name and not about.plays:
            return self
        return Seat(self.role, self.player, about.name or self.name, about.plays or self.plays, about.instead_of)

    @property
    def who(self) -> str:
        """The player in words: where, its name, and who plays instead of whom."""
        plays = f"({self.plays} INSTEAD OF {self.instead_of})" if self.instead_of else ""
        return " ".join(part for part in (self.player, self.name, plays) if part)


@dataclass
class MatchRecord:
    """A match so far; `goals` stand when it is over, `ending` says in words why it is."""

    match: str
    game: str
    seats: tuple[Seat, ...]
    start_clock: float
    play_clock: float
    began: str  # ISO 8601, in UTC
    seed: int
    rules: str = ""  # what tells them from others: `protocol.rules_digest`
    scrambled: bool = False  # the players were told other names
    states: list[list[str]] = field(default_factory=list)  # facts of every state, the initial one first
    moves: list[list[str]] = field(default_factory=list)  # of every turn, in the order of the roles
    seconds: list[list[float]] = field(default_factory=list)  # that each answer took
    faults: list[Fault] = field(default_factory=list)
    goals: list[int] | None = None
    ending: str = ""  # "" under way, "terminal", or what stopped it

    def add_state(self, facts: frozenset[Term]) -> None:
        self.states.append(sorted(term_text(fact) for fact in facts))

    @property
    def turns(self) -> int:
        return len(self.moves)

    @property
    def missed_moves(self) -> int:
        """How many moves were not the players' own."""
        return sum(0 < fault.turn <= self.turns for fault in self.faults)

    def as_json(self) -> dict[str, JsonLike]:
        return {**asdict(self), "turns": self.turns, "missed_moves": self.missed_moves}

    def result(self) -> str:
        """Of two players, by their goals; nothing is said of other numbers of them."""
        if self.goals is None or len(self.goals) != 2:
            return "*"
        first, second = self.goals
        return "1-0" if first > second else "0-1" if first < second else "1/2-1/2"

    def as_text(self) -> str:
        """The match in the layout of PGN, with an empty line after it."""
        tags = {
            "Event": "network match",
            "Site": "?",
            "Date": self.began[:10].replace("-", "."),
            "Round": "?",
            "White": self.seats[0].player,
            "Black": self.seats[1].player if len(self.seats) > 1 else "?",
            "Result": self.result(),
            "Variant": self.game,
            "Match": self.match,
            "Rules": self.rules,
            "Clocks": f"{self.start_clock:g}+{self.play_clock:g}",
            "Termination": self.ending or "unterminated",
        }
        for number, seat in enumerate(self.seats, start=1):
            tags[f"Role{number}"] = seat.role
            tags[f"Player{number}"] = seat.who
            if self.goals is not None:
                tags[f"Goal{number}"] = str(self.goals[number - 1])
        wrong: dict[tuple[int, str], str] = {(fault.turn, fault.role): fault.code for fault in self.faults}
        words = []
        for turn, moves in enumerate(self.moves, start=1):
            words.append(f"{turn}.")
            for seat, move in zip(self.seats, moves, strict=True):
                words.append(move)
                if code := wrong.get((turn, seat.role)):
                    words.append(f"{{{seat.role} {code}}}")
        return pgn_text(tags, [*words, self.result()])
