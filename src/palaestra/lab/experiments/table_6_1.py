"""Table 6.1 of the thesis: each warm-start enhancement against the default search, untrained networks.

Both sides use the same network, 100 simulations and argmax; w = ½. As in the thesis nothing is proven and the tree is
kept during a game. Unlike there, a seed is a random network of its own and games begin with pairs of random openings,
sides swapped: an untrained network is a random player of its own, and from one start two deterministic searches play
two games, however often they are asked (sources: L6; traps). Games of one network are not independent, so intervals
are those of the mean over networks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from palaestra.base.errors import ConfigError
from palaestra.base.types import Float64s
from palaestra.lab.catalogue import published
from palaestra.lab.claims import agrees
from palaestra.lab.data import Data, Row, Value
from palaestra.lab.experiment import Arm, Claim, Experiment, Published, Scale, Scales, Verdict
from palaestra.lab.experiments._scores import draw_scores, percent, score_table
from palaestra.lab.experiments._warm import NAMES
from palaestra.lab.matches import match_row
from palaestra.lab.measures import Calls
from palaestra.lab.plan import Plan
from palaestra.lab.statistics import paired_difference

GAMES = ("connect_four-6x6", "othello-6x6", "gobang-6x6")
PERCENT = {
    "rollout": (64.0, 93.0, 65.0),
    "rave": (27.5, 53.0, 43.0),
    "rora": (76.0, 98.0, 70.0),
    "wro": (82.0, 96.0, 57.0),
    "wrora": (82.5, 99.0, 62.0),
}
PUBLISHED = tuple(
    Published(NAMES[name], game, percent, "Table 6.1", "%")
    for name, row in PERCENT.items()
    for game, percent in zip(GAMES, row, strict=True)
)


def play_enhancement(game: str, enhancement: str, net: str, games: int, simulations: int, seed: int) -> Iterable[Row]:
    """One row: the enhancement against the default search, both with random network `seed`."""
    import numpy as np

    from palaestra.arena.match import play_match
    from palaestra.base.streams import keyed_seeds
    from palaestra.games.registry import make_game
    from palaestra.learn.warm_start import enhanced, leaf_evaluator
    from palaestra.nets.architecture import GameFacts, parse_net, random_weights
    from palaestra.nets.cache import Cached, default_entries
    from palaestra.nets.evaluator import OnnxEvaluator
    from palaestra.nets.graph import build_model
    from palaestra.players.tree import TreePlayer
    from palaestra.rewards.base import default_reward
    from palaestra.search.config import SearchConfig

    rules, spec = make_game(game), parse_net(net)
    facts = GameFacts.of(rules)
    model = build_model(spec, facts, random_weights(spec, facts, np.random.default_rng([0, seed])))
    network = Cached(OnnxEvaluator(rules, model), rules, default_entries(rules))
    plain = SearchConfig(rule="puct", simulations=simulations, c_puct=1.0, solver=False)
    plans = [enhanced(plain, name, 0.5) for name in (enhancement, "none")]
    players = [
        TreePlayer(rules, name, leaf_evaluator(rules, network, plan, default_reward(rules)), plan.search)
        for name, plan in zip((enhancement, "none"), plans, strict=True)
    ]
    own_seed = int(keyed_seeds(0, seed)[0] >> 1)
    return [match_row(play_match(rules, players[0], players[1], games, opening_plies=2, seed=own_seed))]


def _shared(plan: Plan) -> Mapping[str, Value]:
    """The games of a cell are shared evenly among the networks, in pairs."""
    games, networks = plan.number("games"), len(plan.seeds)
    if networks < 2 or games % (2 * networks):
        raise ConfigError(
            f"{games} games cannot be shared by {networks} networks in pairs; give at least 2 networks and a multiple"
            " of twice their number, for example --set games=400 --seeds 20"
        )
    return {**plan.values, "games": games // networks}


def _better(game: str, name: str) -> Claim:
    def check(data: Data) -> Verdict:
        return Verdict.above(percent(data.where(game=game, arm=NAMES[name])), 50.0, "% of the points")

    return Claim(f"{NAMES[name]} beats the plain search at {game}", check)


def _weakest(game: str) -> Claim:
    """Rave scores less than every other enhancement, network by network; decided by the next weakest."""

    def check(data: Data) -> Verdict:
        shares = {arm: _by_network(rows) for arm, rows in data.where(game=game).by("arm").items()}
        if len(shares) < len(NAMES):
            return Verdict.open(f"not every enhancement played {game}")
        rave = shares.pop(NAMES["rave"])
        least = min(shares, key=lambda arm: float(shares[arm].mean()))
        lead = paired_difference(shares[least], rave).times(100)
        return Verdict.above(lead, 0.0, f"% of the points, {least}, the next weakest, minus Rave")

    return Claim(f"Rave is the weakest enhancement at {game}", check)


def _by_network(rows: Data) -> Float64s:
    """float64[S]: the points a game of each network."""
    won, drawn, lost = (rows.per_seed(name) for name in ("wins", "draws", "losses"))
    return (won + drawn / 2) / (won + drawn + lost)


EXPERIMENT = Experiment(
    identity=published("table-6.1"),
    arms=tuple(Arm(NAMES[name], game, values={"enhancement": name}) for game in GAMES for name in PERCENT),
    scales=Scales(
        smoke=Scale("2 networks b1c4, 4 games and 8 simulations", 2, {"games": 4, "net": "b1c4", "simulations": 8}),
        laptop=Scale(
            "20 networks b2c16 share 200 games, and openings are random",
            20,
            {"games": 200, "net": "b2c16", "simulations": 100},
        ),
        paper=Scale(
            "20 networks share 400 games, and openings are random",
            20,
            {"games": 400, "net": "thesis256", "simulations": 100},
        ),
    ),
    measures=(Calls(play_enhancement, {"games": 2}, _shared),),
    claims=(
        *(_better(game, name) for game in GAMES for name in ("rollout", "rora", "wro", "wrora")),
        *map(_weakest, GAMES),
        *(agrees(known, percent, 15.0, "% of the points") for known in PUBLISHED),
    ),
    table=score_table(PUBLISHED, "enhancement"),
    draw=draw_scores(PUBLISHED, "score against the plain search, %"),
    published=PUBLISHED,
    reading="best moves from the first one on (T′ = 0), and RAVE's k is the number of simulations",
)
