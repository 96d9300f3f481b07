"""The disk cache of compiled code: it notices edits, survives damage, and a second process compiles nothing.

Each test runs small programs in processes of their own, with files and a cache folder of their own. A program prints
what its kernels answer and how often they were loaded from the cache (hits) or compiled (misses).
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.errors import NumbaError

import palaestra
from palaestra.base.jit import allocating, bind, fingerprint, kernel

HELPER = """
from palaestra.base.jit import kernel
SCALE = 10

@kernel
def helped(x):
    return x * SCALE + 1
"""
MAIN = """
from palaestra.base.jit import kernel
from helper import helped

@kernel
def main(x):
    return helped(x)
"""
REPORT = """
import json, sys
from {module} import {function} as asked
answer = asked({argument})
stats = asked.stats
print(json.dumps([answer, sum(stats.cache_hits.values()), sum(stats.cache_misses.values())]))
"""


class Desk:
    """A folder of source files and the cache beside it."""

    def __init__(self, folder: Path) -> None:
        self.sources, self.cache = folder / "sources", folder / "cache"
        self.sources.mkdir()

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.sources / f"{name}.py").write_text(text)

    def start(self, program: str, **environment: str) -> subprocess.Popen[str]:
        known = {**os.environ, "PALAESTRA_CACHE": str(self.cache), "PYTHONDONTWRITEBYTECODE": "1", **environment}
        return subprocess.Popen(
            [sys.executable, "-c", program], cwd=self.sources, env=known, text=True, stdout=-1, stderr=-1
        )

    def run(self, program: str, **environment: str) -> list[int]:
        process = self.start(program, **environment)
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        return json.loads(out)

    def ask(self, module: str = "main", function: str = "main", argument: str = "4", **environment: str) -> list[int]:
        """[answer, hits, misses] of one call in a new process."""
        return self.run(REPORT.format(module=module, function=function, argument=argument), **environment)

    def code_files(self) -> list[Path]:
        return sorted(self.cache.rglob("*.code"))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path)
    desk.write(helper=HELPER, main=MAIN)
    return desk


def test_a_second_copy_of_the_package_compiles_nothing(desk: Desk, tmp_path: Path) -> None:
    own, copied = Path(palaestra.__file__).parent, tmp_path / "copy" / "palaestra"
    copied.mkdir(parents=True)
    shutil.copy(own / "__init__.py", copied)
    shutil.copytree(own / "base", copied / "base")
    program = """
import json
import numpy as np
from palaestra.base import streams
streams.normal(np.ones(1, dtype=np.uint64), 0)
print(json.dumps([streams.__file__, sum(streams.normal.stats.cache_misses.values())]))
"""
    places, misses = zip(
        *(desk.run(program, PYTHONPATH=str(path)) for path in (own.parent, copied.parent)), strict=True
    )
    assert places[0] != places[1] and misses == (1, 0)


def test_a_second_process_compiles_nothing(desk: Desk) -> None:
    assert desk.ask() == [41, 0, 1]
    files = {file: file.stat().st_mtime_ns for file in desk.code_files()}
    assert desk.ask() == [41, 1, 0]
    assert {file: file.stat().st_mtime_ns for file in desk.code_files()} == files


def test_a_function_that_another_has_called_can_be_called_from_python_too(desk: Desk) -> None:
    program = """
import json
from helper import helped
from main import main
first = main(4)
inner = list(helped.signatures)
print(json.dumps([first, len(inner), helped(4), main(5), helped(5), len(helped.signatures), helped(0.5)]))
"""
    assert desk.run(program) == [41, 1, 41, 51, 51, 1, 6.0]
    assert desk.run(program) == [41, 0, 41, 51, 51, 1, 6.0]  # what it calls is in the code of the one that was called
    desk.write(main=MAIN.replace("helped(x)", "helped(x) + 1"))
    assert desk.run(program) == [42, 1, 41, 52, 51, 1, 6.0]  # here it is loaded for the other, then for Python


def test_threads_that_call_a_function_and_one_that_calls_it_get_answers(desk: Desk) -> None:
    program = """
import json
from concurrent.futures import ThreadPoolExecutor
from helper import helped
from main import main
with ThreadPoolExecutor(8) as pool:
    print(json.dumps(list(pool.map(lambda i: (main, helped)[i % 2](i), range(32)))))
