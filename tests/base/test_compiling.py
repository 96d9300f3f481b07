"""The clock stands still while code is made ready, and listeners hear of what is compiled and of nothing else."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from palaestra.base import compiling
from palaestra.base.compiling import clock, listening, making_ready, missed, processor_clock
from palaestra.cli.compile_notice import _Notice, subject
from palaestra.games.registry import make_game
from palaestra.search.config import SearchConfig
from palaestra.search.driver import Search
from palaestra.search.evaluator import Evaluation, Evaluator, Leaves

PROGRAM = """
import json
from palaestra.base.compiling import clock, listening
from palaestra.base.jit import kernel
import time

@kernel
def inner(x):
    return x + 1

@kernel
def outer(x):
    return inner(x) * 2

heard = []
with listening(lambda name, begins: heard.append([name, begins])):
    before, began = clock(), time.perf_counter()
    outer(3)
    shown, passed = clock() - before, time.perf_counter() - began
    outer(4)
print(json.dumps([heard, shown < passed / 2]))
"""


def test_a_compiled_function_is_heard_once_and_one_from_the_cache_never(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    environment = {**os.environ, "PALAESTRA_CACHE": str(tmp_path / "cache")}

    def run() -> list[object]:
        done = subprocess.run([sys.executable, str(file)], env=environment, capture_output=True, text=True, check=True)
        answer: list[object] = json.loads(done.stdout)
        return answer

    assert run() == [[["__main__", True], ["__main__", False]], True]
    assert run() == [[], True]  # loading from the cache is no time of a player's either


def test_only_the_thread_that_makes_ready_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    seen: list[float] = []
    before = clock()
    with making_ready("one"), making_ready("another"):  # what is inside another is counted once
        now[0] = 40.0
        other = threading.Thread(target=lambda: seen.append(clock()))
        other.start()
        other.join()
    now[0] = 41.0
    assert clock() - before == 1.0 and seen == [40.0]


def test_the_processors_clock_leaves_out_what_any_thread_compiles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    computed = {"process": 0.0, "thread": 0.0}
    monkeypatch.setattr(time, "process_time", lambda: computed["process"])
    monkeypatch.setattr(time, "thread_time", lambda: computed["thread"])
    before = processor_clock()

    def compile_while_others_work() -> None:
        with making_ready("one"), making_ready("another"):
            computed["thread"], computed["process"] = 30.0, 40.0

    other = threading.Thread(target=compile_while_others_work)
    other.start()
    other.join()
    assert processor_clock() - before == pytest.approx(10.0)  # the clock does not begin at 0


def test_a_function_that_fails_to_compile_leaves_the_clock_going(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    heard: list[tuple[str, bool]] = []
    before = clock()
    with listening(lambda *told: heard.append(told)), pytest.raises(ValueError), making_ready("broken"):
        missed()
        missed()
        now[0] = 5.0
        raise ValueError
    now[0] = 7.0
    assert heard == [("broken", True), ("broken", False)] and clock() - before == 2.0
    missed()
    assert len(heard) == 2 and not compiling._thread.told


class SlowAtFirst(Evaluator):
    """Needs a second to get ready, but not before the clock of a search has started."""

    calls = 0

    def __call__(self, leaves: Leaves) -> Evaluation:
        self.calls += 1
        if self.calls == 2:
            with making_ready("evaluator"):
                time.sleep(1.0)
        return Evaluation(None, np.zeros(len(leaves.states), dtype=np.float32))


def test_what_a_search_compiles_is_not_its_players_time() -> None:
    game = make_game("gobang-6x6")
    config = SearchConfig(rule="uct", num_simulations=None, milliseconds=500.0)
    result = Search(game, SlowAtFirst(), config).run(game.initial(1), np.random.default_rng(0))
    assert result.simulations[0] > 1


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("palaestra.search.fused_loops@palaestra.games.connect_four-0123456789ab", "connect_four"),
        ("palaestra.games.loops@my_game-0123456789ab", "my_game"),
        ("palaestra.search.kernels", "search"),
        ("my_game", "my_game"),
    ],
)
def test_people_are_told_what_it_is_for(module: str, words: str) -> None:
    assert subject(module) == words


@pytest.mark.parametrize("terminal", [False, True])
def test_a_pipe_sees_nothing_and_a_terminal_one_line(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = io.StringIO()
    console = Console(file=seen, force_terminal=terminal, force_interactive=terminal, _environ={"TERM": "xterm"})
    monkeypatch.setattr("palaestra.cli.output.stderr", lambda: console)
    notice = _Notice()
    notice("palaestra.games.loops@palaestra.games.hex-0123456789ab", True)
    notice("palaestra.search.kernels", True)
    notice("palaestra.search.kernels", False)
    assert (notice._status is not None) == terminal
    notice("palaestra.games.loops@palaestra.games.hex-0123456789ab", False)
    assert notice._status is None
    assert ("compiling hex (once)" in seen.getvalue()) == terminal and bool(seen.getvalue()) == terminal
