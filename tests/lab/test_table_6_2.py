"""Table 6.2: when adaptive warm starts switch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from palaestra.base.errors import ConfigError
from palaestra.lab import table_6_2 as module
from palaestra.lab.table_6_2 import PUBLISHED, Row, folders, rows, settings, switch_of, table_configs
from palaestra.lab.trained import train_side_by_side
from palaestra.learn.config import RunConfig

TINY = (
    "net=b1c4", "selfplay.games=4", "selfplay.search.simulations=4", "learn.epochs=1.0", "learn.window=2",
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
    assert config.selfplay.search.simulations == 200
    assert (config.warm.enhancement, config.warm.adaptive, config.warm.length) == ("wro", True, 7)
    assert config.warm.weight == "harmonic"
    assert (config.selfplay.games, config.gate.games, config.learn.epochs) == (50, 40, 10)
    assert settings("connect_four-6x6", "wro", 7, (), 1).net == "thesis256"


def test_a_run_stops_at_its_switch_and_is_only_read_the_second_time(tmp_path: Path) -> None:
    config = settings("connect_four-6x6", "rave", 4, TINY, 1)
    switch = switch_of(tmp_path / "run", config)
    lines = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    assert len(lines) == (4 if switch is None else switch)
    assert [line["warm"]["balance"] > 0 for line in lines] == [line["iteration"] == switch for line in lines]
    before = (tmp_path / "run/manifest.json").stat().st_mtime_ns
    assert switch_of(tmp_path / "run", config) == switch
    assert (tmp_path / "run/manifest.json").stat().st_mtime_ns == before


@pytest.mark.parametrize(("balances", "switch"), [((-4, 0, 2), 3), ((-4, 1, 2), 2), ((-4, -2, 0), None)])
def test_a_warm_start_that_the_limit_ends_has_not_switched(
    monkeypatch: pytest.MonkeyPatch, balances: tuple[int, ...], switch: int | None
) -> None:
    def trained(folder: Path, config: RunConfig, listeners: object) -> list[dict[str, object]]:
        done = balances[: config.iterations]
        return [{"warm": {"balance": r, "switch": r > 0 or i + 1 == len(balances)}} for i, r in enumerate(done)]

    monkeypatch.setattr(module, "trained", trained)
    assert switch_of(Path("run"), settings("connect_four-6x6", "rave", 3, TINY, 1)) == switch


def test_the_table_has_a_row_for_every_enhancement_and_a_seed_for_every_run(tmp_path: Path) -> None:
    configs = table_configs("connect_four-6x6", [5], 1, sets=TINY)
    table = rows(tmp_path, configs)
    assert [row.enhancement for row in table] == list(PUBLISHED)
    assert all(len(row.switches) == 1 for row in table)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        f"connect_four-6x6-{name}-5" for name in PUBLISHED
    )


@pytest.mark.slow
def test_runs_side_by_side_stop_at_their_switches(tmp_path: Path) -> None:
    configs = table_configs("connect_four-6x6", [1, 2], 4, sets=TINY)
    some = {key: config for key, config in configs.items() if key[0] == "rave"}
    together, shares = tmp_path / "together", list[float]()
    train_side_by_side(folders(together, some), 2, shares.append, switch_of)
    assert shares[-1] == 2.0, "a run that has switched is whole"
    written = [len((path / "metrics.jsonl").read_text().splitlines()) for path in folders(together, some)]
    (row,) = rows(together, some)
    assert [switch or row.limit for switch in row.switches] == written
    assert rows(tmp_path / "alone", some) == [row]


def test_a_game_that_the_table_does_not_have_is_refused() -> None:
    with pytest.raises(ConfigError, match="hex-3x3"):
        table_configs("hex-3x3", [0], 4)
