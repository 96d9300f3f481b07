"""The manager of the match protocol: asks every player for its moves, judges them by the rules, and keeps the record.

Players are strangers: one that is silent, slow, gone or talks nonsense gets a random legal move and an entry in the
record, and the match goes on to its end. Only rules that fail stop a match. Events go to a listener; nothing is shown
or written here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from palaestra.base.errors import ConfigError, GdlError, MoveError, PalaestraError
from palaestra.ggp import protocol
from palaestra.ggp.http_client import Address, Client, Reply
from palaestra.ggp.kif import Term, term_text
from palaestra.ggp.machine import Machine, State, legal_move
from palaestra.ggp.protocol import Abort, Info, Message, Play, Start, Stop
from palaestra.ggp.record import Fault, MatchRecord, Seat
from palaestra.ggp.scramble import Scramble

GRACE = 1.0  # seconds beyond the play clock that the network is given
ABORT_SECONDS, INFO_SECONDS = 1.0, 2.0

RecordListener = Callable[[MatchRecord], None]


@dataclass(frozen=True)
class MatchSettings:
    """The clocks in seconds, the most turns (rules need not end, but a match does), and whether players are told
    other names than the rules', in every match anew."""

    start_clock: float = 30.0
    play_clock: float = 15.0
    most_turns: int = 1000
    scramble: bool = False

    def __post_init__(self) -> None:
        for name in ("start_clock", "play_clock"):
            clock = getattr(self, name)
            if not 0.05 <= clock <= protocol.LONGEST_CLOCK:
                raise ConfigError(
                    f"{name} is {clock:g} s; clocks are from 0.05 to {protocol.LONGEST_CLOCK}, for example 10"
                )
        if self.most_turns < 1:
            raise ConfigError(f"most_turns is {self.most_turns}; a match has at least 1")


class Manager:
    """Runs matches of one game, one after another, between players at given addresses."""

    def __init__(
        self,
        machine: Machine,
        source: str,
        players: Sequence[Address],
        settings: MatchSettings,
        game: str = "game",
        listen: RecordListener | None = None,
    ) -> None:
        if len(players) != len(machine.roles):
            raise ConfigError(
                f"{len(players)} players were given; the roles of {game} are {len(machine.roles)}: "
                f"{', '.join(machine.roles)}; give one host:port for each"
            )
        self.machine, self.players, self.settings, self.game = machine, tuple(players), settings, game
        self.rules = protocol.rules_text(source)
        self.listen = listen or (lambda record: None)

    async def run(self, match: str, seed: int, rotation: int = 0) -> MatchRecord:
        """One match to its end; with a rotation, player i takes role i + rotation."""
        shift = rotation % len(self.players)
        players = self.players[-shift:] + self.players[:-shift] if shift else self.players
        async with Client() as client:
            table = _Table(self, client, players, match, seed)
            return await table.play()


