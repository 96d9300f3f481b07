"""A run while a process works on it: how it begins or is restored, what it holds, and whom it tells.

What it holds between two iterations is what the run's folder keeps, and nothing else: so a run that is resumed goes on
as if it had never stopped. What happens within an iteration is for `iteration` to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from palaestra.base.errors import ConfigError, RunError
from palaestra.games.base import Game
from palaestra.learn import events
from palaestra.learn.config import RunConfig
from palaestra.learn.course import make_course
from palaestra.learn.events import Listener, Summary
from palaestra.learn.growth import due, with_net
from palaestra.learn.provenance import about, config_text, differences
from palaestra.learn.replays import Replays
from palaestra.learn.run_clock import now
from palaestra.learn.stages import Stages, real_stages
from palaestra.learn.start import fitting_weights, read_start
from palaestra.nets.architecture import parse_net
from palaestra.nets.boards import read_written, weights_for
from palaestra.nets.grow import grown_weights
from palaestra.rewards.registry import make_reward
from palaestra.runs.folder import RunFolder, numbered, pack
from palaestra.runs.manifest import Change, Manifest
from palaestra.runs.metrics import MetricsLine
from palaestra.search.search_speed import scattered
from palaestra.work.workers import Here, Threads, Workers

GROWTH = 103  # number of the stage that grows the network, in its random seed
START_POSITIONS = 512  # at least, on which the normalisations of a network with given weights are measured


@dataclass(frozen=True)
class Current:
    """What an iteration starts from."""

    manifest: Manifest
    model: bytes  # the network that plays: ONNX
    lines: tuple[MetricsLine, ...]  # of the iterations so far


class Session:
    """One run, from `begin` or `restore` on."""

    current: Current

    def __init__(
        self,
        home: RunFolder,
        config: RunConfig,
        game: Game,
        listeners: Sequence[Listener] = (),
        stages: Stages | None = None,
        workers: Workers | None = None,
    ) -> None:
        self.home, self.config, self.game, self.listeners = home, config, game, tuple(listeners)
        self.course = make_course(config, game)
        self.rewards = [make_reward(config.reward, one) for one in self.course.games]
        self.reward = self.rewards[self.course.own]
        self.history: tuple[Change, ...] = ()  # of a new run
        self.stages = stages or real_stages(workers, lambda speeds: self.tell(events.WorkersSeen(speeds)))
        if workers is not None:
            workers.warn = lambda line: self.tell(events.Warned(line))
        self._take_net(config.net)
        self.replay = Replays(self.course, config.learn)
        if config.clock == "processor" and not (workers is None or isinstance(workers, Here | Threads)):
            raise ConfigError("clock=processor counts this process alone: let its own threads play, without --workers")
        self._began = now(self.config)
        self._seconds_before = 0.0  # of earlier sessions

    def _take_net(self, net: str) -> None:
        """A new trainer of this network, which has learned nothing."""
        self.net = net  # the one that the run has now
        self.trainer = self.stages.make_trainer(self.game, with_net(self.config, net))

    # Starting.

    def take_start(self) -> None:
        """Take the weights that a new run starts from, if it does; what does not fit leaves nothing behind."""
        if self.config.start is None:
            return
        start, course = read_start(self.config.start), self.course
        first = course.games[course.stage(())]
        planes = first.observe(scattered(first, START_POSITIONS, np.random.default_rng(self.config.seed)))
        if course.shared is not None:
            planes = course.shared.fill(first, planes)
        weights = fitting_weights(start, self.config.net, course.facts(course.own), self.config.seed)
        self.trainer.adopt(weights, planes)
        self.history = ({"after_iteration": 0, "changed": [start.note]},)

    def begin(self) -> None:
        """Make and save iteration 0, the network that the run starts from, and the games that it was given, if any."""
        self.home.write_config(config_text(self.config, self.game, self.history))
        model = self.trainer.onnx()
        files = {numbered("checkpoints", 0, "onnx"): model, **self.state_file(0), **self.reward_file(0)}
        files |= self.home.given_games()
        manifest = Manifest(
            iteration=0,
            best=0,
            trainer=0,
            game=self.game.id,
            game_version=self.game.version,
            net=self.config.net,
            seconds=0.0,
            games=0,
            positions=0,
            finished=False,
            metrics_bytes=0,
            config=self.config.model_dump(mode="json"),
            about=about(self.config, self.game),
            history=self.history,
            files=dict.fromkeys(files, ""),
        )
        self.save(manifest, files, None, model)

    def restore(self, manifest: Manifest, notes: Sequence[str]) -> None:
        """Go back to what this manifest saved, exactly. Nothing changes on the disk before all of it is read.

        `notes` are recorded: settings that have changed, or that the run went back.
        """
        if manifest.game_version != self.game.version:
            raise RunError(
                f"{self.home} learned version {manifest.game_version} of {manifest.game}; the rules here are version"
                f" {self.game.version}: start a new run"
            )
        lines = tuple(self.home.metrics(manifest))
        model = self.home.read(numbered("checkpoints", manifest.best, "onnx"), manifest)
        if manifest.net != self.net:
            self._take_net(manifest.net)
        self.trainer.load_state(
            self.home.read_arrays(numbered("checkpoints", manifest.trainer, "safetensors"), manifest)
        )
        if self.reward.learns:
            name = numbered("reward", manifest.iteration, "safetensors")
            self.reward.load_state(self.home.read_arrays(name, manifest))
        for name in sorted(manifest.files):
            if name.startswith("replay/"):
                self.replay.load(int(Path(name).stem), self.home.read_arrays(name, manifest))
        for difference in differences(manifest.about, about(self.config, self.game)):
            self.tell(events.Warned(f"{difference}: the run goes on, but not bit for bit as it would have"))
        self._seconds_before = manifest.seconds
        self.current = Current(manifest, model, lines)
        if notes:
            self._record(notes)
        self.home.prune(self.current.manifest, self.config.keep)

    def grow(self, iteration: int) -> None:
        """Let the network grow if that is due in this iteration.

        The new one plays as the one that plays now, and its normalisations are measured on positions of the replay.
        """
        old, new = self.net, due(self.config, self.net, self.progress(iteration))
        if old == new:
            return
        facts, steps = self.course.facts(self.course.own), self.trainer.steps
        rng = np.random.default_rng([self.config.seed, iteration, GROWTH])
        written = read_written(self.current.model, "the network")
        weights = weights_for(parse_net(old), facts, written, "the network")
        batches = self.replay.batches_of(self.course.stage(self.current.lines), rng)
        planes = [next(batches).planes for _ in range(-(-START_POSITIONS // self.config.learn.batch))]
        self._take_net(new)
        self.trainer.adopt(grown_weights(old, new, facts, weights, rng), np.concatenate(planes), steps)
        self.tell(events.Warned(f"iteration {iteration}: the network grows from {old} to {new}"))

    def refuse_if_over(self, manifest: Manifest) -> None:
        """RunError if the run has already gone as far as the extension asks for."""
        if self.is_over(manifest.iteration, manifest.seconds):
            raise RunError(
                f"{self.home} has {manifest.iteration} iterations and {manifest.seconds / 60:.1f} minutes already; to"
                f" extend it, give more in all, for example --iterations {manifest.iteration + 10}"
            )

    def _record(self, notes: Sequence[str]) -> None:
        """Say in config.toml and in the manifest what has changed."""
        manifest = self.current.manifest
        change: Change = {"after_iteration": manifest.iteration, "changed": list(notes)}
        history = (*manifest.history, change)
        self.home.write_config(config_text(self.config, self.game, history))
        manifest = replace(
            manifest,
            config=self.config.model_dump(mode="json"),
            about=about(self.config, self.game),
            history=history,
            finished=self.is_over(manifest.iteration, manifest.seconds),
        )
        self.current = replace(self.current, manifest=self.home.save(manifest, {}, keep=self.config.keep))

    # Saving.

    def save(self, manifest: Manifest, files: Mapping[str, bytes], line: MetricsLine | None, model: bytes) -> None:
        """Put an iteration on the disk; the next one starts from it. `model` is the network that plays then."""
        saved = self.home.save(manifest, files, line, self.config.keep)
        self.current = Current(saved, model, () if line is None else (*self.current.lines, line))

    def state_file(self, iteration: int) -> dict[str, bytes]:
        """What training goes on from, as a file."""
        return {numbered("checkpoints", iteration, "safetensors"): pack(self.trainer.state())}

    def reward_file(self, iteration: int) -> dict[str, bytes]:
        """What the reward has learned, as a file; none if it learns nothing."""
        if not self.reward.learns:
            return {}
        return {numbered("reward", iteration, "safetensors"): pack(self.reward.state())}

    # Time.

    @property
    def seconds(self) -> float:
        """Of the whole run, earlier sessions included."""
        return self._seconds_before + now(self.config) - self._began

    def is_over(self, iteration: int, seconds: float) -> bool:
        """Whether a run of so many iterations and seconds has reached the end that its settings say."""
        ends, minutes = self.config.iterations, self.config.minutes
        return (ends is not None and iteration >= ends) or (minutes is not None and seconds >= 60 * minutes)

    def is_last(self, iteration: int) -> bool:
        """Whether it is certain before its end that no iteration follows this one."""
        return self.config.iterations is not None and iteration >= self.config.iterations

    def progress(self, iteration: int) -> float:
        """How much of the run is behind it, in [0, 1], for schedules: by iterations or time, whichever is further.

        The time is that of the last saved iteration and no clock is read: an iteration that is done again, after a kill
        or by going back, is done under the same schedule.
        """
        shares = [0.0]
        if self.config.iterations is not None:
            shares.append((iteration - 1) / self.config.iterations)
        if self.config.minutes is not None:
            shares.append(self.current.manifest.seconds / (60 * self.config.minutes))
        return min(1.0, max(shares))

    # Telling.

    def tell(self, event: events.Event) -> None:
        for listener in self.listeners:
            listener(event)

    def started(self) -> events.RunStarted:
        """What is told when the session goes on from here."""
        now = self.current.manifest
        return events.RunStarted(self.home.path, self.config, now.iteration, now.seconds, self.current.lines)

    def summary(self) -> Summary:
        now = self.current.manifest
        return Summary(
            folder=self.home.path,
            game=self.game,
            config=self.config,
            iterations=now.iteration,
            games=now.games,
            positions=now.positions,
            seconds=now.seconds,
            best=now.best,
            metrics=self.current.lines,
        )
