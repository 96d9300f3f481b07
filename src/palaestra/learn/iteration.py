"""One iteration: self-play, training, gate, evaluation, saving (Alg. 2; sources: self-play loop).

Every stage draws from (seed, iteration, stage) and nothing else. Nothing is printed here; listeners are told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from palaestra.base.errors import DamagedRunError, RunError
from palaestra.base.progress import ProgressListener
from palaestra.base.types import Arrays
from palaestra.games.base import Game
from palaestra.learn import events
from palaestra.learn.config import RunConfig
from palaestra.learn.divergence import divergence
from palaestra.learn.due_evaluations import DueEvaluations, Judged
from palaestra.learn.events import Stage, StageTimer
from palaestra.learn.gate import GateResult
from palaestra.learn.learner import TrainReport
from palaestra.learn.metrics_line import measure
from palaestra.learn.played import Played, course_state
from palaestra.learn.running_elo import playing
from palaestra.learn.schedules import scheduled
from palaestra.learn.selfplay import SelfPlay
from palaestra.learn.session import Session
from palaestra.learn.solo_iteration import SoloIteration
from palaestra.runs.folder import numbered, pack
from palaestra.runs.manifest import Change, Manifest
from palaestra.runs.metrics import MetricsLine
from palaestra.runs.pgn_games import write_game
from palaestra.runs.places import fit_for_files

BATCHES = 101  # number of the stage that draws batches, in its random seed


class Learned(NamedTuple):
    """What training gave, and why it counts as diverged if it does."""

    report: TrainReport
    diverged: str | None


class Chosen(NamedTuple):
    """The network that plays after the gate."""

    model: bytes
    accepted: bool  # whether it is the candidate
    gate: GateResult | None  # None without a gate


class Iteration:
    """The next iteration of a session."""

    def __init__(self, session: Session) -> None:
        self.session, self.config, self.game = session, session.config, session.game
        self.before = session.current  # what it starts from
        self.number = self.before.manifest.iteration + 1
        self.spent: dict[str, float] = {}  # seconds by stage
        self.how = scheduled(self.config, session.progress(self.number))  # self-play is done now
        self.course = session.course
        self.stage = self.course.stage(self.before.lines)  # the game at which networks are compared
        self.playing = self.course.played(self.before.lines)

    def run(self) -> None:
        """Do the iteration and save it. If anything fails before it is saved, nothing has changed on the disk."""
        session = self.session
        solo = self._solo() if self.game.players == 1 else None
        alone = None if solo is None else solo.play(self.number)
        played = self._play_course() if alone is None else Played({self.course.own: alone})
        self._begin_ahead()
        session.replay.add(self.number, played.examples)
        before = session.trainer.state() if self.config.gate.kind != "off" else None
        session.grow(self.number)
        learned = self._learn()
        chosen = self._choose(before)
        over = session.is_over(self.number, session.seconds)
        judged = self._evaluate(chosen, over)
        if solo is not None:
            solo.see(judged, self.number)
        seconds = session.seconds
        over = over or (judged.is_evaluated and session.is_over(self.number, seconds))
        files = self._files(played, chosen)
        manifest = self._manifest(played, chosen, files, seconds, over)
        line = measure(
            self.config,
            manifest,
            played,
            learned.report,
            judged,
            session.reward,
            seconds=self.spent,
            buffer=len(session.replay),
            earlier=self.before.lines,
            progress=session.progress(self.number),
            diverged=learned.diverged,
            course=course_state(self.course, self.stage, played, judged, session.progress(self.number)),
            solo=None if solo is None or alone is None else solo.part(alone),
        )
        self._save(manifest, files, line, chosen.model)

    # The stages.

    def _solo(self) -> SoloIteration:
        """The parts that only a game for one player has."""
        session = self.session
        return SoloIteration(self.game, self.how, session.reward, session.home.path, self.before.lines, self._play)

    def _play(self, stage: Stage, config: RunConfig) -> SelfPlay:
        """The games of a stage by the network that plays; `config` says how many and how."""
        with self._timer(stage, config.selfplay.games, "games") as listen:
            return self._play_game(self.course.own, config, listen)

    def _play_course(self) -> Played:
        """The games of self-play, of each game of the course as many as its share says."""
        counts, parts = self.course.counts(self.how.selfplay.games, self.playing), dict[int, SelfPlay]()
        with self._timer("selfplay", sum(counts.values()), "games") as listen:
            for number, games in counts.items():
                config = self.course.settings(self.how, number, games)
                parts[number] = self._play_game(number, config, listen.part(games))
        return Played(parts)

    def _play_game(self, number: int, config: RunConfig, listen: ProgressListener) -> SelfPlay:
        switched = any(line.warm is not None and line.warm.switch for line in self.before.lines)
        return self.session.stages.play_games(
            self.course.games[number],
            self.before.model,
            config,
            self.number,
            listen,
            switched=switched,
            reward=self.session.rewards[number],
            older=self._older() if config.selfplay.overlap else None,
        )

    def _older(self) -> bytes | None:
        """The network that played before the one that plays; None before the second iteration."""
        return self._network(playing(self.before.lines[:-1])) if self.before.lines else None

    def _begin_ahead(self) -> None:
        """Let games of the next iteration begin, by the network that has just played; the next one waits for them."""
        begin = self.session.stages.begin_games
        if self.config.selfplay.overlap and begin is not None and not self.session.is_last(self.number):
            begin(self.game, self.before.model, self.config, self.number + 1, reward=self.session.reward)

    def _learn(self) -> Learned:
        session = self.session
        by_game = session.replay.steps(self.playing)
        steps = sum(by_game.values())
        with self._timer("training", steps, "batches") as listen:
            rng = np.random.default_rng([self.config.seed, self.number, BATCHES])
            turned = not self.config.defects.unturned_policies
            batches = session.replay.batches(by_game, rng, turn_policies=turned)
            report = session.trainer.train(batches, steps, session.progress(self.number), listen)
        diverged = divergence(report, self.game.num_actions)
        if diverged:
            session.tell(events.Warned(f"iteration {self.number} diverged: {diverged}"))
        return Learned(report, diverged)

    def _choose(self, before: Arrays | None) -> Chosen:
        """Let the gate decide; the training of a rejected candidate is undone, by the state `before` it."""
        session, games = self.session, self.config.gate.games
        candidate = session.trainer.onnx()
        if before is None:
            return Chosen(candidate, True, None)
        with self._timer("gate", games, "games") as listen:
            result = session.stages.judge(
                self.course.games[self.stage],
                candidate,
                self.before.model,
                self.config,
                self.number,
                listen.match(games),
                reward=session.rewards[self.stage],
            )
        session.tell(events.GateEnded(self.number, result))
        if result.accepted:
            return Chosen(candidate, True, result)
        session.trainer.load_state(before)
        return Chosen(self.before.model, False, result)

    def _evaluate(self, chosen: Chosen, over: bool) -> Judged:
        """What is due of demerits, anchors and earlier networks, with the gate's result."""
        session = self.session
        due = DueEvaluations(self.course, self.config, session.stages, session.rewards, self.stage)
        network = self.number if chosen.accepted else self.before.manifest.best
        plan = due.plan(self.number, network, self.before.lines, over)
        if not plan.games:
            return Judged(gate=chosen.gate)
        with self._timer("evaluation", plan.games, "games") as listen:
            judged = due.judge(plan, chosen.model, self._network, listen)
        if judged.results is not None:
            session.tell(events.EvaluationEnded(self.number, judged.results))
        elif judged.scores is not None:
            session.tell(events.EvaluationEnded(self.number, tuple(scored.score for scored in judged.scores)))
        return judged._replace(gate=chosen.gate)

    def _network(self, iteration: int) -> bytes:
        return self.session.home.read(numbered("checkpoints", iteration, "onnx"), self.before.manifest)

    # Saving.

    def _files(self, played: Played, chosen: Chosen) -> dict[str, bytes]:
        """The new files of the iteration."""
        session, number = self.session, self.number
        tags = {"Event": f"self-play, iteration {number}"}
        files = {numbered("games", number, "pgn"): b"", **session.reward_file(number)}
        for which, part in played.parts.items():
            game = self.course.games[which]
            games = "".join(write_game(record, game, tags) for record in part.records)
            files[games_file(number, game if which != self.course.own else None)] = games.encode()
        if chosen.accepted:
            files |= {numbered("checkpoints", number, "onnx"): chosen.model, **session.state_file(number)}
        files[numbered("replay", number, "safetensors")] = pack(session.replay.save_iteration(number))
        return files

    def _manifest(
        self, played: Played, chosen: Chosen, files: Mapping[str, bytes], seconds: float, over: bool
    ) -> Manifest:
        """The manifest that names all files which are needed after the iteration."""
        old, net = self.before.manifest, self.session.net
        grown: Change = {"after_iteration": self.number - 1, "changed": [f"net grew from {old.net} to {net}"]}
        trainer = self.number if chosen.accepted else old.trainer
        names = {name: digest for name, digest in old.files.items() if not name.endswith(".safetensors")}
        kept = [numbered("replay", number, "safetensors") for number in self.session.replay.iterations]
        kept.append(numbered("checkpoints", trainer, "safetensors"))
        names |= {name: old.files.get(name, "") for name in (*kept, *files)}
        return replace(
            old,
            iteration=self.number,
            best=self.number if chosen.accepted else old.best,
            trainer=trainer,
            net=net,
            history=old.history if net == old.net else (*old.history, grown),
            seconds=seconds,
            games=old.games + len(played.records),
            positions=old.positions + played.positions,
            finished=over,
            files=names,
        )

    def _save(self, manifest: Manifest, files: Mapping[str, bytes], line: MetricsLine, model: bytes) -> None:
        try:
            with self._timer("saving", None, ""):
                self.session.save(manifest, files, line, model)
        except DamagedRunError:
            raise
        except RunError as error:
            raise RunError(
                f"{error}; the run is intact after iteration {self.number - 1}: make room, then"
                f" palaestra resume {self.session.home}"
            ) from None
        self.session.tell(events.IterationEnded(self.number, line))

    def _timer(self, stage: Stage, total: int | None, unit: str) -> StageTimer:
        return StageTimer(self.session.tell, self.spent, self.number, stage, total, unit)


def games_file(iteration: int, other: Game | None) -> str:
    """ "games/0012.pgn" of the run's own game, "games/0012.hex-6x6.pgn" of another one of its course."""
    if other is None:
        return numbered("games", iteration, "pgn")
    return numbered("games", iteration, f"{fit_for_files(other.id)}.pgn")
