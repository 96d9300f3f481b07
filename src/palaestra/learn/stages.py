"""The working parts of an iteration, as the loop sees them. Tests put quick ones in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from palaestra.arena.match import MatchListener, MatchResult
from palaestra.base.progress import ProgressListener
from palaestra.base.types import Arrays
from palaestra.games.base import Game
from palaestra.learn.batch import Batch
from palaestra.learn.config import RunConfig
from palaestra.learn.evaluation import AnchorListener, as_configured, demerits, meet, play_anchors
from palaestra.learn.gate import GateResult, judge
from palaestra.learn.scores import Scored, ScoreListener, play_scores
from palaestra.learn.selfplay import SelfPlay, play_games
from palaestra.learn.train_report import TrainReport
from palaestra.rewards.base import Reward
from palaestra.runs.metrics import AnchorResult, Demerits


class Learner(Protocol):
    """What the loop needs of a trainer (`trainer.Trainer`)."""

    def train(
        self, batches: Iterator[Batch], steps: int, progress: float, listen: ProgressListener | None = None
    ) -> TrainReport: ...

    def onnx(self) -> bytes: ...

    def state(self) -> Arrays: ...

    def load_state(self, state: Arrays) -> None: ...


class PlayGames(Protocol):
    """The self-play games of an iteration by the network `model`; a reward that learns has then learned from them."""

    def __call__(
        self,
        game: Game,
        model: bytes,
        config: RunConfig,
        iteration: int,
        listen: ProgressListener | None = None,
        *,
        switched: bool,
        reward: Reward,
    ) -> SelfPlay: ...


class Judge(Protocol):
    """The gate's match of a candidate against the network that plays."""

    def __call__(
        self,
        game: Game,
        candidate: bytes,
        best: bytes,
        config: RunConfig,
        iteration: int,
        listen: MatchListener | None = None,
        *,
        reward: Reward,
    ) -> GateResult: ...


class Evaluate(Protocol):
    """The network against each of the anchors."""

    def __call__(
        self,
        game: Game,
        model: bytes,
        config: RunConfig,
        seed: int,
        listen: AnchorListener | None = None,
        *,
        reward: Reward,
    ) -> Sequence[AnchorResult]: ...


class Meet(Protocol):
    """The network against one of an earlier iteration."""

    def __call__(
        self,
        game: Game,
        model: bytes,
        earlier: bytes,
        config: RunConfig,
        iteration: int,
        listen: MatchListener | None = None,
        *,
        reward: Reward,
    ) -> MatchResult: ...


class CountDemerits(Protocol):
    """The network against perfect play."""

    def __call__(
        self,
        game: Game,
        model: bytes,
        config: RunConfig,
        iteration: int,
        listen: MatchListener | None = None,
        *,
        reward: Reward,
    ) -> Demerits: ...


class PlayScores(Protocol):
    """With one player: the scores of the agent, and then of each of the anchors."""

    def __call__(
        self,
        game: Game,
        model: bytes,
        config: RunConfig,
        seed: int,
        listen: ScoreListener | None = None,
        *,
        reward: Reward,
    ) -> Sequence[Scored]: ...


@dataclass(frozen=True)
class Stages:
    """The functions that do the work of an iteration."""

    make_trainer: Callable[[Game, RunConfig], Learner]
    play_games: PlayGames
    judge: Judge
    evaluate: Evaluate
    meet: Meet
    demerits: CountDemerits
    score: PlayScores


def real_stages() -> Stages:
    """The stages of a real run. This is where PyTorch is loaded."""
    from palaestra.learn.trainer import Trainer

    evaluate, score = partial(as_configured, play_anchors), partial(as_configured, play_scores)
    return Stages(Trainer, play_games, judge, evaluate, meet, demerits, score)
