from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from palaestra.base.errors import ConfigError
from palaestra.lab.catalogue import declared
from palaestra.lab.data import Data, Row
from palaestra.lab.experiment import Arm, Verdict
from palaestra.lab.experiments._hyper_parameters import trained
from palaestra.lab.experiments._models import ARMS, FOUR, slopes, trade
from palaestra.lab.experiments._one_at_a_time import arm_name, symbols
from palaestra.lab.experiments.chapter_3_times import ratio
from palaestra.lab.jobs import Store, Train
from palaestra.lab.plan import make_plan
from palaestra.lab.reproduce import jobs_of
from palaestra.players.runs import open_run

SEEDS = range(5)
ONE_AT_A_TIME = ("fig-3.3", "fig-3.4", "table-3.3", "table-3.4")
GRID = ("fig-3.5", "fig-3.6", "fig-3.7")


def verdict(id: str, text: str, data: Data) -> Verdict:
    """What the one claim that begins so says."""
    (claim,) = (one for one in declared()[id].claims if one.text.startswith(text))
    return claim.check(data)


def totals(figure: Callable[[str, str], dict[str, float]]) -> Data:
    """A row for every arm of the sweep and every seed; figures of seeds differ by some thousandths."""
    usual: dict[str, float] = {"loss": 1.0, "seconds": 100.0, "work": 1000.0}
    arms = [("", "default"), *((symbol, level) for symbol in symbols() for level in ("min", "max"))]
    rows: list[Row] = [
        {
            "measured": "totals", "game": "othello-6x6", "arm": arm_name(symbol, level), "seed": seed,
            **{name: value * (1 + seed / 1000) for name, value in (usual | figure(symbol, level)).items()},
        }
        for symbol, level in arms
        for seed in SEEDS
    ]  # fmt: skip
    return Data.of(rows)


def grid(elo: Callable[[dict[str, int]], float], noise: float = 3.0) -> Data:
    """Rated models: values 1, 2 and 3 times the least, time as their product."""
    rng = np.random.default_rng(0)
    rows: list[Row] = []
    for values, seed in product(product((1, 2, 3), repeat=4), SEEDS):
        chosen = dict(zip(FOUR, values, strict=True))
        name = " ".join(f"{symbol}{value}" for symbol, value in chosen.items())
        selfplay, training = chosen["I"] * chosen["E"] * chosen["m"], chosen["I"] * chosen["E"] * chosen["ep"]
        time: Row = {
            f"{stage}{column}": cost
            for stage, cost in (("selfplay_", selfplay), ("training_", training), ("", selfplay + training))
            for column in ("seconds", "work")
        }
        strength = elo(chosen) + noise * float(rng.normal())
        rows.append(
            {"measured": "rated", "game": "othello-6x6", "arm": name, "seed": seed, **chosen, "elo": strength, **time}
        )
    return Data.of(rows)


def test_experiments_of_the_chapter_share_their_runs() -> None:
    keys = {}
    for id in (*ONE_AT_A_TIME, *GRID):
        jobs = jobs_of([make_plan(declared()[id], "laptop", 2)])
        keys[id] = {job.key for job in jobs if isinstance(job, Train)}
        assert len({job.key for job in jobs}) == len(jobs)
    # 25 settings and 81 models, of which those that differ in I alone are one run
    assert [len(keys[id]) // 2 for id in (*ONE_AT_A_TIME, *GRID)] == [1, 23, 23, 23, 27, 27, 27]
    assert keys["fig-3.3"] < keys["fig-3.4"] == keys["table-3.3"] == keys["table-3.4"]
    assert keys["fig-3.5"] == keys["fig-3.6"] == keys["fig-3.7"]


def test_a_scale_replaces_the_printed_values_of_arms() -> None:
    for scale, values in (("laptop", (6, 8, 8, 1.0)), ("paper", (25, 10, 25, 5.0))):
        config = make_plan(declared()["fig-3.5"], scale).run("thesis", _arm("fig-3.5", scale, "I1 E1 m1 ep1"), 0).config
        chosen = (config.iterations, config.selfplay.games, config.selfplay.search.simulations, config.learn.epochs)
        assert chosen == values


def _arm(id: str, scale: str, name: str) -> Arm:
    return next(arm for arm in make_plan(declared()[id], scale).arms if arm.name == name)


def test_all_models_of_the_thesis_meet_each_other() -> None:
    jobs = jobs_of([make_plan(declared()["fig-3.5"], "paper", 1)])
    assert len(jobs) - 27 == 3321
    assert len(ARMS) == 81


def test_opponents_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ConfigError, match="opponents is 'strong'; it must be random, near, all"):
        jobs_of([make_plan(declared()["fig-3.6"], "smoke", sets=["opponents=strong"])])


def test_a_long_run_holds_the_network_that_a_short_run_ends_with(tmp_path: Path) -> None:
    store, plan = Store(tmp_path), make_plan(declared()["fig-3.5"], "smoke")
    arm = _arm("fig-3.5", "smoke", "I2 E1 m1 ep1")
    longer, iterations = trained(plan, arm, 0)
    short = plan.run("thesis", arm, 0)
    assert (iterations, longer.config.iterations, short.config.iterations) == (2, 3, 2)
    for job in (longer, short):
        store.do(job)
    one, other = (open_run(str(store.run(job))).network(2) for job in (longer, short))
    assert one == other


