"""Table 6.2 and Figure 6.2 of the thesis: when the adaptive warm start switches to plain self-play, and on what.

Every run plays E games of an enhancement against the default search in each iteration, learns from all of them, and
switches after the first iteration in which the default search has the better balance (sources: Alg. 6). A run ends with
its switch, unless Figure 6.3 is asked for, too: nothing after it is looked at here. One that has not switched at the
last iteration counts as if it had switched there, so that such means are too small.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from palaestra.base.types import Float64s
from palaestra.lab.catalogue import published
from palaestra.lab.data import Data, Row
from palaestra.lab.experiment import Arm, Claim, Experiment, Published, Table, Verdict
from palaestra.lab.experiments._warm import NAMES, PRESET, adaptive, scales
from palaestra.lab.measures import Curves
from palaestra.lab.statistics import Estimate, beside, mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from palaestra.runs.metrics import Lines, MetricsLine

GAMES = ("connect_four-6x6", "othello-6x6", "gobang-6x6")
RUNS = 8  # of every number in the thesis
SWITCHES = {  # mean and standard deviation over these runs, on the three games
    "rollout": ((6.63, 3.04), (5.50, 1.73), (1.38, 0.48)),
    "rave": ((2.38, 1.22), (3.13, 2.67), (1.13, 0.33)),
    "rora": ((7.75, 4.74), (5.13, 1.36), (1.13, 0.33)),
    "wro": ((4.25, 1.56), (4.38, 1.65), (1.13, 0.33)),
    "wrora": ((4.38, 1.58), (4.00, 1.00), (1.25, 0.43)),
}
PUBLISHED = tuple(
    Published(NAMES[name], game, middle, "Table 6.2", "iterations", spread)
    for name, row in SWITCHES.items()
    for game, (middle, spread) in zip(GAMES, row, strict=True)
)


def switched(line: MetricsLine) -> bool:
    """Whether the default search had the better balance in an iteration: only that is a switch, not the limit."""
    return line.warm is not None and (line.warm.balance or 0) > 0


def read_balances(lines: Lines) -> Iterable[Row]:
    return [
        {"iteration": line.iteration, "balance": line.warm.balance, "switched": int(switched(line))}
        for line in lines
        if line.warm is not None
    ]


def _switches(data: Data) -> Float64s:
    """float64[S]: the last iteration of every seed: that of its switch, or the limit."""
    return np.array([one.numbers("iteration").max() for one in data.by("seed").values()])


def _late(data: Data) -> int:
    """How many runs had not switched at the limit."""
    return sum(not one.total("switched") for one in data.by("seed").values())


def _if_all_switched(data: Data, verdict: Verdict) -> Verdict:
    """The verdict, or open: with runs that the limit ended, the mean is only known to be too small."""
    if late := _late(data):
        return Verdict.open(f"{verdict.what}; {late} runs had not switched at the limit", verdict.estimate)
    return verdict


def _agrees(known: Published) -> Claim:
    def check(data: Data) -> Verdict:
        rows = data.where(game=known.game, arm=known.arm)
        if not len(rows):
            return Verdict.open(f"{known.game} was not played")
        # The printed deviations divide by the number of runs: 1.375 ± 0.484 are five times 1 and three times 2.
        lead = beside(_switches(rows), known.value, known.spread or 0.0, RUNS - 1)
        what = f"iterations, here minus published {known.value:g} ± {known.spread:g}"
        verdict = Verdict.near(lead, 0.0, 3.0, what)
        return verdict if lead.value > 0 and verdict.answer == "fails" else _if_all_switched(rows, verdict)

    return Claim(f"{known.arm} switches after {known.value:g} iterations at {known.game}", check)


def _shorter(name: str, best: int) -> Claim:
    """The switch comes before the fixed length that was found best (Figure 6.1)."""

    def check(data: Data) -> Verdict:
        rows = data.where(game="connect_four-6x6", arm=name)
        if not len(rows):
            return Verdict.open("connect_four-6x6 was not played")
        verdict = Verdict.below(mean(_switches(rows)), best, f"iterations until the switch; best fixed I′ {best}")
        return verdict if verdict.answer == "fails" else _if_all_switched(rows, verdict)

    return Claim(f"{name} switches sooner than its best fixed length at connect_four-6x6", check)


def _table(data: Data) -> Table:
    rows = []
    for game, some in data.by("game").items():
        for arm, one in some.by("arm").items():
            known = [p for p in PUBLISHED if (p.arm, p.game) == (arm, game)]
            words = f"{known[0].value:g} ± {known[0].spread:g}" if known else "–"
            rows.append((game, arm, str(mean(_switches(one))), str(len(one.by("seed"))), str(_late(one)), words))
    heads = ("game", "enhancement", "switch after iteration (95 %)", "runs", "not switched", "published, mean ± sd")
    return Table(heads, tuple(rows))


def _draw(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import estimates_figure

    panels: dict[str, dict[str, dict[str, Estimate]]] = {
        game: {arm: {"here": mean(_switches(one))} for arm, one in some.by("arm").items()}
        for game, some in data.by("game").items()
    }
    crosses = {(p.game, p.arm, "here"): p.value for p in PUBLISHED}
    return estimates_figure(panels, "switch after iteration", published=crosses)


# Figure 6.2: balances until the switch, at Othello.


def _before_the_switch(data: Data) -> list[float]:
    """For every run, its last balance before that of the switch minus its first.

    The balance of the switch is left out: it is above 0 because the run switched there. So are runs with one other.
    """
    curves = [one.numbers("balance") for one in data.by("seed").values()]
    waiting = [curve[curve <= 0] for curve in curves]
    return [float(curve[-1] - curve[0]) for curve in waiting if curve.size > 1]


def _improves(name: str) -> Claim:
    def check(data: Data) -> Verdict:
        rises = _before_the_switch(data.where(arm=name))
        return Verdict.above(mean(rises), 0.0, f"games, last balance before the switch minus first, {len(rises)} runs")

    return Claim(f"against {name} the balance of the plain search improves", check)


def _begins_behind(data: Data) -> Verdict:
    first = data.where(iteration=1)
    return Verdict.below(mean(first.per_seed("balance")), 0.0, "games, balance of iteration 1, mean over enhancements")


def _balance_table(data: Data) -> Table:
    rows = [
        (arm, f"run {int(seed) + 1}", ", ".join(f"{r:+.0f}".replace("-", "−") for r in one.numbers("balance")))
        for arm, some in data.by("arm").items()
        for seed, one in some.by("seed").items()
    ]
    return Table(("enhancement", "run", "balance of the plain search by iteration"), tuple(rows))


def _draw_balances(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import curves_figure

    panels = {
        arm: {f"run {int(seed) + 1}": one.curve("balance") for seed, one in some.by("seed").items()}
        for arm, some in data.by("arm").items()
    }
    found = data.numbers("balance")
    limits = (min(0.0, found.min()) - 1, max(0.0, found.max()) + 1)  # the same in all panels
    return curves_figure(panels, "iteration", "wins minus losses", levels={"above: switch": 0.0}, limits=limits)


def _arms(game: str) -> tuple[Arm, ...]:
    return tuple(adaptive(game, name) for name in NAMES)


BALANCES = Curves(PRESET, read_balances, switched)
DOUBLED = ("gobang-6x6",)  # m = 200 there

EXPERIMENTS = (
    Experiment(
        identity=published("table-6.2"),
        arms=tuple(arm for game in GAMES for arm in _arms(game)),
        scales=scales(5, tournament=False, doubled=DOUBLED),
        measures=(BALANCES,),
        claims=(
            *map(_agrees, PUBLISHED),
            *(_shorter(name, best) for name, best in (("Rave", 7), ("WRoRa", 7))),
        ),
        table=_table,
        draw=_draw,
        published=PUBLISHED,
        reading="Gobang has twice the simulations, 200, and k = m; a switch is a balance above 0, so 0 is none",
    ),
    Experiment(
        identity=published("fig-6.2"),
        arms=_arms("othello-6x6"),
        scales=scales(5, tournament=False),
        measures=(BALANCES,),
        claims=(
            *map(_improves, NAMES.values()),
            Claim("the plain search begins behind", _begins_behind, ours=True),
        ),
        table=_balance_table,
        draw=_draw_balances,
    ),
)
