from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Cli


def test_bench_selfplay_reports_speed_beside_its_limit(cli: Cli) -> None:
    done = cli(
        "bench", "selfplay", "tic_tac_toe-3x3", "--net", "b1c8", "--simulations", "4", "--games", "4", "--threads", "2",
        "--seconds", "0.1", "--json",
    )  # fmt: skip
    assert done.code == 0 and done.err == ""
    report = json.loads(done.out)
    assert report["game"] == "tic_tac_toe-3x3" and report["threads"] == 2
    for name in ("positions_per_second", "simulations_per_second", "evaluations_per_second", "limit_per_second"):
        assert report[name] > 0
    assert report["games_per_second"] >= 0 and 0 < report["network_share"] < 1
    assert report["limit_ratio"] == pytest.approx(report["simulations_per_second"] / report["limit_per_second"])
    assert report["signature"]


def test_bench_search_says_what_the_limit_ratio_is(cli: Cli) -> None:
    short = ("bench", "search", "tic_tac_toe-3x3", "--simulations", "4", "--games", "4", "--seconds", "0.02")
    report = json.loads(cli(*short, "--json").out)
    assert report["evaluations_per_second"] is report["network_share"] is None  # random games: inside the search
    assert report["limit_ratio"] == pytest.approx(report["simulations_per_second"] / report["limit_per_second"])
    assert "The limit ratio is simulations over the evaluations" in cli(*short).out


def test_bench_train_reports_speed_beside_its_limit(cli: Cli) -> None:
    done = cli(
        "bench", "train", "tic_tac_toe-3x3", "--net", "b1c8", "--batch", "64", "--threads", "2", "--seconds", "0.1",
        "--json",
    )  # fmt: skip
    assert done.code == 0 and done.err == ""
    report = json.loads(done.out)
    assert (report["game"], report["net"], report["batch"], report["threads"]) == ("tic_tac_toe-3x3", "b1c8", 64, 2)
    assert report["samples_per_second"] > 0 and report["fixed_batch_per_second"] > 0
    assert report["limit_ratio"] == pytest.approx(report["samples_per_second"] / report["limit_per_second"])


def test_bench_takes_batches_of_as_many_positions_as_games_by_default(cli: Cli) -> None:
    short = ("tic_tac_toe-3x3", "--net", "b1c8", "--threads", "1", "--seconds", "0.01", "--json")
    for what in ("inference", "train"):
        for size, options in ((32, ("--games", "32")), (48, ("--games", "32", "--batch", "48"))):
            assert json.loads(cli("bench", what, *short, *options).out)["batch"] == size


@pytest.mark.parametrize(
    ("options", "complaint"), [(("--net", "x.onnx"), "unknown network 'x.onnx'"), (("--batch", "1"), "at least 2")]
)
def test_bench_train_refuses_what_cannot_be_trained(cli: Cli, options: tuple[str, ...], complaint: str) -> None:
    done = cli("bench", "train", "tic_tac_toe-3x3", "--seconds", "0.01", *options)
    assert done.code == 2 and complaint in done.err and done.err.count("\n") == 1
