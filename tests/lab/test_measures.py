"""What measures make of arms and seeds, before anything is done."""

from __future__ import annotations

from pathlib import Path

from palaestra.lab.catalogue import declared
from palaestra.lab.jobs import Call, Store, Train
from palaestra.lab.measures import Tournament
from palaestra.lab.plan import make_plan
from palaestra.lab.reproduce import do_jobs, jobs_of
from palaestra.work.workers import make_workers
from tests.lab.test_reproduce import experiment


def test_with_one_network_all_seeds_of_an_arm_play_with_the_run_of_the_last() -> None:
    """The defect L7 of published tournaments; names of entrants stay apart."""
    plan = make_plan(declared()["fig-4.8"], "smoke", seeds=3)
    right, wrong = (
        [job for job in Tournament("thesis", one_network=one).jobs(plan) if isinstance(job, Train)]
        for one in (False, True)
    )
    assert {job.config.seed for job in right} == set(plan.seeds) and len(right) == 3 * len(plan.arms)
    assert {job.config.seed for job in wrong} == {plan.seeds[-1]} and len(wrong) == len(plan.arms)
    everyone = {
        (who["game"], who["arm"], who["seed"]) for who, _ in Tournament("thesis", one_network=True)._pairings(plan)
    }
    assert len(everyone) == 3 * len(plan.arms)


def test_pairings_on_one_table_are_those_played_one_by_one(tmp_path: Path) -> None:
    values = {"iterations": 1, "games": 4, "simulations": 8}
    plan = make_plan(experiment(Tournament("thesis-small"), values=values), seeds=2)
    jobs, store = jobs_of([plan]), Store(tmp_path)
    do_jobs(store, jobs, make_workers("here"), lambda progress: None)
    calls = [job for job in jobs if isinstance(job, Call)]
    assert len(calls) == 10 and len({job.arguments["seed"] for job in calls}) == 10, "openings of their own"
    for job in calls:
        runs = {"runs": [store.run(need) for need in job.needs]} if job.needs else {}
        assert store.rows(job) == job.function(**runs, **job.arguments)
