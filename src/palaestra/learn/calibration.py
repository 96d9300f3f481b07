"""What a run's parts cost on this machine, measured in a few seconds and remembered (sources: cost of a run).

Each part is measured by the code that a run uses, on as many threads: a run that does next to nothing, calls of the
network, steps of training, a few games of self-play, a short run that shows how games change, matches. How often a
search asks the network hardly depends on how large that is, so the games are a small stand-in's. Measurements are
kept in a file of the user's own, one for a machine and the libraries in use, and measured again when code that takes
the time has changed. Nothing is printed here.
"""

from __future__ import annotations

import json
import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from palaestra.arena.parallel import Team, play_parallel
from palaestra.base import compiling
from palaestra.base.errors import ConfigError
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.learn.config import CourseConfig, GrowthConfig, LearnConfig, RunConfig, WarmStartConfig
from palaestra.learn.near_speeds import DRIFT, IDLE, MATCHES, SELFPLAY, WARM, Together, as_there
from palaestra.learn.speed_memory import read_memory, write_memory
from palaestra.learn.time_model import (
    AnchorSpeed,
    Course,
    NetworkSpeed,
    Probe,
    SearchSpeed,
    Speeds,
    Trend,
    fit_trend,
    rounds,
    steps_of,
)
from palaestra.nets.evaluator import BATCH, OnnxEvaluator
from palaestra.nets.inference_speed import model_bytes
from palaestra.nets.int8 import takes_int8
from palaestra.players.registry import make_player
from palaestra.players.runs import make_agent, playing_search
from palaestra.search.evaluator import Leaves
from palaestra.search.search_speed import repeat_side_by_side, scattered

STAND_IN = "b1c8"  # plays the probes' games
PROBES = ((8, 25), (32, 25), (8, 100), (32, 100))  # (games of a thread, simulations); the last takes as long as all
MATCH_PROBES = ((4, 25), (16, 25), (6, 100))
ANCHOR_GAMES = 10  # of a thread
LATE = 10**6  # an iteration after every warm start
NETWORK_ROWS = (1, 4, 16, BATCH)
PART_SECONDS = 0.5  # for one measurement of the network, or of training
PROBES_SECONDS = 5.0  # after which no further probe of a kind is begun
DRIFT_GAMES, DRIFT_SIMULATIONS, DRIFT_ITERATIONS = 40, 32, 6  # of the short run that shows how games change
DRIFT_SECONDS = 7.0  # in which the run's own network must be able to do it
HURRIED = 0.2  # of the time, where many estimates are made together
LOADING = 1.0  # seconds, about, in which compiled functions are loaded

MeasureListener = Callable[[str], None]  # hears what is measured next
Store = dict[str, Any]


def calibrate(
    config: RunConfig,
    listen: MeasureListener | None = None,
    *,
    anew: bool = False,
    old: bool = False,
    together: Together | None = None,
) -> Speeds:
    """The speeds that an estimate of this run needs; what is remembered is not measured again, unless `anew`.

    With `old`, what was measured before the code changed will do: better than nothing where nothing may be measured.
    Of estimates `together` one measures for all, and in a hurry.
    """
    game = make_game(config.game)
    if game.players == 1:
        raise ConfigError(f"{game.id} has one player: estimates are for games of two, for example connect_four-5x5")
    # Other games of the course are counted as its own, and each network that it grows into is asked about by itself.
    config = config.model_copy(update={"course": CourseConfig(), "growth": GrowthConfig()})
    return _Calibration(game, config, listen or (lambda what: None), anew, old, together).speeds()


