"""Self-play with a network on all cores: ours beside mctx + pgx, and beside what the network alone can do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import jax
import numpy as np

from benchmarks.mctx_peer import POLICIES, SelfPlay, network
from benchmarks.table import AGAINST, Table, against
from benchmarks.timing import alternate, per_second
from palaestra.base.cores import usable_cores
from palaestra.games.registry import make_game
from palaestra.nets.architecture import GameFacts, Weights, parse_net, random_weights
from palaestra.nets.cache import Cached, default_entries
from palaestra.nets.evaluator import OnnxEvaluator
from palaestra.nets.graph import build_model
from palaestra.nets.int8 import has_int8
from palaestra.search.config import SearchConfig
from palaestra.search.evaluator import Evaluator
from palaestra.search.search_speed import SearchSpeed, measure_search

GAME, NET, SIMULATIONS, GAMES = "connect_four-6x7", "b3c32", 32, 128
TARGET, SHARE_TARGET = 5.0, 0.95

# Noise and temperature as in self-play: without them all games would be one game, and the cache would know it.
CONFIG = SearchConfig(simulations=SIMULATIONS, dirichlet_fraction=0.25, temperature=1.0)

NOTE = (
    "Equal: the network with the same weights (checked: same outputs), simulations a move, all cores, noise at"
    " the root, moves drawn at random, ended games replaced. Not equal: ours is PUCT on {threads} threads ×"
    " {games} games; theirs is {policy} with {batch} games, the fastest of those tried, and asks the network in"
    " every simulation. Ours proves values and asks only where play goes on, so the row of evaluations is the one"
    " that compares networks alone. The cache is empty when each round begins. The share is of observations and"
    " network together; the limit is the evaluator with nothing around it. With int8 our convolutions are those of"
    " self-play with selfplay.precision=int8: almost the same network, on a processor that multiplies bytes at once."
)


def run(rounds: int, seconds: float, batches: Iterable[int], policies: Iterable[str]) -> Table:
    game = make_game(GAME)
    facts, spec = GameFacts.of(game), parse_net(NET)
    weights = random_weights(spec, facts, np.random.default_rng(0))
    model = build_model(spec, facts, weights)
    check_same_network(OnnxEvaluator(game, model), weights)
    peer = _fastest([SelfPlay(weights, policy, batch, SIMULATIONS) for policy in policies for batch in batches])

    def plain(*, int8: bool = False) -> Evaluator:
        return OnnxEvaluator(game, model, int8=int8)

    def cached(*, int8: bool = False) -> Evaluator:
        return Cached(plain(int8=int8), game, default_entries(game))

    def ours(evaluator: Callable[[], Evaluator]) -> SearchSpeed:
        return measure_search(game, evaluator, CONFIG, GAMES, usable_cores(), seconds)

    theirs = partial(per_second, peer.move, seconds)
    with_cache, beside_cached = alternate(partial(ours, cached), theirs, rounds)
    without, beside_plain = alternate(partial(ours, plain), theirs, rounds)
    note = NOTE.format(threads=usable_cores(), games=GAMES, policy=POLICIES[peer.policy].__name__, batch=peer.batch)
    table = Table(f"Search with the network {NET} on {GAME}, {SIMULATIONS} simulations a move", AGAINST, note)
    peers = "mctx + pgx"
    against(table, "simulations/s, cache", _simulations(with_cache), beside_cached, peers, TARGET)
    against(table, "simulations/s, no cache", _simulations(without), beside_plain, peers, TARGET)
    if has_int8():
        for name, evaluator in (("cache", cached), ("no cache", plain)):
            in_bytes, beside = alternate(partial(ours, partial(evaluator, int8=True)), theirs, rounds)
            against(table, f"simulations/s, int8, {name}", _simulations(in_bytes), beside, peers)
    asked = [speed.evaluations_per_second or 0.0 for speed in without]
    their_asked = [speed * (SIMULATIONS + 1) / SIMULATIONS for speed in beside_plain]  # the root is asked about too
    against(table, "network evaluations/s, no cache", asked, their_asked, peers)
    against(table, "network evaluations/s, no cache", asked, [speed.limit for speed in without], "network alone")
    shares = [speed.evaluator_share or 0.0 for speed in without]
    against(table, "share of time in the network, no cache", shares, [1.0] * rounds, "all", SHARE_TARGET)
    return table


def _simulations(speeds: list[SearchSpeed]) -> list[float]:
    return [speed.simulations_per_second for speed in speeds]


def check_same_network(ours: OnnxEvaluator, weights: Weights) -> None:
    """Both sides must compute the same function, or the comparison is worth nothing."""
    planes = np.random.default_rng(1).random((8, *ours.game.observation_shape), dtype=np.float32)
    logits, values = ours.forward(planes)
    their_logits, their_values = jax.jit(network(weights))(planes.transpose(0, 2, 3, 1))
    if not (np.allclose(logits, their_logits, atol=1e-3) and np.allclose(values, their_values, atol=1e-3)):
        raise AssertionError("the two networks differ")


def _fastest(peers: list[SelfPlay]) -> SelfPlay:
    """The best batch size and policy for them; every one is compiled first."""
    speeds = []
    for peer in peers:
        peer.move()
        speeds.append(per_second(peer.move, 1.0))
    return peers[int(np.argmax(speeds))]
