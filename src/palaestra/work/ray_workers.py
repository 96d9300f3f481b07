"""Jobs on the machines of a cluster: one actor of Ray for each core, each of which does one job at a time.

The job of a worker that dies, hangs or vanishes with its machine is done again by another; a machine that joins gets
workers, too. What jobs share is sent to a machine once. A machine that has other versions of what the jobs need is
refused by name: before the first result as an error, later with a warning, and others do its work. Knows nothing of
what jobs are.
"""

from __future__ import annotations

import contextlib
import pickle
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from palaestra.base.atomic import make_folder, remove_file, write_file
from palaestra.base.errors import ClusterError
from palaestra.base.stopping import stop_if_asked
from palaestra.base.versions import playing_versions
from palaestra.work.deaths import AGAIN, Deaths
from palaestra.work.jobs import Job, Shared
from palaestra.work.messages import Done, Failed, Refused
from palaestra.work.ray_actor import Actor, Away, Hello, differences, error_in_words
from palaestra.work.ray_cluster import Cluster, Node
from palaestra.work.workers import GLANCE, JobListener, Result, Workers, once

SURVEY = 2.0  # seconds between two looks at the machines of the cluster
ASK = 0.5  # seconds between two questions to a worker how far it is
PATIENCE = 120.0  # seconds without a single worker after which it is given up
SILENCE = 20.0  # seconds without a word after which a steady job hangs, or
GAPS = 5.0  # so many times the longest that any was silent, whichever is more;
FIRST = 600.0  # before its first word, when it may be compiling, so many
DEAF = 120.0  # seconds in which every worker answers, whatever its job, and steady ones in SILENCE


