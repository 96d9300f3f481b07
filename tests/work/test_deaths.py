"""When a job is done again whose worker died, and when it is given up."""

from __future__ import annotations

import pytest

from palaestra.base.errors import WorkError
from palaestra.work.deaths import AGAIN, MOST, Deaths
from palaestra.work.jobs import Job

A, B = Job("a", pow), Job("b", pow)


def test_a_job_whose_workers_alone_die_is_given_up() -> None:
    deaths = Deaths()
    for _ in range(AGAIN):
        assert deaths.again(A, "died") is A
    with pytest.raises(WorkError, match=r"^a: given up after 4 processes, the last of which died"):
        deaths.again(A, "died")


def test_deaths_are_no_jobs_fault_where_workers_of_other_jobs_die_too() -> None:
    deaths = Deaths()
    for _ in range(MOST - 1):
        deaths.again(A, "died")
        deaths.again(B, "died")
    deaths.again(A, "died")
    with pytest.raises(WorkError, match=f"given up after {MOST + 1} processes"):
        deaths.again(A, "died")


def test_the_end_of_a_machine_is_never_counted() -> None:
    deaths = Deaths()
    for _ in range(10 * MOST):
        assert deaths.again(A, "vanished", excused=True) is A
    for _ in range(AGAIN):
        deaths.again(A, "died")
