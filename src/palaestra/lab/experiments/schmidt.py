"""Figures 1 and 3 of Schmidt et al.: six agents learn opposition, and what outcomes are worth to them.

Every agent is a run of the preset `schmidt` that differs in reward and head alone; its demerits are measured in every
generation (sources: demerits). The paper's claims are read as sentences about these curves. The figure's own numbers
are not in the paper's text, so there are none to compare with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from palaestra.base.types import Float64s
from palaestra.lab.catalogue import published
from palaestra.lab.data import Data, Row
from palaestra.lab.demerit_curves import (
    AFTER,
    NEAR,
    SHARE,
    first_zero,
    generations_in_words,
    plateau,
    settles,
    waits,
)
from palaestra.lab.experiment import Arm, Claim, Experiment, Scale, Scales, Table, Verdict
from palaestra.lab.measures import Calls, Curves
from palaestra.lab.statistics import mean, paired_difference, share

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from palaestra.runs.metrics import Lines

GAME = "opposition-3x9-absolute"
ANCHORS = {"random play": 16.5, "results kept, length ignored": 5.55}  # opposition-3x9 (sources: demerits)
SHOWN = (5, 20, 50)  # generations of Figure 1
WINDOW = 5  # generations that the rewards look back on
BY = 50  # generation by which the CDF agent is to have met 0 demerits: the paper's curves end about there
EARLY = 20  # generations that "starts later" and "at first" are read as
LONG = 15  # generations that make a plateau long; a steady fall to 0 is in the band of one for about 10
VISITS = 180  # of a search: 20 times the height of the board (sources: Schmidt training)

PRIMITIVE = ("primitive, value head", "primitive, outcome head")
HAND_TUNED = ("hand-tuned, value head", "hand-tuned, outcome head")
CDF, BONUS = "CDF, outcome head", "CDF with bonus, outcome head"


def _agent(name: str, reward: str) -> Arm:
    """One of the six; 20·CE + MSE with a value head, 100·CE + … with an outcome head, both by 8."""
    outcome = name.endswith("outcome head")
    return Arm(
        name,
        GAME,
        (
            f"net=schmidt{'-outcome' if outcome else ''}",
            f"reward={reward}",
            f"learn.policy_weight={12.5 if outcome else 2.5}",
            f"selfplay.search.simulations={VISITS}",
            f"evaluation.simulations={VISITS}",
            "learn.average=0",  # the preset's is not the paper's
        ),
    )


LEARNED = (
    _agent(CDF, f"cdf(generations={WINDOW})"),
    _agent(BONUS, f"cdf_bonus(alpha=0.5, generations={WINDOW})"),
)
AGENTS = (
    *(_agent(name, "primitive") for name in PRIMITIVE),
    *(_agent(name, "hand_tuned") for name in HAND_TUNED),
    *LEARNED,
)


def read_demerits(lines: Lines) -> Iterable[Row]:
    return [
        {"iteration": line.iteration, "demerits": line.demerits.demerits} for line in lines if line.demerits is not None
    ]


def demerits_of(data: Data, arm: str) -> Float64s:
    """float64[S, G]: the curve of an agent."""
    return data.where(arm=arm).curve("demerits")[1]


def _claim(text: str, check: Callable[[Data], Verdict], *, ours: bool = False) -> Claim:
    """A claim about all curves, open where one is missing."""

    def checked(data: Data) -> Verdict:
        missing = [agent.name for agent in AGENTS if not demerits_of(data, agent.name).size]
        return Verdict.open(f"there is no curve of {missing[0]}") if missing else check(data)

    return Claim(text, checked, ours)


def demerits_table(data: Data) -> Table:
    """Demerits at some generations, when 0 was first met, and whether it was kept."""
    last = round(data.numbers("iteration").max())
    shown = sorted({generation for generation in (5, 10, 20, 30, 50, 100, last) if generation <= last})
    rows = []
    for arm in data.texts("arm"):
        curve = demerits_of(data, arm)
        cells = (str(mean(curve[:, generation - 1])) for generation in shown)
        kept = sum(settles(one) is True for one in curve)
        near = generations_in_words(curve, NEAR)
        rows.append((arm, *cells, f"{curve.min():.2f}", near, generations_in_words(curve), f"{kept} of {len(curve)}"))
    heads = (f"generation {generation}" for generation in shown)
    return Table(("agent", *heads, "least", f"first ≤ {NEAR:g}, by seed", "first 0", "settled"), tuple(rows))


def draw_demerits(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import curves_figure

    panels = {
        game: {arm: rows.curve("demerits") for arm, rows in some.by("arm").items()}
        for game, some in data.by("game").items()
    }
    return curves_figure(panels, "generation", "demerits against perfect play", levels=ANCHORS, limits=(-0.3, 18.0))


# The paper's claims (sources: Schmidt claims).


def _hand_tuned(data: Data) -> Float64s:
    """The better of its heads."""
    return min((demerits_of(data, name) for name in HAND_TUNED), key=lambda one: (waits(one).mean(), one.mean()))


def _first_of_all(data: Data) -> Verdict:
    hand_tuned = _hand_tuned(data)
    others = {name: demerits_of(data, name) for name in (*PRIMITIVE, CDF, BONUS)}
    quickest = min(others, key=lambda name: float(waits(others[name]).mean()))
    reached = _reached(hand_tuned)
    if reached.answer != "holds":
        return reached
    later = paired_difference(waits(others[quickest]), waits(hand_tuned))
    return Verdict.above(later, 0.0, f"generations that {quickest} meets 0 later")


def _reached(curve: Float64s) -> Verdict:
    met = sum(first_zero(one) is not None for one in curve)
    what = f"share of seeds that meet 0; first at {generations_in_words(curve)}"
    if curve.shape[1] < BY and 2 * met <= len(curve):
        return Verdict.open(f"{what}; fewer than {BY} generations", share(met, len(curve)))
    return Verdict.above(share(met, len(curve)), 0.5, what)


def _early(data: Data, one: str, other: Float64s | None = None) -> Verdict:
    """Mean demerits of the first generations, CDF minus another."""
    curves = demerits_of(data, CDF), demerits_of(data, one) if other is None else other
    means = [curve[:, :EARLY].mean(axis=1) for curve in curves]
    return Verdict.above(paired_difference(*means), 0.0, f"demerits of generations 1–{EARLY}, CDF minus {one}")


def _has_plateau(data: Data) -> Verdict:
    curve, beside = demerits_of(data, BONUS), demerits_of(data, CDF)
    lengths = [plateau(one) for one in curve]
    what = f"longest flat stretch in generations; of plain CDF {', '.join(str(plateau(one)) for one in beside)}"
    if curve.shape[1] < BY:
        return Verdict.open(f"{what}; fewer than {BY} generations", mean(lengths))
    return Verdict.above(mean(lengths), float(LONG), what)


def _never_settles(data: Data) -> Verdict:
    kept = [settles(one) for name in PRIMITIVE for one in demerits_of(data, name)]
    known = [one for one in kept if one is not None]
    what = f"share of runs with 0 in {SHARE:.0%} of the {AFTER} generations after their first"
    if data.numbers("iteration").max() < BY or not known:
        return Verdict.open(f"{what}; fewer than {BY} generations", share(known.count(True), len(known)))
    return Verdict.below(share(known.count(True), len(known)), 0.5, what)


def _target(data: Data) -> Verdict:
    curve = demerits_of(data, CDF)
    met = sum(bool((first_zero(one) or BY + 1) <= BY and settles(one)) for one in curve)
    what = f"share of seeds with 0 by generation {BY} and in {SHARE:.0%} of the next {AFTER}"
    if curve.shape[1] < BY + AFTER:
        return Verdict.open(f"{what}; fewer than {BY + AFTER} generations", share(met, len(curve)))
    return Verdict.above(share(met, len(curve)), 0.5, what)


# Figure 1.


def outcome_worth(game: str, seed: int, runs: Sequence[Path]) -> Iterable[Row]:
    """A row for each outcome at each generation that is shown: its worth to the run's reward, and how often it came.

    Of a run that has none of these generations, the last.
    """
    from palaestra.games.registry import make_game
    from palaestra.players.runs import open_run
    from palaestra.rewards.outcomes import OutcomeSpace
    from palaestra.rewards.registry import make_reward

    stored, rules = open_run(str(runs[0])), make_game(game)
    reward, outcomes = make_reward(stored.reward, rules), OutcomeSpace.of(rules).outcomes()
    wanted = {number for number in SHOWN if number <= stored.iteration} or {stored.iteration}
    recent: list[Float64s] = []
    for generation, ends in enumerate(stored.outcomes(), start=1):
        reward.observe(ends)
        recent = [*recent[1 - WINDOW :], np.array([float(np.count_nonzero(ends == one)) for one in outcomes])]
        if generation in wanted:
            counts = np.sum(recent, axis=0)
            shares = counts / max(1, counts.sum())
            for outcome, worth, often in zip(outcomes, reward.value(outcomes), shares, strict=True):
                yield {"iteration": generation, "outcome": int(outcome), "worth": float(worth), "often": float(often)}


def _wins_spread(data: Data) -> Verdict:
    """The difference in worth between the best and the worst win at the last generation shown."""
    shown = data.where(arm=CDF).unique("iteration")
    last, spans = data.where(arm=CDF, iteration=tuple(shown[-1:])), []
    for one in last.by("seed").values():
        wins = one.numbers("worth")[one.numbers("outcome") > 0]
        spans.append(float(wins.max() - wins.min()))
    return Verdict.above(mean(spans), 0.1, "worth of the quickest win minus that of the slowest")


def _worth_table(data: Data) -> Table:
    rows = []
    for arm, some in data.by("arm").items():
        for generation, one in some.by("iteration").items():
            wins = Data.of(row for row in one.rows if isinstance(row["outcome"], int) and row["outcome"] > 0)
            draw = one.where(outcome=0)
            cells = (str(mean(part.per_seed("worth"))) for part in (wins, draw))
            rows.append((arm, generation, *cells))
    return Table(("reward", "generation", "mean worth of a win (95 %)", "of a draw"), tuple(rows))


def _draw_worth(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import curves_figure

    panels = {
        f"{arm.partition(',')[0]}: {name}": {
            f"generation {generation}": one.curve(column, "outcome") for generation, one in some.by("iteration").items()
        }
        for arm, some in data.by("arm").items()
        for column, name in (("often", "share of recent games"), ("worth", "worth to the first player"))
    }
    return curves_figure(panels, "loss, early to late  |  win, late to early", "")


SMOKE = ("net=mlp8x1-outcome", "selfplay.games=2", "selfplay.search.simulations=2", "evaluation.simulations=2")
SCALES = Scales(
    smoke=Scale(
        "one seed, 2 generations of 2 games, 2 simulations, a tiny network for all agents", 1, {"iterations": 2}, SMOKE
    ),
    laptop=Scale("50 generations; the paper does not say how many runs it shows", 5, {"iterations": 50}),
    paper=Scale("the paper does not say how many runs it shows", 5, {"iterations": 100}),
)
EXPERIMENTS = (
    Experiment(
        identity=published("schmidt-fig3"),
        arms=AGENTS,
        scales=SCALES,
        measures=(Curves("schmidt", read_demerits),),
        claims=(
            _claim("hand-tuned reaches 0, and first of all", _first_of_all),
            _claim("CDF starts later than hand-tuned", lambda data: _early(data, "hand-tuned", _hand_tuned(data))),
            _claim("CDF reaches 0", lambda data: _reached(demerits_of(data, CDF))),
            _claim("CDF with bonus is faster than CDF at first", lambda data: _early(data, BONUS)),
            _claim(f"CDF with bonus has a long plateau (here: {LONG} generations)", _has_plateau),
            _claim("primitive never settles at 0", _never_settles),
            _claim(f"CDF has 0 by generation {BY} and keeps it", _target, ours=True),
        ),
        table=demerits_table,
        draw=draw_demerits,
    ),
    Experiment(
        identity=published("schmidt-fig1"),
        arms=LEARNED,
        scales=SCALES,
        measures=(Calls(outcome_worth, arguments=lambda plan: {}, preset="schmidt", name="worth"),),
        claims=(Claim("a CDF reward learns to tell quick wins from slow ones", _wins_spread),),
        table=_worth_table,
        draw=_draw_worth,
    ),
)