class RayWorkers(Workers):
    """Does jobs on a cluster, with at most `most` workers, or one for each core."""

    def __init__(
        self, address: str | None, most: int | None, *, seconds: float | None = None, folder: Path | None = None
    ) -> None:
        super().__init__()
        self.cluster = Cluster(address, most)
        self.most, self.seconds, self.folder = most, seconds, folder
        self.silence, self.first = SILENCE, FIRST
        self._ray = self.cluster.ray
        self._actor = self._ray.remote(num_cpus=1, max_restarts=0, max_concurrency=2)(Actor)
        self._hands: list[_Hand] = []
        self._refused: dict[str, str] = {}  # machine -> why
        self._gap = 0.0  # the longest that a steady job was silent
        self._has_worked = False
        self._unborn = Counter[str]()  # machine -> workers that ended while they started
        self._marker: str | None = None
        self._surveyed = -SURVEY
        self._last_seen = time.monotonic()  # when there was a worker
        if folder is not None:
            make_folder(folder)
            self._marker = str(folder.resolve() / f".workers-{uuid.uuid4().hex}")
            write_file(Path(self._marker), b"A worker of a cluster sees this file, or is refused.\n", durable=False)
        self._survey()

    def close(self) -> None:
        for hand in self._hands:
            hand.end()
        self._hands.clear()
        self.cluster.close()
        if self._marker is not None:
            remove_file(Path(self._marker))
            self._marker = None

    def run(self, jobs: Iterable[Job], listen: JobListener | None = None) -> Iterator[Result]:
        fresh, again, deaths, ended = once(jobs), list[Job](), Deaths(), list[Result]()
        shared: dict[Shared, Any] = {}
        exhausted = False
        try:
            while True:
                stop_if_asked(self._stopped)
                self._survey()
                if not (exhausted or again or any(hand.job for hand in self._hands)):
                    first = next(fresh, None)  # whether there is anything to wait for
                    exhausted = first is None
                    again += [] if first is None else [first]
                for hand in [hand for hand in self._hands if hand.is_idle]:
                    job = again.pop() if again else None if exhausted else next(fresh, None)
                    exhausted = exhausted or job is None
                    if job is None:
                        break
                    hand.give(job, self._sent(job, shared))
                yield from ended
                if exhausted and not again and not any(hand.job for hand in self._hands):
                    return
                ended = []
                for hand in self._heard():
                    self._hear(hand, listen, ended, again, deaths)
                for hand in [hand for hand in self._hands if hand.job is not None]:
                    self._watch(hand, listen, again, deaths)
        finally:
            for hand in [hand for hand in self._hands if hand.job is not None]:
                self._drop(hand)

    def _sent(self, job: Job, shared: dict[Shared, Any]) -> list[Any]:
        """The job as an actor is given it: pickled, and references to what it shares, each of which is sent once."""
        given, parts = Away.of(job)
        for part in parts:
            if part not in shared:
                shared[part] = self._ray.put(pickle.dumps(part.value))
        return [given, *(shared[part] for part in parts)]

    # Who is there.

    def _survey(self) -> None:
        """Look at the machines of the cluster: a worker for every core that has none."""
        now = time.monotonic()
        if any(hand.has_come and not hand.is_gone for hand in self._hands):
            self._last_seen = now
        elif now - self._last_seen > PATIENCE:
            raise ClusterError(
                f"no worker of {self.cluster.where} has answered for {PATIENCE:.0f} seconds; what is done is kept"
            )
        if now - self._surveyed < SURVEY:
            return
        self._surveyed = now
        nodes = [node for node in self.cluster.nodes() if node.id not in self._refused]
        places = _places(nodes, self.most)
        self.count = max(1, len(places))
        for hand in [hand for hand in self._hands if hand.node.id not in {node.id for node in nodes}]:
            hand.is_gone = True
            if hand.job is None:
                self._hands.remove(hand)
        there = Counter(hand.node.id for hand in self._hands)
        for node in places:
            there[node.id] -= 1
            if there[node.id] < 0:
                self._hands.append(_Hand(self._ray, self._actor, node, self._marker))

    def _refuse(self, hand: _Hand, why: str) -> None:
        """The machine of this worker gets no more work; an error if nobody else has worked, or is left."""
        words = f"the worker {hand.name} of {self.cluster.where} is refused: {why}"
        self._refused[hand.node.id] = words
        for other in [other for other in self._hands if other.node.id == hand.node.id and other.job is None]:
            self._drop(other)
        self._surveyed = -SURVEY
        if not self._has_worked or not any(node.id not in self._refused for node in self.cluster.nodes()):
            raise ClusterError(words)
        self.warn(f"{words}; others do its work")

    def _drop(self, hand: _Hand) -> None:
        hand.end()
        if hand in self._hands:
            self._hands.remove(hand)
        self._surveyed = -SURVEY  # another one takes its place

    # What they say.

    def _heard(self) -> list[_Hand]:
        """The workers that have something to say."""
        waiting = {ref: hand for hand in self._hands for ref in (hand.ref, hand.told) if ref is not None}
        if not waiting:
            time.sleep(GLANCE)
            return []
        ready, _ = self._ray.wait(list(waiting), num_returns=1, timeout=GLANCE)
        if ready:
            ready, _ = self._ray.wait(list(waiting), num_returns=len(waiting), timeout=0)
        return list({id(hand): hand for ref in ready if (hand := waiting[ref]).ref == ref}.values())

    def _hear(
        self, hand: _Hand, listen: JobListener | None, ended: list[Result], again: list[Job], deaths: Deaths
    ) -> None:
        """What a worker says of itself, or at the end of its job."""
        job = hand.job
        try:
            said = self._ray.get(hand.ref)
        except self._ray.exceptions.RayError as error:
            self._mourn(hand, error, again, deaths)
            return
        hand.ref = None
        if isinstance(said, Hello):
            hand.come(said)
            self._unborn[hand.node.id] = 0
            if different := differences(said.versions, playing_versions()):
                self._refuse(hand, f"it has {different}")
            elif not said.sees:
                self._refuse(hand, f"it does not see the folder {self.folder}, in which work is left for all to read")
            return
        assert job is not None
        (reports, latest), what = said
        if listen is not None and reports > hand.reports:
            listen(job, latest.share, latest.words)
        match pickle.loads(what):
            case Done(result):
                self._has_worked = True
                hand.job = None
                self._place(job, hand.name)
                ended.append((job, result))
            case Failed(raised):
                hand.job = None
                raise raised
            case Refused(why):
                hand.job = None
                again.append(job)
                self._refuse(hand, why)

    def _mourn(self, hand: _Hand, error: Exception, again: list[Job], deaths: Deaths) -> None:
        """A worker has died, with its machine or alone."""
        job, words = hand.job, error_in_words(error)
        alone = not hand.is_gone and hand.node.id in {node.id for node in self.cluster.nodes()}
        self._drop(hand)
        if not hand.has_come and alone:
            self._unborn[hand.node.id] += 1
            if self._unborn[hand.node.id] > AGAIN:
                self._refuse(hand, f"it cannot be started ({words})")
        if job is not None:
            alone = alone and not isinstance(error, self._ray.exceptions.ObjectLostError)
            again.append(deaths.again(job, f"ended ({words})", excused=not alone))

    def _watch(self, hand: _Hand, listen: JobListener | None, again: list[Job], deaths: Deaths) -> None:
        """Ask a busy worker how far it is; one that has been silent, or has worked, for too long is replaced."""
        job, now = hand.job, time.monotonic()
        assert job is not None
        if (heard := hand.ask(now)) is not None:
            if hand.reports > 1:
                self._gap = max(self._gap, hand.gap)
            if listen is not None:
                listen(job, *heard)
        silent = now - hand.spoke
        limit = max(self.silence, GAPS * self._gap) if hand.reports else self.first
        deaf = hand.told is not None and now - hand.asked > (self.silence if job.steady else DEAF)
        late = self.seconds is not None and now - hand.began > self.seconds
        if deaf or late or (job.steady and silent > limit):
            self.warn(f"the worker {hand.name} has said nothing for {silent:.0f} seconds: another one does its work")
            self._drop(hand)
            again.append(deaths.again(job, "took longer than was allowed"))


