"""The arena gate: does the network that was just trained replace the one that plays (sources: arena)?

Both sides search alike, with no noise, and always play their best move; what makes games differ are the openings, each
played twice with sides swapped. The games depend on (seed, iteration) and the two networks alone: not on the number of
threads, and not on what other stages drew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from palaestra.arena.early_stop import play_until_sure
from palaestra.arena.match import MatchListener, MatchResult, play_match
from palaestra.arena.openings import default_plies
from palaestra.arena.parallel import Team, play_parallel
from palaestra.arena.sprt import Sprt
from palaestra.base.streams import keyed_seeds
from palaestra.games.base import Game
from palaestra.learn.config import GateConfig, RunConfig
from palaestra.learn.running_elo import tally_of_first
from palaestra.nets.evaluator import OnnxEvaluator
from palaestra.players.lasting import LastingPlayer
from palaestra.players.runs import make_agent, playing_search
from palaestra.rewards.base import Reward
from palaestra.runs.metrics import Tally

_STAGE = 0x6A7E  # sets the gate's random numbers apart from other stages'


@dataclass(frozen=True)
class GateResult:
    """The candidate's result against the network that played so far."""

    accepted: bool
    wins: int
    draws: int
    losses: int
    reason: str  # one line for people
    games: int = 0
    distinct_games: int = 0
    first: Tally = (0, 0, 0)  # wins, draws and losses in the games that the candidate began


def judge(
    game: Game,
    candidate: bytes,
    best: bytes,
    config: RunConfig,
    iteration: int,
    listen: MatchListener | None = None,
    *,
    reward: Reward | None = None,
) -> GateResult:
    """Play the candidate against the best network and say whether it replaces it; a gate that is off accepts.

    Both search under `reward`, by default the game's own; games are won, drawn or lost whatever that says.
    """
    gate = config.gate
    if gate.kind == "off":
        return GateResult(True, 0, 0, 0, "no gate")
    seed = int(keyed_seeds(config.seed, iteration, _STAGE)[0] >> 1)
    if gate.kind == "sprt":
        accepted, reason, match = _by_test(game, _teams(game, candidate, best, config, reward), gate, seed, listen)
    else:
        if config.defects.lasting_trees:
            match = _without_forgetting(game, candidate, best, config, listen, reward)
        else:
            match = play_parallel(
                game, _teams(game, candidate, best, config, reward), gate.games, seed=seed, listen=listen
            )
        accepted, reason = _by_threshold(match, config)
    return GateResult(
        accepted,
        match.wins,
        match.draws,
        match.losses,
        reason,
        match.games,
        match.distinct_games,
        tally_of_first(match),
    )


def _teams(game: Game, candidate: bytes, best: bytes, config: RunConfig, reward: Reward | None) -> list[Team]:
    """The two networks as players, for each thread."""
    search = playing_search(config.selfplay.search, config.gate.simulations)
    agent = partial(make_agent, game, search=search, reward=reward)
    return [(agent("candidate", candidate), agent("best", best)) for _ in range(config.threads)]


def _without_forgetting(
    game: Game, candidate: bytes, best: bytes, config: RunConfig, listen: MatchListener | None, reward: Reward | None
) -> MatchResult:
    """One game after the other from the first position, by searches that keep their trees (sources: L6)."""
    one, other = (
        LastingPlayer(
            game,
            text,
            OnnxEvaluator(game, model, reward=reward),
            config.gate.simulations,
            config.selfplay.search.c_puct,
            reward,
        )
        for text, model in (("candidate", candidate), ("best", best))
    )
    return play_match(game, one, other, config.gate.games, opening_plies=0, lockstep=1, listen=listen)


def passes(wins: int, losses: int, threshold: float) -> bool:
    """wins / (wins + losses) ≥ threshold; draws do not count, and no decisive game is no pass (sources: arena; L4)."""
    return wins + losses > 0 and wins / (wins + losses) >= threshold


Judgement = tuple[bool, str, MatchResult]


def _by_threshold(match: MatchResult, config: RunConfig) -> tuple[bool, str]:
    """Whether the candidate is accepted, and why."""
    decisive = match.wins + match.losses
    if not decisive:
        return config.defects.drawn_gate, "no decisive game"
    threshold = config.gate.threshold
    share = f"won {match.wins} of {decisive} decisive games ({100 * match.wins / decisive:.0f} %)"
    return passes(match.wins, match.losses, threshold), f"{share}, {100 * threshold:g} % needed"


def _by_test(game: Game, teams: Sequence[Team], gate: GateConfig, seed: int, listen: MatchListener | None) -> Judgement:
    """The sequential test. A candidate is rejected if the games run out before the test has decided for it."""
    plies = default_plies(game, gate.games // 2)

    def play(pairs: range, heard: MatchListener | None) -> MatchResult:
        return play_parallel(game, teams, gate.games, opening_plies=plies, seed=seed, pairs=pairs, listen=heard)

    tested = play_until_sure(Sprt(gate.elo0, gate.elo1), gate.games, play, listen)
    where = f"{tested.standing} after {tested.match.games} games"
    return tested.verdict == "accepted", where if tested.verdict else f"undecided: {where}", tested.match
