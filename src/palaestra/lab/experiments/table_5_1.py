"""Table 5.1 of the thesis: random, MCTS, RAVE and RHEA against each other on three games, 100 playouts a move.

As in the thesis, games begin at the initial position (all players draw random numbers, so the games differ), nothing is
proven, and no tree is kept between moves. Where the text is open, each reading is played and has verdicts of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from palaestra.lab.catalogue import published
from palaestra.lab.claims import agrees
from palaestra.lab.data import Data
from palaestra.lab.experiment import Arm, Claim, Experiment, Published, Scale, Scales, Verdict
from palaestra.lab.experiments._scores import percent, score_table
from palaestra.lab.measures import Calls, play_players
from palaestra.lab.statistics import Estimate, mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAMES = ("gobang-6x6", "connect_four-6x6", "othello-6x6")
PLAYERS = {
    "random": "random",
    "mcts": "uct(simulations=100, solver=false, reuse=false)",
    "rave": "rave(simulations=100, solver=false, reuse=false)",
    "rhea": "rhea",
    "mcts by Eq. 5.1": "puct(simulations=100, solver=false, reuse=false)",
    "rave by cell": "rave(simulations=100, amaf=cell, solver=false, reuse=false)",
    "rhea of any genes": "rhea(sequences=any)",
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
# The text does not say what its MCTS, the same move of its RAVE and an illegal gene are. Pairings in another reading,
# and the published one that each stands for (sources: Table 5.1; Alg. 11; Alg. 15).
READINGS = {
    ("mcts by Eq. 5.1", "random"): ("mcts", "random"),
    ("rave", "mcts by Eq. 5.1"): ("rave", "mcts"),
    ("rave by cell", "mcts"): ("rave", "mcts"),
    ("rave by cell", "mcts by Eq. 5.1"): ("rave", "mcts"),
    ("rhea", "mcts by Eq. 5.1"): ("rhea", "mcts"),
    ("rhea of any genes", "random"): ("rhea", "random"),
    ("rhea of any genes", "mcts"): ("rhea", "mcts"),
}
OTHERWISE = {"Eq. 5.1": "MCTS by Eq. 5.1", "by cell": "RAVE by cell", "any genes": "RHEA of any genes"}
FIRST = "UCB1, by action, valid plans"
PAIRINGS = {**{pairing: pairing for pairing in PERCENT}, **READINGS}
PUBLISHED = tuple(
    Published(f"{column} : {row}", game, wins, "Table 5.1", "%")
    for (column, row), stands_for in PAIRINGS.items()
    for game, wins in zip(GAMES, PERCENT[stands_for], strict=True)
    if column != "rave by cell" or game == "connect_four-6x6"  # elsewhere an action is a cell
)


def _arm(known: Published) -> Arm:
    column, row = known.arm.split(" : ")
    return Arm(known.arm, known.game, values={"a": PLAYERS[column], "b": PLAYERS[row], "opening_plies": 0})


def _stands_for(known: Published) -> tuple[str, str]:
    """The published pairing that an arm is a reading of."""
    column, row = known.arm.split(" : ")
    return PAIRINGS[column, row]


def _order(known: Published) -> Iterator[Claim]:
    """RAVE is better than MCTS, which is better than RHEA, which is better than random; but for two at Othello."""
    column, row = _stands_for(known)
    wins = (column, row) != ("rhea", "mcts")
    if (column, row) not in (("rave", "mcts"), ("rhea", "mcts"), ("rhea", "random")):
        return
    if wins and known.game.startswith("othello"):
        return

    def check(data: Data) -> Verdict:
        score = percent(data.where(game=known.game, arm=known.arm))
        return (Verdict.above if wins else Verdict.below)(score, 50.0, f"% of the points, {known.arm}")

    better, worse = (column, row) if wins else (row, column)
    yield Claim(f"{better} is better than {worse}: {known.arm} at {known.game}", check)


def _nearer(data: Data) -> Verdict:
    """How much further from the published number MCTS by UCB1 is than by Eq. 5.1, over the nine cells with MCTS."""
    further = []
    for column, row in PERCENT:
        if "mcts" not in (column, row):
            continue
        other = f"{column} : {row}".replace("mcts", "mcts by Eq. 5.1")
        for game, wins in zip(GAMES, PERCENT[column, row], strict=True):
            scores = [percent(data.where(game=game, arm=arm)).value for arm in (f"{column} : {row}", other)]
            further.append(abs(scores[0] - wins) - abs(scores[1] - wins))
    return Verdict.above(mean(further), 0.0, "points further from the published %, UCB1 minus Eq. 5.1, mean of 9 cells")


def _draw(data: Data) -> Figure:
    """A panel a game, a group a published pairing, a colour a reading."""
    from palaestra.lab.experiment_plots import estimates_figure

    panels: dict[str, dict[str, dict[str, Estimate]]] = {game: {} for game in GAMES}
    crosses = {}
    for known in PUBLISHED:
        group = " : ".join(_stands_for(known))
        label = ", ".join(words for name, words in OTHERWISE.items() if name in known.arm) or FIRST
        panels[known.game].setdefault(group, {})[label] = percent(data.where(game=known.game, arm=known.arm))
        crosses[known.game, group, label] = known.value
    y = "score of the first over the second, %"
    return estimates_figure(panels, y, published=crosses, level=50.0, limits=(-3, 103))


EXPERIMENT = Experiment(
    identity=published("table-5.1"),
    arms=tuple(_arm(known) for known in PUBLISHED),
    scales=Scales(
        smoke=Scale("2 games a pairing", 1, {"games": 2}),
        laptop=Scale("draws count half, where the thesis counts wins", 1, {"games": 500}),
        paper=Scale("draws count half, where the thesis counts wins", 1, {"games": 500}),
    ),
    measures=(Calls(play_players, {"games": 10}),),
    claims=(
        *(claim for known in PUBLISHED for claim in _order(known)),
        *(agrees(known, percent, 5.0, "% of the points") for known in PUBLISHED),
        Claim("Eq. 5.1 with uniform priors is nearer to the published MCTS than UCB1", _nearer, ours=True),
    ),
    table=score_table(PUBLISHED, "pairing"),
    draw=_draw,
    published=PUBLISHED,
    reading="MCTS is UCB1 with random playouts, or Eq. 5.1 with uniform priors; exploration constants are not said",
)
