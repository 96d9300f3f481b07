"""What a run does differently where there is one player (Alg. 7; sources: ranked reward).

- Stage 3: every so many iterations a deep search plays some games. They join those of self-play: their results go into
  the reward's window, their positions into the buffer. The thesis searches after training; here the same network does
  it at the beginning of the next iteration, so that what it finds is learned at once.
- Exploration: where the reward's threshold does not move any more, there is nothing to learn from; temperature and
  noise widen by a factor until it moves, and narrow again while it does.
- The record: the best score so far, from self-play, deep search or evaluation.

All of it is a function of the lines of metrics.jsonl, so that a resumed run goes on with the same numbers. Nothing here
plays or writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from palaestra.base.streams import keyed_seeds
from palaestra.games.base import Game
from palaestra.learn.config import RunConfig, SelfPlayConfig, SoloConfig, WarmStartConfig
from palaestra.rewards.base import Reward
from palaestra.rewards.ranked import Ranked
from palaestra.runs.game_record import GameRecord
from palaestra.runs.metrics import DeepScores, Lines, RankedReward, SelfPlayScores

DEEP = "deep search"  # who plays, as records say
LEAVES = 32  # most leaves of one tree per step: a deep search has few trees to fill a batch with
_DEEP = 0xDEE9  # sets the random numbers of deep searches apart from those of self-play


def is_deep(config: SoloConfig, iteration: int) -> bool:
    """Whether a deep search plays in iteration 1, 2, …"""
    return config.every > 0 and iteration % config.every == 0


def deep_config(config: RunConfig) -> RunConfig:
    """The run's configuration with deep searches in place of its self-play: the best move, from a new tree each time.

    Games begin where the game does, and a warm start has no part in them. Several leaves a step keep the network's
    batches full.
    """
    solo, search = config.solo, config.selfplay.search
    deep = search.model_copy(
        update={
            "simulations": solo.simulations,
            "reuse": False,
            "dirichlet_fraction": 0.0,
            "leaves_per_step": max(1, min(LEAVES, solo.simulations // 64)),
        }
    )
    selfplay = SelfPlayConfig.model_validate(
        config.selfplay.model_dump()
        | {"games": solo.games, "search": deep, "sampling": False, "sampled_policy": "played", "failures": None}
        | {"first_simulations": None, "search_until": 1.0, "temperature": 0.0, "late_temperature": 0.0}
        | {"opening_fraction": 0.0, "opening_plies": 0, "quick_fraction": 0.0}
    )
    seed = int(keyed_seeds(config.seed, _DEEP)[0] >> 1)
    return config.model_copy(update={"selfplay": selfplay, "seed": seed, "warm": WarmStartConfig()})


def exploration(config: SoloConfig, lines: Lines) -> float:
    """The factor, at least 1, by which the iteration after these lines explores more than the settings say.

    Widened where the last line's window is stuck or the threshold has been the same for `patience` iterations;
    narrowed where the threshold has just moved, either way; otherwise as it was. A threshold that is the best possible
    score widens nothing: there is nothing left to find.
    """
    last = lines[-1].ranked if lines else None
    if not config.patience or last is None:
        return 1.0
    factor = lines[-1].exploration or 1.0
    recent = [line.ranked.threshold for line in lines[-1 - config.patience :] if line.ranked is not None]
    still = len(recent) > config.patience and len(set(recent)) == 1
    if (last.stuck or still) and not last.solved:
        return min(config.widest, factor * config.widening)
    if len(recent) > 1 and recent[-1] != recent[-2]:
        return max(1.0, factor / config.widening)
    return factor


def exploring(config: RunConfig, factor: float) -> RunConfig:
    """The configuration with temperatures and the noise of the root multiplied; as it is for a factor of 1."""
    if factor == 1.0:
        return config
    play = config.selfplay
    share = min(1.0, factor * play.search.dirichlet_fraction)
    wider = {
        "temperature": factor * play.temperature,
        "late_temperature": factor * play.late_temperature,
        "search": play.search.model_copy(update={"dirichlet_fraction": share}),
    }
    return config.model_copy(update={"selfplay": play.model_copy(update=wider)})


class SoloPart(NamedTuple):
    """What a line of metrics says of a game for one player only."""

    scores: SelfPlayScores
    ranked: RankedReward | None
    exploration: float


def ranked_reward(reward: Reward, game: Game) -> RankedReward | None:
    """Where a ranked reward stands; None for any other."""
    if not isinstance(reward, Ranked):
        return None
    threshold = reward.threshold
    solved = threshold is not None and threshold >= game.largest_outcome
    return RankedReward(threshold, len(reward.window), reward.stuck, solved)


def selfplay_scores(records: Sequence[GameRecord], deep: int, best: int) -> SelfPlayScores:
    """Scores of an iteration's games, the last `deep` of which a deep search played; `best` is the run's record."""
    scores = [record.final_outcome for record in records]
    own, found = scores[: len(scores) - deep], scores[len(scores) - deep :]
    return SelfPlayScores(
        mean=sum(own) / len(own),
        highest=max(own),
        lowest=min(own),
        deep=DeepScores(sum(found) / deep, max(found)) if deep else None,
        best=best,
    )


def best_score(lines: Lines) -> int | None:
    """The record after these iterations; None before any."""
    return lines[-1].scores.best if lines and lines[-1].scores is not None else None
