"""What processes must survive: deaths, hangs, errors of every kind, an interrupt, and the end of their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from palaestra.base.errors import WorkError
from palaestra.work.jobs import Job
from palaestra.work.workers import make_workers
from tests.work import jobs_for_tests
from tests.work.jobs_for_tests import (
    die_at_first,
    environment,
    fail,
    hang_at_first,
    nested,
    square,
    squares,
    unpicklable_result,
    with_pid,
)


def test_jobs_are_done_in_other_processes_which_are_used_again() -> None:
    with make_workers("processes:1") as workers:
        pids = {pid for _, (_, pid) in workers.run(Job(str(n), with_pid, (n,)) for n in range(3))}
        pids |= {pid for _, (_, pid) in workers.run([Job("later", with_pid, (3,))])}
        assert len(pids) == 1 and os.getpid() not in pids
        os.kill(pids.pop(), signal.SIGKILL)
        assert [result for _, result in workers.run(squares(range(2)))] == [0, 1], "one that died while it waited"


def test_the_job_of_a_process_that_dies_is_done_again_and_no_other_is_lost(tmp_path: Path) -> None:
    with make_workers("processes:2") as workers:
        results = dict(workers.run([Job("mortal", die_at_first, (tmp_path, 3)), *squares(range(10))]))
    assert {job.key: result for job, result in results.items()} == {
        "mortal": 3,
        **{f"square {n}": n * n for n in range(10)},
    }


def test_a_job_whose_processes_die_again_and_again_is_named_in_one_line(tmp_path: Path) -> None:
    with make_workers("processes:1") as workers:
        with pytest.raises(WorkError, match=r"^deadly: given up after 4 processes, .* was ended by signal 9") as error:
            list(workers.run([Job("deadly", die_at_first, (tmp_path, 100))]))
        assert "\n" not in str(error.value) and len(list(tmp_path.iterdir())) == 4


def test_a_job_that_hangs_is_done_again_if_a_limit_is_given(tmp_path: Path) -> None:
    with make_workers("processes:1", seconds=3.0) as workers:
        assert [result for _, result in workers.run([Job("slow", hang_at_first, (tmp_path,))])] == ["done"]


def test_errors_that_cannot_travel_become_words() -> None:
    with make_workers("processes:1") as workers:
        for job, words in (
            (Job("exit", fail, ("exit",)), "SystemExit: 3"),
            (Job("odd", fail, ("unpicklable",)), "TwoWords: ab"),
        ):
            with pytest.raises(WorkError, match=words):
                list(workers.run([job]))
        with pytest.raises(Exception, match="pickle"):
            list(workers.run([Job("odd result", unpicklable_result)]))
        with pytest.raises(Exception, match="pickle"):
            list(workers.run([Job("odd job", lambda: 0)]))
        with pytest.raises(ValueError, match="a mistake") as error:
            list(workers.run([Job("bad", fail, ("value",))]))
        assert "jobs_for_tests.py" in "".join(error.value.__notes__), "where it happened is noted"
        assert [result for _, result in workers.run([Job("good", square, (3,))])] == [9]


def test_libraries_compute_on_one_thread_where_that_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    for one_thread, seen in ((True, "1"), (False, "7")):
        with make_workers("processes:1", one_thread=one_thread) as workers:
            ((_, result),) = workers.run([Job("see", environment, ("OMP_NUM_THREADS",))])
        assert result == seen and os.environ["OMP_NUM_THREADS"] == "7"


def test_a_job_may_have_workers_of_its_own() -> None:
    with make_workers("processes:1") as workers:
        assert [result for _, result in workers.run([Job("outer", nested, (7,))])] == [49]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_is_left_however_the_parent_ends(tmp_path: Path, how: signal.Signals) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-m", jobs_for_tests.__name__, str(tmp_path)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # for a terminal's Ctrl-C reaches the whole group
    )
    while len(pids := [int(path.name) for path in tmp_path.iterdir()]) < 2:
        assert parent.poll() is None
        time.sleep(0.05)
    if how == signal.SIGINT:
        os.killpg(parent.pid, how)
    else:
        parent.send_signal(how)
    words = parent.communicate(timeout=60)[1]
    assert words.count("Traceback") == (how == signal.SIGINT), "no process but the parent says anything"
    ended = time.monotonic() + 60
    while any(map(_lives, pids)):
        assert time.monotonic() < ended
        time.sleep(0.05)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return b"\nState:\tZ" not in Path(f"/proc/{pid}/status").read_bytes() if Path("/proc").is_dir() else True