class _Calibration:
    """One measurement after the other, each by its key from the memory or anew."""

    def __init__(
        self, game: Game, config: RunConfig, listen: MeasureListener, anew: bool, old: bool, together: Together | None
    ) -> None:
        self.game, self.config, self.listen, self.anew, self.old = game, config, listen, anew, old
        self.near, self.memory = together is not None, together or Together()
        self.code, self.known = self.memory.code(game), self.memory.known
        self.pace = HURRIED if self.near else 1.0
        self.fresh: Store = {}
        self.base = {"game": game.id, "version": game.version, "threads": config.threads}

    def speeds(self) -> Speeds:
        game, config = self.game, self.config
        net = {"net": config.net, "device": config.device}
        learn = config.learn.model_dump(mode="json")
        played = _played_key(config)
        idle, first = self.get(IDLE, net, lambda: _idle_run(config))
        int8 = takes_int8(config.selfplay.precision)
        asked = {**net, "precision": "int8"} if int8 else net
        found = self.get("the network", asked, lambda: asdict(_network(game, config, int8, self.pace)))
        network = NetworkSpeed(tuple(found["rows"]), tuple(found["seconds"]))
        step = self.get("training", {**net, "learn": _step_key(learn)}, lambda: _step_seconds(game, config, self.pace))
        selfplay = self.search(SELFPLAY, played, lambda: _selfplay(game, config, LATE, self.near))
        warm = match = None
        if config.warm.enhancement != "none":
            warm = self.warm({**played, "enhancement": config.warm.enhancement}, selfplay)
        judged = bool(config.gate.kind != "off" or config.evaluation.anchors or config.evaluation.history)
        if judged:
            search = playing_search(config.selfplay.search, 1).model_dump(mode="json")
            match = self.search(MATCHES, {"search": search}, lambda: _matches(game, config))
        drifts = self.drifts(
            {**net, **played, "learn": learn, "anchors": config.evaluation.anchors, "judged": judged},
            lambda: _Drifting(game, config, selfplay, self.pace).choose(network, step).measure(match),
        )
        self.save()
        anchors = {text: AnchorSpeed(**one) for text, one in drifts["anchors"].items()}
        course, match_course = (_course(drifts[name]) for name in ("selfplay", "match"))
        around = (warm, match, match_course, anchors, len(game.symmetries))
        return Speeds(network, selfplay, step, max(0.0, idle - step), first, course, *around)

    def get(self, what: str, key: Store, measure: Callable[[], Any]) -> Any:
        whole = {**self.base, **key}
        name = f"{what} {json.dumps(whole, sort_keys=True)}"
        kept = self.known.get(name, {})
        if self.anew or "measured" not in kept or (kept.get("code") != self.code and not self.old):
            if self.near and (near := self._nearest(what, whole)) is not None:
                return near
            self.listen(what)
            began = compiling.clock()
            self.known[name] = self.fresh[name] = {"code": self.code, "measured": measure()}
            self.memory.fresh.add(name)
            self.memory.left -= compiling.clock() - began
        return self.known[name]["measured"]

    def _nearest(self, what: str, key: Store) -> Any:
        return self.memory.nearest(what, _plain(key), self.old)

    def _elsewhere(self, what: str, key: Store) -> Store | None:
        """The key of what was measured on another board, where this one is not to be measured."""
        whole = _plain({**self.base, **key})
        if not self.near or self._nearest(what, whole) is not None:
            return None
        there = self.memory.elsewhere(what, whole, self.old)
        return None if there is None else {**whole, **there}

    def warm(self, key: Store, selfplay: SearchSpeed) -> SearchSpeed:
        """Of the warm start: measured, or as much dearer than other self-play as it is on another board."""
        if (there := self._elsewhere(WARM, key)) is not None:
            plain, other = (self._nearest(what, there) for what in (SELFPLAY, WARM))
            if plain is not None:
                return as_there(selfplay, _search_speed(other), _search_speed(plain))
        return self.search(WARM, key, lambda: _selfplay(self.game, self.config, 1, self.near))

    def drifts(self, key: Store, measure: Callable[[], Any]) -> Store:
        """How games change: measured, or as on another board."""
        there = self._elsewhere(DRIFT, key)
        return dict(self.get(DRIFT, key, measure) if there is None else self._nearest(DRIFT, there))

    def search(self, what: str, key: Store, measure: Callable[[], SearchSpeed]) -> SearchSpeed:
        return _search_speed(self.get(what, key, lambda: asdict(measure())))

    def save(self) -> None:
        """Keep what was measured; where nothing can be written it is measured again next time."""
        if self.fresh:
            write_memory(self.memory.path, {**read_memory(self.memory.path), **self.fresh})