"""
    for _ in range(2):  # compiled, then from the cache
        assert desk.run(program) == [10 * i + 1 for i in range(32)]


def test_an_edit_in_a_function_of_another_file_is_noticed(desk: Desk) -> None:
    desk.ask()
    desk.write(helper=HELPER.replace("+ 1", "+ 2"))  # the same size, and within the same second
    assert desk.ask() == [42, 0, 1]
    desk.write(helper=HELPER)
    assert desk.ask() == [41, 1, 0]


@pytest.mark.slow
def test_an_edit_two_files_away_is_noticed(desk: Desk) -> None:
    desk.write(far=MAIN.replace("helper", "main").replace("helped", "main").replace("def main", "def far"))
    assert desk.ask("far", "far") == [41, 0, 1]
    desk.write(helper=HELPER.replace("+ 1", "+ 3"))
    assert desk.ask("far", "far") == [43, 0, 1]


def test_a_function_reached_through_its_module_is_noticed(desk: Desk) -> None:
    desk.write(
        main="import helper\n" + MAIN.replace("from helper import helped\n", "").replace("helped", "helper.helped")
    )
    assert desk.ask() == [41, 0, 1]
    desk.write(helper=HELPER.replace("+ 1", "+ 4"))
    assert desk.ask() == [44, 0, 1]


@pytest.mark.slow
def test_another_value_of_an_imported_constant_is_noticed(desk: Desk) -> None:
    main = MAIN.replace("from helper import helped", "from sizes import SIZE").replace("helped(x)", "x + SIZE")
    desk.write(sizes="SIZE = 3", main=main)
    assert desk.ask() == [7, 0, 1]
    desk.write(sizes="SIZE = 5")
    assert desk.ask() == [9, 0, 1]


def test_an_edited_intrinsic_is_noticed(desk: Desk) -> None:
    intrinsic = """
from numba import types
from numba.extending import intrinsic

@intrinsic
def helped(typingctx, x):
    def generate(context, builder, signature, arguments):
        return builder.add(arguments[0], context.get_constant(types.int64, 37))
    return types.int64(types.int64), generate
"""
    desk.write(helper=intrinsic)
    assert desk.ask() == [41, 0, 1]
    desk.write(helper=intrinsic.replace("37", "38"))
    assert desk.ask() == [42, 0, 1]


def damage_by_truncation(content: bytes) -> bytes:
    return content[: len(content) // 2]


def damage_by_garbage(content: bytes) -> bytes:
    return random.Random(1).randbytes(len(content))


def damage_of_one_bit(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def damage_to_nothing(content: bytes) -> bytes:
    return b""


@pytest.mark.slow
def test_a_damaged_file_is_compiled_again_and_mended(desk: Desk) -> None:
    desk.ask()
    for damage in (damage_by_truncation, damage_by_garbage, damage_of_one_bit, damage_to_nothing):
        for file in desk.code_files():
            file.write_bytes(damage(file.read_bytes()))
        assert desk.ask() == [41, 0, 1], damage.__name__
    assert desk.ask() == [41, 1, 0]


@pytest.mark.slow
def test_code_for_other_types_is_kept_apart(desk: Desk) -> None:
    assert desk.ask(argument="4") == [41, 0, 1]
    assert desk.ask(argument="0.5") == [6.0, 0, 1]
    assert desk.ask(argument="4") == [41, 1, 0]


@pytest.mark.slow
def test_many_cold_starts_at_once_all_succeed(desk: Desk) -> None:
    arguments = ["4", "0.5", "4", "0.5"]
    programs = [REPORT.format(module="main", function="main", argument=argument) for argument in arguments]
    processes = [desk.start(program) for program in programs]
    answers = []
    for process in processes:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        answers.append(json.loads(out)[0])
    assert answers == [41, 6.0, 41, 6.0]
    assert [desk.ask(argument=argument) for argument in ("4", "0.5")] == [[41, 1, 0], [6.0, 1, 0]]
    assert not list(desk.cache.rglob("*.tmp"))


def test_a_cache_folder_that_cannot_be_made_only_costs_time(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    blocked = str(tmp_path / "file" / "cache")
    assert desk.ask(PALAESTRA_CACHE=blocked) == [41, 0, 1]
    assert not list(desk.sources.rglob("*.nb*"))  # and nothing is left beside the sources


@pytest.mark.slow
def test_a_cache_that_cannot_be_written_is_still_read(desk: Desk) -> None:
    desk.ask()
    refuse = "import os\ndef refuse(*_, **__): raise PermissionError('read-only')\nos.replace = refuse\n"
    program = refuse + REPORT
    assert desk.run(program.format(module="main", function="main", argument="4")) == [41, 1, 0]
    assert desk.run(program.format(module="main", function="main", argument="0.5")) == [6.0, 0, 1]
    assert not list(desk.cache.rglob("*.tmp"))


def test_code_that_others_may_have_written_is_not_loaded_and_the_user_is_told_once(desk: Desk) -> None:
    desk.ask()
    ask = REPORT.format(module="main", function="main", argument="4") + "asked(0.5)\n"
    file = next(file for file in desk.code_files() if file.name.startswith("main"))
    for path in (desk.cache, file.parent):
        path.chmod(0o777)
        process = desk.start(ask)
        out, err = process.communicate(timeout=300)
        assert json.loads(out) == [41, 0, 1]
        assert err.count("\n") == 1
        assert err.startswith(
            f"note: the cache of compiled code is not used: others can write {path}; to mend it: rm -r"
        )
        path.chmod(0o700)
    file.chmod(0o666)
    assert desk.ask() == [41, 0, 1]
    assert desk.ask() == [41, 1, 0]  # a file was written anew


def test_without_a_home_there_is_still_a_cache(desk: Desk, tmp_path: Path) -> None:
    homeless = "import os, pwd\ndef unknown(*_): raise KeyError\npwd.getpwuid = unknown\n"
    program = homeless + REPORT.format(module="main", function="main", argument="4")
    known = {key: value for key, value in os.environ.items() if key not in ("HOME", "XDG_CACHE_HOME")}
    known |= {"TMPDIR": str(tmp_path), "PALAESTRA_CACHE": "", "PYTHONDONTWRITEBYTECODE": "1"}
    for answer in ([41, 0, 1], [41, 1, 0]):
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, cwd=desk.sources, env=known, text=True, capture_output=True, timeout=300)
        assert (done.stderr, json.loads(done.stdout)) == ("", answer)
    assert (tmp_path / f"palaestra-{os.geteuid()}").is_dir()


GAME = """
import numpy as np
from numba import njit
from palaestra.games import ONGOING, KernelGame, Rules, set_mover, ply

