"""The part of a cluster's worker that runs on its machine: an actor of Ray, which does one job at a time.

Imports no Ray: the class is plain, and `ray_workers` makes an actor of it. Knows nothing of what jobs are.
"""

from __future__ import annotations

import os
import pickle
import socket
from dataclasses import dataclass, replace
from typing import Any

from palaestra.base.errors import PalaestraError
from palaestra.base.versions import playing_versions
from palaestra.work.jobs import Job, Shared, do
from palaestra.work.messages import Done, Failed, Refused, Told
from palaestra.work.spawned import Surroundings, to_be_raised

Report = tuple[int, Told]  # how often a job has reported, and what it said last


@dataclass(frozen=True)
class Hello:
    """Who a worker is."""

    name: str  # the machine and the process, as a person would look for it
    versions: dict[str, str]
    sees: bool  # whether it has the folder that it was asked for


@dataclass(frozen=True)
class Place:
    """Stands in a job for a `Shared` argument, which comes beside it."""

    number: int


@dataclass(frozen=True)
class Away:
    """A job on its way to another machine; what it shares with others travels by itself."""

    job: bytes
    around: Surroundings

    @staticmethod
    def of(job: Job) -> tuple[bytes, list[Shared]]:
        shared = [one for one in job.arguments if isinstance(one, Shared)]
        numbers = iter(range(len(shared)))
        bare = tuple(Place(next(numbers)) if isinstance(one, Shared) else one for one in job.arguments)
        return pickle.dumps(Away(pickle.dumps(replace(job, arguments=bare)), Surroundings.here())), shared

    def take(self, shared: tuple[bytes, ...]) -> Job:
        self.around.enter_elsewhere()
        job: Job = pickle.loads(self.job)
        values = [pickle.loads(one) for one in shared]
        whole = (values[one.number] if isinstance(one, Place) else one for one in job.arguments)
        return replace(job, arguments=tuple(whole))


class Actor:
    """Does jobs, one at a time, and says meanwhile how far it is; `told` is called by another thread than `do`."""

    def __init__(self) -> None:
        self._reports = 0
        self._latest = Told(0.0, "")

    def hello(self, marker: str | None) -> Hello:
        """`marker` is a file that exists for whoever shares a folder with the one that asks."""
        name = f"{socket.gethostname()}:{os.getpid()}"
        return Hello(name, playing_versions(), marker is None or os.path.exists(marker))

    def do(self, given: bytes, *shared: bytes) -> tuple[Report, bytes]:
        """What the job reported last; and Done, Failed or Refused, pickled."""
        self._reports, self._latest = 0, Told(0.0, "")
        try:
            try:
                job = pickle.loads(given).take(shared)
            except (ImportError, AttributeError, PalaestraError) as error:
                return self.told(), pickle.dumps(Refused(" ".join(str(error).split())))
            result = do(job, self._heard)
            return self.told(), pickle.dumps(Done(result))
        except BaseException as error:
            return self.told(), pickle.dumps(Failed(to_be_raised(error)))

    def told(self) -> Report:
        return self._reports, self._latest

    def _heard(self, share: float, words: str) -> None:
        self._reports, self._latest = self._reports + 1, Told(share, words)


def differences(theirs: dict[str, str], ours: dict[str, str]) -> str:
    """ "palaestra 0.2.0 (here 0.1.0)": the first of what differs; nothing if nothing does."""
    differing = ((name, theirs.get(name, "none"), mine) for name, mine in ours.items() if theirs.get(name) != mine)
    return next((f"{name} {their} (here {mine})" for name, their, mine in differing), "")


def error_in_words(error: Any) -> str:
    """The last line of what Ray says, where the reason stands."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
