"""How long a run takes, before it is begun: Eq. 3.2 with numbers (sources: cost of a run).

A run is counted in what takes time: positions searched, calls of the network, steps of training, moves of anchors. What
each of them costs on a machine is a `Speeds`; `calibration` measures it. Nothing is measured, read or played here.

Games are at first those of an untrained network. As it learns they become longer or shorter, and more of their
positions repeat: a `Course` says by how much, and after how many games. It is that of a short run; of the late
iterations of a long one it is a guess.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from palaestra.learn.config import LearnConfig, RunConfig
from palaestra.learn.schedules import scheduled
from palaestra.learn.warm_start import is_warm
from palaestra.nets.evaluator import BATCH

STAGES = ("selfplay", "training", "gate", "evaluation", "saving")
MOST_ITERATIONS = 100_000  # that are gone through one by one
LEAST = 0.05  # a factor that is smaller comes from noise
ACCEPTED = 0.5  # the share of networks that a gate is taken to let pass; 0.4 to 0.75 in short runs of three games
ADAPTIVE = 5  # iterations after which an adaptive warm start is taken to be over


@dataclass(frozen=True)
class NetworkSpeed:
    """Seconds of one call of the network, with a caller on every thread, by the number of its rows."""

    rows: tuple[int, ...]  # ascending
    seconds: tuple[float, ...]

    def call(self, rows: float) -> float:
        """Seconds of a question about so many positions; one about more than a batch is several calls."""
        calls = max(1.0, rows / BATCH)
        return calls * float(np.interp(min(rows, BATCH), self.rows, self.seconds))


@dataclass(frozen=True)
class Probe:
    """A few games that were played and counted, on one thread or several."""

    simulations: int  # m
    games: int  # of one thread
    lengths: tuple[int, ...]  # positions searched in each game
    steps: float  # of one thread: rounds in which every game at its table makes a move
    evaluations: int
    other_seconds: float  # outside the network, summed over the threads

    @property
    def positions(self) -> int:
        """Searched in all games."""
        return sum(self.lengths)


@dataclass(frozen=True)
class Drift:
    """How games of a network that has learned differ from the first ones, as factors."""

    length: float = 1.0  # of positions searched in a game
    evaluations: float = 1.0  # of questions to the network about one of them


NO_DRIFT = Drift()


@dataclass(frozen=True)
class Trend:
    """A factor that is 1 at first and comes closer to `end` by a factor of e with every `pace` games."""

    end: float = 1.0
    pace: float = 60.0

    def after(self, games: float) -> float:
        return 1.0 + (self.end - 1.0) * (1.0 - math.exp(-games / self.pace))


@dataclass(frozen=True)
class Course:
    """How games change with the games that were learned from."""

    length: Trend = Trend()
    evaluations: Trend = Trend()

    def after(self, games: float) -> Drift:
        return Drift(self.length.after(games), self.evaluations.after(games))


def fit_trend(games: Sequence[float], factors: Sequence[float]) -> Trend:
    """The trend through factors that were seen after so many games, by least squares.

    The pace is at most the games of the last one: what is still to come is then not much more than what was seen.
    """
    at, seen = np.array(games, dtype=float), np.array(factors, dtype=float) - 1.0
    seen, at = seen[at > 0], at[at > 0]
    if not at.size:
        return Trend()
    found: list[tuple[float, Trend]] = []
    for pace in np.geomspace(at.min() / 2, at.max(), 30):
        share = 1.0 - np.exp(-at / pace)
        rise = float(share @ seen / (share @ share))
        error = float(((rise * share - seen) ** 2).sum())
        found.append((error, Trend(max(1.0 + rise, LEAST), float(pace))))
    return min(found, key=lambda one: one[0])[1]


@dataclass(frozen=True)
class SearchSpeed:
    """What a search asks of the network and costs beside it, as functions of m and of the games on a thread.

    Evaluations a position follow a power law: a larger tree, or more games that share a memory, meets more positions
    that are known. The rest is so much a simulation and so much a call.
    """

    probes: tuple[Probe, ...]
    threads: int
    plies: float  # of a game beside the positions that are searched: its opening
    learned: float  # share of the positions that is learned from

    def length(self, simulations: int) -> float:
        """Positions searched in a game, mean: linear in log m, within the range that was tried."""
        games = np.array([len(probe.lengths) for probe in self.probes], dtype=float)
        means = np.array([probe.positions for probe in self.probes]) / games
        depths = np.log([probe.simulations for probe in self.probes])
        x, centre = np.clip(math.log(simulations), depths.min(), depths.max()), np.average(depths, weights=games)
        spread = float((games * (depths - centre) ** 2).sum())
        slope = float((games * (depths - centre) * means).sum()) / spread if spread else 0.0
        return float(np.average(means, weights=games)) + slope * float(x - centre)

    def lengths(self, simulations: int, factor: float) -> list[float]:
        """Of games as they come: those of the largest probe, stretched to the mean of such a search."""
        seen = max(self.probes, key=lambda probe: len(probe.lengths)).lengths
        factor *= self.length(simulations) * len(seen) / sum(seen)
        return [factor * length for length in seen]

    @cached_property
    def _law(self) -> tuple[float, float, float]:
        """log(evaluations a position) = a + b·log m + c·log games."""
        rows = [(1.0, math.log(probe.simulations), math.log(probe.games)) for probe in self.probes]
        seen = [math.log(max(probe.evaluations, 1) / probe.positions) for probe in self.probes]
        a, b, c = np.linalg.lstsq(np.array(rows), np.array(seen), rcond=None)[0].tolist()
        return a, b, c

    @cached_property
    def _costs(self) -> tuple[float, float]:
        """Seconds of a simulation and of a call, outside the network; neither is negative."""
        rows = np.array(
            [(p.positions * p.simulations, self._calls(p) * self.threads) for p in self.probes], dtype=float
        )
        spent = np.array([probe.other_seconds for probe in self.probes])
        rows, spent = rows / spent[:, None], np.ones(len(spent))  # a short probe counts as much as a long one
        both = np.linalg.lstsq(rows, spent, rcond=None)[0]
        if (both >= 0).all():
            return float(both[0]), float(both[1])
        alone = [float(rows[:, i] @ spent / (rows[:, i] @ rows[:, i])) for i in (0, 1)]
        errors = [float(((rows[:, i] * alone[i] - spent) ** 2).sum()) for i in (0, 1)]
        return (alone[0], 0.0) if errors[0] <= errors[1] else (0.0, alone[1])

    def _calls(self, probe: Probe) -> float:
        return probe.steps * probe.evaluations / probe.positions

    def evaluations(self, simulations: int, games: float) -> float:
        """Positions that the network is asked about for one position that is searched."""
        a, b, c = self._law
        return min(math.exp(a + b * math.log(simulations) + c * math.log(max(games, 1.0))), simulations + 1.0)

    def seconds(
        self, network: NetworkSpeed, simulations: int, games: float, positions: float, steps: float, drift: float
    ) -> float:
        """Of one thread that searches so many positions of `games` games in so many steps."""
        asked = self.evaluations(simulations, games) * drift
        simulation, call = self._costs
        calls = steps * asked  # in every step all games at the table ask about as often
        return calls * (call + network.call(positions / max(steps, 1.0))) + positions * simulations * simulation

    def selfplay_seconds(
        self, network: NetworkSpeed, simulations: int, games: int, slots: int, drift: Drift = NO_DRIFT
    ) -> float:
        """Of one iteration's games on all threads."""
        share = math.ceil(games / self.threads)
        positions, steps = rounds(self.lengths(simulations, drift.length), share, slots)
        return self.seconds(network, simulations, share, positions, steps, drift.evaluations)

    def match_seconds(
        self, network: NetworkSpeed, simulations: int, games: int, drift: Drift, length: float | None = None
    ) -> float:
        """Of one side in a match on all threads; `length` is that of a game, if it differs from two equal sides'."""
        share = math.ceil(games / self.threads)
        factor = drift.length if length is None else length / self.length(simulations)
        # In every round a side is asked about the games in which it is to move, half of them.
        positions, steps = rounds(self.lengths(simulations, factor), share, share)
        return self.seconds(network, simulations, share, positions / 2, steps, drift.evaluations)


