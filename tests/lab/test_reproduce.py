"""The frame of experiments: plans, keys, jobs that are done once and go on, folders of other experiments."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from palaestra.base.errors import ConfigError, PalaestraError, RecordError, RunError
from palaestra.lab.atlas import write_atlas
from palaestra.lab.claims import agrees, arm_above, in_order, mean_of
from palaestra.lab.costs import Costs
from palaestra.lab.data import Data, Row
from palaestra.lab.experiment import (
    Arm,
    Claim,
    Experiment,
    Identity,
    Measure,
    Published,
    Scale,
    Scales,
    Table,
    Verdict,
)
from palaestra.lab.experiment_plots import curves_figure
from palaestra.lab.jobs import Call, Store, Train
from palaestra.lab.measures import Calls, Curves, FinalMatches, Tournament
from palaestra.lab.plan import Plan, make_plan
from palaestra.lab.reproduce import Progress, conclude, do_jobs, jobs_of, refuse_other
from palaestra.lab.statistics import Estimate, mean
from palaestra.lab.status import status_of
from palaestra.learn import loop
from palaestra.runs.metrics import Lines, MetricsLine
from palaestra.work.workers import make_workers

GAME = "tic_tac_toe-3x3"
TINY = (
    "net=mlp8x1", "selfplay.games=2", "selfplay.search.simulations=2", "learn.epochs=1",
    "gate.kind=off", "evaluation.every=0", "evaluation.anchors=[]",
)  # fmt: skip


def read_losses(lines: Lines) -> Iterable[Row]:
    return [{"iteration": line.iteration, "loss": line.losses.sum} for line in lines]


def second(line: MetricsLine) -> bool:
    return line.iteration == 2


def roll(game: str, seed: int, sides: int, log: str, fails_at: int = -1) -> Iterable[Row]:
    """A row; it leaves a line in a file, and may be stopped."""
    if seed == fails_at and not Path(log).with_suffix(".stopped").exists():
        Path(log).with_suffix(".stopped").touch()
        raise KeyboardInterrupt
    with Path(log).open("a") as file:
        file.write(f"{seed}\n")
    return [{"rolled": seed % sides}]


def experiment(*measures: Measure, id: str = "small", values: dict[str, Any] | None = None, **more: Any) -> Experiment:
    scale = Scale("everything is smaller", 2, values or {"iterations": 2}, more.pop("sets", TINY))
    first = Claim("the mean is above 0", lambda data: Verdict.above(mean(data.per_seed("loss")), 0.0, "loss"))
    settings: dict[str, Any] = {
        "identity": Identity(id, "ours", "Small", "a small one"),
        "arms": (Arm("sum", GAME, ("learn.loss=sum",)), Arm("value", GAME, ("learn.loss=value",))),
        "scales": Scales(scale, replace(scale, seeds=3), scale),
        "measures": measures,
        "claims": (first,),
        "table": lambda data: Table(("arm",), tuple((arm,) for arm in data.texts("arm"))),
        "draw": lambda data: curves_figure(
            {"losses": {"sum": data.where(arm="sum").curve("loss")}}, "iteration", "loss"
        ),
    }
    return Experiment(**{**settings, **more})


def done(plan: Plan, out: Path) -> Store:
    store = Store(out)
    do_jobs(store, jobs_of([plan]), make_workers("here"), lambda progress: None)
    return store


def test_a_run_that_two_experiments_share_is_trained_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[Path] = []
    real = loop.train
    monkeypatch.setattr(loop, "train", lambda c, folder, *more: trained.append(folder) or real(c, folder, *more))
    curves, alone = Curves("thesis-small", read_losses), Curves("thesis-small", read_losses, second, name="until")
    plans = [make_plan(experiment(curves)), make_plan(experiment(alone, id="other"), seeds=1)]
    told: list[Progress] = []
    jobs = jobs_of(plans)
    assert len(jobs) == 6, "two arms, three seeds; the other experiment brings none"
    do_jobs(Store(tmp_path), jobs, make_workers("here"), told.append)
    assert len(trained) == 6 and (told[-1].done, told[-1].jobs, told[-1].share) == (6, 6, 1.0)
    assert any("is at iteration 1 of 2" in words for one in told for words in one.under_way)
    outcome = conclude(plans[0], Store(tmp_path))
    assert len(outcome.data) == 12 and outcome.data.columns[:4] == ["measured", "game", "arm", "seed"]
    assert [verdict.answer for _, verdict in outcome.verdicts] == ["holds"]
    do_jobs(Store(tmp_path), jobs_of(plans), make_workers("here"), told.append)
    assert len(trained) == 6, "given again, it only reads"


def test_a_run_ends_with_the_line_that_is_waited_for(tmp_path: Path) -> None:
    plan = make_plan(experiment(Curves("thesis-small", read_losses, second), values={"iterations": 9}), seeds=1)
    store = done(plan, tmp_path)
    (job, _) = jobs_of([plan])
    assert isinstance(job, Train) and len(store.lines(job)) == 2 and store.share(job) == 1.0


def test_a_stopped_call_goes_on_and_finished_ones_are_not_done_again(tmp_path: Path) -> None:
    values = {"sides": 6, "log": str(tmp_path / "log"), "fails_at": 1}
    plan = make_plan(experiment(Calls(roll), values=values, arms=(Arm("die", GAME),)))
    with pytest.raises(KeyboardInterrupt):
        done(plan, tmp_path)
    status = status_of(plan, tmp_path, Costs())
    assert (status.there, status.calls, status.minutes) == ("1 of 3", 3, "0.0")
    store = done(plan, tmp_path)
    assert (tmp_path / "log").read_text().split() == ["0", "1", "2"]
    assert [row["rolled"] for measure in plan.experiment.measures for row in measure.rows(plan, store)] == [0, 1, 2]


def test_final_networks_meet_each_other_and_fixed_players(tmp_path: Path) -> None:
    values = {"iterations": 1, "games": 2, "simulations": 2}
    measures = (Tournament("thesis-small"), FinalMatches("thesis-small", ("random",), (("sum", "value"),)))
    plan = make_plan(experiment(*measures, values=values), seeds=2)
    assert sum(isinstance(job, Train) for job in jobs_of([plan])) == 4
    data = Data.of({"measured": m.name, **r} for s in [done(plan, tmp_path)] for m in measures for r in m.rows(plan, s))
    assert len(data.where(measured="tournament")) == 4 * 3 // 2 + 4, "all pairs of four networks and a random player"
    assert all(row["wins"] + row["draws"] + row["losses"] == 2 for row in data.rows)  # type: ignore[operator]
    met = [(row["arm"], row["seed"], row["opponent"]) for row in data.where(measured="match").rows]
    assert ("sum", 1, "value") in met and ("value", 0, "random") in met and len(met) == 6


def test_a_key_holds_all_that_a_result_depends_on() -> None:
    plan = make_plan(experiment(Curves("thesis-small", read_losses)))
    arm, other = plan.arms
    runs = [plan.run("thesis-small", arm, 0), plan.run("thesis-small", arm, 1), plan.run("thesis-small", other, 0)]
    assert len({run.key for run in runs}) == 3
    threads = Train(runs[0].config.model_copy(update={"threads": 7}))
    assert threads.key != runs[0].key, "training cuts its batches by threads"
    call = Call(roll, {"game": GAME, "seed": 0})
    others = [Call(roll, {"game": GAME, "seed": 1}), Call(read_losses, {"game": GAME, "seed": 0})]
    assert call.key == Call(roll, {"seed": 0, "game": GAME}).key
    assert call.key not in {one.key for one in [*others, Call(roll, call.arguments, (runs[0],))]}


def test_a_folder_of_another_scale_setting_or_version_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {"sides": 6, "log": str(tmp_path / "log")}
    small = experiment(Calls(roll), values=values, arms=(Arm("die", GAME),))
    plan = make_plan(small, "laptop")
    conclude(plan, done(plan, tmp_path))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    refuse_other(make_plan(small, "laptop", 9), tmp_path)  # more seeds are added to what is there
    with pytest.raises(RunError, match="small with scale laptop, not smoke; choose another folder"):
        refuse_other(make_plan(small, "smoke"), tmp_path)
    with pytest.raises(RunError, match=r"with values sides 6, .* not sides 4"):
        refuse_other(make_plan(small, "laptop", sets=["sides=4"]), tmp_path)
    monkeypatch.setattr("palaestra.lab.reproduce.game_version", lambda game: f"{game} version 99")
    with pytest.raises(RunError, match=r"was made with tic_tac_toe-3x3 version 1, and the rules are .* version 99"):
        refuse_other(plan, tmp_path)
    (tmp_path / "small" / "settings.toml").write_text("scale = ")
    with pytest.raises(RunError, match="damaged"):
        refuse_other(plan, tmp_path)
    (tmp_path / "small" / "settings.toml").write_bytes(before[tmp_path / "small" / "settings.toml"])
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_the_page_is_computed_from_the_data_and_tells_of_damage(tmp_path: Path) -> None:
    small = experiment(Calls(roll), values={"sides": 6, "log": str(tmp_path / "log")}, arms=(Arm("<b>", GAME),))
    plan = make_plan(small, "laptop")
    folder = conclude(plan, done(plan, tmp_path)).folder
    verdicts = json.loads((folder / "verdicts.json").read_text())
    assert verdicts["verdicts"][0]["verdict"] == "open" and verdicts["scale"] == "laptop"
    (folder / "verdicts.json").write_text("{}")
    page = write_atlas(tmp_path, [small]).read_text()
    assert "the mean is above 0" in page and "&lt;b&gt;" in page and "<b><" not in page
    assert "small --scale laptop --seeds 3" in page and "fig-4.2" in page
    (folder / "data.csv").write_bytes((folder / "data.csv").read_bytes()[:-3])
    with pytest.raises(RecordError, match=r"data\.csv is damaged"):
        write_atlas(tmp_path, [small])
    with pytest.raises(RunError, match="unknown here"):
        write_atlas(tmp_path)


def test_some_boards_alone_are_said_to_be_alone_and_may_become_more(tmp_path: Path) -> None:
    arms = (Arm("one", GAME), Arm("two", "tic_tac_toe-4x4"))
    small = experiment(Calls(roll), values={"sides": 6, "log": str(tmp_path / "log")}, arms=arms)
    some = make_plan(small, "laptop", boards=["tic_tac_toe-4x4"])
    outcome = conclude(some, done(some, tmp_path))
    assert outcome.data.texts("game") == ["tic_tac_toe-4x4"]
    page = write_atlas(tmp_path, [small]).read_text()
    assert "--board tic_tac_toe-4x4" in page and "everything is smaller; only tic_tac_toe-4x4" in page
    whole = make_plan(small, "laptop")
    refuse_other(whole, tmp_path)
    more = conclude(whole, done(whole, tmp_path))
    assert len(more.data) == 2 * len(outcome.data) and "only" not in more.departs


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"scale": "huge"}, "there are smoke, laptop, paper"),
        ({"seeds": 0}, "from 1 to 1000"),
        ({"sets": ["iterations=few"]}, "must be a whole number such as 2"),
        ({"sets": ["games=3"]}, "an even number such as 100, not 3"),
        ({"sets": ["learn.loss=sum"]}, "learn.loss is what small itself chooses"),
        ({"sets": ["seed=3"]}, "itself chooses"),
        ({"boards": ["hex-5x5"]}, "small is not about 'hex-5x5'; its boards are tic_tac_toe-3x3"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_one_line(given: dict[str, Any], words: str) -> None:
    small = experiment(Curves("thesis-small", read_losses), values={"iterations": 2, "games": 4})
    with pytest.raises(ConfigError, match=words):
        make_plan(small, **given)
    with pytest.raises(PalaestraError, match="unknown setting"):
        jobs_of([make_plan(small, sets=["learn.speed=3"])])
    with pytest.raises(ConfigError, match=r"has no value 'learn.lr' and trains no run; it has iterations, games"):
        make_plan(replace(small, measures=(Calls(roll),)), sets=["learn.lr=1"])


@pytest.mark.parametrize(
    ("interval", "above", "near", "within"),
    [
        ((1.0, 3.0), "holds", "holds", "open"),
        ((-3.0, -1.0), "fails", "fails", "open"),
        ((-1.0, 2.1), "open", "open", "open"),
        ((0.5, 1.9), "holds", "fails", "holds"),
        ((2.5, 3.0), "holds", "fails", "fails"),
        (None, "open", "open", "open"),
    ],
)
def test_verdicts_follow_from_intervals(
    interval: tuple[float, float] | None, above: str, near: str, within: str
) -> None:
    found = Estimate(2.0, interval)
    assert Verdict.above(found, 0.0, "x").answer == above
    assert Verdict.below(found, 0.0, "x").answer == {"holds": "fails", "fails": "holds", "open": "open"}[above]
    assert Verdict.near(found, 2.0, 1.0, "x").answer == near
    assert Verdict.within(found, 2.0, "x").answer == within
    with pytest.raises(ValueError, match="needs a figure with an interval"):
        Verdict("holds", Estimate(2.0), "x")


def test_a_declaration_that_cannot_be_meant_is_refused() -> None:
    with pytest.raises(ValueError, match="with a comma behind a single one"):
        experiment(Calls(roll), sets="net=b3c32")
    with pytest.raises(ValueError, match="a name of its own"):
        experiment(Calls(roll), Calls(read_losses))
    with pytest.raises(ValueError, match="a name of its own"):
        experiment(Calls(roll), arms=(Arm("die", GAME), Arm("die", GAME)))


def test_usual_claims_read_the_rows_they_are_about() -> None:
    rows = [
        {"game": "g", "arm": arm, "seed": seed, "x": base + 0.1 * seed}
        for arm, base in (("a", 3.0), ("b", 2.0), ("c", 1.0))
        for seed in range(5)
    ]
    data = Data.of([row | {"x": row["x"] + 0.01 * (i % 3)} for i, row in enumerate(rows)])  # type: ignore[operator]
    assert arm_above("a over b", "a", "b", "x", "points").check(data).answer == "holds"
    assert arm_above("b over a", "b", "a", "x", "points").check(data).answer == "fails"
    known = Published("a", "g", 3.2, "Table 6.1")
    assert agrees(known, mean_of("x"), 0.5, "points").check(data).answer == "holds"
    assert agrees(replace(known, value=4.0), mean_of("x"), 0.5, "points").check(data).answer == "fails"
    assert agrees(replace(known, game="h"), mean_of("x"), 0.5, "points").check(data).answer == "open"
    groups = {arm: some.per_seed("x") for arm, some in data.by("arm").items()}
    assert in_order("order", lambda data: groups, ("a", "b", "c"), "points").check(data).answer == "holds"
    assert in_order("order", lambda data: groups, ("a", "c", "b"), "points").check(data).answer == "fails"