def _plain(key: Store) -> Store:
    """As it is read back from a file: tuples are lists there."""
    return dict(json.loads(json.dumps(key)))


def _course(stored: Store) -> Course:
    return Course(Trend(**stored["length"]), Trend(**stored["evaluations"]))


def _search_speed(stored: Store) -> SearchSpeed:
    probes = tuple(Probe(**{**probe, "lengths": tuple(probe["lengths"])}) for probe in stored["probes"])
    return SearchSpeed(**{**stored, "probes": probes})


def _played_key(config: RunConfig) -> Store:
    """What decides how games of self-play go, but for their number and m."""
    selfplay = config.selfplay.model_dump(
        mode="json", exclude={"games", "slots", "cache", "value_target", "q_weight", "td_lambda", "precision"}
    )
    del selfplay["search"]["simulations"]
    return {"selfplay": selfplay, "remembers": config.selfplay.cache > 0}


def _step_key(learn: Store) -> Store:
    """What decides how long a step of training takes."""
    kept = {name: learn[name] for name in ("batch", "optimizer", "precision", "symmetries", "clip")}
    return {**kept, "averages": learn["average"] > 0}


def _with(config: RunConfig, games: int, simulations: int, **changes: Any) -> RunConfig:
    """The run's settings with so many games and simulations."""
    search = config.selfplay.search.model_copy(update={"simulations": simulations})
    selfplay = config.selfplay.model_copy(update={"games": games, "search": search})
    return config.model_copy(update={"selfplay": selfplay, **changes})


# The measurements.


def _alone(config: RunConfig, iterations: int, learn: LearnConfig) -> RunConfig:
    """The settings of a run without matches."""
    evaluation = config.evaluation.model_copy(update={"anchors": (), "every": 0, "history": 0, "demerits": False})
    gate = config.gate.model_copy(update={"kind": "off"})
    changes = {"iterations": iterations, "minutes": None, "evaluation": evaluation, "gate": gate, "learn": learn}
    return config.model_copy(update={**changes, "warm": WarmStartConfig()})


def _idle_run(config: RunConfig) -> tuple[float, float]:
    """In a run that does next to nothing, seconds of an iteration (stages begin, one step is trained, files are saved),
    and by how much the first iteration takes longer. What was compiled now need only be loaded next time."""
    from palaestra.learn.loop import train

    learn = config.learn.model_copy(update={"epochs": None, "samples_per_position": 0.001})
    compiled: list[str] = []
    with (
        compiling.listening(lambda name, begins: compiled.append(name)),
        tempfile.TemporaryDirectory(prefix="palaestra-") as folder,
    ):
        lines = train(_alone(_with(config, config.threads, 2), 3, learn), Path(folder) / "idle").metrics
    took = [after.elapsed - before.elapsed for before, after in pairwise(lines)]
    return min(took), LOADING if compiled else max(0.0, lines[0].elapsed - min(took))


def _network(game: Game, config: RunConfig, int8: bool, pace: float) -> NetworkSpeed:
    """As self-play asks it; matches, which are rarer, ask it in float32."""
    model = model_bytes(game, config.net)
    evaluators = [OnnxEvaluator(game, model, int8=int8) for _ in range(config.threads)]
    seconds = []
    for rows in NETWORK_ROWS:
        states = scattered(game, rows, np.random.default_rng(0))
        leaves = Leaves(states, *game.legal(states), np.zeros(rows, dtype=np.uint64))
        calls, elapsed = repeat_side_by_side([partial(one, leaves) for one in evaluators], PART_SECONDS * pace)
        seconds.append(elapsed * config.threads / sum(calls))
    return NetworkSpeed(NETWORK_ROWS, tuple(seconds))


