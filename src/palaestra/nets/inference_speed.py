"""How fast networks run on this machine, and how fast they could: numbers for `palaestra bench inference`.

Nothing here prints. Speeds are of the network alone, without rules, observations or search, so that they are the limit
of everything that asks a network.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from palaestra.base.errors import ConfigError
from palaestra.base.user_code import code_names, may_load
from palaestra.games.base import Game
from palaestra.nets.architecture import GameFacts, TorchNet, multiply_adds, parse_net, random_weights
from palaestra.nets.evaluator import OnnxEvaluator, open_session
from palaestra.nets.graph import IR_VERSION, NET_KEY, OPSET, build_model
from palaestra.search.search_speed import repeat_side_by_side


@dataclass(frozen=True)
class Inference:
    """Throughput of `threads` one-thread sessions side by side."""

    net: str
    batch: int
    threads: int
    evaluations: int
    seconds: float
    multiply_adds: int | None  # of one evaluation; unknown for a file that does not name its network

    @property
    def evaluations_per_second(self) -> float:
        return self.evaluations / self.seconds

    @property
    def gflops(self) -> float | None:
        """10⁹ floating-point operations a second (a multiply-add is two); compare `matmul_gflops`."""
        if self.multiply_adds is None:
            return None
        return 2e-9 * self.multiply_adds * self.evaluations_per_second


def measure(
    game: Game, net: str, batch: int = 64, threads: int = 1, seconds: float = 1.0, *, int8: bool = False
) -> Inference:
    """Speed of `threads` sessions with `batch` rows a call; `net` is a name (random weights are drawn) or a file."""
    if batch < 1 or threads < 1 or not seconds > 0:
        raise ConfigError(
            f"batch {batch}, threads {threads}, seconds {seconds}: all must be positive, for example 64, 1, 1.0"
        )
    model = model_bytes(game, net)
    evaluators = [OnnxEvaluator(game, model, batch=batch, int8=int8) for _ in range(threads)]
    rng = np.random.default_rng(0)
    planes = (rng.random((batch, *game.observation_shape)) < 0.3).astype(np.float32)
    calls, elapsed = repeat_side_by_side([partial(evaluator.forward, planes) for evaluator in evaluators], seconds)
    named = evaluators[0].metadata.get(NET_KEY)
    return Inference(net, batch, threads, sum(calls) * batch, elapsed, _work(named, game) if named else None)


def _work(named: str, game: Game) -> int | None:
    """Multiplications of one evaluation; None for a torch module, and for code that only the file names."""
    if not all(map(may_load, code_names([named]))):
        return None
    net = parse_net(named)
    return None if isinstance(net, TorchNet) else multiply_adds(net, GameFacts.of(game))


def model_bytes(game: Game, net: str) -> str | bytes:
    """A random model of the network with this name; anything that looks like a file is returned as it is."""
    if net.endswith(".onnx") or Path(net).is_file():
        return net
    facts, spec = GameFacts.of(game), parse_net(net)
    if isinstance(spec, TorchNet):
        from palaestra.nets.export import export_onnx
        from palaestra.nets.modules import make_module

        return export_onnx(make_module(net, facts, dropout=0.0, seed=0), facts)
    return build_model(spec, facts, random_weights(spec, facts, np.random.default_rng(0)))


def matmul_gflops(threads: int = 1, seconds: float = 0.5, size: int = 256) -> float:
    """10⁹ operations a second of ONNX Runtime's own matrix products, one on each thread: the practical peak."""
    sessions = [open_session("matrix product", _matmul_model(size), threads=1) for _ in range(threads)]
    matrix = np.random.default_rng(0).standard_normal((size, size), dtype=np.float32)
    calls, elapsed = repeat_side_by_side([partial(session.run, None, {"a": matrix}) for session in sessions], seconds)
    return 2e-9 * size**3 * sum(calls) / elapsed


def _matmul_model(size: int) -> bytes:
    from onnx import TensorProto, helper, numpy_helper

    constant = np.full((size, size), 1.0 / size, dtype=np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["a", "b"], ["c"])],
        "matmul",
        [helper.make_tensor_value_info("a", TensorProto.FLOAT, [size, size])],
        [helper.make_tensor_value_info("c", TensorProto.FLOAT, [size, size])],
        [numpy_helper.from_array(constant, "b")],
    )
    opsets = [helper.make_opsetid("", OPSET)]
    serialised: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION).SerializeToString()
    return serialised
