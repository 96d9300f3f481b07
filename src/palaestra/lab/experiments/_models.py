"""What Figures 3.5 to 3.7 share: 81 models over I, E, m and ep, their games, Elo and time (sources: sweep of Ch3).

Every figure is computed seed by seed: each seed has 81 models and a tournament of its own, and slopes and correlations
are fitted to these alone. Intervals are over seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from palaestra.base.errors import ConfigError
from palaestra.base.text import clip
from palaestra.base.types import Float64s
from palaestra.lab.data import Data, Row, Value
from palaestra.lab.experiment import Arm, Scale, Scales
from palaestra.lab.experiments._hyper_parameters import chosen_values, instead, make_arm, read_totals, trained
from palaestra.lab.jobs import Batch, Call, Given
from palaestra.lab.matches import Match, final_agent, match_row, play_matches
from palaestra.lab.statistics import Estimate, bounded, elo_list, least_squares, mean, spearman

if TYPE_CHECKING:
    from palaestra.lab.jobs import Job, Store
    from palaestra.lab.plan import Plan

SPACE = "thesis-3.5"
FOUR = ("I", "E", "m", "ep")
RANDOM = "random"
RATED = "rated"
OPPONENTS = ("random", "near", "all")  # a model meets random alone; also its neighbours and the anchors; everybody


def _name(chosen: Sequence[int]) -> str:
    """`I3 E3 m1 ep2`: the largest I and E, the least m, the middle ep."""
    return " ".join(f"{symbol}{level + 1}" for symbol, level in zip(FOUR, chosen, strict=True))


ARMS = tuple(
    make_arm(_name(chosen), SPACE, dict(zip(FOUR, chosen, strict=True)), True, "gate.kind=off")
    for chosen in product(range(3), repeat=4)
)
ANCHORS = tuple(_name((level,) * 4) for level in range(3))
LAPTOP = {"I": (6, 12, 18), "E": (8, 16, 24), "m": (8, 16, 24), "ep": (1, 2, 3)}
SCALES = Scales(
    smoke=Scale(
        "one seed, 3 iterations of 3 games with 3 simulations at most, network mlp8x1; each model meets random alone",
        1,
        {"games": 2, "simulations": 2, "opponents": "random"},
        ("net=mlp8x1",),
        instead=instead(SPACE, dict.fromkeys(FOUR, (1, 2, 3))),
    ),
    laptop=Scale(
        "5 seeds; network b2c16; I 6, 12, 18; E 8, 16, 24; m 8, 16, 24; ep 1, 2, 3; rs 3; each model meets random,"
        " its neighbours in the grid and 3 anchors, 6 games each, with 24 simulations",
        5,
        {"games": 6, "simulations": 24, "opponents": "near"},
        ("net=b2c16", "learn.window=3"),
        instead=instead(SPACE, LAPTOP),
    ),
    paper=Scale("5 seeds where the thesis has one", 5, {"games": 10, "simulations": 100, "opponents": "all"}),
)


# Jobs: who meets whom, and what is read of it.


def _meet(one: Arm, other: Arm, opponents: Value) -> bool:
    """Whether two models of a seed play."""
    if opponents == "all":
        return True
    steps = sum(abs(int(one.values[symbol] or 0) - int(other.values[symbol] or 0)) for symbol in FOUR)
    return opponents == "near" and (steps == 1 or one.name in ANCHORS or other.name in ANCHORS)


def play_models(game: str, a: int, b: int, games: int, simulations: int, seed: int, runs: Sequence[Path]) -> list[Row]:
    """One row: the network of iteration `a` of the first run against that of `b` of the second; one run: random."""
    given: dict[str, Value] = {"game": game, "a": a, "b": b, "games": games, "simulations": simulations, "seed": seed}
    ((_, rows),) = play_all_models([(given, runs)])
    return rows


def play_all_models(calls: Sequence[Given]) -> Iterator[tuple[int, list[Row]]]:
    """`play_models` of several calls about one game, all on one table."""
    from palaestra.games.registry import make_game
    from palaestra.players.registry import make_player

    rules = make_game(str(calls[0][0]["game"]))
    players, places, matches = [make_player(RANDOM, rules)], dict[tuple[Path, int, int], int](), []
    for arguments, runs in calls:
        a, b, games, simulations, seed = (
            int(arguments[name] or 0) for name in ("a", "b", "games", "simulations", "seed")
        )
        sides = [0, 0]
        for side, (folder, iteration) in enumerate(zip(runs, (a, b), strict=False)):
            who = (folder, iteration, simulations)
            if who not in places:
                places[who] = len(players)
                players.append(final_agent(rules, folder, f"{folder.name} {iteration}", simulations, iteration))
            sides[side] = places[who]
        matches.append(Match(sides[0], sides[1], games, seed))
    for place, match in play_matches(rules, players, matches):
        row = match_row(match)
        yield place, [{name: row[name] for name in ("wins", "draws", "losses", "distinct_games")}]


def _pairings(plan: Plan) -> Iterator[tuple[Row, Call]]:
    games, simulations, opponents = plan.number("games"), plan.number("simulations"), plan.values["opponents"]
    if opponents not in OPPONENTS:
        raise ConfigError(
            f"opponents is {clip(str(opponents))}; it must be {', '.join(OPPONENTS)}, as in --set opponents=near"
        )
    pairs: list[tuple[Arm, Arm | None]] = [(arm, None) for arm in plan.arms]
    pairs += [(one, other) for one, other in combinations(plan.arms, 2) if _meet(one, other, opponents)]
    for seed in plan.seeds:
        runs = {arm.name: trained(plan, arm, seed) for arm in plan.arms}
        for one, other in pairs:
            (run, a), (second, b) = runs[one.name], (None, 0) if other is None else runs[other.name]
            name, its_seed = (RANDOM, None) if other is None else (other.name, seed)
            who: Row = {
                "game": one.game, "arm": one.name, "seed": seed, "opponent": name, "opponent_seed": its_seed
            }  # fmt: skip
            needs = (run,) if second is None else (run, second)
            own_seed = crc32(f"{one.name}\t{name}\t{seed}".encode())  # every pairing has openings of its own
            arguments: dict[str, Value] = {
                "game": one.game, "a": a, "b": b, "games": games, "simulations": simulations, "seed": own_seed
            }  # fmt: skip
            batch = Batch(play_all_models, f"{one.game} seed {seed}", 2 * len(pairs) // len(plan.arms))
            yield who, Call(play_models, arguments, needs, games * simulations, batch=batch)


@dataclass(frozen=True)
class Pairings:
    """The models of each seed, and a random player, against each other; a row is a pairing, as in `Tournament`."""

    name: str = "tournament"
    trains = True

    def jobs(self, plan: Plan) -> Iterable[Job]:
        for arm, seed in plan.each():
            yield trained(plan, arm, seed)[0]
        for _, job in _pairings(plan):
            yield job

    def rows(self, plan: Plan, store: Store) -> Iterable[Row]:
        for who, job in _pairings(plan):
            yield {**who, **store.rows(job)[0]}


@dataclass(frozen=True)
class Rated:
    """A row a model: its values, its Elo in the tournament of its seed with interval, and the time of its training."""

    name: str = RATED
    trains = True

    def jobs(self, plan: Plan) -> Iterable[Job]:
        return Pairings().jobs(plan)

    def rows(self, plan: Plan, store: Store) -> Iterable[Row]:
        played = Data.of(Pairings().rows(plan, store))
        for seed in plan.seeds:
            rated = {one.arm: one.elo for one in elo_list(played.where(seed=seed))}
            for arm in plan.arms:
                job, iterations = trained(plan, arm, seed)
                low, high = rated[arm.name].interval or (None, None)
                yield {
                    "game": arm.game,
                    "arm": arm.name,
                    "seed": seed,
                    **chosen_values(job.config, iterations, SPACE),
                    "elo": rated[arm.name].value,
                    "elo_low": low,
                    "elo_high": high,
                    **read_totals(store.lines(job)[:iterations], job.config)[0],
                }


# What the rows say, seed by seed.


def _seeds(data: Data) -> list[Data]:
    return list(data.where(measured=RATED).by("seed").values())


def levels(data: Data, symbol: str) -> list[Value]:
    """The values of a symbol, ascending: three, unless data are missing."""
    return sorted(data.where(measured=RATED).unique(symbol), key=lambda value: float(value or 0))


def at_levels(data: Data, **wanted: int) -> Data:
    """The models whose symbols are at these levels (0, 1, 2); none where data are missing."""
    chosen = data.where(measured=RATED)
    for symbol, level in wanted.items():
        known = levels(data, symbol)
        chosen = chosen.where(**{symbol: known[level]}) if level < len(known) else Data.of([])
    return chosen


def elos(data: Data, **wanted: int) -> Float64s:
    """float64[S]: the mean Elo of models whose symbols are at these levels, by seed."""
    return at_levels(data, **wanted).per_seed("elo")


def gain(data: Data, symbol: str, **fixed: int) -> Float64s:
    """float64[S]: Elo with the largest value minus Elo with the least, over all else or with something fixed."""
    return elos(data, **{symbol: 2}, **fixed) - elos(data, **{symbol: 0}, **fixed)


def over_seeds(data: Data, figure: Callable[[Data], float]) -> Estimate:
    """A figure of one seed's models, over seeds."""
    return mean([figure(some) for some in _seeds(data)])


