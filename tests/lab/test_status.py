"""How far experiments are: what is counted quickly is what is counted by making every job and looking for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from palaestra.lab.catalogue import declared
from palaestra.lab.costs import Costs
from palaestra.lab.experiment import Experiment
from palaestra.lab.jobs import JOBS, RUNS, Job, Store, Train
from palaestra.lab.measures import Curves, Tournament
from palaestra.lab.plan import Made, Plan, make_plan
from palaestra.lab.reproduce import conclude, jobs_of
from palaestra.lab.status import glance, status_of
from palaestra.learn.calibration import calibrate
from palaestra.learn.config import RunConfig
from palaestra.learn.near_speeds import IDLE, Together
from palaestra.learn.time_model import Speeds
from tests.lab.test_reproduce import done, experiment, read_losses
from tests.learn.test_time_model import speeds

VALUES = {"iterations": 1, "games": 2, "simulations": 2}
SMALL = experiment(Tournament("thesis-small"), Curves("thesis-small", read_losses), values=VALUES)
ALL = (*declared().values(), SMALL)


def every_job(plan: Plan) -> dict[str, Job]:
    """Each job and each run that it needs, by its key."""
    found: dict[str, Job] = {}
    for measure in plan.experiment.measures:
        for job in measure.jobs(plan):
            runs = (job,) if isinstance(job, Train) else job.needs
            found |= {run.after.key: run.after for run in runs if run.after is not None}
            found |= {one.key: one for one in (*runs, job)}
    return found


def counted(one: Experiment, out: Path) -> tuple[int, int, int]:
    """Runs, calls, and those that are done, looked for one by one."""
    jobs, store = every_job(make_plan(one, "smoke")).values(), Store(out)
    runs = sum(isinstance(job, Train) for job in jobs)
    return runs, len(jobs) - runs, sum(store.share(job) >= 1.0 for job in jobs)


def leave_some(out: Path) -> None:
    """Every third call of all experiments, folders of runs that never began, files of others, and runs that ended."""
    (out / JOBS).mkdir(parents=True)
    jobs = {key: job for one in ALL for key, job in every_job(make_plan(one, "smoke")).items()}
    for key, job in sorted(jobs.items())[::3]:
        if isinstance(job, Train):
            (out / RUNS / key).mkdir(parents=True)
        else:
            (out / JOBS / f"{key}.json").write_text("{}")
    (out / JOBS / "play_pairing-000000000000.json").write_text("{}")
    (out / JOBS / f"{max(key for key, job in jobs.items() if not isinstance(job, Train))}.json").mkdir(exist_ok=True)
    done(make_plan(SMALL, "smoke", seeds=1), out)


@pytest.mark.parametrize("filled", [False, True])
def test_a_quick_count_is_what_is_found_job_by_job(tmp_path: Path, filled: bool) -> None:
    if filled:
        leave_some(tmp_path)
    there, made, costs = Store(tmp_path).there(), Made(), Costs()
    begun = 0
    for one in ALL:
        plan = make_plan(one, "smoke", made=made)
        status = status_of(plan, tmp_path, costs, there)
        assert (status.runs, status.calls, status.done) == counted(one, tmp_path), one.id
        assert status == status_of(make_plan(one, "smoke"), tmp_path, Costs()), "looked up and made for it alone"
        assert glance(plan, tmp_path, costs, there) == (status.there, status.verdicts, status.minutes), one.id
        begun += status.done > 0
    assert begun > 20 if filled else not begun


def test_a_glance_tells_of_what_is_done_and_of_its_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("palaestra.learn.near_speeds.read_memory", lambda path: {})
    small = experiment(Curves("thesis-small", read_losses), values={"iterations": 1})
    plan = make_plan(small, "smoke", seeds=1)
    assert glance(plan, tmp_path, Costs()) == ("none", "", "?")
    conclude(plan, done(plan, tmp_path))
    assert glance(plan, tmp_path, Costs()) == ("done", "1 open", "0.0")
    assert glance(make_plan(small, "smoke", seeds=2), tmp_path, Costs()) == ("2 of 4", "", "?")


def test_where_speeds_are_known_all_jobs_are_summed_up_as_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def known(config: RunConfig, *told: object, **more: object) -> Speeds:
        return speeds(step_seconds=0.01 * (config.learn.epochs or 1))

    monkeypatch.setattr("palaestra.learn.calibration.calibrate", known)
    monkeypatch.setattr("palaestra.learn.near_speeds.Together.nearest", lambda *asked, **more: (1.0, 1.0))
    for id in ("fig-4.8", "fig-5.2"):
        plan = make_plan(declared()[id], "smoke", seeds=2)
        alone = [Costs().seconds(job) for job in jobs_of([plan])]
        status = status_of(plan, tmp_path, Costs())
        assert status.seconds == sum(one for one in alone if one is not None) > 0 and None not in alone
        assert glance(plan, tmp_path, Costs()) == ("none", "", status.minutes)


def test_an_estimate_begins_with_what_is_looked_for_before_it_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("palaestra.learn.near_speeds.read_memory", lambda path: {})
    asked: list[str] = []

    def listen(what: str) -> None:
        asked.append(what)
        raise KeyboardInterrupt

    run = next(job for job in jobs_of([make_plan(SMALL, "smoke")]) if isinstance(job, Train))
    with pytest.raises(KeyboardInterrupt):
        calibrate(run.config, listen, old=True, together=Together())
    assert asked == [IDLE] and Costs().seconds(run) is None
