"""Figure 7.2 of the thesis: the best game of Morpion Solitaire that a run with ranked reward finds.

The loop is Alg. 7 with the settings of Table 7.1, on a board of 22×22 (sources: ranked reward; Morpion in chapter 7).
What is drawn is the longest game of all runs with its moves numbered, beside the best score so far of the runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from palaestra.lab.catalogue import published
from palaestra.lab.data import Data, Row
from palaestra.lab.experiment import Arm, Claim, Experiment, Published, Scale, Scales, Table, Verdict
from palaestra.lab.measures import Calls, Curves
from palaestra.lab.statistics import Estimate, mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from palaestra.runs.metrics import Lines

GAME, ARM, PRESET = "morpion-5d-22x22", "ranked reward", "thesis-ranked"
FOUND, PEOPLE, RECORD = 67, 68, 82  # moves: the thesis's best, the best by hand, the record
WHERE = "Morpion in chapter 7"
SMOKE = ("net=mlp8x1", "selfplay.games=2", "solo.every=2", "solo.simulations=2", "evaluation.games=2")


def read_scores(lines: Lines) -> Iterable[Row]:
    """The best game so far, and the mean of self-play and the threshold that it is ranked against."""
    rows = []
    for line in lines:
        assert line.scores is not None, "this game is for one player"
        threshold = None if line.ranked is None else line.ranked.threshold
        rows.append(
            {"iteration": line.iteration, "best": line.scores.best, "mean": line.scores.mean, "threshold": threshold}
        )
    return rows


def best_moves(game: str, seed: int, runs: Sequence[Path]) -> list[Row]:
    """The best game of a run: a row a move, with the point that it adds and the ends of its line.

    The rows of move 0 are the points of the cross.
    """
    from palaestra.games.morpion import MorpionGame
    from palaestra.games.registry import make_game
    from palaestra.learn.best_solutions import best_file
    from palaestra.runs.solutions import parse_solution

    rules, file = make_game(game), best_file(runs[0])
    assert isinstance(rules, MorpionGame) and file is not None, "every run of this game leaves a solution"
    words = rules.split_moves(" ".join(parse_solution(file.read_text(encoding="utf-8"), file.name).rows))
    known: set[tuple[int, int]] = set()
    rows: list[Row] = []
    for number, state in enumerate(rules.replay(" ".join(words))):
        new = [point for point in rules.points(state) if point not in known]
        known.update(new)
        rows += [{"move": number, "row": row, "column": column} for row, column in new]
        if number < len(words):
            chain = rules.points_of(rules.text_to_action(state, words[number]))
            (top, left), (bottom, right) = chain[0], chain[-1]
            rows.append({"move": number + 1, "row": None, "column": None, "from_row": top, "from_column": left,
                         "to_row": bottom, "to_column": right})  # fmt: skip
    return rows


def _best(data: Data) -> Estimate:
    """The moves of every run's best game, as a mean over runs."""
    return mean([one.numbers("best").max() for one in data.where(measured="curve").by("seed").values()])


def _reaches(data: Data) -> Verdict:
    return Verdict.above(_best(data), FOUND - 0.5, f"moves of a run's best game; published {FOUND}")


def _stays_below(moves: int) -> Claim:
    def check(data: Data) -> Verdict:
        return Verdict.below(_best(data), moves, "moves of a run's best game")

    return Claim(f"it stays below {'the best by hand' if moves == PEOPLE else 'the record'}, {moves} moves", check)


def _improves(data: Data) -> Verdict:
    """The mean score of self-play, last tenth of the iterations minus first tenth."""
    at, means = data.where(measured="curve").curve("mean")
    some = max(1, len(at) // 10)
    return Verdict.above(
        mean(means[:, -some:].mean(axis=1) - means[:, :some].mean(axis=1)),
        0.0,
        "moves, mean of the last games minus first",
    )


def _table(data: Data) -> Table:
    rows = []
    for seed, one in data.where(measured="curve").by("seed").items():
        best, means = one.numbers("best"), one.numbers("mean")
        first = int(one.numbers("iteration")[int(np.argmax(best == best.max()))])
        rows.append((f"{int(seed) + 1}", f"{best.max():.0f}", f"{first}", f"{means[0]:.1f}", f"{means[-1]:.1f}"))
    return Table(("run", "best game, moves", "found in iteration", "mean at first", "mean at last"), tuple(rows))


def _draw(data: Data) -> Figure:
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    from palaestra.lab.experiment_plots import draw_curves
    from palaestra.lab.plots import STYLE

    moves = data.where(measured="solution").by("seed")
    longest = max(moves.values(), key=lambda one: one.numbers("move").max())
    curves = {"best so far": "best", "mean of self-play": "mean", "threshold": "threshold"}
    with matplotlib.rc_context(STYLE):
        figure = Canvas(figsize=(11.0, 5.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        runs = data.where(measured="curve")
        levels = {f"published {FOUND}": FOUND, f"record {RECORD}": RECORD}
        draw_curves(left, {label: runs.curve(name) for label, name in curves.items()}, "iteration", "moves", levels)
        left.legend(fontsize=8, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        _draw_game(right, longest)
    return figure


def _draw_game(axes: Axes, moves: Data) -> None:
    """The grid: cross and added points, lines, and the number of each move."""
    from palaestra.lab.plots import BLUE, GREY, INK

    ends = [moves.numbers(name) for name in ("from_column", "to_column", "from_row", "to_row")]
    for left, right, top, bottom in np.stack(ends, axis=1):  # NaN, and so not drawn, where a row is a point
        axes.plot([left, right], [top, bottom], color=GREY, linewidth=1)
    for number, column, row in np.stack([moves.numbers(name) for name in ("move", "column", "row")], axis=1):
        if number and np.isfinite(row):
            axes.plot(column, row, "o", color="white", markeredgecolor=BLUE, markersize=11)
            axes.annotate(f"{number:.0f}", (column, row), ha="center", va="center", size=6, color=INK)
        elif not number:
            axes.plot(column, row, "o", color=INK, markersize=4)
    axes.set_title(f"the longest game: {moves.numbers('move').max():.0f} moves", fontsize=10, loc="left")
    axes.set_aspect("equal")
    axes.invert_yaxis()
    axes.axis("off")


EXPERIMENT = Experiment(
    identity=published("fig-7.2"),
    arms=(Arm(ARM, GAME),),
    scales=Scales(
        smoke=Scale("one seed, 2 iterations of 2 games, network mlp8x1", 1, {"iterations": 2}, SMOKE),
        laptop=Scale(
            "5 seeds, network mlp64x2, searches of 400 simulations", 5, {"iterations": 100},
            ("net=mlp64x2", "solo.simulations=400"),
        ),
        paper=Scale("nothing; the number of runs is not said", 5, {"iterations": 100}),
    ),
    measures=(
        Curves(PRESET, read_scores),
        Calls(best_moves, arguments=lambda plan: {}, preset=PRESET, name="solution"),
    ),
    claims=(
        Claim(f"ranked reward finds a game of {FOUND} moves", _reaches),
        _stays_below(PEOPLE),
        _stays_below(RECORD),
        Claim("self-play gets better from nothing", _improves),
    ),
    table=_table,
    draw=_draw,
    published=(Published(ARM, GAME, FOUND, WHERE, "moves"),),
    reading="an action is a point and a line; the threshold is read after the result is stored, as Alg. 7 prints",
)  # fmt: skip
