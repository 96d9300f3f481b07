"""Running Elo: what the run's own matches say, with who moved first, from the lines of metrics alone."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from palaestra.arena.match import MatchResult
from palaestra.base.errors import ConfigError
from palaestra.games.registry import make_game
from palaestra.learn import events
from palaestra.learn.config import RunConfig
from palaestra.learn.evaluation import meet
from palaestra.learn.events import Event
from palaestra.learn.loop import resume, train
from palaestra.learn.running_elo import (
    encounter,
    encounters,
    evaluated_before,
    games_of,
    latest_elo,
    playing,
    running_elos,
    tally_of_first,
)
from palaestra.runs.folder import RunFolder
from palaestra.runs.manifest import digest
from palaestra.runs.metrics import VERSION, MetricsLine, RunningElo
from tests.arena.fakes import counted
from tests.learn import fakes
from tests.learn.fakes import FAKES, tiny
from tests.learn.run_folders import lines_of, metrics_line
from tests.players.run_folders import random_model

FOUR = make_game("connect_four-4x4")


def match_of(points: list[float]) -> MatchResult:
    records = tuple(counted(number, point, (number,)) for number, point in enumerate(points))
    return MatchResult("connect_four-4x4", "new", "old", records, 0, 0.0, (0.0, 0.0))


def line(
    iteration: int,
    against: int,
    first: tuple[int, int, int],
    second: tuple[int, int, int],
    *,
    accepted: bool = True,
    elo: Any = None,
) -> MetricsLine:
    """A line of metrics with the gate's match, as far as running Elo reads it."""
    wins, draws, losses = (a + b for a, b in zip(first, second, strict=True))
    games = wins + draws + losses
    gate = {
        "network": iteration, "against": against, "wins": wins, "draws": draws, "losses": losses, "first": list(first),
        "games": games, "distinct_games": games, "accepted": accepted, "reason": "",
    }  # fmt: skip
    return metrics_line(iteration, gate=gate, elo=elo)


def ungated(iteration: int) -> MetricsLine:
    return metrics_line(iteration, gate=None, elo=None)


def test_every_game_is_told_with_who_began_it_and_the_points_of_that_one() -> None:
    match = match_of([1.0, 0.0, 0.5, 1.0, 0.0, 0.5, 1.0, 1.0])
    told = encounter(match, network=7, against=4)
    expected = Counter(
        (*(("7", "4") if record.number % 2 == 0 else ("4", "7")), record.points) for record in match.records
    )
    assert Counter(games_of(told)) == expected
    assert tally_of_first(match) == told.first == (2, 1, 1)
    assert (told.wins, told.draws, told.losses, told.games, told.distinct_games) == (4, 2, 2, 8, 8)


def test_the_earliest_network_is_0_and_whoever_won_stands_above_whom_it_beat() -> None:
    lines = [
        line(1, 0, (8, 1, 1), (6, 1, 3)),
        line(2, 1, (7, 1, 2), (6, 2, 2)),
        line(3, 2, (2, 1, 7), (1, 1, 8), accepted=False),
    ]
    elos = running_elos(lines)
    assert set(elos) == {0, 1, 2, 3}
    assert elos[0].elo == pytest.approx(0, abs=1e-9)
    assert elos[2].elo > elos[1].elo + 50 > 100 and elos[3].elo < elos[2].elo - 50
    assert all(elo.plus > 0 and elo.minus > 0 for elo in elos.values() if elo.network)
    assert playing(lines) == 2
    kept, found = latest_elo(lines), elos[2]
    assert kept == RunningElo(2, round(found.elo, 2), round(found.plus, 2), round(found.minus, 2))


def test_a_first_move_that_wins_every_game_makes_nobody_stronger() -> None:
    """With the newer network named first in all games, 20 to 20 would rate it 27.6 Elo lower (sources: L8)."""
    elos = running_elos([line(1, 0, (20, 0, 0), (0, 0, 20))])
    assert elos[1].elo == pytest.approx(0, abs=0.01)
    unfair = running_elos([line(1, 0, (20, 0, 20), (0, 0, 0))])
    assert unfair[1].elo == pytest.approx(-27.62, abs=0.02)