class _Hand:
    """One worker, as seen from here: it starts, then does one job after the other."""

    def __init__(self, ray: Any, actor: Any, node: Node, marker: str | None) -> None:
        self.node, self.name = node, node.host
        self.has_come = self.is_gone = False  # whether it has said who it is; whether its machine is no longer there
        self.job: Job | None = None
        self.told: Any = None  # a question how far it is, under way
        self._ray = ray
        strategy = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node.id, soft=False)
        self._actor = actor.options(scheduling_strategy=strategy).remote()
        self.ref: Any = self._actor.hello.remote(marker)  # what is waited for: who it is, or the end of its job

    @property
    def is_idle(self) -> bool:
        return self.has_come and self.job is None and not self.is_gone

    def come(self, hello: Hello) -> None:
        self.has_come, self.name = True, hello.name

    def give(self, job: Job, given: list[Any]) -> None:
        self.job, self.told = job, None
        self.began = self.spoke = self.asked = time.monotonic()
        self.reports, self.gap = 0, 0.0
        self.ref = self._actor.do.remote(*given)

    def ask(self, now: float) -> tuple[float, str] | None:
        """What its job has reported that is new; asks for more now and then."""
        if self.told is None:
            if now - self.asked >= ASK:
                self.asked = now
                self.told = self._actor.told.remote()
            return None
        ready, _ = self._ray.wait([self.told], timeout=0)
        if not ready:
            return None
        ref, self.told = self.told, None
        try:
            reports, latest = self._ray.get(ref)
        except self._ray.exceptions.RayError:
            return None  # its job says how it ended
        if reports <= self.reports:
            return None
        self.reports, self.gap, self.spoke = reports, now - self.spoke, now
        return latest.share, latest.words

    def end(self) -> None:
        with contextlib.suppress(Exception):  # it may be dead, and the cluster gone
            self._ray.kill(self._actor, no_restart=True)


def _places(nodes: list[Node], most: int | None) -> list[Node]:
    """A machine for every worker: as many as it has cores, or in turns until there are enough."""
    rounds = range(max((node.cores for node in nodes), default=0))
    return [node for turn in rounds for node in nodes if node.cores > turn][:most]