@njit
def start(state, choice, p):
    pass

@njit
def play(state, action, p):
    return STEP if ply(state) == 3 else ONGOING

@njit
def legal(state, actions, p):
    actions[0] = 0
    return 1

@njit
def observe(state, planes, p):
    pass

GAME = KernelGame(id="short", rules=Rules(start, play, legal, observe), params=np.zeros(1, dtype=np.int64),
                  num_actions=1, max_plies=3, max_legal=1, state_size=8, observation_shape=(1, 1, 1), tiebreak="margin")
"""
ROLL = """
import json
import numpy as np
outcomes, hits, misses = [], 0, 0
for name in {names}:
    game = __import__(name).GAME
    outcomes.append(int(game.rollout(game.initial(1), np.ones(1, dtype=np.uint64)).outcomes[0]))
    stats = game._loops.rollout_rows.stats
    hits, misses = hits + sum(stats.cache_hits.values()), misses + sum(stats.cache_misses.values())
print(json.dumps([outcomes, hits, misses]))
"""


def test_a_user_game_is_compiled_once_and_again_after_an_edit(desk: Desk) -> None:
    desk.write(mine=GAME.replace("STEP", "5"))
    program = ROLL.format(names=["mine"])
    assert desk.run(program) == [[5], 0, 1]
    assert desk.run(program) == [[5], 1, 0]
    desk.write(mine=GAME.replace("STEP", "6"))
    assert desk.run(program) == [[6], 0, 1]


@pytest.mark.slow
def test_two_games_bound_to_one_template_have_their_own_code(desk: Desk) -> None:
    desk.write(mine=GAME.replace("STEP", "5"), yours=GAME.replace("STEP", "7"))
    program = ROLL.format(names=["mine", "yours"])
    assert desk.run(program) == [[5, 7], 0, 2]
    assert desk.run(program) == [[5, 7], 2, 0]
    assert desk.run(ROLL.format(names=["yours", "mine"])) == [[7, 5], 2, 0]


@pytest.mark.slow
def test_a_file_edited_while_it_is_in_use_does_not_pass_for_the_code_that_was_read(desk: Desk) -> None:
    desk.write(mine=GAME.replace("STEP", "5"))
    edited = GAME.replace("STEP", "6")
    edit = f"import mine, pathlib\npathlib.Path('mine.py').write_text({edited!r})\n"
    assert desk.run(edit + ROLL.format(names=["mine"])) == [[5], 0, 1]
    assert desk.run(ROLL.format(names=["mine"])) == [[6], 0, 1]


def test_functions_of_one_file_and_of_one_factory_are_told_apart() -> None:
    from numba import njit

    def make(number):
        @njit
        def rule(x):
            return x + number

        return rule

    @njit
    def other(x):
        return x

    three, again, four = make(3), make(3), make(4)
    assert fingerprint({"rule": three}) == fingerprint({"rule": again})
    assert fingerprint({"rule": three}) != fingerprint({"rule": four})
    assert fingerprint({"rule": three}) != fingerprint({"rule": other})


@kernel
def handed_on(row: Any) -> float:
    return float(row.sum())


@kernel
def sums_of_rows(rows: Any) -> float:
    total = 0.0
    for i in range(rows.shape[0]):
        total += handed_on(rows[i])
    return total


@kernel
def makes_an_array(count: int) -> float:
    return float(np.ones(count).sum())


@allocating
def may_make_an_array(count: int) -> float:
    return float(np.ones(count).sum())


def test_kernels_count_no_references_and_so_make_no_arrays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALAESTRA_CACHE", str(tmp_path))  # code from the disk does not tell what it does
    counted = []
    for compiled in (kernel(sums_of_rows.py_func), allocating(sums_of_rows.py_func)):
        assert compiled(np.ones((3, 4))) == 12.0
        (code,) = compiled.inspect_llvm().values()
        counted.append("NRT_incref" in code)
        shutil.rmtree(tmp_path)
    assert counted == [False, True]
    with pytest.raises(NumbaError, match="Only accept returning of array passed into the function"):
        makes_an_array(5)
    assert may_make_an_array(5) == 5.0


def test_rules_of_ones_own_may_make_arrays_though_the_loops_that_call_them_do_not() -> None:
    @numba.njit
    def legal(state: Any, actions: Any, p: Any) -> int:
        marked = np.zeros(3, dtype=np.int32)  # as an author may, who thinks of clarity first
        marked[1:] = 1
        actions[:2] = np.flatnonzero(marked)
        return 2

    from palaestra.games.lines import RULES

    loops = bind("palaestra.games.loops", {**RULES.functions(), "legal": legal}, "making arrays")
    states, counts, actions = np.zeros((1, 8), np.int8), np.zeros(1, np.int32), np.zeros((1, 4), np.int32)
    states[0, 7] = -128  # the outcome of a game that goes on
    loops.legal_rows(states, np.zeros(1, np.int64), counts, actions)
    assert counts.tolist() == [2] and actions[0, :2].tolist() == [1, 2]


def test_binding_the_same_functions_twice_gives_the_same_module() -> None:
    from palaestra.games.lines import RULES

    functions = RULES.functions()
    one, two = (bind("palaestra.games.loops", functions, "twice") for _ in range(2))
    assert one is two
    assert one.play is functions["play"]


def test_a_template_that_fails_leaves_no_module_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "failing_template.py").write_text("raise RuntimeError('no')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(RuntimeError, match="no"):
        bind("failing_template", {}, "x")
    assert not [name for name in sys.modules if name.startswith("failing_template@")]


def test_a_kernel_that_closes_over_a_variable_is_refused() -> None:
    factor = 3

    def scaled(x):
        return factor * x

    with pytest.raises(TypeError, match="closes over"):
        kernel(scaled)


def test_the_fingerprint_tells_bound_modules_apart() -> None:
    assert fingerprint({"__bound__": "a"}) != fingerprint({"__bound__": "b"})
    assert fingerprint({"SIZE": 3}) != fingerprint({"SIZE": 4})
    assert fingerprint({"SIZE": 3, "name": "x"}) == fingerprint({"name": "y", "SIZE": 3})


def test_threads_that_bind_at_once_get_one_whole_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_template.py").write_text("import time\ntime.sleep(0.2)\nanswer = given\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with ThreadPoolExecutor(4) as pool:
        copies = list(pool.map(lambda _: bind("slow_template", {"given": 42}, "test", "0" * 32), range(4)))
    assert {copy.answer for copy in copies} == {42}
    assert len({id(copy) for copy in copies}) == 1
    monkeypatch.delitem(sys.modules, copies[0].__name__)
