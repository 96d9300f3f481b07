"""Table 6.2: when adaptive warm starts switch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from palaestra.errors import ConfigError
from palaestra.lab.table_6_2 import PUBLISHED, Row, settings, switch_of, table_6_2

TINY = (
    "net=b1c4", "selfplay.games=4", "selfplay.search.num_simulations=4", "learn.epochs=1.0", "learn.window=2",
    "gate.games=2", "gate.simulations=2",
)  # fmt: skip


def test_a_row_counts_what_has_not_switched_at_the_limit() -> None:
    row = Row("connect_four-6x6", "rave", (2, 4, None), 6)
    assert (row.mean, row.open) == (4.0, 1)
    assert row.spread == pytest.approx(2.0)
    assert row.published == (2.38, 1.22)
    assert row.agrees
    assert not Row("connect_four-6x6", "rave", (19, 20, 20, 19), 20).agrees


def test_the_settings_are_those_of_the_thesis_with_an_adaptive_start() -> None:
    config = settings("gobang-6x6", "wro", 7, ("net=b3c32",), 1)
    assert config.selfplay.search.num_simulations == 200
    assert (config.warm.enhancement, config.warm.adaptive, config.warm.length) == ("wro", True, 7)
    assert config.warm.weight == "harmonic"
    assert (config.selfplay.games, config.gate.games, config.learn.epochs) == (50, 40, 10)
    assert settings("connect_four-6x6", "wro", 7, (), 1).net == "thesis256"


def test_a_run_stops_at_its_switch_and_is_only_read_the_second_time(tmp_path: Path) -> None:
    config = settings("connect_four-6x6", "rave", 4, TINY, 1)
    switch = switch_of(tmp_path / "run", config, 4)
    lines = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    assert len(lines) == (4 if switch is None else switch)
    assert [line["warm"]["switch"] for line in lines] == [line["iteration"] == switch for line in lines]
    before = (tmp_path / "run/manifest.json").stat().st_mtime_ns
    assert switch_of(tmp_path / "run", config, 4) == switch
    assert (tmp_path / "run/manifest.json").stat().st_mtime_ns == before


def test_the_table_has_a_row_for_every_enhancement_and_a_seed_for_every_run(tmp_path: Path) -> None:
    heard: list[str] = []
    rows = list(table_6_2(tmp_path, runs=1, seed=5, limit=1, sets=TINY, threads=1, listen=heard.append))
    assert [row.enhancement for row in rows] == list(PUBLISHED)
    assert all(len(row.switches) == 1 for row in rows)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        f"connect_four-6x6-{name}-5" for name in PUBLISHED
    )
    assert heard[0] == "rollout on connect_four-6x6, run 1 of 1"


def test_a_game_that_the_table_does_not_have_is_refused_before_any_run(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="hex-3x3"):
        list(table_6_2(tmp_path, "hex-3x3"))
    assert not list(tmp_path.iterdir())