def rounds(lengths: Sequence[float], games: int, slots: int) -> tuple[float, float]:
    """Positions of `games` games, and in how many rounds they are played if `slots` of them are played at once.

    A place that becomes free is taken by the next game. Lengths are used in turn.
    """
    drawn = [lengths[i % len(lengths)] for i in range(games)]
    ends = np.zeros(min(games, slots))
    for length in drawn:
        ends[int(ends.argmin())] += length
    return float(sum(drawn)), float(ends.max(initial=0.0))


@dataclass(frozen=True)
class AnchorSpeed:
    """Of a player that never changes, against an agent that has learned a little."""

    seconds: float  # of a move, games side by side on all threads
    length: float  # positions of a game, both sides', its opening apart


@dataclass(frozen=True)
class Speeds:
    """What a run's parts cost on this machine."""

    network: NetworkSpeed
    selfplay: SearchSpeed
    step_seconds: float  # of training, with the drawing of its batch
    iteration_seconds: float  # what every iteration costs, however little it does: stages begin, files are saved
    first_seconds: float  # what the first iteration costs once more: functions are loaded
    course: Course = Course()
    warm: SearchSpeed | None = None  # of a warm start
    match: SearchSpeed | None = None  # of the agent as it is judged
    match_course: Course = Course()
    anchors: dict[str, AnchorSpeed] = field(default_factory=dict)
    orientations: int = 1  # of the game's boards


