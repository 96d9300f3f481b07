"""Table 5.1 of the thesis: random, MCTS, RAVE and RHEA against each other on three games, 100 playouts a move.

As in the thesis, games begin at the initial position (all players draw random numbers, so the games differ), nothing is
proven, and no tree is kept between moves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from palaestra.lab.catalogue import published
from palaestra.lab.claims import agrees
from palaestra.lab.data import Data
from palaestra.lab.experiment import Arm, Experiment, Published, Scale, Scales, Table
from palaestra.lab.measures import Calls, play_players
from palaestra.lab.statistics import Estimate, pooled_score

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAMES = ("gobang-6x6", "connect_four-6x6", "othello-6x6")
PLAYERS = {
    "random": "random",
    "mcts": "uct(simulations=100, solver=false, reuse=false)",
    "rave": "rave(simulations=100, solver=false, reuse=false)",
    "rhea": "rhea",
}
# (column, row) -> percent of wins of the column over the row, on the three games.
PERCENT = {
    ("mcts", "random"): (97.0, 99.6, 98.5),
    ("rave", "random"): (100.0, 100.0, 98.0),
    ("rhea", "random"): (90.0, 80.0, 48.0),
    ("rave", "mcts"): (89.4, 73.0, 46.0),
    ("rhea", "mcts"): (34.0, 3.0, 1.0),
    ("rhea", "rave"): (17.0, 4.0, 5.0),
}
PUBLISHED = tuple(
    Published(f"{column} : {row}", game, percent, "Table 5.1", "%")
    for (column, row), three in PERCENT.items()
    for game, percent in zip(GAMES, three, strict=True)
)


def _score(data: Data) -> Estimate:
    return pooled_score(data).times(100)


def _table(data: Data) -> Table:
    rows = []
    for known in PUBLISHED:
        some = data.where(game=known.game, arm=known.arm)
        won, drawn, lost, distinct = (
            f"{some.total(name):.0f}" for name in ("wins", "draws", "losses", "distinct_games")
        )
        rows.append((known.game, known.arm, str(_score(some)), f"{won} {drawn} {lost}", f"{known.value:g}", distinct))
    return Table(("game", "pairing", "score, % (95 %)", "+ = −", "published, %", "distinct games"), tuple(rows))


def _draw(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import estimates_figure

    panels = {
        game: {arm: {"here": _score(rows)} for arm, rows in some.by("arm").items()}
        for game, some in data.by("game").items()
    }
    crosses = {(known.game, known.arm, "here"): known.value for known in PUBLISHED}
    return estimates_figure(
        panels, "score of the first over the second, %", published=crosses, level=50.0, limits=(-3, 103)
    )


EXPERIMENT = Experiment(
    identity=published("table-5.1"),
    arms=tuple(
        Arm(f"{column} : {row}", game, values={"a": PLAYERS[column], "b": PLAYERS[row], "opening_plies": 0})
        for game in GAMES
        for column, row in PERCENT
    ),
    scales=Scales(
        smoke=Scale("2 games a pairing", 1, {"games": 2}),
        laptop=Scale("draws count half, where the thesis counts wins", 1, {"games": 500}),
        paper=Scale("draws count half, where the thesis counts wins", 1, {"games": 500}),
    ),
    measures=(Calls(play_players, {"games": 10}),),
    claims=tuple(agrees(known, _score, 5.0, "% of the points") for known in PUBLISHED),
    table=_table,
    draw=_draw,
    published=PUBLISHED,
    reading="MCTS is UCB1 with random playouts; exploration constants are not said",
)