def _step_seconds(game: Game, config: RunConfig, pace: float) -> float:
    from palaestra.learn.replay import Replay
    from palaestra.learn.trainer import Trainer
    from palaestra.learn.training_speed import POSITIONS, random_examples

    trainer, rng, replay = Trainer(game, config), np.random.default_rng(0), Replay(window=1)
    replay.add(1, random_examples(game, POSITIONS, rng))
    batches = replay.batches(game, config.learn, rng)
    seconds = 0.0
    for steps in (2, 4):  # the first ones allocate
        seconds = _timed(lambda steps=steps: trainer.train(batches, steps, progress=0.0)) / steps  # type: ignore[misc]
    steps = max(4, round(2 * PART_SECONDS * pace / seconds))
    return _timed(lambda: trainer.train(batches, steps, progress=0.0)) / steps


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _stand_in(game: Game, config: RunConfig) -> bytes:
    """A small network as a run begins with."""
    from palaestra.learn.trainer import Trainer

    return Trainer(game, config.model_copy(update={"net": _small_net(config)})).onnx()


def _small_net(config: RunConfig) -> str:
    return STAND_IN + "".join(config.net.partition("-")[1:])


def _selfplay(game: Game, config: RunConfig, iteration: int, hurried: bool) -> SearchSpeed:
    """Games of self-play by the stand-in, as in an iteration of the run."""
    from palaestra.learn.selfplay import play_games

    play = partial(play_games, game, _stand_in(game, config), iteration=iteration, switched=iteration == LATE)
    play(config=_with(config, config.threads, 2))  # loads or compiles
    probes: list[Probe] = []
    began, threads = time.perf_counter(), config.threads
    for number, (games, simulations) in enumerate(PROBES[:3] if hurried else PROBES):
        if len(probes) > 1 and time.perf_counter() > began + PROBES_SECONDS:
            break
        played = play(config=_with(config, games * threads, simulations, seed=number))  # not the same openings again
        lengths = [len(record.moves) - record.opening_plies for record in played.records]
        steps = sum(rounds(lengths[i::threads], games, config.selfplay.slots)[1] for i in range(threads)) / threads
        other = played.seconds * played.threads - played.evaluator_seconds
        probes.append(Probe(simulations, games, tuple(lengths), steps, played.evaluations, other))
        opening = played.mean_plies - sum(lengths) / len(lengths)
        learned = len(played.examples) / played.positions
    return SearchSpeed(tuple(probes), threads, opening, learned)