@dataclass(frozen=True)
class Estimate:
    """What a run will take. Seconds are those of the run's own clock; loading the program comes before them."""

    iterations: int
    games: int
    positions: int
    seconds: dict[str, float]  # of each stage, STAGES
    start_up: float
    mean_plies: float

    @property
    def total(self) -> float:
        return self.start_up + sum(self.seconds.values())


def estimate(config: RunConfig, speeds: Speeds, given_steps: int = 0, *, grown: Sequence[Speeds] = ()) -> Estimate:
    """The whole run, iteration after iteration; one that minutes end has as many as fit.

    `given_steps` of training come before the first iteration, from games that the run is given. `grown` are the speeds
    of the networks that the run's own grows into; without them it is taken to stay as it is.
    """
    networks = (speeds, *grown)
    spent = dict.fromkeys(STAGES, 0.0)
    spent["training"] = given_steps * speeds.step_seconds
    made: list[float] = []  # positions of each iteration
    evaluated = over = False
    while not over:
        iteration = len(made) + 1
        progress = _progress(config, iteration, networks[0].first_seconds + sum(spent.values()))
        speeds = networks[min(sum(progress >= share for share in config.growth.after), len(grown))]
        drift = speeds.course.after(learned_games(config, iteration - 1))
        warm = is_warm(config.warm, iteration, switched=config.warm.adaptive and iteration > ADAPTIVE)
        search = speeds.warm if warm and speeds.warm is not None else speeds.selfplay
        now = scheduled(config, progress)
        made.append(_positions(now, search, drift))
        spent["selfplay"] += _selfplay(now, speeds.network, search, drift)
        spent["training"] += steps_of(config.learn, made, speeds.orientations) * speeds.step_seconds
        spent["gate"] += _gate(config, speeds, iteration)
        spent["saving"] += speeds.iteration_seconds
        over = _over(config, iteration, networks[0].first_seconds + sum(spent.values()))
        if over or (config.evaluation.every and iteration % config.evaluation.every == 0):
            spent["evaluation"] += _evaluation(config, speeds, iteration, evaluated)
            evaluated = True
            over = over or _over(config, iteration, networks[0].first_seconds + sum(spent.values()))
    plies = networks[0].selfplay.plies + networks[0].selfplay.length(_simulations(config))
    games = config.selfplay.games * len(made)
    return Estimate(len(made), games, round(sum(made)), spent, networks[0].first_seconds, plies)


