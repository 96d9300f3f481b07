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
