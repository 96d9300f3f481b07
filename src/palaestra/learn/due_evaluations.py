"""The evaluations of an iteration: which matches of its network are due, and what they gave.

Demerits are counted in every iteration that wants them; anchors, and the network that was evaluated before, are met
every so many iterations and at the end. With one player there are no matches: the agent and the anchors play for a
score. The games are played by the stages that are given; nothing is kept here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from palaestra.arena.match import Running
from palaestra.games.base import Game
from palaestra.learn.config import RunConfig
from palaestra.learn.course import Course
from palaestra.learn.demerits import demerit_games
from palaestra.learn.events import StageTimer
from palaestra.learn.gate import GateResult
from palaestra.learn.running_elo import encounter, evaluated_before
from palaestra.learn.scores import Scored
from palaestra.learn.stages import Stages
from palaestra.rewards.base import Reward
from palaestra.runs.metrics import AnchorResult, Demerits, Encounter, Lines


class Judged(NamedTuple):
    """What the matches of an iteration said; None where there was none."""

    gate: GateResult | None = None
    results: tuple[AnchorResult, ...] | None = None  # against the anchors
    elsewhere: dict[int, tuple[AnchorResult, ...]] | None = None  # at other games of the course, by number
    history: Encounter | None = None  # against the network evaluated before
    demerits: Demerits | None = None
    scores: tuple[Scored, ...] | None = None  # with one player: the agent's, then the anchors'

    @property
    def is_evaluated(self) -> bool:
        """Whether the anchors were met."""
        return self.results is not None or self.scores is not None


class Plan(NamedTuple):
    """Which matches the network of an iteration plays."""

    iteration: int
    network: int  # the iteration that made the network
    demerits: int  # games against perfect play, 0: none
    anchors: bool
    against: int | None  # the network evaluated before, if it is met
    games: int  # of all matches


@dataclass(frozen=True)
class DueEvaluations:
    course: Course
    config: RunConfig
    stages: Stages
    rewards: Sequence[Reward]  # under which all sides search, by the number of the game
    stage: int  # the game at which networks of the run meet

    @property
    def game(self) -> Game:
        """The run's own, at which anchors are met."""
        return self.course.games[self.course.own]

    @property
    def reward(self) -> Reward:
        return self.rewards[self.course.own]

    @property
    def elsewhere(self) -> list[int]:
        """Other games at which anchors are met, too."""
        return list(range(self.course.own)) if self.config.course.judged == "each" else []

    def plan(self, iteration: int, network: int, lines: Lines, over: bool) -> Plan:
        """What is due in an iteration; `over` says that it is the run's last, `lines` are those before it."""
        settings = self.config.evaluation
        due = over or (settings.every > 0 and iteration % settings.every == 0)
        earlier = evaluated_before(lines)
        against = earlier if due and settings.history and earlier != network else None
        demerits = demerit_games(self.game) if settings.demerits else 0
        players = len(settings.anchors) + (self.game.players == 1)
        games = (
            demerits
            + due * settings.games * players * (1 + len(self.elsewhere))
            + (against is not None) * settings.history
        )
        return Plan(iteration, network, demerits, due, against, games)

    def judge(self, plan: Plan, model: bytes, read: Callable[[int], bytes], listen: StageTimer) -> Judged:
        """Play what was planned with the network `model`; `read` gives the network of an earlier iteration."""
        judged = Judged()
        if plan.demerits:
            heard = listen.match(plan.demerits)
            demerits = self.stages.demerits(self.game, model, self.config, plan.iteration, heard, reward=self.reward)
            judged = judged._replace(demerits=demerits)
        if plan.anchors and self.game.players == 1:
            judged = judged._replace(scores=self._score(plan.iteration, model, listen))
        elif plan.anchors:
            results, *others = [
                self._meet_anchors(number, plan.iteration, model, listen)
                for number in (self.course.own, *self.elsewhere)
            ]
            judged = judged._replace(results=results, elsewhere=dict(zip(self.elsewhere, others, strict=True)))
        if plan.against is not None:
            heard = listen.match(self.config.evaluation.history)
            earlier, iteration = read(plan.against), plan.iteration
            game, reward = self.course.games[self.stage], self.rewards[self.stage]
            match = self.stages.meet(game, model, earlier, self.config, iteration, heard, reward=reward)
            judged = judged._replace(history=encounter(match, plan.network, plan.against))
        return judged

    def _meet_anchors(self, number: int, iteration: int, model: bytes, listen: StageTimer) -> tuple[AnchorResult, ...]:
        settings = self.config.evaluation
        heard = {anchor: listen.match(settings.games) for anchor in settings.anchors}

        def told(anchor: str, running: Running) -> None:
            heard[anchor](running)

        seed = self._seed(iteration)
        game, reward = self.course.games[number], self.rewards[number]
        return tuple(self.stages.evaluate(game, model, self.config, seed, told, reward=reward))

    def _score(self, iteration: int, model: bytes, listen: StageTimer) -> tuple[Scored, ...]:
        before: dict[str, int] = {}  # player -> games of those before it

        def heard(player: str, finished: int) -> None:
            listen(before.setdefault(player, len(before) * self.config.evaluation.games) + finished)

        seed = self._seed(iteration)
        return tuple(self.stages.score(self.game, model, self.config, seed, heard, reward=self.reward))

    def _seed(self, iteration: int) -> int:
        return int(np.random.SeedSequence([self.config.seed, iteration]).generate_state(1, np.uint64)[0] >> 1)
