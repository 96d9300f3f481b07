"""How often a job is done again whose worker died or hung, and when that is the job's own fault.

A job that kills its worker kills the next one, too: after a few deaths in a row it is given up. Where workers of other
jobs die meanwhile, it is not the job: a machine was switched off, or somebody ends processes. Knows no worker.
"""

from __future__ import annotations

from collections import Counter

from palaestra.base.errors import WorkError
from palaestra.work.jobs import Job

AGAIN = 3  # how often a job is done again whose workers alone die
MOST = 20  # the same whoever else dies, so that two such jobs do not excuse each other for ever


class Deaths:
    """The deaths of one call of `Workers.run`."""

    def __init__(self) -> None:
        self._own, self._all = Counter[str](), Counter[str]()
        self._last: str | None = None  # the job whose worker died last

    def again(self, job: Job, how: str, *, excused: bool = False) -> Job:
        """The job, to be done again; WorkError if its workers have died too often. `how` says how the last one ended.

        `excused`: what ended the worker had nothing to do with its job, such as the end of its machine.
        """
        if excused:
            return job
        self._all[job.key] += 1
        if self._last in (None, job.key):
            self._own[job.key] += 1
        self._last = job.key
        if self._own[job.key] > AGAIN or self._all[job.key] > MOST:
            raise WorkError(
                f"{job.key}: given up after {self._all[job.key]} processes, the last of which {how}; where memory is"
                " short, fewer workers at a time need less"
            )
        return job
