"""The working parts of an iteration, as the loop sees them. Tests put quick ones in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

from palaestra.arena.match import MatchListener, MatchResult
from palaestra.base.progress import ProgressListener
from palaestra.games.base import Game
from palaestra.learn.config import RunConfig
from palaestra.learn.evaluation import AnchorListener, as_configured, demerits, meet, play_anchors
from palaestra.learn.gate import GateResult, judge
from palaestra.learn.learner import Learner
from palaestra.learn.scores import Scored, ScoreListener, play_scores
from palaestra.learn.selfplay import SelfPlay, begin_games, play_games
from palaestra.learn.workforce import SpeedListener, Workforce
from palaestra.rewards.base import Reward
from palaestra.runs.metrics import AnchorResult, Demerits
from palaestra.work.workers import Workers

L_contra = TypeVar("L_contra", contravariant=True)  # who listens
R_co = TypeVar("R_co", covariant=True)  # what is found


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
        older: bytes | None = None,
    ) -> SelfPlay: ...


class BeginGames(Protocol):
    """Begin those games of an iteration that the network `model` plays ahead; `PlayGames` waits for them."""

    def __call__(self, game: Game, model: bytes, config: RunConfig, iteration: int, *, reward: Reward) -> None: ...


class OfOne(Protocol[L_contra, R_co]):
    """Something found out about the network `model`; `number` keys its random numbers."""

    def __call__(
        self, game: Game, model: bytes, config: RunConfig, number: int, listen: L_contra | None = None, /,
        *, reward: Reward,
    ) -> R_co: ...  # fmt: skip


class OfTwo(Protocol[R_co]):
    """A match of the network `model` against the network `other`, in this iteration."""

    def __call__(
        self, game: Game, model: bytes, other: bytes, config: RunConfig, iteration: int,
        listen: MatchListener | None = None, /, *, reward: Reward,
    ) -> R_co: ...  # fmt: skip


@dataclass(frozen=True)
class Stages:
    """The functions that do the work of an iteration."""

    make_trainer: Callable[[Game, RunConfig], Learner]
    play_games: PlayGames
    judge: OfTwo[GateResult]  # the gate: a candidate against the network that plays
    evaluate: OfOne[AnchorListener, Sequence[AnchorResult]]  # against each of the anchors
    meet: OfTwo[MatchResult]  # against the network that was evaluated before
    demerits: OfOne[MatchListener, Demerits]  # against perfect play
    score: OfOne[ScoreListener, Sequence[Scored]]  # with one player: the agent, then each of the anchors
    begin_games: BeginGames | None = None  # None: nothing is played ahead, and `play_games` plays it in its turn
    close: Callable[[], None] = lambda: None  # end what is under way; the run stops


def real_stages(workers: Workers | None = None, hear_speeds: SpeedListener | None = None) -> Stages:
    """The stages of a real run, whose games `workers` play, or threads. This is where PyTorch is loaded."""
    from palaestra.learn.trainer import Trainer

    workforce = Workforce(workers, hear_speeds)
    play, begin = partial(play_games, workforce=workforce), partial(begin_games, workforce)
    evaluate, score = partial(as_configured, play_anchors), partial(as_configured, play_scores)
    return Stages(Trainer, play, judge, evaluate, meet, demerits, score, begin, workforce.close)
