"""A cluster of Ray: one that runs already, or one that is started here for as long as it is needed.

One that is started here has this machine's cores, listens on no address that another machine could reach, asks
whoever connects for a token that only this process and its workers know, has no dashboard and reports no statistics of
use. It ends with this process, however that ends. Knows no jobs.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from palaestra.base.cores import usable_cores
from palaestra.base.errors import ClusterError
from palaestra.base.packages import need
from palaestra.work.ray_actor import error_in_words

REACH = 5.0  # seconds in which the machine must answer, and
CONNECT = 45.0  # in which its cluster must
TRY = "import sys, ray; ray.init(address=sys.argv[1], log_to_driver=False, logging_level='CRITICAL')"
STORE = 256 * 2**20  # bytes of memory for what workers share, in a cluster that is started here
LONGEST = 40  # characters of a folder's name: Ray adds 60, and the name of a socket has 107
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DISABLE_IMPORT_WARNING": "1",
}


@dataclass(frozen=True)
class Node:
    """A machine of the cluster that is there now."""

    id: str
    host: str
    cores: int


class Cluster:
    """A connection to a cluster, of which a process has one at a time."""

    def __init__(self, address: str | None, cores: int | None) -> None:
        """`address` as in `workers.Kind`; without one a cluster is started here, with so many cores or all."""
        self._environment = _set_environment(QUIET)  # before Ray is imported, which looks then
        self.ray = need("ray", "cluster", "--workers ray", ClusterError)
        self.where = "this machine" if address is None else address
        self._folder: str | None = None
        self._ours = True
        if self.ray.is_initialized():
            if address is not None:
                raise ClusterError(f"this process is connected to a cluster of Ray already: {address} is another one")
            self._ours = False  # a notebook's, for example, which may have more use for it
        elif address is None:
            self._start(cores or usable_cores())
        else:
            self._connect(address)

    def nodes(self) -> list[Node]:
        """The machines that are there now and have cores for us, in the order of their names."""
        found = [node for node in self.ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
        return sorted(
            (Node(node["NodeID"], node["NodeManagerHostname"], int(node["Resources"]["CPU"])) for node in found),
            key=lambda node: (node.host, node.id),
        )

    def close(self) -> None:
        if not self._ours:
            return
        self._ours = False
        self.ray.shutdown()
        self._hush(False)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        _set_environment(self._environment)

    def _start(self, cores: int) -> None:
        """A cluster of this machine alone."""
        folder = tempfile.gettempdir()
        self._folder = tempfile.mkdtemp(prefix="palaestra-", dir=folder if len(folder) <= LONGEST else "/tmp")
        if not {"RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"} & os.environ.keys():
            os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)  # for good: Ray reads it once in a process
        settings = {
            "num_cpus": cores,
            "include_dashboard": False,
            "object_store_memory": STORE,
            "_node_ip_address": "127.0.0.1",
            "_temp_dir": self._folder,
        }
        # Ray gives its machine an address that others can reach unless it is told that there are no others.
        services = need("ray._private.services", "cluster", "--workers ray", ClusterError)
        outside, services.get_node_ip_address = services.get_node_ip_address, lambda address=None: "127.0.0.1"
        try:
            self._init(settings, "Ray cannot start a cluster on this machine")
        finally:
            services.get_node_ip_address = outside

    def _connect(self, address: str) -> None:
        if address.startswith("ray://") and find_spec("grpc") is None:
            raise ClusterError(f"{address}: grpcio is not installed; install it with: pip install 'palaestra[cluster]'")
        if address != "auto":
            _reach(address)
        _try(address)
        self._init({"address": address}, _no_answer(address))

    def _hush(self, quiet: bool) -> None:
        """Ray would print a note of every worker that died on stdout, where a verb's answer stands."""
        self.ray._private.worker._worker_logs_enabled = not quiet

    def _init(self, settings: dict[str, Any], failure: str) -> None:
        """Connect; Ray would otherwise take SIGTERM for itself, and log to the terminal."""
        try:
            self._hush(True)
            with _own_signals(), warnings.catch_warnings(action="ignore"):
                self.ray.init(log_to_driver=False, logging_level="CRITICAL", **settings)
        except (Exception, SystemExit) as error:
            self.close()
            raise ClusterError(f"{failure} ({error_in_words(error)})") from None
        except KeyboardInterrupt:
            self.close()
            raise


def _reach(address: str) -> None:
    """ClusterError if nothing listens at HOST:PORT: Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=REACH).close()
    except (OSError, OverflowError) as error:
        raise ClusterError(
            f"no cluster of Ray can be reached at {address} ({error}); ray start --head starts one, which listens on"
            " port 6379 for ray:HOST:PORT and on 10001 for ray://HOST:PORT"
        ) from None


def _try(address: str) -> None:
    """ClusterError if connecting fails or takes too long, tried in a process that can be ended, as Ray cannot."""
    words = [sys.executable, "-c", TRY, address]
    try:
        tried = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=CONNECT, check=False)
    except subprocess.TimeoutExpired:
        raise ClusterError(f"{_no_answer(address)} (nothing came in {CONNECT:.0f} seconds)") from None
    if tried.returncode:
        raise ClusterError(f"{_no_answer(address)} ({error_in_words(tried.stderr)})")


def _no_answer(address: str) -> str:
    return f"no cluster of Ray that fits answers at {address}; start one with: ray start --head"


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """Handlers of signals are afterwards what they were."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _set_environment(names: Mapping[str, str | None]) -> dict[str, str | None]:
    """Set variables, or remove those that are None; what they were before."""
    before = {name: os.environ.get(name) for name in names}
    for name, value in names.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    return before
