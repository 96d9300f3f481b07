"""A round robin: every player against every other, each pairing a match; the table shows scores with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from palaestra.arena.match import LOCKSTEP, MatchResult, Running, play_match
from palaestra.arena.statistics import score_interval, score_of
from palaestra.errors import PlayerError
from palaestra.games.base import Game
from palaestra.players.base import Player
from palaestra.streams import keyed_seeds

Tally = tuple[int, int, int]  # wins, draws, losses


@dataclass
class Crosstable:
    """Results of every player against every other; filled while the games are played."""

    players: tuple[str, ...]
    tallies: dict[tuple[int, int], Tally] = field(default_factory=dict)  # (row, column) -> row's result
    matches: list[MatchResult] = field(default_factory=list)  # the finished ones

    def enter(self, row: int, column: int, tally: Tally) -> None:
        """Set a pairing's result so far, for both of its players."""
        self.tallies[row, column] = tally
        self.tallies[column, row] = tally[::-1]

    def total(self, row: int) -> Tally:
        """A player's wins, draws and losses over all its games."""
        own = [tally for (player, _), tally in self.tallies.items() if player == row]
        return sum(t[0] for t in own), sum(t[1] for t in own), sum(t[2] for t in own)

    def score(self, row: int) -> float:
        return score_of(*self.total(row))

    def interval(self, row: int) -> tuple[float, float]:
        """95 % interval of a player's score."""
        return score_interval(*self.total(row))

    def standings(self) -> list[int]:
        """Players from best to worst score; equal ones in their given order."""
        return sorted(range(len(self.players)), key=lambda row: -self.score(row))

    @property
    def distinct_games(self) -> int:
        return sum(match.distinct_games for match in self.matches)


Listener = Callable[[Crosstable, tuple[int, int]], None]


def play_round_robin(
    game: Game,
    players: Sequence[Player],
    games: int,
    *,
    opening_plies: int | None = None,
    seed: int = 0,
    lockstep: int = LOCKSTEP,
    listen: Listener | None = None,
) -> Crosstable:
    """Play `games` games between every two players; the listener hears the table and which pairing is being played."""
    texts = tuple(player.text for player in players)
    if len(texts) < 2 or len(set(texts)) < len(texts):
        raise PlayerError(f"a round robin needs at least two different players, not {', '.join(texts) or 'none'}")
    table = Crosstable(texts)
    for number, (row, column) in enumerate(combinations(range(len(players)), 2)):

        def hear(running: Running, pairing: tuple[int, int] = (row, column)) -> None:
            table.enter(*pairing, (running.wins, running.draws, running.losses))
            if listen is not None:
                listen(table, pairing)

        match = play_match(
            game,
            players[row],
            players[column],
            games,
            opening_plies=opening_plies,
            seed=int(keyed_seeds(seed, number)[0] >> 1),  # every pairing has openings of its own
            lockstep=lockstep,
            listen=hear,
        )
        table.matches.append(match)
    return table
