"""Random, MCTS, RAVE and RHEA against each other on three 6×6 games (sources: Table 5.1).

Every pairing is a match of 500 games with 100 playouts a move. As in the thesis, games begin at the initial position
(all players draw random numbers, so the games differ), nothing is proven, and no tree is kept between moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from palaestra.arena.match import MatchResult, play_match
from palaestra.games.registry import make_game
from palaestra.players.registry import make_player

GAMES = ("gobang-6x6", "connect_four-6x6", "othello-6x6")
PLAYERS = {
    "random": "random",
    "mcts": "uct(simulations=100, solver=false, reuse=false)",
    "rave": "rave(simulations=100, solver=false, reuse=false)",
    "rhea": "rhea",
}
# (column, row) -> percent of wins of the column over the row, on the three games.
PUBLISHED = {
    ("mcts", "random"): (97.0, 99.6, 98.5),
    ("rave", "random"): (100.0, 100.0, 98.0),
    ("rhea", "random"): (90.0, 80.0, 48.0),
    ("rave", "mcts"): (89.4, 73.0, 46.0),
    ("rhea", "mcts"): (34.0, 3.0, 1.0),
    ("rhea", "rave"): (17.0, 4.0, 5.0),
}


@dataclass(frozen=True)
class Cell:
    """One entry of the table: the match, and the published percentage of wins."""

    column: str
    row: str
    published: float
    match: MatchResult

    @property
    def agrees(self) -> bool:
        """Whether the published number lies within our 95 % interval."""
        low, high = self.match.interval
        return low <= self.published / 100 <= high


def table_5_1(games: int = 500, seed: int = 0, listen: Callable[[str], None] | None = None) -> Iterator[Cell]:
    """The cells one after the other, game by game."""
    for index, id in enumerate(GAMES):
        game = make_game(id)
        for (column, row), published in PUBLISHED.items():
            if listen is not None:
                listen(f"{column} against {row} on {id}")
            a, b = make_player(PLAYERS[column], game), make_player(PLAYERS[row], game)
            match = play_match(game, a, b, games, opening_plies=0, seed=seed)
            yield Cell(column, row, published[index], match)
