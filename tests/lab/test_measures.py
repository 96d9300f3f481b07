"""What measures make of arms and seeds, before anything is done."""

from __future__ import annotations

from palaestra.lab.catalogue import declared
from palaestra.lab.jobs import Train
from palaestra.lab.measures import Tournament
from palaestra.lab.plan import make_plan


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
