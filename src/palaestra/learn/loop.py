"""The loop: self-play, training, gate, evaluation, saving, and again (Alg. 2; sources: self-play loop).

Every stage draws from (seed, iteration, stage), so a run that is resumed goes on as if it had never stopped: the loop's
memory is what `folder` keeps and nothing else. Nothing is printed here; listeners are told (`events`).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from palaestra.base.errors import DamagedRunError, RunError
from palaestra.base.user_code import trust
from palaestra.games.base import Game
from palaestra.games.registry import make_game, make_stored_game
from palaestra.learn import events
from palaestra.learn.config import RunConfig
from palaestra.learn.config_check import trainable
from palaestra.learn.divergence import IN_A_ROW, diverged_error, diverged_in_a_row, divergence
from palaestra.learn.due_evaluations import DueEvaluations, Judged
from palaestra.learn.events import Listener, Metrics, Stage, Summary
from palaestra.learn.metrics_line import measure
from palaestra.learn.provenance import about, config_text, differences
from palaestra.learn.replay import Replay
from palaestra.learn.settings import as_settings, bounds, changes, make_config, merge, parse_sets
from palaestra.learn.solo_iteration import SoloIteration
from palaestra.learn.stage_timer import StageTimer
from palaestra.learn.stages import Stages, real_stages
from palaestra.rewards.registry import make_reward
from palaestra.runs.folder import RunFolder, numbered, pack
from palaestra.runs.manifest import Manifest
from palaestra.runs.pgn_games import write_game
from palaestra.runs.places import free_folder

BATCHES = 101  # number of the stage that draws batches, in its random seed


def train(
    config: RunConfig,
    folder: Path | str | None = None,
    listeners: Iterable[Listener] = (),
    stages: Stages | None = None,
) -> Summary:
    """Run from nothing to the end that the configuration sets.

    The folder must be new or empty; without one, ./runs gets one that is named after the game.
    """
    trust(config.model_dump_json())  # which is the caller's; only `resume` reads settings from a file
    folder = free_folder(config.game) if folder is None else folder
    home = RunFolder(Path(folder))
    home.refuse_if_taken()
    game = trainable(config, make_game(config.game))  # what cannot be trained leaves no folder behind
    loop = _Loop(home, config, game, tuple(listeners), stages)
    home.create()
    with home.locked():
        home.write_config(config_text(config, game, ()))
        return loop.begin().run()


def resume(
    folder: Path | str,
    sets: Sequence[str] = (),
    *,
    iterations: int | None = None,
    minutes: float | None = None,
    from_iteration: int | None = None,
    game: str | None = None,
    listeners: Iterable[Listener] = (),
    stages: Stages | None = None,
) -> Summary:
    """Go on where a run stopped; `iterations` or `minutes` (in all, not in addition) extend it.

    Settings from `sets`, or edited in config.toml, are applied and recorded, or refused. A finished run that is not
    extended only gives its summary. `from_iteration` goes back first, to one of the iterations that are kept, and to
    its settings; what came after it is dropped. `game` names the rules where they are code of the user's own: what a
    folder says is never imported by itself.
    """
    home = RunFolder(Path(folder))
    home.refuse_if_none()
    with home.locked():
        home.clean()
        try:
            manifest = home.manifest() if from_iteration is None else home.generation(from_iteration)
            settings = home.config() if manifest is None or from_iteration is None else dict(manifest.config)
            written = make_config({key: value for key, value in settings.items() if key not in ("about", "history")})
            config = make_config(merge(merge(as_settings(written), bounds(iterations, minutes)), parse_sets(sets)))
            changed, edited = _changed(manifest, config), _changed(manifest, written)
            own_id = None if manifest is None else manifest.game
            rules = make_stored_game(config.game, str(home), id=own_id, given=game)
            loop = _Loop(home, config, trainable(config, rules), tuple(listeners), stages)
            if manifest is None:  # killed before its first checkpoint: nothing can differ yet
                home.write_config(config_text(config, rules, ()))
                return loop.begin().run()
            if iterations is not None or minutes is not None:
                loop.refuse_if_over(manifest)
            for key, (old, new) in edited.items():
                if changed.get(key) == (old, new):
                    loop.tell(events.Warned(f"config.toml was edited: {key}: {old} -> {new}"))
            notes = [f"{key}: {old} -> {new}" for key, (old, new) in changed.items()]
            if from_iteration is not None:
                notes.insert(0, f"went back to iteration {from_iteration}")
            loop.restore(manifest, notes)
        except DamagedRunError as error:
            raise RunError(f"{error}; {home.way_back()}") from None
        return loop.run()


def _changed(manifest: Manifest | None, config: RunConfig) -> dict[str, tuple[Any, Any]]:
    """In what the settings differ from those in force; ConfigError for what a run keeps for life."""
    return {} if manifest is None else changes(RunConfig.model_validate(manifest.config), config)


@dataclass
class _Current:
    """What an iteration starts from."""

    manifest: Manifest
    model: bytes  # the network that plays: ONNX
    lines: list[Metrics]


class _Loop:
    def __init__(
        self,
        home: RunFolder,
        config: RunConfig,
        game: Game,
        listeners: tuple[Listener, ...],
        stages: Stages | None,
    ) -> None:
        self.home, self.config, self.game, self.listeners = home, config, game, listeners
        self.reward = make_reward(config.reward, self.game)
        self.stages = stages or real_stages()
        self.trainer = self.stages.make_trainer(self.game, config)
        self.replay = Replay(config.learn.window, config.learn.window_share)
        self.clock = time.perf_counter()
        self.seconds_before = 0.0
        self.spent: dict[str, float] = {}
        self.current: _Current

    # Starting.

    def begin(self) -> _Loop:
        """Iteration 0: the untrained network."""
        model = self.trainer.onnx()
        files = {
            numbered("checkpoints", 0, "onnx"): model,
            numbered("checkpoints", 0, "safetensors"): self._state(),
            **self._reward_file(0),
        }
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
            files=dict.fromkeys(files, ""),
        )
        manifest = self.home.save(manifest, files, keep=self.config.keep)
        self.current = _Current(manifest, model, [])
        return self

    def restore(self, manifest: Manifest, notes: list[str]) -> None:
        """Iteration `manifest.iteration`, exactly as it was saved. Nothing changes on the disk before all is read.

        `notes` are recorded: settings that have changed, or that the run went back.
        """
        if manifest.game_version != self.game.version:
            raise RunError(
                f"{self.home} learned version {manifest.game_version} of {manifest.game}; the rules here are version"
                f" {self.game.version}: start a new run"
            )
        lines = self.home.metrics(manifest)
        model = self.home.read(numbered("checkpoints", manifest.best, "onnx"), manifest)
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
        self.seconds_before = manifest.seconds
        self.current = _Current(manifest, model, list(lines))
        if notes:
            self._record(notes)
        self.home.prune(self.current.manifest, self.config.keep)

    def refuse_if_over(self, manifest: Manifest) -> None:
        """RunError if a wanted extension lies behind the run already."""
        if self._over(manifest.iteration, manifest.seconds):
            raise RunError(
                f"{self.home} has {manifest.iteration} iterations and {manifest.seconds / 60:.1f} minutes already; to"
                f" extend it, give more in all, for example --iterations {manifest.iteration + 10}"
            )

    def _record(self, notes: list[str]) -> None:
        """Say in config.toml and in the manifest what has changed."""
        manifest = self.current.manifest
        entry = {"after_iteration": manifest.iteration, "changed": notes}
        history = (*manifest.history, entry)
        self.home.write_config(config_text(self.config, self.game, history))
        manifest = replace(
            manifest,
            config=self.config.model_dump(mode="json"),
            about=about(self.config, self.game),
            history=history,
            finished=self._over(manifest.iteration, manifest.seconds),
        )
        self.current.manifest = self.home.save(manifest, {}, keep=self.config.keep)

    # Running.

    def run(self) -> Summary:
        """Iterations until the run's end."""
        start = self.current.manifest
        self.tell(
            events.RunStarted(self.home.path, self.config, start.iteration, start.seconds, tuple(self.current.lines))
        )
        while not self.current.manifest.finished:
            self.iterate(self.current.manifest.iteration + 1)
            self._stop_if_diverged()
        summary = self.summary()
        self.tell(events.RunEnded(summary))
        return summary

    def _stop_if_diverged(self) -> None:
        """DivergedError after several such iterations in a row; they are saved, and other settings may go on."""
        now, lines, run = self.current.manifest, self.current.lines, str(self.home)
        if diverged_in_a_row(lines, now.history) >= IN_A_ROW:
            raise diverged_error(run, self.config.learn, now.iteration, lines[-1]["diverged"], now.finished)

    def iterate(self, iteration: int) -> None:
        """One iteration; afterwards it is on the disk, or nothing has changed there."""
        old = self.current.manifest
        self.spent = {}
        alone = self._alone() if self.game.players == 1 else None
        played = self._play("selfplay", self.config, iteration) if alone is None else alone.play(iteration)
        self.replay.add(iteration, played.examples)
        before = self.trainer.state() if self.config.gate.kind != "off" else None
        report, diverged = self._learn(iteration)
        model, accepted, gate = self._judge(iteration, before)
        over = self._over(iteration, self.seconds)
        judged = self._evaluate(iteration, model, iteration if accepted else old.best, over)._replace(gate=gate)
        if alone is not None:
            alone.see(judged, iteration)
        seconds = self.seconds
        over = over or (judged.is_evaluated and self._over(iteration, seconds))
        files = {numbered("games", iteration, "pgn"): self._games(iteration, played), **self._reward_file(iteration)}
        names = {name: digest for name, digest in old.files.items() if not name.endswith(".safetensors")}
        if accepted:
            files[numbered("checkpoints", iteration, "onnx")] = model
            files[numbered("checkpoints", iteration, "safetensors")] = self._state()
        trainer = iteration if accepted else old.trainer
        files[numbered("replay", iteration, "safetensors")] = pack(self.replay.save_iteration(iteration))
        kept = [numbered("replay", number, "safetensors") for number in self.replay.iterations]
        kept.append(numbered("checkpoints", trainer, "safetensors"))
        names |= {name: old.files.get(name, "") for name in (*kept, *files)}
        manifest = replace(
            old,
            iteration=iteration,
            best=iteration if accepted else old.best,
            trainer=trainer,
            seconds=seconds,
            games=old.games + len(played.records),
            positions=old.positions + len(played.examples),
            finished=over,
            files=names,
        )
        line = measure(
            self.config,
            manifest,
            played,
            report,
            judged,
            self.reward,
            seconds=self.spent,
            buffer=len(self.replay),
            earlier=self.current.lines,
            progress=self._progress(iteration),
            diverged=diverged,
            solo=None if alone is None else alone.line(played),
        )
        self._save(manifest, files, line, model if accepted else self.current.model)

    def _alone(self) -> SoloIteration:
        """The parts of the next iteration that only a game for one player has."""
        return SoloIteration(self.game, self.config, self.reward, self.home.path, self.current.lines, self._play)

    def _play(self, stage: Stage, config: RunConfig, iteration: int) -> Any:
        """The games of a stage by the network that plays; `config` says how many and how."""
        with self._stage(iteration, stage, config.selfplay.games, "games") as listen:
            switched = any(line["warm"] and line["warm"]["switch"] for line in self.current.lines)
            given = (self.game, self.current.model, config, iteration, listen)
            return self.stages.play_games(*given, switched=switched, reward=self.reward)

    def _learn(self, iteration: int) -> tuple[Any, str | None]:
        """The trainer's report, and why it counts as diverged if it does."""
        steps = self.replay.steps(self.config.learn, len(self.game.symmetries))
        with self._stage(iteration, "training", steps, "batches") as listen:
            rng = np.random.default_rng([self.config.seed, iteration, BATCHES])
            turned = not self.config.defects.unturned_policies
            batches = self.replay.batches(self.game, self.config.learn, rng, turn_policies=turned)
            report = self.trainer.train(batches, steps, self._progress(iteration), listen)
        diverged = divergence(report, self.game.num_actions)
        if diverged:
            self.tell(events.Warned(f"iteration {iteration} diverged: {diverged}"))
        return report, diverged

    def _judge(self, iteration: int, before: Any) -> tuple[bytes, bool, Any]:
        """The candidate's ONNX, whether it plays from now on, and the gate's result; a rejected one is undone."""
        candidate = self.trainer.onnx()
        if before is None:
            return candidate, True, None
        with self._stage(iteration, "gate", self.config.gate.games, "games") as listen:
            pair, heard = (candidate, self.current.model), listen.match(self.config.gate.games)
            result = self.stages.judge(self.game, *pair, self.config, iteration, heard, reward=self.reward)
        self.tell(events.GateEnded(iteration, result))
        if result.accepted:
            return candidate, True, result
        self.trainer.load_state(before)
        return self.current.model, False, result

    def _evaluate(self, iteration: int, model: bytes, network: int, over: bool) -> Judged:
        """What is due of demerits, anchors and earlier networks; `network` is the iteration that made this one."""
        panel = DueEvaluations(self.game, self.config, self.stages, self.reward)
        plan = panel.plan(iteration, network, self.current.lines, over)
        if not plan.games:
            return Judged()
        with self._stage(iteration, "evaluation", plan.games, "games") as listen:
            judged = panel.judge(plan, model, self._network, listen)
        if judged.is_evaluated:
            self.tell(events.EvaluationEnded(iteration, judged.results or judged.scores or ()))
        return judged

    def _network(self, iteration: int) -> bytes:
        return self.home.read(numbered("checkpoints", iteration, "onnx"), self.current.manifest)

    def _games(self, iteration: int, played: Any) -> bytes:
        """The games of an iteration as PGN."""
        tags = {"Event": f"self-play, iteration {iteration}"}
        return "".join(write_game(record, self.game, tags) for record in played.records).encode()

    def _save(self, manifest: Manifest, files: dict[str, bytes], line: Metrics, model: bytes) -> None:
        try:
            with self._stage(manifest.iteration, "saving", None, ""):
                manifest = self.home.save(manifest, files, line, self.config.keep)
        except DamagedRunError:
            raise
        except RunError as error:
            raise RunError(
                f"{error}; the run is intact after iteration {manifest.iteration - 1}: make room, then"
                f" palaestra resume {self.home}"
            ) from None
        self.current = _Current(manifest, model, [*self.current.lines, line])
        self.tell(events.IterationEnded(manifest.iteration, line))

    # Time and talk.

    @property
    def seconds(self) -> float:
        """Of the whole run, earlier sessions included."""
        return self.seconds_before + time.perf_counter() - self.clock

    def _over(self, iteration: int, seconds: float) -> bool:
        ends, minutes = self.config.iterations, self.config.minutes
        return (ends is not None and iteration >= ends) or (minutes is not None and seconds >= 60 * minutes)

    def _progress(self, iteration: int) -> float:
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

    def _state(self) -> bytes:
        return pack(self.trainer.state())

    def _reward_file(self, iteration: int) -> dict[str, bytes]:
        """What the reward has learned, as a file; none if it learns nothing."""
        if not self.reward.learns:
            return {}
        return {numbered("reward", iteration, "safetensors"): pack(self.reward.state())}

    def _stage(self, iteration: int, stage: Stage, total: int | None, unit: str) -> StageTimer:
        return StageTimer(self.tell, self.spent, iteration, stage, total, unit)

    def tell(self, event: events.Event) -> None:
        for listener in self.listeners:
            listener(event)

    def summary(self) -> Summary:
        now = self.current.manifest
        return Summary(
            self.home.path,
            self.game,
            self.config,
            now.iteration,
            now.games,
            now.positions,
            now.seconds,
            now.best,
            tuple(self.current.lines),
        )