def slopes(data: Data) -> dict[str, Estimate]:
    """Elo for a step to the next value, and for two steps together what they give more than both alone."""
    found: dict[str, list[float]] = {}
    for some in _seeds(data):
        columns = {}
        for symbol in FOUR:
            known = levels(some, symbol)
            columns[symbol] = np.array([known.index(row[symbol]) - 1.0 for row in some.rows])
        columns |= {f"{a} × {b}": columns[a] * columns[b] for a, b in combinations(FOUR, 2)}
        for name, slope in least_squares(columns, some.numbers("elo")).items():
            found.setdefault(name, []).append(slope)
    return {name: mean(values) for name, values in found.items()}


def trade(data: Data, symbol: str, column: str) -> Estimate:
    """Elo for twice the I, paid by a smaller `symbol`, at equal time and with the other two as they are."""

    def one_seed(some: Data) -> float:
        logs = {name: np.log2(some.numbers(name)) for name in (*FOUR, column)}
        others = {name: logs[name] for name in FOUR if name not in ("I", symbol)}
        fitted = least_squares({"trade": logs["I"] - logs[symbol], "time": logs[column], **others}, some.numbers("elo"))
        return fitted["trade"]

    return over_seeds(data, one_seed)


def correlation(data: Data, symbol: str, column: str) -> Estimate:
    """The rank correlation over the models of a seed, over seeds."""
    return bounded(over_seeds(data, lambda some: spearman(some.numbers(symbol), some.numbers(column)).value))


READING = (
    "models of 25 and 50 iterations are the networks that runs of 75 had then, which are the same bit for bit; all"
    " networks search with the same number of simulations in the tournament, so that m is that of self-play alone"
)
