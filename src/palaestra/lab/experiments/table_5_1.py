"""Table 5.1 of the thesis: random, MCTS, RAVE and RHEA against each other on three games, 100 playouts a move.

As in the thesis, games begin at the initial position (all players draw random numbers, so the games differ), nothing is
proven, and no tree is kept between moves. The table does not say what MCTS is, nor what the same action is to RAVE
where an action is a column (sources: Table 5.1; Alg. 11). So each reading is played and has its own verdicts: MCTS as
UCB1 or as Eq. 5.1 with uniform priors, and at Connect Four RAVE by columns or by cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from palaestra.lab.catalogue import published
from palaestra.lab.claims import agrees
from palaestra.lab.data import Data
from palaestra.lab.experiment import Arm, Claim, Experiment, Published, Scale, Scales, Table, Verdict
from palaestra.lab.measures import Calls, play_players
from palaestra.lab.statistics import Estimate, mean, pooled_score

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAMES = ("gobang-6x6", "connect_four-6x6", "othello-6x6")
UCB1, PUCT, CELLS = "UCB1", "Eq. 5.1", "cells"
SEARCH = "simulations=100, solver=false, reuse=false"


def _player(name: str, readings: tuple[str, ...]) -> str:
    """The text of a player as some readings have it."""
    if name == "mcts":
        return f"puct({SEARCH})" if PUCT in readings else f"uct({SEARCH})"
    if name == "rave":
        return f"rave({SEARCH}, amaf=cell)" if CELLS in readings else f"rave({SEARCH})"
    return name


def _readings(pair: tuple[str, str], game: str) -> list[tuple[str, ...]]:
    """The ways in which a pairing can be read; one is the empty tuple where nothing is open."""
    searches = ((UCB1,), (PUCT,)) if "mcts" in pair else ((),)
    amaf = ((), (CELLS,)) if "rave" in pair and game.startswith("connect_four") else ((),)
    return [(*search, *actions) for search in searches for actions in amaf]


# (column, row) -> percent of wins of the column over the row, on the three games.
PERCENT = {
    ("mcts", "random"): (97.0, 99.6, 98.5),
    ("rave", "random"): (100.0, 100.0, 98.0),
    ("rhea", "random"): (90.0, 80.0, 48.0),
    ("rave", "mcts"): (89.4, 73.0, 46.0),
    ("rhea", "mcts"): (34.0, 3.0, 1.0),
    ("rhea", "rave"): (17.0, 4.0, 5.0),
}
EACH = [  # pairing, game, reading, percent of wins
    (pair, game, reading, percent)
    for pair, three in PERCENT.items()
    for game, percent in zip(GAMES, three, strict=True)
    for reading in _readings(pair, game)
]


def _name(pair: tuple[str, str], reading: tuple[str, ...]) -> str:
    """An arm's name, such as `rave : mcts (Eq. 5.1, cells)`."""
    return f"{pair[0]} : {pair[1]}" + (f" ({', '.join(reading)})" if reading else "")


PUBLISHED = tuple(
    Published(_name(pair, reading), game, percent, "Table 5.1", "%") for pair, game, reading, percent in EACH
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

    panels: dict[str, dict[str, dict[str, Estimate]]] = {game: {} for game in GAMES}
    crosses = {}
    for pair, game, reading, percent in EACH:
        group, label = _name(pair, ()), ", ".join(reading) or "only reading"
        panels[game].setdefault(group, {})[label] = _score(data.where(game=game, arm=_name(pair, reading)))
        crosses[game, group, label] = percent
    return estimates_figure(panels, "score of the first over the second, %", published=crosses, level=50.0)


def _beats(pair: tuple[str, str], game: str, reading: tuple[str, ...], *, wins: bool = True) -> Claim:
    name = _name(pair, reading)

    def check(data: Data) -> Verdict:
        decide = Verdict.above if wins else Verdict.below
        return decide(_score(data.where(game=game, arm=name)), 50.0, f"% of the points, {name}")

    words = ", ".join((game, *reading))
    return Claim(f"{pair[0]} {'beats' if wins else 'loses to'} {pair[1]} ({words})", check)


def _nearer(data: Data) -> Verdict:
    """How much further from the published number UCB1 is than Eq. 5.1, over the pairings with MCTS."""
    further = []
    for pair, game, reading, percent in EACH:
        if reading == (UCB1,):
            far, near = (
                abs(_score(data.where(game=game, arm=_name(pair, (one,)))).value - percent) for one in (UCB1, PUCT)
            )
            further.append(far - near)
    return Verdict.above(
        mean(further), 0.0, "points further from the published %, UCB1 minus Eq. 5.1, mean over 9 cells"
    )


def _order() -> Iterator[Claim]:
    """RAVE is better than MCTS, which is better than RHEA, which is better than random, in nearly all cases."""
    for pair, game, reading, _ in EACH:
        othello = game.startswith("othello")
        if pair == ("rave", "mcts") and not othello:
            yield _beats(pair, game, reading)
        elif pair == ("rhea", "mcts"):
            yield _beats(pair, game, reading, wins=False)
        elif pair == ("rhea", "random") and not othello:
            yield _beats(pair, game, reading)


EXPERIMENT = Experiment(
    identity=published("table-5.1"),
    arms=tuple(
        Arm(
            _name(pair, reading),
            game,
            values={"a": _player(pair[0], reading), "b": _player(pair[1], reading), "opening_plies": 0},
        )
        for pair, game, reading, _ in EACH
    ),
    scales=Scales(
        smoke=Scale("2 games a pairing", 1, {"games": 2}),
        laptop=Scale("draws count half, where the thesis counts wins", 1, {"games": 500}),
        paper=Scale("draws count half, where the thesis counts wins", 1, {"games": 500}),
    ),
    measures=(Calls(play_players, ("games",)),),
    claims=(
        *_order(),
        *(agrees(known, _score, 5.0, "% of the points") for known in PUBLISHED),
        Claim("Eq. 5.1 with uniform priors is nearer to the published MCTS than UCB1", _nearer, ours=True),
    ),
    table=_table,
    draw=_draw,
    published=PUBLISHED,
    reading="every pairing with MCTS or RAVE is played in all its readings; exploration constants are not said",
)
