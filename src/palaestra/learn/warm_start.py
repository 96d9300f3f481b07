"""Warm starts (thesis, Ch5 and Ch6; sources: Alg. 3 and 5; Alg. 6; Alg. 10 to 14): how the first iterations search.

The thesis's five enhancements are settings of one search and a mix of evaluators, nothing more:

    enhancement   rule in the tree   value of a leaf             playout moves in AMAF
    rollout       as configured      playout                     –
    rave          rave               network                     –
    rora          rave               playout                     no
    wro           as configured      (1 - w) network + w playout –
    wrora         rave               (1 - w) network + w playout yes

Priors come from the network in all of them, and policies from visits. A sixth, rhea, has no tree: `planning` moves in
its place (sources: RHEA as a warm start). Gate and evaluation never use them.

An adaptive start lets the enhancement and the default search play each other and switches when the default is ahead
(Alg. 6). With one player they play the same beginnings instead: game k by the enhancement, game k + pairs by the
default, and of each pair the larger outcome wins. Only the order of outcomes counts, as everywhere, and no reward.

Nothing is remembered here: whether an adaptive run has switched is a function of what its iterations recorded.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from palaestra.base.types import Int8s, Int32s, Int64s
from palaestra.games.base import Game
from palaestra.learn.config import RunConfig, WarmStartConfig
from palaestra.rewards.base import Primitive, Reward
from palaestra.runs.metrics import WarmStartState
from palaestra.search.config import SearchConfig
from palaestra.search.evaluator import Evaluator, Mixed, Rollout

DEFAULT, ENHANCED = 0, 1  # the two searches of an adaptive iteration


class Enhanced(NamedTuple):
    """A search and how its leaves are judged."""

    search: SearchConfig
    weight: float  # w: share of a random playout in the value of a leaf; 0: none is played
    trace: bool  # whether the moves of playouts are kept, for AMAF
    evolves: bool = False  # there is no tree: plans are evolved, with as many random games as simulations


def enhanced(search: SearchConfig, enhancement: str, weight: float) -> Enhanced:
    """The search of one enhancement; `weight` is read by wro and wrora only."""
    share = {"none": 0.0, "rave": 0.0, "rollout": 1.0, "rora": 1.0, "wro": weight, "wrora": weight, "rhea": 1.0}[
        enhancement
    ]
    if enhancement not in ("rave", "rora", "wrora"):
        return Enhanced(search, share, False, evolves=enhancement == "rhea")
    playouts = enhancement == "wrora"
    changed = {**search.model_dump(), "rule": "rave", "rave_playouts": playouts}
    return Enhanced(SearchConfig.model_validate(changed), share, playouts)


def weight_at(config: WarmStartConfig, iteration: int) -> float:
    """w of iteration 1, 2, …: 1, 1 - 1/I′, … (Eq. 5.7 with i from 0), or 1, 1/2, 1/3, … (Ch6)."""
    if config.weight == "harmonic" or (config.weight is None and config.adaptive):
        return 1.0 / iteration
    return 1.0 - (iteration - 1) / config.last


def is_warm(config: WarmStartConfig, iteration: int, switched: bool = False) -> bool:
    """Whether iteration 1, 2, … uses the enhancement; `switched` says that an earlier one recorded a switch."""
    return config.enhancement != "none" and iteration <= config.last and not switched


def search_for(config: RunConfig, iteration: int, switched: bool = False) -> Enhanced:
    """The search of an iteration: the enhancement's while the run is warm, then the configured one."""
    search, warm = config.selfplay.search, config.warm
    if not is_warm(warm, iteration, switched):
        return Enhanced(search, 0.0, False)
    return enhanced(search, warm.enhancement, weight_at(warm, iteration))


def leaf_evaluator(game: Game, network: Evaluator, plan: Enhanced, reward: Reward) -> Evaluator:
    """The network, or the network and a random playout with the plan's weight (Eq. 5.5)."""
    if plan.weight == 0.0:
        return network
    return Mixed(network, Rollout(game, reward, plan.trace), plan.weight)


def seat(numbers: Int64s, movers: Int8s, games: int) -> Int64s:
    """Which search moves, DEFAULT or ENHANCED [n]: the enhancement is first in the first half of the games (Alg. 6)."""
    enhanced_side = (2 * numbers >= games).astype(np.int64)
    return np.where(movers == enhanced_side, ENHANCED, DEFAULT)


def pairs_of(games: int) -> int:
    """With one player, what the numbers of two games with the same beginning differ by; an odd game has no partner."""
    return (games + 1) // 2


def balance(outcomes: Int32s, players: int) -> int:
    """r: wins minus losses of the default search over all games of an iteration, by number; a draw adds 0."""
    games = len(outcomes)
    if players == 1:
        default = outcomes[pairs_of(games) :].astype(np.int64)
        return int(np.sign(default - outcomes[: len(default)]).sum())
    default_first = seat(np.arange(games), np.zeros(games, dtype=np.int8), games) == DEFAULT
    signs = Primitive().value(outcomes)
    return int(np.where(default_first, signs, -signs).sum())


def warm_start_state(config: RunConfig, iteration: int, outcomes: Int32s, players: int = 2) -> WarmStartState:
    """The record of a warm iteration with these outcomes; r > 0 switches (Alg. 6), or without r the end of I′."""
    warm = config.warm
    r = balance(outcomes, players) if warm.adaptive else None
    weight = search_for(config, iteration).weight
    return WarmStartState(warm.enhancement, weight, r, iteration == warm.last if r is None else r > 0)
