"""What a player is: something that chooses a legal action for every state of a batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pickle import PicklingError
from typing import Any

from palaestra.base.errors import PlayerError
from palaestra.base.streams import Rng
from palaestra.base.types import Bools, Float32s, Int8s, Int32s, Int64s
from palaestra.games.base import Game
from palaestra.games.rows import ONGOING

EVERY = 0.1  # seconds between two thoughts about a position
UNPROVEN = ONGOING  # in `Analysis.exact`: nothing is certain about this move


@dataclass(frozen=True, eq=False)
class Analysis:
    """What a player thinks of one position, and of each of its A actions where it has an opinion."""

    action: int
    value: float | None = None  # in [-1, 1], for the player to move
    policy: Float32s | None = None  # float32[A], sums to 1 over the legal actions
    visits: Int32s | None = None  # int32[A]
    pv: list[int] = field(default_factory=list)  # principal variation: actions from this position on
    note: str = ""  # one line for people: depth reached, nodes, "proven", …
    proven: bool | None = None  # whether the value is exact; None for players that never prove anything
    priors: Float32s | None = None  # float32[A] P(s,a), what the search began from
    values: Float32s | None = None  # float32[A] Q(s,a), for the player to move; not a number where there is none
    exact: Int32s | None = None  # int32[A] certain results for the mover: sign (one player: score), or UNPROVEN


@dataclass(frozen=True, eq=False)
class Choice:
    """Moves for a batch of B positions, and what the player thinks of each position if it thinks at all."""

    actions: Int32s  # [B]
    values: Float32s | None = None  # [B] in [-1, 1], for the player to move; not a number where it has none
    proven: Bools | None = None  # [B] whether the value is exact


class Player(ABC):
    """A player of one game. `text` is what made it, for example `uct(simulations=200)`."""

    from_text = False  # whether `make_player` made it, so that its text alone makes it again
    avoided = ""  # digest of the solutions that it was told to avoid: its text names their file alone
    follows = False  # whether it must be told the moves of a game before it is asked about it (`follow`)

    def __init__(self, game: Game, text: str = "") -> None:  # the registry says what made one of the user's own
        self.game = game
        self.text = text

    def __reduce__(self) -> Any:
        """Pickled as its text and its game; what it keeps between the moves of a game stays behind."""
        if not self.from_text:
            raise PicklingError(f"{self.text} was not made from a text, which is what other processes are given")
        from palaestra.players.registry import make_player

        return make_player, (self.text, self.game)

    @abstractmethod
    def act(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Int32s:
        """One legal action int32[B] for each state; no state is over.

        `rng` is a Generator, or one stream per row (uint64[B]): with streams, a row's choice does not depend on the
        other rows. `slots` names the game that each row belongs to, for players that keep something between the moves
        of a game; without it every call stands alone.
        """

    def choose(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Choice:
        """`act`, with the values that the player found on the way, for records and adjudication."""
        return Choice(self.act(states, rng, slots))

    def follow(self, slot: int, start: int, moves: Sequence[int]) -> None:
        """How the game in this slot came about: the number of its initial position, and the actions since then."""

    def forget(self, slots: Int64s | None = None) -> None:
        """The games in these slots (all, if none are given) are over: drop whatever was kept for them."""

    @property
    def network_seconds(self) -> float | None:
        """Time spent inside networks since the player was made; None if it has none."""
        return None

    def analyse(self, state: Int8s, rng: Rng) -> Analysis:
        """What the player thinks of one state int8[S]."""
        raise PlayerError(f"{self.text} chooses moves but cannot explain them; try uct(simulations=1000)")

    def thoughts(self, state: Int8s, rng: Rng, every: float = EVERY) -> Iterator[Analysis]:
        """What the player thinks of one state while it thinks, a new thought every so many seconds; the last one is
        what `analyse` says. A player that cannot be interrupted has a single one."""
        yield self.analyse(state, rng)
