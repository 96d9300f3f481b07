"""A cluster of several nodes whose workers are killed, hang, vanish with their machine or have other versions."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import palaestra
from palaestra.base.errors import ClusterError
from palaestra.games.registry import make_game
from palaestra.learn.selfplay import SelfPlay, play_games
from palaestra.learn.workforce import Workforce
from palaestra.work.jobs import Job
from palaestra.work.ray_workers import RayWorkers
from palaestra.work.workers import make_workers
from tests.learn.selfplay_games import model, run_config
from tests.learn.test_selfplay import assert_same_games
from tests.work.jobs_for_tests import hang_after_a_word, most_plies, squares, with_pid

pytestmark = pytest.mark.slow
GAME = "connect_four-5x5"


class Nodes:
    """A cluster of this machine whose head does no work."""

    def __init__(self, count: int) -> None:
        from ray.cluster_utils import Cluster

        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        settings = {"health_check_period_ms": 1000, "health_check_failure_threshold": 3}
        head = {"num_cpus": 0, "include_dashboard": False, "_system_config": settings}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.nodes = [self.add() for _ in range(count)]

    def add(self, **environment: str) -> Any:
        return self.cluster.add_node(num_cpus=1, env_vars=environment or None)

    def workers(self) -> RayWorkers:
        made = make_workers(f"ray:{self.cluster.address}")
        assert isinstance(made, RayWorkers)
        return made


@pytest.fixture
def nodes() -> Iterator[Nodes]:
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'palaestra[cluster]'")
    made = Nodes(2)
    yield made
    made.cluster.shutdown()


def play(workers: RayWorkers | None, games: int = 64) -> SelfPlay:
    game = make_game(GAME)
    force = None if workers is None else Workforce(workers)
    return play_games(game, model(game.id), run_config(game.id, games=games), 1, workforce=force)


def while_it_plays(harm: Callable[[], None], every: float) -> Callable[[], None]:
    """Do harm again and again until what is returned is called."""
    over = threading.Event()

    def work() -> None:
        while not over.wait(every):
            harm()

    threading.Thread(target=work, daemon=True).start()
    return over.set


def signal_to(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def pids(workers: RayWorkers) -> list[int]:
    return [int(hand.name.rpartition(":")[2]) for hand in workers._hands if hand.has_come]


def test_killed_workers_and_nodes_change_no_game(nodes: Nodes) -> None:
    whole = play(None, 400)
    with nodes.workers() as workers:
        play(workers)  # compiles
        turns = itertools.count()  # a job whose workers alone die is given up, on a slow machine before it is done

        def kill_one() -> None:
            if there := pids(workers):
                signal_to(there[next(turns) % len(there)], signal.SIGKILL)

        kill = while_it_plays(kill_one, 1.5)
        made = play(workers, 400)
        kill()
        assert_same_games(made, whole)
        threading.Timer(0.3, lambda: nodes.cluster.remove_node(nodes.nodes[0], allow_graceful=False)).start()
        assert_same_games(play(workers, 400), whole)
        nodes.add()
        assert_same_games(play(workers, 400), whole)
        end = time.monotonic() + 60
        while workers.count < 2 and time.monotonic() < end:
            play(workers)
        assert workers.count == 2, "a machine that joins gets work"


def test_a_worker_that_falls_silent_is_replaced(nodes: Nodes, tmp_path: Path) -> None:
    with nodes.workers() as workers:
        said: list[str] = []
        workers.warn, workers.silence = said.append, 5.0
        assert [result for _, result in workers.run([Job("a", hang_after_a_word, (tmp_path,), steady=True)])] == [
            "done"
        ]
        assert "has said nothing for" in said[0]
        list(workers.run(squares(range(4))))
        stopped = pids(workers)[0]
        stop = while_it_plays(lambda: signal_to(stopped, signal.SIGSTOP), 0.2)
        try:
            assert_same_games(play(workers, 400), play(None, 400))
        finally:
            stop()
            with contextlib.suppress(ProcessLookupError):
                os.kill(stopped, signal.SIGKILL)


def copy_of_the_package(folder: Path) -> Path:
    """The package with another number of version."""
    shutil.copytree(Path(palaestra.__file__).parent, folder / "palaestra", ignore=shutil.ignore_patterns("__pycache__"))
    init = folder / "palaestra" / "__init__.py"
    init.write_text(init.read_text().replace(f'__version__ = "{palaestra.__version__}"', '__version__ = "0.0.9"'))
    return folder


def test_a_machine_with_another_version_is_refused_by_name(nodes: Nodes, tmp_path: Path) -> None:
    with nodes.workers() as workers:
        said: list[str] = []
        workers.warn = said.append
        list(workers.run(squares(range(4))))
        nodes.add(PYTHONPATH=str(copy_of_the_package(tmp_path)))
        end = time.monotonic() + 60
        while not said and time.monotonic() < end:
            list(workers.run(squares(range(4))))
            time.sleep(0.5)
        assert f"{socket.gethostname()}:" in said[0] and "palaestra 0.0.9 (here" in said[0]
        assert workers.count == 2 and len(said) == 1
    with pytest.raises(ClusterError, match=r"is refused: it has palaestra 0\.0\.9"), nodes.workers() as fresh:
        for _ in range(50):
            list(fresh.run(Job(f"{n}", with_pid, (n,)) for n in range(1)))
            time.sleep(0.2)
            fresh._has_worked = False


GAME_OF_ONES_OWN = """
from dataclasses import replace
from palaestra.games.registry import make_game
GAME = replace(make_game("tic_tac_toe-3x3"), id="own", version={version})
object.__setattr__(GAME, "made_from", "own_game:GAME")
"""


def test_a_machine_with_another_version_of_the_game_is_refused_by_name(
    nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, version in (("here", 1), ("there", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "own_game.py").write_text(GAME_OF_ONES_OWN.format(version=version))
    monkeypatch.syspath_prepend(tmp_path / "here")
    import own_game

    job = [Job("plies", most_plies, (own_game.GAME,))]
    with nodes.workers() as workers:
        assert len(list(workers.run(job))) == 1
    for node in nodes.nodes:
        nodes.cluster.remove_node(node)
    nodes.add(PYTHONPATH=str(tmp_path / "there"))
    with (
        nodes.workers() as workers,
        pytest.raises(ClusterError, match=r"GAME.? is another version here"),
    ):
        list(workers.run(job))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_run_whose_command_ends_leaves_no_process_and_goes_on_bit_for_bit(number: int, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'palaestra[cluster]'")
    sets = [
        "net=b1c8",
        "selfplay.games=60",
        "selfplay.search.simulations=8",
        "evaluation.every=0",
        "evaluation.games=2",
    ]
    words = [sys.executable, "-m", "palaestra"]
    new = ["train", GAME, "--iterations", "4", "--seed", "3", *(word for one in sets for word in ("--set", one))]
    subprocess.run([*words, *new, "--out", "whole"], cwd=tmp_path, check=True, capture_output=True, timeout=200)
    with subprocess.Popen(
        [*words, *new, "--out", "stopped", "--workers", "ray:2"], cwd=tmp_path, stdout=-1, stderr=-1
    ) as running:
        first = tmp_path / "runs" / "stopped" / "games" / "0001.pgn"
        end = time.monotonic() + 120
        while not first.exists() and time.monotonic() < end:
            time.sleep(0.05)
        children = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
        running.send_signal(number)
        running.communicate(timeout=60)
    ours = [line.split()[0] for line in children.splitlines() if f" {running.pid} " in line and "ray" in line]
    assert ours
    end = time.monotonic() + 30
    while [pid for pid in ours if Path(f"/proc/{pid}").exists()] and time.monotonic() < end:
        time.sleep(0.2)
    assert not [pid for pid in ours if Path(f"/proc/{pid}").exists()], "no process of the cluster is left"
    subprocess.run(
        [*words, "resume", "stopped", "--workers", "ray:1"], cwd=tmp_path, check=True, timeout=200, capture_output=True
    )
    for name in ("games/0004.pgn", "checkpoints/0004.onnx"):
        assert (tmp_path / "runs/stopped" / name).read_bytes() == (tmp_path / "runs/whole" / name).read_bytes()


def free_ports(count: int) -> list[int]:
    """Below those that Ray gives to its workers."""
    found: list[int] = []
    for port in range(7200, 9000):
        with contextlib.suppress(OSError), socket.socket() as tried:
            tried.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == count:
            return found
    pytest.skip("no port is free")


def test_a_machine_outside_of_the_cluster_gets_the_same_games_from_it(tmp_path: Path) -> None:
    """By what Ray calls its client, ray://HOST:PORT."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'palaestra[cluster]'")
    head, client = free_ports(2)
    words = ["start", "--head", "--block", "--num-cpus=2", "--include-dashboard=false", "--node-ip-address=127.0.0.1"]
    words += [f"--port={head}", f"--ray-client-server-port={client}"]
    cluster = subprocess.Popen(
        [sys.executable, "-m", "ray.scripts.scripts", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", client), timeout=1).close()
                break
            time.sleep(0.5)
        match = [sys.executable, "-m", "palaestra", "match", GAME, "uct(simulations=30)", "random", "--games", "20"]
        there = ["--pgn", "there.pgn", "--workers", f"ray://127.0.0.1:{client}"]
        for more in (["--pgn", "here.pgn"], there):
            subprocess.run([*match, *more], cwd=tmp_path, check=True, timeout=200, capture_output=True)
    finally:
        os.killpg(cluster.pid, signal.SIGTERM)
        cluster.wait(60)
    assert (tmp_path / "there.pgn").read_bytes() == (tmp_path / "here.pgn").read_bytes()
