"""Keys of jobs, and what is said without them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import pytest

from palaestra.lab.catalogue import declared
from palaestra.lab.jobs import LATER, Call, Job, Train, _meaning, game_version
from palaestra.lab.plan import Made, make_plan
from palaestra.lab.reproduce import jobs_of
from palaestra.learn.settings import flatten


def whole_hash(parts: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]


def slow_key(job: Job) -> str:
    """A key, hashed in one piece from all that a result depends on."""
    if isinstance(job, Train):
        known = {"threads": 1, **LATER}
        settings = {
            name: value
            for name, value in flatten(job.config).items()
            if value is not False and (name not in known or known[name] != value)
        }
        first = [] if job.after is None else [slow_key(job.after)]
        return f"{job.config.game}-{whole_hash([settings, game_version(job.config.game), *first])}"
    needs, arguments = [slow_key(run) for run in job.needs], dict(job.arguments)
    parts = [_meaning(job.function), arguments, needs, game_version(str(arguments["game"]))]
    return f"{job.function.__name__}-{whole_hash(parts)}"


@pytest.fixture(scope="module")
def all_jobs() -> list[Job]:
    """Those of every experiment, with what several of them share in each of them."""
    return [job for one in declared().values() for job in jobs_of([make_plan(one, "smoke")])]


def test_a_key_that_is_made_quickly_is_the_hash_of_everything_in_one_piece(all_jobs: list[Job]) -> None:
    some = [*all_jobs[::20], *(job for job in all_jobs if isinstance(job, Train) and job.after is not None)]
    assert {type(job) for job in some} == {Call, Train}
    assert [job.key for job in some] == [slow_key(job) for job in some]


def test_jobs_are_the_same_where_their_keys_are(all_jobs: list[Job]) -> None:
    keys, same = {job.key for job in all_jobs}, {job.same for job in all_jobs}
    assert len(keys) == len(same) == len({(job.key, job.same) for job in all_jobs}) < len(all_jobs)


def test_plans_that_share_what_they_have_made_have_the_same_jobs(all_jobs: list[Job]) -> None:
    made = Made()
    jobs = [job for one in declared().values() for job in jobs_of([make_plan(one, "smoke", made=made)])]
    assert [job.key for job in jobs] == [job.key for job in all_jobs]
    runs = [{id(job) for job in some if isinstance(job, Train)} for some in (jobs, all_jobs)]
    assert len(runs[0]) < len(runs[1]), "some experiments have runs in common"
