"""Searches for one player beside each other, and the run that learns: each for the same time on one core.

`ranked reward` is a run; `nrpa with its policy` is NRPA whose prior is the network of the run with the same seed, and
its time begins where that run ends. What is kept is the best score so far, at times that double.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from palaestra.lab.claims import arm_above
from palaestra.lab.data import Data, Row, Value
from palaestra.lab.experiment import NO_DEPARTURE, OURS, Arm, Claim, Experiment, Identity, Scale, Scales, Table
from palaestra.lab.jobs import Call, Job, Store
from palaestra.lab.statistics import mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from palaestra.lab.plan import Plan
    from palaestra.lab.solve_folder import Journal
    from palaestra.runs.metrics import Lines

GAME = "morpion-5d"
RANKED, LED, NRPA = "ranked reward", "nrpa with its policy", "nrpa"
PLAYERS = {"random": "random", "uct": "uct(simulations=1000)", "nmcs": "nmcs(level=2)", NRPA: "nrpa", LED: "nrpa"}
PRESET = "record"
TIMES = 14  # points of a curve, each at twice the time of the one before
FINAL = "final"  # 1 in the row at the end of the time


def search_alone(
    game: str, seed: int, player: str, minutes: float, level: int, runs: Sequence[Path] = ()
) -> Iterable[Row]:
    """The best score of restarts over time; with a run, its network leads the search."""
    import tempfile

    from palaestra.players.runs import open_run

    with tempfile.TemporaryDirectory() as place:
        text = f"nrpa(level={level})" if player == "nrpa" else player
        if runs:
            network, run = Path(place) / "prior.onnx", open_run(str(runs[0]))
            network.write_bytes(run.network(run.best))
            text = f'nrpa(level={level}, model="{network}")'
        journal = restarts_for(game, text, seed, minutes)
    found = sorted((seconds, score) for score, seconds in journal.first_met.items())
    return best_so_far(found, minutes, journal.restarts)


def restarts_for(game: str, player: str, seed: int, minutes: float) -> Journal:
    """What restarts of a player find in so many minutes of one core."""
    import tempfile

    from palaestra.games.registry import make_game
    from palaestra.lab.restarts import Limits, Restarts
    from palaestra.lab.solve_folder import About, open_folder
    from palaestra.players.registry import make_player
    from palaestra.players.solo import games_at_once

    rules = make_game(game)
    who = make_player(player, rules)
    about = About(rules.id, rules.version, who.text, seed, "", games_at_once(who))
    with tempfile.TemporaryDirectory() as place, open_folder(Path(place) / "search", rules, about) as folder:
        session = Restarts(folder, [who], Limits(60 * minutes))
        session.run(lambda entry: None)
        if session.stopped_by == "interrupt":
            raise KeyboardInterrupt
        return folder.journal


def best_so_far(found: Sequence[tuple[float, float]], minutes: float, games: int) -> list[Row]:
    """Rows at times that double; `found` are (seconds, score) in the order of time."""
    times, bests = [seconds for seconds, _ in found], list(accumulate((score for _, score in found), max))
    rows: list[Row] = []
    for number in range(TIMES):
        seconds = 60 * minutes / 2 ** (TIMES - 1 - number)
        at, last = bisect_right(times, seconds), number == TIMES - 1
        at = len(times) if last else at  # what is under way when the time is up counts
        rows.append({"seconds": seconds, "best": bests[at - 1] if at else None, FINAL: int(last), "games": games})
    return rows


def run_scores(lines: Lines) -> list[tuple[float, float]]:
    """The best score that each iteration of a run found in any of its stages, and when."""
    found = []
    for line in lines:
        assert line.scores is not None, "these games are for one player"
        some = [line.scores.highest]
        some += [line.scores.deep.highest] if line.scores.deep is not None else []
        some += [line.score.best] if line.score is not None else []
        found.append((line.elapsed, float(max(some))))
    return found


@dataclass(frozen=True)
class BestOverTime:
    """A run for the arm that learns, a call for every other arm."""

    name: str = "best"
    trains = True

    def jobs(self, plan: Plan) -> Sequence[Job]:
        runs = [plan.run(PRESET, self._learner(plan), seed) for seed in plan.seeds]
        return [*runs, *(self._search(plan, arm, seed) for arm, seed in plan.each() if arm.name != RANKED)]

    def rows(self, plan: Plan, store: Store) -> Iterable[Row]:
        minutes = float(plan.values["minutes"] or 0)
        for arm, seed in plan.each():
            if arm.name == RANKED:
                lines = store.lines(plan.run(PRESET, arm, seed))
                rows = best_so_far(run_scores(lines), minutes, sum(line.games for line in lines))
            else:
                rows = store.rows(self._search(plan, arm, seed))
            for row in rows:
                yield {"game": arm.game, "arm": arm.name, "seed": seed, **row}

    def _learner(self, plan: Plan) -> Arm:
        return next(arm for arm in plan.arms if arm.name == RANKED)

    def _search(self, plan: Plan, arm: Arm, seed: int) -> Call:
        needs = (plan.run(PRESET, self._learner(plan), seed),) if arm.name == LED else ()
        arguments: Mapping[str, Value] = {"game": arm.game, "seed": seed, **plan.values, **arm.values}
        return Call(search_alone, arguments, needs)


def _table(data: Data) -> Table:
    rows = []
    for arm, some in data.where(**{FINAL: 1}).by("arm").items():
        best = some.per_seed("best")
        rows.append((arm, str(mean(best)), ", ".join(f"{one:.0f}" for one in best), f"{some.total('games'):,.0f}"))
    return Table(("method", "best score, mean (95 %)", "by seed", "games or restarts"), tuple(rows))


def _draw(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import curves_figure

    curves = {arm: some.curve("best", "seconds") for arm, some in data.by("arm").items()}
    return curves_figure({GAME: curves}, "seconds", "best score so far", log=True)


def _finds_more(text: str, one: str, other: str) -> Claim:
    claim = arm_above(text, one, other, "best", "moves of the best game")
    return Claim(text, lambda data: claim.check(data.where(**{FINAL: 1})), ours=True)


EXPERIMENT = Experiment(
    identity=Identity("solo", OURS, "Solo", "searches for one player and the run that learns, for equal times"),
    arms=(
        *(Arm(name, GAME, values={"player": player}) for name, player in PLAYERS.items() if name != LED),
        Arm(RANKED, GAME),
        Arm(LED, GAME, values={"player": PLAYERS[LED]}),
    ),
    scales=Scales(
        smoke=Scale(
            "one seed, a second each, a tiny network", 1, {"minutes": 0.02, "level": 1},
            ("net=mlp8x1-categorical", "selfplay.games=2", "selfplay.search.simulations=2"),
        ),
        laptop=Scale(NO_DEPARTURE, 5, {"minutes": 10.0, "level": 3}),
        paper=Scale(NO_DEPARTURE, 5, {"minutes": 10.0, "level": 3}),
    ),
    measures=(BestOverTime(),),
    claims=(
        _finds_more("NRPA finds longer games than nested search", NRPA, "nmcs"),
        _finds_more("NRPA finds longer games than the run that learns", NRPA, RANKED),
        _finds_more("the policy of the run makes NRPA better", LED, NRPA),
    ),
    table=_table,
    draw=_draw,
)  # fmt: skip