def test_the_whole_history_counts_and_not_the_last_match_alone() -> None:
    lines = [line(1, 0, (8, 1, 1), (6, 1, 3)), line(2, 1, (5, 0, 5), (5, 0, 5), accepted=False)]
    more = [*lines, line(3, 1, (1, 0, 9), (1, 0, 9), accepted=False)]
    once, thrice = latest_elo(lines[:1]), latest_elo(more)
    assert once is not None and thrice is not None
    assert once.network == thrice.network == 1
    assert thrice.elo != once.elo, "later matches say more about an earlier network"


def test_matches_that_nothing_connects_with_the_network_that_plays_are_left_out() -> None:
    apart = [line(1, 0, (9, 0, 1), (9, 0, 1)), ungated(2), ungated(3), line(4, 3, (6, 0, 4), (5, 0, 5))]
    assert set(running_elos(apart)) == {3, 4}
    assert running_elos(apart)[3].elo == pytest.approx(0, abs=1e-9)
    assert running_elos([*apart, ungated(5)]) == {} and latest_elo([*apart, ungated(5)]) is None


def test_lines_of_runs_that_did_not_count_who_began_are_passed_over() -> None:
    old = {"accepted": True, "wins": 9, "draws": 0, "losses": 1, "reason": ""}
    lines = [metrics_line(1, gate=old, elo=None), line(2, 1, (6, 0, 4), (5, 0, 5))]
    assert [(one.network, one.against) for one in encounters(lines)] == [(2, 1)]
    assert latest_elo(lines[:1]) is None and set(running_elos(lines)) == {1, 2}


def test_the_network_evaluated_before_is_the_one_that_played_then() -> None:
    lines = [
        line(1, 0, (1, 0, 0), (1, 0, 0)),
        line(2, 1, (0, 0, 1), (0, 0, 1), accepted=False, elo={"random": [0.0, -1.0, 1.0]}),
    ]
    lines.append(line(3, 1, (1, 0, 0), (1, 0, 0)))
    assert [evaluated_before(lines[:count]) for count in range(4)] == [0, 0, 1, 1]
    assert [playing(lines[:count]) for count in range(4)] == [0, 1, 1, 3]
    assert playing([ungated(1), ungated(2)]) == 2


@pytest.mark.usefixtures("quick_disk")
def test_a_run_records_its_running_elo_and_what_it_was_made_of(tmp_path: Path) -> None:
    train(tiny(iterations=8), tmp_path / "run", stages=FAKES)
    lines = lines_of(tmp_path / "run")
    best = 0
    for count, one in enumerate(lines, start=1):
        gate = one.gate
        assert gate is not None
        assert (gate.network, gate.against, gate.games, gate.distinct_games) == (count, best, 4, 4)
        best = count if gate.accepted else best
        running = one.running_elo
        assert running == latest_elo(lines[:count])
        # Nobody has met the untrained network's heirs before the first match of one that plays.
        assert running is not None and running.network == best
    assert {one.is_accepted for one in lines} == {True, False}


@pytest.mark.usefixtures("quick_disk")
def test_without_a_gate_each_evaluation_meets_the_network_evaluated_before(tmp_path: Path) -> None:
    met: list[tuple[bytes, bytes, int]] = []
    heard: list[Event] = []

    def watch(
        game: Any, model: bytes, earlier: bytes, config: RunConfig, iteration: int, *rest: Any, **more: Any
    ) -> Any:
        met.append((model, earlier, iteration))
        return fakes.meet(game, model, earlier, config, iteration, *rest, **more)

    config = tiny("gate.kind=off", "evaluation.history=6", "evaluation.every=2", iterations=5)
    run = tmp_path / "run"
    train(config, run, [heard.append], replace(FAKES, meet=watch))
    networks = {int(path.stem): path.read_bytes() for path in (run / "checkpoints").glob("*.onnx")}
    assert met == [(networks[new], networks[old], new) for new, old in ((2, 0), (4, 2), (5, 4))]
    lines = lines_of(run)
    assert [one.history and (one.history.network, one.history.against) for one in lines] == [
        None, (2, 0), None, (4, 2), (5, 4),
    ]  # fmt: skip
    assert [one.running_elo and one.running_elo.network for one in lines] == [None, 2, None, 4, 5]
    totals = [e.total for e in heard if isinstance(e, events.StageStarted) and e.stage == "evaluation"]
    done = [e.done for e in heard if isinstance(e, events.StageProgress) and e.stage == "evaluation"]
    assert totals == [2 * 2 + 6] * 3 and done == [10, 10, 10]
    train(tiny("gate.kind=off", iterations=4), tmp_path / "without", stages=replace(FAKES, meet=None))  # never called
    assert all(one.history is one.running_elo is None for one in lines_of(tmp_path / "without"))


