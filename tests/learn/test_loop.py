from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from palaestra.base.errors import ConfigError, GameError, PalaestraError
from palaestra.games.registry import make_game
from palaestra.learn import events, run_clock
from palaestra.learn.events import Event
from palaestra.learn.listeners import TensorBoard
from palaestra.learn.loop import resume, train
from palaestra.learn.presets import configure
from palaestra.players.runs import open_run
from palaestra.rewards.base import Reward
from palaestra.runs.folder import RunFolder
from palaestra.runs.metrics import WarmStartState, write_line
from palaestra.runs.pgn_games import read_games
from palaestra.work.workers import make_workers
from tests.learn import fakes
from tests.learn.fakes import FAKES, SOLO, tiny

pytestmark = pytest.mark.usefixtures("quick_disk")


def lines_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_stages_come_in_order_and_an_iteration_ends_when_it_is_on_the_disk(tmp_path: Path) -> None:
    heard: list[str] = []
    saved: list[int] = []

    def listen(event: Event) -> None:
        if isinstance(event, events.StageStarted):
            heard.append(event.stage)
        elif isinstance(event, events.IterationEnded):
            manifest = RunFolder(tmp_path / "run").manifest()
            saved.append(manifest.iteration if manifest else -1)
            assert lines_of(tmp_path / "run")[-1] == json.loads(write_line(event.metrics))

    train(tiny(iterations=2), tmp_path / "run", [listen], FAKES)
    stages = ["selfplay", "training", "gate"]
    assert heard == [*stages, "saving", *stages, "evaluation", "saving"]
    assert saved == [1, 2]


def test_the_summary_counts_what_was_done(tmp_path: Path) -> None:
    summary = train(tiny(iterations=3), tmp_path / "run", stages=FAKES)
    assert (summary.iterations, summary.games, summary.positions) == (3, 18, 18)
    assert len(summary.metrics) == 3 and summary.seconds > 0
    assert summary.elo == summary.metrics[-1].elo and set(summary.elo) == {"random", "uct(simulations=200)"}
    assert summary.metrics[-1].against is not None and summary.metrics[-1].against[0].anchor == "random"


def test_a_rejected_network_leaves_weights_and_optimizer_as_they_were(tmp_path: Path) -> None:
    begun: list[list[float]] = []

    class Watched(fakes.FakeTrainer):
        def train(self, *arguments: Any, **options: Any) -> Any:
            begun.append([*self.weights, *self.momentum])
            return super().train(*arguments, **options)

    def refuse(*arguments: Any, **options: Any) -> Any:
        return replace(fakes.judge(*arguments, **options), accepted=False)

    train(tiny(iterations=3), tmp_path / "run", stages=replace(FAKES, make_trainer=Watched, judge=refuse))
    assert begun[0] == begun[1] == begun[2]
    manifest = RunFolder(tmp_path / "run").manifest()
    assert manifest is not None and (manifest.best, manifest.trainer) == (0, 0)
    assert sorted(path.name for path in tmp_path.glob("run/checkpoints/*")) == ["0000.onnx", "0000.safetensors"]
    begun.clear()
    train(tiny("gate.kind=off", iterations=2), tmp_path / "ungated", stages=replace(FAKES, make_trainer=Watched))
    assert begun[0] != begun[1]


def test_self_play_uses_the_network_that_plays_not_the_rejected_one(tmp_path: Path) -> None:
    models: list[bytes] = []

    def play(game: Any, model: bytes, *arguments: Any, **options: Any) -> Any:
        models.append(model)
        return fakes.play_games(game, model, *arguments, **options)

    train(tiny(iterations=6), tmp_path / "run", stages=replace(FAKES, play_games=play))
    accepted = [line["gate"]["accepted"] for line in lines_of(tmp_path / "run")]
    assert True in accepted[:-1] and False in accepted[:-1]
    for i in range(5):
        assert (models[i + 1] != models[i]) == accepted[i]


@pytest.mark.parametrize(("every", "evaluated"), [(0, [5]), (1, [1, 2, 3, 4, 5]), (2, [2, 4, 5])])
def test_strength_is_measured_as_often_as_asked_and_at_the_end(
    tmp_path: Path, every: int, evaluated: list[int]
) -> None:
    train(tiny(f"evaluation.every={every}", iterations=5), tmp_path / "run", stages=FAKES)
    assert [line["iteration"] for line in lines_of(tmp_path / "run") if line["elo"]] == evaluated


