"""A cluster of this machine: what it does, what it leaves behind, and what is said where there is none."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from palaestra.base.errors import ClusterError, ConfigError
from palaestra.work.jobs import Job, Shared
from palaestra.work.ray_actor import Actor, Away, differences, error_in_words
from palaestra.work.workers import Kind, Workers, chosen_workers, make_workers
from tests.work.jobs_for_tests import die_at_first, fail, square, squares, steps, with_pid

NEEDS_RAY = "Ray is not installed: pip install 'palaestra[cluster]'"


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    pytest.importorskip("ray", reason=NEEDS_RAY)
    with make_workers("ray:2") as made:
        yield made


def test_a_cluster_does_jobs_and_does_again_what_died(workers: Workers, tmp_path: Path) -> None:
    heard: list[tuple[str, float]] = []
    jobs = [
        *squares(range(5)),
        *squares(range(3, 8)),
        Job("mortal", die_at_first, (tmp_path, 3)),
        Job("s", steps, (5,)),
    ]
    results = {
        job.key: result for job, result in workers.run(jobs, lambda job, share, words: heard.append((job.key, share)))
    }
    assert results == {"mortal": 3, "s": 5, **{f"square {n}": n * n for n in range(8)}}
    assert ("s", 1.0) in heard
    pids = {pid for _, (_, pid) in workers.run(Job(str(n), with_pid, (n,)) for n in range(4))}
    assert os.getpid() not in pids and len(pids) <= 2
    with pytest.raises(ValueError, match="a mistake in the program"):
        list(workers.run([Job("worse", fail, ("value",))]))
    assert [result for _, result in workers.run([Job("shared", square, (Shared(5),))])] == [25], (
        "an error spoils nobody"
    )


def test_a_cluster_that_is_started_here_can_be_reached_by_no_other_machine(workers: Workers) -> None:
    import ray

    assert ray.util.get_node_ip_address() == "127.0.0.1"
    (node,) = ray.nodes()
    with pytest.raises(OSError):
        outside = socket.gethostbyname(socket.gethostname())
        if outside.startswith("127."):
            pytest.skip("this machine has no address that others could use")
        socket.create_connection((outside, node["NodeManagerPort"]), timeout=2)


def test_a_job_finds_what_it_shares_and_a_worker_that_lacks_its_code_says_so() -> None:
    given, shared = Away.of(Job("one", pow, (Shared(3), 2, Shared(5))))
    assert [one.value for one in shared] == [3, 5]
    import pickle

    actor = Actor()
    (reports, _), said = actor.do(given, pickle.dumps(3), pickle.dumps(5))
    assert pickle.loads(said).result == pow(3, 2, 5) and reports == 0
    lost = given.replace(b"builtins", b"builtinz")
    assert lost != given
    _, said = actor.do(lost, pickle.dumps(3), pickle.dumps(5))
    assert "builtinz" in pickle.loads(said).why


def test_other_versions_are_named() -> None:
    ours = {"palaestra": "0.2.0", "python": "3.12.1"}
    assert differences(ours, ours) == ""
    assert differences({"palaestra": "0.1.0", "python": "3.12.1"}, ours) == "palaestra 0.1.0 (here 0.2.0)"
    assert differences({"palaestra": "0.2.0"}, ours) == "python none (here 3.12.1)"
    assert error_in_words("Traceback\n  somewhere\nKeyError: no\n\n") == "KeyError: no"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("here", Kind("here", 1)),
        ("threads:3", Kind("threads", 3)),
        ("processes:4", Kind("processes", 4)),
        ("ray", Kind("ray")),
        ("ray:2", Kind("ray", 2)),
        ("ray?workers=2", Kind("ray", 2)),
        ("ray:auto", Kind("ray", None, "auto")),
        ("ray:head.lan:6379", Kind("ray", None, "head.lan:6379")),
        ("ray://10.0.0.1:10001?workers=8", Kind("ray", 8, "ray://10.0.0.1:10001")),
    ],
)
def test_texts_name_workers(text: str, kind: Kind) -> None:
    assert Kind.parse(text) == kind


def test_two_options_that_say_who_works_exclude_each_other() -> None:
    assert chosen_workers(None, 3, "threads", "--threads") == Kind("threads", 3)
    assert chosen_workers(None, 1, "processes", "--jobs") == Kind("here", 1)
    assert chosen_workers("ray:2", None, "processes", "--jobs") == Kind("ray", 2)
    with pytest.raises(ConfigError, match=r"^--workers ray and --jobs 2 exclude each other"):
        chosen_workers("ray", 2, "processes", "--jobs")


def test_a_missing_package_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ClusterError, match=r"^--workers ray: ray is not installed; .*'palaestra\[cluster\]'$"):
        make_workers("ray")


def test_a_cluster_that_nobody_runs_is_one_line() -> None:
    pytest.importorskip("ray", reason=NEEDS_RAY)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and listens to nobody
        port = taken.getsockname()[1]
        code = f"from palaestra.work.workers import make_workers; make_workers('ray:127.0.0.1:{port}')"
        tried = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    last = tried.stderr.strip().splitlines()[-1]
    assert f"ClusterError: no cluster of Ray can be reached at 127.0.0.1:{port}" in last and "ray start --head" in last
