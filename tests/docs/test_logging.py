"""docs/logging.md: what it says of listeners, its own included, is so."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import pytest

import palaestra as pl
from palaestra.learn import events
from palaestra.learn.listeners import scalars

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "logging.md").read_text(encoding="utf-8")
CODE = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
SMALL = (
    "net=b1c8", "selfplay.games=4", "selfplay.search.simulations=2", "evaluation.every=1", "evaluation.games=2",
    "evaluation.simulations=2", 'evaluation.anchors=["random"]',
)  # fmt: skip


@pytest.fixture
def tracker() -> Any:
    """The class that the page shows."""
    shown = next(code for code in CODE if "class Tracker" in code)
    names: dict[str, Any] = {}
    exec(compile(shown, "docs/logging.md", "exec"), names)
    return names["Tracker"]


class Service:
    """What is used of a service such as W&B: `init` gives a run with `log` and `finish`."""

    def __init__(self) -> None:
        self.begun: list[dict[str, Any]] = []
        self.logged: list[tuple[int, dict[str, float]]] = []
        self.finished = 0

    def init(self, **named: Any) -> Any:
        self.begun.append(named)
        return SimpleNamespace(log=lambda numbers, step: self.logged.append((step, numbers)), finish=self.finish)

    def finish(self) -> None:
        self.finished += 1


def test_the_listener_of_the_page_sends_every_iteration_also_of_a_run_that_goes_on(
    tracker: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    service = Service()
    config = pl.configure("tic_tac_toe-3x3", sets=[*SMALL, "threads=1"], iterations=1)
    pl.train(config, "tracked", listeners=[tracker(service.init)])
    run = pl.resume("tracked", iterations=2, listeners=[tracker(service.init)])
    assert [begun["id"] for begun in service.begun] == ["tracked", "tracked"] and service.finished == 2
    assert service.begun[0]["config"]["selfplay"]["games"] == 4
    assert [step for step, _ in service.logged] == [1, 2]
    assert service.logged[1][1] == scalars(run.lines[1])
    assert {"losses/policy", "elo/random", "seconds/selfplay"} <= set(service.logged[0][1])
    assert [iteration for iteration, _ in run.curve("losses", "policy")] == [1, 2]


def test_the_table_of_events_has_all_of_them() -> None:
    table = PAGE.partition("| event | is told |")[2]
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(event.__name__ for event in get_args(events.Event))


def test_the_groups_of_scalars_are_those_of_the_page() -> None:
    source = Path(events.__file__).with_name("listeners.py").read_text(encoding="utf-8")
    groups = set(re.findall(r'"([a-z]+)/', source))
    assert groups == set(re.findall(r"`([a-z]+)/`", PAGE))