def test_the_schedule_sees_how_much_of_the_run_is_behind(tmp_path: Path) -> None:
    train(tiny("gate.kind=off", iterations=4), tmp_path / "run", stages=FAKES)
    rates = [line["lr"] / 0.005 for line in lines_of(tmp_path / "run")]
    assert rates == pytest.approx([1, 0.75, 0.5, 0.25])  # the fake's rate is what is left of the run


def test_minutes_end_a_run_with_the_iteration_in_which_they_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_clock, "time", Clock(1.0))
    summary = train(tiny("evaluation.every=1", iterations=None, minutes=0.5), tmp_path / "run", stages=FAKES)
    elapsed = [line.elapsed for line in summary.metrics]
    assert len(elapsed) > 2 and elapsed[-2] < 30 <= elapsed[-1]
    assert train(tiny(iterations=2, minutes=60), tmp_path / "both", stages=FAKES).iterations == 2


class Clock:
    """Stands still but when it is read; `busy` is how much of the time a core computes."""

    def __init__(self, busy: float) -> None:
        self.now, self.busy = 0.0, busy

    def perf_counter(self) -> float:
        self.now += 0.25
        return self.now

    def process_time(self) -> float:
        return self.busy * self.perf_counter()


def test_minutes_of_the_processor_are_those_that_the_threads_of_the_process_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def iterations(busy: float, clock: str, threads: int) -> int:
        clock_now = Clock(busy)
        monkeypatch.setattr(run_clock, "time", clock_now)
        monkeypatch.setattr(run_clock, "processor_clock", clock_now.process_time)
        config = tiny(f"clock={clock}", f"threads={threads}", iterations=None, minutes=0.08)
        return train(config, tmp_path / f"{busy}-{clock}-{threads}", stages=FAKES).iterations

    alone = iterations(1.0, "wall", 1)
    assert iterations(1.0, "processor", 1) == alone
    assert iterations(0.5, "wall", 1) == alone
    assert iterations(0.5, "processor", 1) == pytest.approx(2 * alone, abs=1)
    assert iterations(1.0, "processor", 2) == pytest.approx(2 * alone, abs=1)


def test_processor_time_is_refused_where_other_processes_play(tmp_path: Path) -> None:
    with make_workers("processes:2") as workers, pytest.raises(ConfigError, match="clock=processor counts this proc"):
        train(tiny("clock=processor"), tmp_path / "run", stages=FAKES, workers=workers)
    assert not (tmp_path / "run").exists()


def test_an_adaptive_warm_start_that_switched_stays_switched_after_a_resume(tmp_path: Path) -> None:
    told: list[bool] = []

    def play(*arguments: Any, switched: bool, **options: Any) -> Any:
        told.append(switched)
        warm = None if switched else WarmStartState("rollout", 1.0, 1, switch=len(told) == 2)
        return replace(fakes.play_games(*arguments, **options), warm=warm)

    stages = replace(FAKES, play_games=play)
    config = tiny("warm.enhancement=rollout", "warm.adaptive=true", iterations=3)
    train(config, tmp_path / "run", stages=stages)
    resume(tmp_path / "run", iterations=4, stages=stages)
    assert told == [False, False, True, True]
    assert [line["warm"] and line["warm"]["switch"] for line in lines_of(tmp_path / "run")] == [False, True, None, None]


def test_a_step_that_went_wrong_is_told(tmp_path: Path) -> None:
    class Breaking(fakes.FakeTrainer):
        def train(self, *arguments: Any, **options: Any) -> Any:
            report = super().train(*arguments, **options)
            nothing = replace(report.losses, policy=float("nan"))
            return replace(report, stopped="a loss was not finite", epochs=(nothing,))

    heard: list[Event] = []
    train(tiny(iterations=1), tmp_path / "run", [heard.append], replace(FAKES, make_trainer=Breaking))
    assert [e.message for e in heard if isinstance(e, events.Warned)] == ["iteration 1 diverged: a loss was not finite"]
    line = lines_of(tmp_path / "run")[0]
    assert line["losses"]["policy"] is None and line["diverged"] == "a loss was not finite"


def test_self_play_sees_the_reward_as_it_was_and_later_stages_as_it_has_become(tmp_path: Path) -> None:
    seen: dict[str, list[list[float]]] = {"play_games": [], "judge": [], "evaluate": [], "demerits": []}

    def watched(name: str) -> Any:
        def stage(*arguments: Any, reward: Reward, **options: Any) -> Any:
            seen[name].append(fakes.worth(reward))
            return getattr(fakes, name)(*arguments, reward=reward, **options)

        return stage

    sets = ("net=b1c8-outcome", "reward=cdf(generations=2)", "evaluation.every=1", "evaluation.demerits=true")
    stages = replace(FAKES, **{name: watched(name) for name in seen})
    train(tiny(*sets, game="opposition-3x9", iterations=3), tmp_path / "run", stages=stages)
    played = seen["play_games"]
    assert played[0] == len(played[0]) * [0.0], "an empty window knows nothing"
    assert played[0] != played[1] != played[2]
    for name in ("judge", "evaluate", "demerits"):
        assert len(seen[name]) == 3 and seen[name][:2] == played[1:], name