class _Drifting:
    """A short run with the settings of the run, by its own network if that is quick enough."""

    def __init__(self, game: Game, config: RunConfig, selfplay: SearchSpeed, pace: float) -> None:
        self.game, self.config, self.selfplay = game, config, selfplay
        # Fewer games and fewer iterations alike: self-play shrinks with the time, training by more.
        self.games, self.iterations = (max(2, round(full * pace**0.5)) for full in (DRIFT_GAMES, DRIFT_ITERATIONS))
        self.net, self.limit = config.net, DRIFT_SECONDS * pace

    def choose(self, network: NetworkSpeed, step: float) -> _Drifting:
        """Let a small network stand in where the run's own takes too long."""
        positions = self.games * self.selfplay.length(DRIFT_SIMULATIONS)
        asked = positions * self.selfplay.evaluations(DRIFT_SIMULATIONS, self.games / self.config.threads)
        made, copies = [positions * self.selfplay.learned] * self.iterations, len(self.game.symmetries)
        steps = sum(steps_of(self.config.learn, made[: i + 1], copies) for i in range(self.iterations))
        answers = self.iterations * asked * network.call(BATCH) / BATCH / self.config.threads
        if answers + steps * step > self.limit:
            self.net = _small_net(self.config)
        return self

    def measure(self, match: SearchSpeed | None) -> Store:
        """Of self-play and of matches, and the anchors beside the network that the short run made."""
        course, model = self._run()
        if match is None:
            return {"selfplay": asdict(course), "match": asdict(Course()), "anchors": {}}
        games, simulations = MATCH_PROBES[1]
        late = _match(self.game, self.config, model, games, simulations, seed=1)
        length = sum(late.lengths) / len(late.lengths) / match.length(simulations)
        asked = late.evaluations / late.positions / match.evaluations(simulations, games)
        # Matches change as self-play does, and are seen once: by the network that has learned from all but the last.
        learned = self.games * (self.iterations - 1)
        after = Course(_through(course.length, learned, length), _through(course.evaluations, learned, asked))
        anchors = {text: asdict(self._anchor(model, text)) for text in self.config.evaluation.anchors}
        return {"selfplay": asdict(course), "match": asdict(after), "anchors": anchors}

    def _run(self) -> tuple[Course, bytes]:
        from palaestra.learn.loop import train
        from palaestra.learn.stages import real_stages

        stages, seen, models = real_stages(), list[tuple[float, float]](), list[bytes]()

        def play(game: Game, model: bytes, *given: Any, **settings: Any) -> Any:
            played = stages.play_games(game, model, *given, **settings)
            seen.append((played.positions / len(played.records), played.evaluations / played.positions))
            models.append(model)
            return played

        config = _with(self.config, self.games, DRIFT_SIMULATIONS, net=self.net)
        with tempfile.TemporaryDirectory(prefix="palaestra-") as folder:
            short = _alone(config, self.iterations, self.config.learn)
            train(short, Path(folder) / "drift", stages=replace(stages, play_games=play))
        played = [self.games * number for number in range(len(seen))]
        asked = self.selfplay.evaluations(DRIFT_SIMULATIONS, self.games / config.threads)
        usual = (self.selfplay.length(DRIFT_SIMULATIONS), asked)
        course = Course(*(fit_trend(played, [one[i] / usual[i] for one in seen]) for i in (0, 1)))
        return course, models[-1]

    def _anchor(self, model: bytes, text: str) -> AnchorSpeed:
        search, threads = playing_search(self.config.selfplay.search, DRIFT_SIMULATIONS), self.config.threads
        teams: list[Team] = [
            (make_agent(self.game, "agent", model, search), make_player(text, self.game)) for _ in range(threads)
        ]
        play_parallel(self.game, teams, 2 * threads, seed=1)  # loads or compiles
        match = play_parallel(self.game, teams, ANCHOR_GAMES * threads, seed=0)
        length = sum(len(record.moves) - record.opening_plies for record in match.records) / match.games
        return AnchorSpeed(match.seconds_per_move[1], length)


def _through(trend: Trend, games: float, factor: float) -> Trend:
    """A trend of the same pace that has this factor after so many games."""
    return Trend(1.0 + (factor - 1.0) / (1.0 - math.exp(-games / trend.pace)), trend.pace)


def _matches(game: Game, config: RunConfig) -> SearchSpeed:
    """Matches of the stand-in with itself, as gate and evaluation play them; a probe holds both sides."""
    model, probes, began = _stand_in(game, config), list[Probe](), time.perf_counter()
    _match(game, config, model, 2, 2, seed=0)  # loads or compiles
    for games, simulations in MATCH_PROBES:
        if len(probes) < 2 or time.perf_counter() < began + PROBES_SECONDS:
            probes.append(_match(game, config, model, games, simulations, seed=1))
    return SearchSpeed(tuple(probes), config.threads, 0.0, 0.0)


def _match(game: Game, config: RunConfig, model: bytes, games: int, simulations: int, seed: int) -> Probe:
    threads, search = config.threads, playing_search(config.selfplay.search, simulations)
    players: list[Any] = [make_agent(game, f"agent {i}", model, search) for i in range(2 * threads)]
    before = sum(player.network_seconds for player in players)
    teams: list[Team] = list(zip(players[::2], players[1::2], strict=True))
    match = play_parallel(game, teams, games * threads, seed=seed)
    network = sum(player.network_seconds for player in players) - before
    lengths = tuple(len(record.moves) - record.opening_plies for record in match.records)
    memories = [player.search.evaluator for player in players]
    asked = sum(memory.asked - memory.hits - memory.repeats for memory in memories)
    # Both sides are asked in every round, each about half of the games.
    return Probe(simulations, games, lengths, 2.0 * max(lengths), asked, match.seconds * threads - network)