@pytest.mark.usefixtures("quick_disk")
def test_a_network_does_not_meet_itself(tmp_path: Path) -> None:
    def refuse(*arguments: Any, **options: Any) -> Any:
        return replace(fakes.judge(*arguments, **options), accepted=False)

    config = tiny("evaluation.history=2", "evaluation.every=1", iterations=3)
    train(config, tmp_path / "run", stages=replace(FAKES, judge=refuse, meet=None))
    assert all(one.history is None for one in lines_of(tmp_path / "run"))


@pytest.mark.usefixtures("quick_disk")
def test_a_run_that_is_extended_goes_on_with_the_history_it_had(tmp_path: Path) -> None:
    sets = ("gate.kind=off", "evaluation.history=4", "evaluation.every=1")
    train(tiny(*sets, iterations=3), tmp_path / "run", stages=FAKES)
    resume(tmp_path / "run", iterations=6, stages=FAKES)
    lines = lines_of(tmp_path / "run")
    assert [one.history and one.history.against for one in lines] == [0, 1, 2, 3, 4, 5]
    assert lines[-1].running_elo == latest_elo(lines)


@pytest.mark.usefixtures("quick_disk")
def test_a_run_of_a_version_without_running_elo_goes_on_and_counts_from_there(tmp_path: Path) -> None:
    home = RunFolder(tmp_path / "run")
    train(tiny("evaluation.every=1", iterations=4), home.path, stages=FAKES)
    manifest = home.manifest()
    assert manifest is not None
    documents = [json.loads(text) for text in (home.path / "metrics.jsonl").read_text().splitlines()]
    for one in documents:
        del one["version"], one["losses_by_epoch"], one["history"], one["running_elo"]
        for name in ("games", "distinct_games", "first", "network", "against"):
            del one["gate"][name]
    text = "".join(json.dumps(one) + "\n" for one in documents)
    (home.path / "metrics.jsonl").write_text(text)
    del manifest.config["evaluation"]["history"]
    files = {**manifest.files, "metrics.jsonl": digest(text.encode())}
    (home.path / "manifest.json").write_bytes(replace(manifest, metrics_bytes=len(text), files=files).to_bytes())
    config = home.path / "config.toml"
    config.write_text(config.read_text().replace("history = 0\n", ""))
    resume(home.path, ["evaluation.history=2"], iterations=8, stages=FAKES)
    lines = lines_of(home.path)
    assert [one.version for one in lines] == [0] * 4 + [VERSION] * 4
    assert lines[4].gate is not None and lines[4].gate.against == manifest.best
    assert lines[-1].running_elo is not None and lines[-1].running_elo == latest_elo(lines)
    assert min(met.against for met in encounters(lines)) == manifest.best


def test_a_real_match_with_the_earlier_network_is_repeatable_and_even_against_itself() -> None:
    def config(threads: int, **settings: Any) -> RunConfig:
        evaluation = {"history": 12, "simulations": 8, **settings}
        return RunConfig(game=FOUR.id, iterations=1, seed=7, threads=threads, evaluation=evaluation)

    one, other = random_model(FOUR, 1), random_model(FOUR, 2)
    match = meet(FOUR, one, other, config(1), iteration=3)
    again = meet(FOUR, one, other, config(2), iteration=3)
    assert [record.moves for record in match.records] == [record.moves for record in again.records]
    assert match.games == 12 and match.distinct_games >= 6
    later = meet(FOUR, one, other, config(1), iteration=4)
    assert [record.moves for record in match.records] != [record.moves for record in later.records]
    assert meet(FOUR, one, one, config(1), iteration=3).score == 0.5


def test_games_come_in_pairs() -> None:
    with pytest.raises(ConfigError, match=r"evaluation\.history is 3: pairs need an even number such as 40"):
        tiny("evaluation.history=3")
