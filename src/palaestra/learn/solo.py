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
from typing import Any

from palaestra.base.streams import keyed_seeds
from palaestra.games.base import Game
from palaestra.learn.config import RunConfig, SelfPlayConfig, SoloConfig
from palaestra.learn.running_elo import Lines
from palaestra.rewards.base import Reward
from palaestra.rewards.ranked import Ranked

DEEP = "deep search"  # who plays, as records say
LEAVES = 32  # most leaves of one tree per step: a deep search has few trees to fill a batch with
_DEEP = 0xDEE9  # sets the random numbers of deep searches apart from those of self-play


def is_deep(config: SoloConfig, iteration: int) -> bool:
    """Whether a deep search plays in iteration 1, 2, …"""
    return config.every > 0 and iteration % config.every == 0


def deep_config(config: RunConfig) -> RunConfig:
    """The run's configuration with deep searches in place of its self-play: the best move, from a new tree each time.

    Games begin where the game does. Several leaves a step keep the network's batches full.
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
        | {"temperature": 0.0, "late_temperature": 0.0}
        | {"opening_fraction": 0.0, "opening_plies": 0, "quick_fraction": 0.0}
    )
    seed = int(keyed_seeds(config.seed, _DEEP)[0] >> 1)
    return config.model_copy(update={"selfplay": selfplay, "seed": seed})


def exploration(config: SoloConfig, lines: Lines) -> float:
    """The factor, at least 1, by which the iteration after these lines explores more than the settings say.

    Widened where the last line's window is stuck or the threshold has been the same for `patience` iterations;
    narrowed where the threshold has just moved, either way; otherwise as it was. A threshold that is the best possible
    score widens nothing: there is nothing left to find.
    """
    before = [line["ranked"] for line in lines]
    if not config.patience or not before or before[-1] is None:
        return 1.0
    factor, last = float(lines[-1]["exploration"]), before[-1]
    recent = [entry["threshold"] for entry in before[-1 - config.patience :]]
    still = len(recent) > config.patience and len(set(recent)) == 1
    if (last["stuck"] or still) and not last["solved"]:
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


def solo_line(
    reward: Reward, game: Game, records: Sequence[Any], deep: int, best: int, factor: float
) -> dict[str, Any]:
    """What a line of metrics says of one player only; `deep` of the records are a deep search's, the last ones."""
    scores, ranked = scores_line(records, deep, best), ranked_line(reward, game)
    return {"scores": scores, "ranked": ranked, "exploration": factor}


def ranked_line(reward: Reward, game: Game) -> dict[str, Any] | None:
    """Where a ranked reward stands, as a line of metrics keeps it; None for any other."""
    if not isinstance(reward, Ranked):
        return None
    threshold = reward.threshold
    solved = threshold is not None and threshold >= game.largest_outcome
    return {"threshold": threshold, "window": len(reward.window), "stuck": reward.stuck, "solved": solved}


def scores_line(records: Sequence[Any], deep: int, best: int) -> dict[str, Any]:
    """Scores of an iteration's games, the last `deep` of which a deep search played; `best` is the run's record."""
    scores = [record.outcome for record in records]
    own, found = scores[: len(scores) - deep], scores[len(scores) - deep :]
    return {
        "mean": sum(own) / len(own),
        "highest": max(own),
        "lowest": min(own),
        "deep": {"mean": sum(found) / deep, "highest": max(found)} if deep else None,
        "best": best,
    }


def best_score(lines: Lines) -> int | None:
    """The record after these iterations; None before any."""
    return int(lines[-1]["scores"]["best"]) if lines else None
