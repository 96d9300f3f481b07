"""How strong an agent is, against players that never change (sources: traps).

Elo is logistic and relative to the anchor; against `random` it is the Elo above random play. Where all games are won
the difference has no upper end, and is given as such: the lower end of its interval still says something.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from palaestra.arena.match import MatchListener, MatchResult, Running
from palaestra.arena.parallel import Team, play_parallel
from palaestra.arena.statistics import finite
from palaestra.base.streams import keyed_seeds
from palaestra.games.base import Game
from palaestra.learn.config import RunConfig
from palaestra.learn.demerits import play_demerits
from palaestra.players.registry import make_player
from palaestra.players.runs import make_agent, playing_search
from palaestra.rewards.base import Reward
from palaestra.runs.metrics import AnchorResult, Demerits, Elo
from palaestra.search.config import SearchConfig

_HISTORY, _DEMERITS = 0x415, 0xDE3  # set the random numbers of these games apart from other stages'
T = TypeVar("T")
AnchorListener = Callable[[str, Running], None]


def as_configured(
    play: Callable[..., list[T]],
    game: Game,
    model: bytes,
    config: RunConfig,
    seed: int,
    listen: Callable[..., None] | None = None,
    *,
    reward: Reward | None = None,
) -> list[T]:
    """What `play` (`play_anchors`, or for one player `scores.play_scores`) gives with a run's evaluation settings."""
    settings = config.evaluation
    return play(
        game,
        model,
        config.selfplay.search,
        settings.anchors,
        games=settings.games,
        simulations=settings.simulations,
        threads=config.threads,
        seed=seed,
        reward=reward,
        listen=listen,
    )


def meet(
    game: Game,
    model: bytes,
    earlier: bytes,
    config: RunConfig,
    iteration: int,
    listen: MatchListener | None = None,
    *,
    reward: Reward | None = None,
) -> MatchResult:
    """The network against the one that was evaluated before it, both as they meet the anchors, for the running Elo."""
    settings = config.evaluation
    search = playing_search(config.selfplay.search, settings.simulations)
    agent = partial(make_agent, game, search=search, reward=reward)
    teams: list[Team] = [(agent("network", model), agent("earlier", earlier)) for _ in range(config.threads)]
    seed = int(keyed_seeds(config.seed, iteration, _HISTORY)[0] >> 1)
    return play_parallel(game, teams, settings.history, seed=seed, listen=listen)


def demerits(
    game: Game,
    model: bytes,
    config: RunConfig,
    iteration: int,
    listen: MatchListener | None = None,
    *,
    reward: Reward | None = None,
) -> Demerits:
    """What the network, searching as against anchors, gives away to perfect play from any start (sources: demerits)."""
    search = playing_search(config.selfplay.search, config.evaluation.simulations)
    agents = [make_agent(game, "agent", model, search, reward=reward) for _ in range(config.threads)]
    seed = int(keyed_seeds(config.seed, iteration, _DEMERITS)[0] >> 1)
    return play_demerits(game, agents, seed, listen)


def play_anchors(
    game: Game,
    model: bytes,
    search: SearchConfig,
    anchors: Sequence[str],
    *,
    games: int,
    simulations: int,
    threads: int,
    seed: int,
    averaged: bool = False,
    reward: Reward | None = None,
    listen: AnchorListener | None = None,
) -> list[AnchorResult]:
    """One match against each anchor, all from the same openings; `search` is that of the agent's self-play.

    The agent searches under `reward`, by default the game's own.
    """
    playing, text = playing_search(search, simulations), f"agent(simulations={simulations})"
    agents = [make_agent(game, text, model, playing, averaged, reward=reward) for _ in range(threads)]
    results = []
    for anchor in anchors:
        teams: list[Team] = [(agent, make_player(anchor, game)) for agent in agents]
        match = play_parallel(game, teams, games, seed=seed, listen=_named(anchor, listen))
        results.append(anchor_result(match, simulations))
    return results


def anchor_result(match: MatchResult, simulations: int) -> AnchorResult:
    """What a match against an anchor, who is B, says of the agent."""
    difference, low, high = (finite(elo) for elo in match.elo)
    return AnchorResult(
        anchor=match.b,
        simulations=simulations,
        wins=match.wins,
        draws=match.draws,
        losses=match.losses,
        score=match.score,
        interval=match.interval,
        elo=(difference, low, high),
        games=match.games,
        distinct_games=match.distinct_games,
    )


def elo_above_random(results: Sequence[AnchorResult]) -> Elo | None:
    """The Elo on the scale where `random` is 0, or None if it was not among the anchors."""
    return next((result.elo for result in results if result.anchor == "random"), None)


def _named(anchor: str, listen: AnchorListener | None) -> Callable[[Running], None] | None:
    return None if listen is None else lambda running: listen(anchor, running)