def learned_games(config: RunConfig, iterations: int) -> float:
    """Games that the network which plays has learned from; behind a gate it is not always the newest one."""
    return config.selfplay.games * iterations * (1.0 if config.gate.kind == "off" else ACCEPTED)


def _progress(config: RunConfig, iteration: int, seconds: float) -> float:
    """How much of the run is behind iteration 1, 2, …, as `session.Session.progress` has it."""
    by_time = 0.0 if config.minutes is None else seconds / (60 * config.minutes)
    by_number = 0.0 if config.iterations is None else (iteration - 1) / config.iterations
    return min(1.0, max(by_time, by_number))


def _over(config: RunConfig, iteration: int, seconds: float) -> bool:
    by_time = config.minutes is not None and seconds >= 60 * config.minutes
    return by_time or iteration >= min(config.iterations or MOST_ITERATIONS, MOST_ITERATIONS)


def steps_of(learn: LearnConfig, made: Sequence[float], orientations: int) -> int:
    """Steps of training in the last of these iterations, as `replay.Replay.steps` counts them."""
    if learn.samples_per_position is not None:
        return max(1, math.ceil(learn.samples_per_position * made[-1] / learn.batch))
    assert learn.epochs is not None, "the run's configuration has one of the two"
    window = max(learn.window, math.ceil(learn.window_share * len(made)))
    copies = orientations if learn.count_symmetries else 1
    return max(1, round(learn.epochs * (copies * sum(made[-window:]) // learn.batch)))


def _simulations(config: RunConfig) -> int:
    return 1 if config.selfplay.sampling else config.selfplay.search.simulation_limit


def _positions(config: RunConfig, search: SearchSpeed, drift: Drift) -> float:
    """Of one iteration, learned from."""
    return config.selfplay.games * search.length(_simulations(config)) * drift.length * search.learned


def _selfplay(config: RunConfig, network: NetworkSpeed, search: SearchSpeed, drift: Drift) -> float:
    """Seconds of one iteration's games."""
    selfplay, full = config.selfplay, _simulations(config)
    shares = {full: 1.0 - selfplay.quick_fraction}
    if selfplay.quick_fraction:
        quick = min(selfplay.quick_simulations, full)
        shares[quick] = shares.get(quick, 0.0) + selfplay.quick_fraction
    return sum(
        share * search.selfplay_seconds(network, simulations, selfplay.games, selfplay.slots, drift)
        for simulations, share in shares.items()
    )


def _gate(config: RunConfig, speeds: Speeds, iteration: int) -> float:
    """Seconds of one gate; a sequential test is taken to need all its games."""
    if config.gate.kind == "off" or speeds.match is None:
        return 0.0
    drift = speeds.match_course.after(learned_games(config, iteration))
    return 2 * speeds.match.match_seconds(speeds.network, config.gate.simulations, config.gate.games, drift)


def _evaluation(config: RunConfig, speeds: Speeds, iteration: int, evaluated: bool) -> float:
    """Seconds of the matches against the anchors and, if one was `evaluated` before, against an earlier network."""
    settings, match = config.evaluation, speeds.match
    if match is None:
        return 0.0
    drift, seconds = speeds.match_course.after(learned_games(config, iteration)), 0.0
    agent = partial(match.match_seconds, speeds.network, settings.simulations)
    games = math.ceil(settings.games / config.threads)
    for anchor in (speeds.anchors[text] for text in settings.anchors):
        seconds += agent(settings.games, drift, anchor.length) + games * anchor.length / 2 * anchor.seconds
    if settings.history and evaluated:
        seconds += 2 * agent(settings.history, drift)
    return seconds