def test_the_metrics_name_the_reward_and_what_it_has_learned(tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(tiny("net=b1c8-outcome", "reward=cdf(generations=2)", iterations=3), run, stages=FAKES)
    lines = lines_of(run)
    assert {line["reward"] for line in lines} == {"cdf(generations=2)"}
    assert [line["learned"]["window"] for line in lines] == [6, 12, 12]
    reward = open_run(str(run)).make_reward(make_game("tic_tac_toe-3x3"))
    wins = sorted(int(game.tags["Outcome"]) for game in read_games((run / "games/0003.pgn").read_text()))
    wins = [win for win in wins if win > 0]
    worth = reward.value(np.array([0, wins[len(wins) // 2]], dtype=np.int32)).tolist()
    assert [lines[-1]["learned"][name] for name in ("draw", "median_win")] == worth
    train(tiny(iterations=1), tmp_path / "plain", stages=FAKES)
    plain = lines_of(tmp_path / "plain")[0]
    assert (plain["reward"], plain["learned"], plain["demerits"]) == ("primitive", None, None)
    assert not list((tmp_path / "plain" / "reward").iterdir())


def test_demerits_are_counted_in_every_iteration_that_wants_them(tmp_path: Path) -> None:
    totals: list[int | None] = []

    def listen(event: Event) -> None:
        if isinstance(event, events.StageStarted) and event.stage == "evaluation":
            totals.append(event.total)

    config = tiny("evaluation.demerits=true", "evaluation.every=0", game="opposition-3x9", iterations=3)
    train(config, tmp_path / "run", [listen], FAKES)
    lines = lines_of(tmp_path / "run")
    assert totals == [18, 18, 18 + 4], "nine starts from both sides; the anchors only at the end"
    assert [line["elo"] is None for line in lines] == [True, True, False]
    for line in lines:
        assert set(line["demerits"]) == {"demerits", "wins", "draws", "losses", "mean_plies"}
        assert line["demerits"]["losses"] == line["demerits"]["demerits"]


def test_the_games_of_an_iteration_are_kept_as_pgn(tmp_path: Path) -> None:
    train(tiny(iterations=1), tmp_path / "run", stages=FAKES)
    games = read_games((tmp_path / "run/games/0001.pgn").read_text())
    rules = make_game("tic_tac_toe-3x3")
    assert len(games) == 6
    assert all(int(rules.outcome(game.states(rules)[-1][None])[0]) == int(game.tags["Outcome"]) for game in games)


@pytest.mark.parametrize(
    ("game", "sets", "kind", "words"),
    [
        ("morpion-5d", ("gate.kind=sprt",), ConfigError, "gate.kind is sprt: a gate plays two networks"),
        ("morpion-5d", ("evaluation.history=2",), ConfigError, "networks do not meet"),
        (
            "morpion-5d",
            ("warm.enhancement=rave", "warm.adaptive=true", "selfplay.games=1"),
            ConfigError,
            "in pairs of games",
        ),
        (
            "hex-3x3",
            ("selfplay.sampling=true", "selfplay.value_target=z"),
            ConfigError,
            "selfplay.sampling is for games",
        ),
        ("hex-3x3", ("solo.every=3",), ConfigError, "solo.every is for games of one player"),
        ("chess-8x8", (), GameError, "unknown game"),
        ("hex-3x3", ('evaluation.anchors=["nobody"]',), PalaestraError, "unknown player 'nobody'"),
        ("hex-3x3", ("evaluation.games=3",), ConfigError, "even number"),
        ("hex-3x3", ("reward=elo",), ConfigError, "unknown reward 'elo'"),
        ("hex-3x3", ("reward=cdf_bonus(alpha=2)",), ConfigError, "alpha is 2"),
        ("hex-3x3", ("reward=ranked",), ConfigError, "ranked is for games of one player"),
        ("hex-3x3", ("reward=cdf",), ConfigError, "--set net=b3c32-outcome.* --set learn.stale_values=true"),
        ("hex-3x3", ("reward=cdf_bonus", "net=b2c8"), ConfigError, "--set net=b2c8-outcome"),
        ("hex-3x3", ("reward=switch(primitive, hand_tuned, at=5)",), ConfigError, "--set net=b3c32-outcome"),
        ("morpion-4d", ("reward=cdf", "net=mlp64x2"), ConfigError, "--set net=mlp64x2-categorical"),
        ("hex-3x3", ("evaluation.demerits=true",), ConfigError, "demerits need a game that is solved"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_anything_is_made(
    tmp_path: Path, game: str, sets: tuple[str, ...], kind: type[PalaestraError], words: str
) -> None:
    with pytest.raises(kind, match=words):
        train(configure(game, "fast", sets, iterations=1), tmp_path / "run", stages=FAKES)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "sets",
    [
        ("reward=cdf", "learn.stale_values=true"),
        ("reward=cdf", "net=b1c8-outcome"),
        ("reward=cdf", "learn.window=1"),  # all that is learned from is of this iteration
        ("reward=hand_tuned",),
    ],
)
def test_a_reward_is_accepted_where_no_stale_value_is_learned_or_that_is_wanted(
    tmp_path: Path, sets: tuple[str, ...]
) -> None:
    assert train(tiny(*sets, game="hex-3x3", iterations=1), tmp_path / "run", stages=FAKES).iterations == 1


def test_ranked_reward_keeps_what_a_game_was_told(tmp_path: Path) -> None:
    config = tiny(*SOLO, "learn.window=3", game="morpion-4d", iterations=1)
    assert train(config, tmp_path / "run", stages=FAKES).iterations == 1


class Told(Exception):
    """Ends a run from the outside."""


def test_an_iteration_that_is_done_again_has_the_same_schedule_although_the_clock_moved_on(tmp_path: Path) -> None:
    given: list[float] = []

    class Watched(fakes.FakeTrainer):
        def train(self, batches: Any, steps: int, progress: float, listen: Any = None) -> Any:
            given.append(progress)
            return super().train(batches, steps, progress, listen)

    def end_in_third(event: Event) -> None:
        if isinstance(event, events.StageStarted) and event.iteration == 3 and event.stage == "saving":
            raise Told

    stages = replace(FAKES, make_trainer=Watched)
    with pytest.raises(Told):
        train(tiny(iterations=None, minutes=0.05), tmp_path / "run", [end_in_third], stages)  # three are in time
    resume(tmp_path / "run", stages=stages)
    lines = lines_of(tmp_path / "run")
    assert given[0] == 0.0 and 0.0 < given[2] == given[3] == lines[2]["progress"]
    assert given[2] == min(1.0, lines[1]["elapsed"] / (60 * 0.05)), "by what is saved, and by no clock"
    assert lines[2]["lr"] == tiny().learn.lr * (1 - given[2])


def test_a_run_needs_no_more_than_a_configuration_and_players_can_open_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("tic_tac_toe-3x3", "tic_tac_toe-3x3-2"):
        summary = train(tiny(iterations=1), stages=FAKES)
        assert summary.folder == Path("runs") / name
    run = open_run("tic_tac_toe-3x3")
    assert (run.iteration, run.best) == (1, summary.best)
    assert run.network(run.best) == (tmp_path / f"runs/tic_tac_toe-3x3/checkpoints/{run.best:04d}.onnx").read_bytes()


def test_tensorboard_hears_every_number_of_an_iteration(tmp_path: Path) -> None:
    class Writer:
        def __init__(self) -> None:
            self.found: dict[tuple[str, int], float] = {}
            self.closed = False

        def add_scalar(self, name: str, value: float, step: int) -> None:
            self.found[name, step] = value

        def flush(self) -> None: ...

        def close(self) -> None:
            self.closed = True

    writer = Writer()
    config = tiny("net=b1c8-outcome", "reward=cdf", "evaluation.demerits=true", game="opposition-3x9", iterations=2)
    train(config, tmp_path / "run", [TensorBoard(writer)], FAKES)
    line = lines_of(tmp_path / "run")[1]
    assert writer.closed
    assert writer.found["losses/policy", 2] == line["losses"]["policy"]
    assert writer.found["elo/random", 2] == line["elo"]["random"][0]
    assert ("elo/random", 1) not in writer.found
    assert writer.found["elo/running", 2] == line["running_elo"]["elo"]
    assert writer.found["gate/accepted", 1] in (0.0, 1.0)
    assert writer.found["demerits", 1] == lines_of(tmp_path / "run")[0]["demerits"]["demerits"]
    assert writer.found["reward/draw", 2] == line["learned"]["draw"] and writer.found["reward/window", 2] == 12