def test_a_long_run_begins_with_a_short_one_also_where_a_gate_rejects_some(tmp_path: Path) -> None:
    store, plan = Store(tmp_path), make_plan(declared()["fig-3.4"], "smoke")
    arm = _arm("fig-3.4", "smoke", "I max")
    long, short = plan.run("thesis", arm, 0), plan.run("thesis", _arm("fig-3.4", "smoke", "default"), 0)
    runs = [Train(job.config.model_copy(update={"iterations": end})) for job, end in ((long, 8), (short, 4))]
    assert runs[0].config.model_copy(update={"iterations": 4}) == runs[1].config, "they differ in their length alone"
    for run in runs:
        store.do(run)
    stored = [open_run(str(store.run(run))) for run in runs]
    lines = [store.lines(run)[:4] for run in runs]
    decided = [[line.is_accepted for line in some] for some in lines]
    assert decided[0] == decided[1] and set(decided[0]) == {True, False}, "the gate lets some pass, not all"
    assert [line.losses for line in lines[0]] == [line.losses for line in lines[1]]
    assert [line.gate for line in lines[0]] == [line.gate for line in lines[1]]
    for number, accepted in enumerate(decided[0], start=1):
        if accepted:
            assert stored[0].network(number) == stored[1].network(number)


@pytest.mark.parametrize(("at_96", "answer"), [(0.8, "holds"), (1.2, "fails"), (1.0, "open")])
def test_a_value_with_the_lowest_loss(at_96: float, answer: str) -> None:
    data = totals(lambda symbol, level: {"loss": at_96} if (symbol, level) == ("bs", "max") else {})
    assert verdict("table-3.4", "bs = 96", data).answer == answer


@pytest.mark.parametrize(
    ("seconds", "work", "answer"), [(2.0, 2.0, "holds"), (0.5, 0.5, "fails"), (2.0, 0.5, "open"), (0.5, 2.0, "open")]
)
def test_a_claim_about_time_needs_clock_and_work_to_agree(seconds: float, work: float, answer: str) -> None:
    data = totals(
        lambda symbol, level: (
            {"seconds": 100 * seconds, "work": 1000 * work} if (symbol, level) == ("rs", "max") else {}
        )
    )
    assert verdict("table-3.3", "a smaller rs", data).answer == answer
    assert ratio(data, "rs", "max", "seconds").value == pytest.approx(seconds)


@pytest.mark.parametrize(("factor", "answer"), [(1.05, "holds"), (1.5, "fails")])
def test_a_parameter_that_hardly_changes_the_time(factor: float, answer: str) -> None:
    data = totals(lambda symbol, level: {"seconds": 100 * factor, "work": 1000 * factor} if symbol == "c" else {})
    assert verdict("table-3.3", "c hardly", data).answer == answer


def test_one_seed_decides_nothing() -> None:
    data = totals(lambda symbol, level: {"loss": 0.5, "seconds": 300.0, "work": 3000.0} if level == "max" else {})
    single = data.where(seed=0)
    for id in ("table-3.3", "table-3.4"):
        assert {claim.check(single).answer for claim in declared()[id].claims} == {"open"}


def test_elo_that_comes_from_iterations_alone() -> None:
    data = grid(lambda chosen: 100.0 * chosen["I"])
    for id, text in (("fig-3.5", "more iterations"), ("fig-3.5", "the number of iterations matters more than m"),
                     ("fig-3.6", "at equal time, more iterations beat more E"), ("fig-3.6", "more time of self-play"),
                     ("fig-3.7", "more epochs an iteration give no")):  # fmt: skip
        assert verdict(id, text, data).answer == "holds", text
    assert verdict("fig-3.5", "more epochs make", data).answer == "open"
    found = slopes(data)
    assert found["I"].value == pytest.approx(100, abs=2)
    assert found["I × m"].value == pytest.approx(0, abs=2)


def test_elo_that_comes_from_search_alone() -> None:
    data = grid(lambda chosen: 100.0 * np.log2(chosen["m"]))
    assert verdict("fig-3.5", "the number of iterations matters more than m", data).answer == "fails"
    assert verdict("fig-3.6", "at equal time, more iterations beat more m", data).answer == "fails"
    assert verdict("fig-3.7", "a larger m plays better after long runs", data).answer == "holds"
    assert trade(data, "m", "work").value < -50


def test_steps_that_only_help_together_are_an_interaction() -> None:
    found = slopes(grid(lambda chosen: 50.0 * (chosen["m"] - 2) * (chosen["ep"] - 2)))
    assert found["m × ep"].interval is not None and found["m × ep"].interval[0] > 45
    assert abs(found["m"].value) < 3


def test_epochs_that_do_harm_in_the_last_panel() -> None:
    data = grid(lambda chosen: -40.0 * (chosen["ep"] == 3 and chosen["m"] == 3))
    assert verdict("fig-3.5", "more epochs can do harm", data).answer == "holds"
    assert verdict("fig-3.5", "more epochs can do harm", grid(lambda chosen: 40.0 * chosen["ep"])).answer == "fails"
