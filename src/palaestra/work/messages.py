"""What is said to a process that does jobs, and what it says; all of it is pickled."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

from palaestra.work.jobs import Job
from palaestra.work.spawned import Surroundings


@dataclass(frozen=True)
class Given:
    """A job, and what it finds around it."""

    job: bytes  # pickled: to be unpickled where the rest is in force
    around: Surroundings

    @staticmethod
    def of(job: Job) -> Given:
        return Given(pickle.dumps(job), Surroundings.here())

    def take(self) -> Job:
        self.around.enter()
        job: Job = pickle.loads(self.job)
        return job


@dataclass(frozen=True)
class Told:
    """What a process says while it works."""

    share: float
    words: str


@dataclass(frozen=True)
class Done:
    """What a process says at a job's end."""

    result: Any


@dataclass(frozen=True)
class Failed:
    """What a process says instead if the job raised this."""

    error: Exception


@dataclass(frozen=True)
class Refused:
    """What a worker of a cluster says if it cannot do such jobs at all: it has another version of what they need."""

    why: str