class _Table:
    """One match: who sits where, and what has happened."""

    def __init__(self, manager: Manager, client: Client, players: Sequence[Address], match: str, seed: int) -> None:
        self.machine, self.settings, self.rules = manager.machine, manager.settings, manager.rules
        self.listen = manager.listen
        self.client, self.players, self.match = client, players, match
        self.rng = np.random.default_rng(seed)
        self.scramble = Scramble(self.rules, seed) if self.settings.scramble else None
        self.record = MatchRecord(
            match=match,
            game=manager.game,
            seats=tuple(Seat(role, str(player)) for role, player in zip(self.machine.roles, players, strict=True)),
            start_clock=self.settings.start_clock,
            play_clock=self.settings.play_clock,
            began=datetime.now(UTC).isoformat(timespec="seconds"),
            seed=seed,
            rules=protocol.rules_digest(self.rules),
            scrambled=self.settings.scramble,
        )

    async def play(self) -> MatchRecord:
        """From START to STOP; whatever interrupts it, the players are told that it is off."""
        try:
            self._rehearse()
            await self._meet()
            self.listen(self.record)
            await self._start()
            await self._hear_who_plays()
            state = await self._turns()
            self.record.goals = self.machine.goals(state)
            await self._hear_who_plays()
            await self._stop()
        except BaseException as error:
            self.record.ending = f"stopped: {error}" if isinstance(error, PalaestraError) else "interrupted"
            self.listen(self.record)
            await asyncio.shield(self._tell(Abort(self.match), ABORT_SECONDS))
            raise
        self.listen(self.record)
        return self.record

    def _rehearse(self) -> None:
        """One turn that does not count: a machine may compile at first, and nobody waits that long for a first PLAY."""
        state = self.machine.initial()
        legal = self.machine.legal(state)
        if not self.machine.terminal(state) and all(legal):
            self.machine.step(state, [options[0] for options in legal])

    async def _tell(self, message: Message, seconds: float) -> list[Reply]:
        """One message to all players at once."""
        return await self._tell_each([message] * len(self.players), seconds)

    async def _tell_each(self, messages: Sequence[Message], seconds: float) -> list[Reply]:
        return await asyncio.gather(
            *(
                self.client.ask(player, protocol.message_text(message), seconds, seat.name or "player")
                for player, message, seat in zip(self.players, messages, self.record.seats, strict=True)
            )
        )

    async def _meet(self) -> None:
        """Names for the record; a player without one plays as well."""
        replies = await self._tell(Info(), INFO_SECONDS)
        self.record.seats = tuple(
            seat.told(protocol.read_info(reply.text)) for seat, reply in zip(self.record.seats, replies, strict=True)
        )

    async def _hear_who_plays(self) -> None:
        """Ask those who say which kind of player they are, and no stranger, whether another one had to take over."""
        for number, seat in enumerate(self.record.seats):
            if seat.plays:
                reply = await self.client.ask(
                    self.players[number], protocol.message_text(Info()), INFO_SECONDS, seat.name
                )
                seats = list(self.record.seats)
                seats[number] = seat.told(protocol.read_info(reply.text))
                self.record.seats = tuple(seats)

    async def _start(self) -> None:
        """Everybody gets the rules; who is not ready has a fault and may still play."""
        clocks = self.settings.start_clock, self.settings.play_clock
        rules = self._there(self.rules)
        starts = [Start(self.match, self._there(seat.role), rules, *clocks) for seat in self.record.seats]
        self._expect(0, await self._tell_each(starts, self.settings.start_clock), protocol.READY)

    def _there(self, text: str) -> str:
        """A text in the names that the players know."""
        return text if self.scramble is None else self.scramble.there(text)

    def _moves_there(self, moves: Sequence[Term] | None) -> tuple[Term, ...] | None:
        if moves is None or self.scramble is None:
            return None if moves is None else tuple(moves)
        return tuple(protocol.read_term(self._there(term_text(move))) for move in moves)

    async def _turns(self) -> State:
        """Moves until the rules say that it is over; gives the last state."""
        state, moves = self.machine.initial(), None
        self.record.add_state(self.machine.facts(state))
        self.listen(self.record)
        while not self.machine.terminal(state):
            if self.record.turns == self.settings.most_turns:
                self.record.ending = f"stopped after {self.record.turns} turns"
                return state
            legal = self.machine.legal(state)
            if not all(legal):
                stuck = self.machine.roles[[bool(options) for options in legal].index(False)]
                raise GdlError(f"the rules give {stuck} no legal move in turn {self.record.turns + 1}")
            replies = await self._tell(Play(self.match, self._moves_there(moves)), self.settings.play_clock + GRACE)
            moves = tuple(self._move(seat, reply, legal[seat]) for seat, reply in enumerate(replies))
            state = self.machine.step(state, moves)
            self.record.moves.append([term_text(move) for move in moves])
            self.record.seconds.append([round(reply.seconds, 4) for reply in replies])
            self.record.add_state(self.machine.facts(state))
            self.listen(self.record)
        self.record.ending = "terminal"
        return state

    async def _stop(self) -> None:
        moves = [protocol.read_term(move) for move in self.record.moves[-1]] if self.record.moves else None
        replies = await self._tell(Stop(self.match, self._moves_there(moves)), self.settings.play_clock)
        self._expect(self.record.turns + 1, replies, protocol.DONE)

    def _move(self, seat: int, reply: Reply, legal: Sequence[Term]) -> Term:
        """The move of a reply if it is legal, else a random one and a fault."""
        code, detail = reply.code, reply.detail
        if code is None:
            try:
                text = reply.text if self.scramble is None else self.scramble.back(reply.text)
                return legal_move(protocol.read_term(text), legal, self.machine.roles[seat])
            except (GdlError, MoveError) as error:
                code, detail = "IL", str(error)
        self.record.faults.append(Fault(self.record.turns + 1, self.machine.roles[seat], code, detail))
        return legal[int(self.rng.integers(len(legal)))]

    def _expect(self, turn: int, replies: Sequence[Reply], word: str) -> None:
        for role, reply in zip(self.machine.roles, replies, strict=True):
            if reply.code is not None:
                self.record.faults.append(Fault(turn, role, reply.code, reply.detail))
            elif reply.text.lower() != word:
                self.record.faults.append(Fault(turn, role, "IL", f"answered {reply.text[:40]!r}, not {word}"))
