"""How strong an agent is, against players that never change (FACTS §9: ratings from self-play alone mean little).

Elo is logistic and relative to the anchor; against `random` it is the Elo above random play. Where all games are won
the difference has no upper end, and is given as such: the lower end of its interval still says something.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from palaestra.arena.match import Listener, MatchResult, Running
from palaestra.arena.parallel import Team, play_parallel
from palaestra.arena.statistics import finite
from palaestra.games.base import Game
from palaestra.learn.config import RunConfig
from palaestra.players.registry import make_player
from palaestra.players.runs import make_agent, playing_search
from palaestra.search.config import SearchConfig
from palaestra.streams import keyed_seeds

_HISTORY = 0x415  # sets the random numbers of the run's own matches apart from other stages'
AnchorListener = Callable[[str, Running], None]
Elo = tuple[float | None, float | None, float | None]  # difference and its 95 % interval; None is infinite


@dataclass(frozen=True)
class AnchorResult:
    """The agent's result against one anchor. Intervals are 95 %."""

    anchor: str
    simulations: int
    wins: int
    draws: int
    losses: int
    score: float
    interval: tuple[float, float]
    elo: Elo
    games: int
    distinct_games: int
    seconds: float

    @classmethod
    def of(cls, match: MatchResult, simulations: int) -> AnchorResult:
        difference, low, high = (finite(elo) for elo in match.elo)
        return cls(
            match.b,
            simulations,
            match.wins,
            match.draws,
            match.losses,
            match.score,
            match.interval,
            (difference, low, high),
            match.games,
            match.distinct_games,
            match.seconds,
        )


def evaluate(
    game: Game, model: bytes, config: RunConfig, seed: int, listen: AnchorListener | None = None
) -> list[AnchorResult]:
    """The network with the run's evaluation settings against each of its anchors; `listen` hears (anchor, score)."""
    settings = config.evaluation
    return play_anchors(
        game,
        model,
        config.selfplay.search,
        settings.anchors,
        games=settings.games,
        simulations=settings.simulations,
        threads=config.threads,
        seed=seed,
        listen=listen,
    )


def meet(
    game: Game, model: bytes, earlier: bytes, config: RunConfig, iteration: int, listen: Listener | None = None
) -> MatchResult:
    """The network against the one that was evaluated before it, both as they meet the anchors, for the running Elo."""
    settings = config.evaluation
    search = playing_search(config.selfplay.search, settings.simulations)
    teams: list[Team] = [
        (make_agent(game, "network", model, search), make_agent(game, "earlier", earlier, search))
        for _ in range(config.threads)
    ]
    seed = int(keyed_seeds(config.seed, iteration, _HISTORY)[0] >> 1)
    return play_parallel(game, teams, settings.history, seed=seed, listen=listen)


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
    listen: AnchorListener | None = None,
) -> list[AnchorResult]:
    """One match against each anchor, all from the same openings; `search` is that of the agent's self-play."""
    playing, text = playing_search(search, simulations), f"agent(simulations={simulations})"
    agents = [make_agent(game, text, model, playing, averaged) for _ in range(threads)]
    results = []
    for anchor in anchors:
        teams: list[Team] = [(agent, make_player(anchor, game)) for agent in agents]
        match = play_parallel(game, teams, games, seed=seed, listen=_named(anchor, listen))
        results.append(AnchorResult.of(match, simulations))
    return results


def elo_by_anchor(results: Sequence[AnchorResult]) -> dict[str, list[float | None]]:
    """anchor -> [Elo, low, high], as a line of metrics keeps it."""
    return {result.anchor: list(result.elo) for result in results}


def elo_above_random(results: Sequence[AnchorResult]) -> Elo | None:
    """The Elo on the scale where `random` is 0, or None if it was not among the anchors."""
    return next((result.elo for result in results if result.anchor == "random"), None)


def _named(anchor: str, listen: AnchorListener | None) -> Callable[[Running], None] | None:
    return None if listen is None else lambda running: listen(anchor, running)
