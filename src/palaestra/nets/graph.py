"""A network as an ONNX file: built node by node from a dictionary of weights, fast enough to do it every few seconds.

    input   observation  float32[N, C, H, W]
    outputs logits       float32[N, A]   raw, over all actions, legal or not
            value        float32[N]      in [-1, 1], for the player to move; or, where the network has such a head,
            outcome      float32[N, K]   raw, for the player to move: see `palaestra.nets.heads`

Which game and network a file holds stands in its metadata. The `onnx` package is imported only when a file
is built; playing needs ONNX Runtime alone. This module knows no game's rules.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from palaestra.errors import ModelError
from palaestra.nets.architecture import (
    THESIS_HIDDEN,
    DenseNet,
    GameFacts,
    Net,
    ResidualNet,
    SchmidtNet,
    ThesisNet,
    Weights,
    head_of,
    weight_shapes,
)
from palaestra.nets.heads import VALUE_HEAD

INPUT, LOGITS, VALUE, OUTCOME = "observation", "logits", "value", "outcome"
GAME_KEY, VERSION_KEY, NET_KEY = "palaestra.game", "palaestra.game_version", "palaestra.net"
SHAPE_KEY, ACTIONS_KEY = "palaestra.observation_shape", "palaestra.num_actions"

# Old enough for every ONNX Runtime this project accepts, new enough for every operator used here.
OPSET, IR_VERSION = 17, 8


def build_model(net: Net, facts: GameFacts, weights: Weights) -> bytes:
    """The serialised ONNX model; ModelError if the weights are not exactly those of `weight_shapes`."""
    check_weights(net, facts, weights)
    graph = _Graph(weights, net.head)
    match net:
        case ResidualNet():
            _residual(graph, net, facts)
        case ThesisNet():
            _thesis(graph)
        case SchmidtNet():
            _schmidt(graph)
        case DenseNet():
            _flat_heads(graph, _dense_stack(graph, graph.node("Flatten", INPUT), net.depth))
        case _:
            raise TypeError(f"no ONNX form of {net!r}")
    return graph.serialise(net, facts)


def metadata(net: Net, facts: GameFacts) -> dict[str, str]:
    """What a file says about itself."""
    return {
        GAME_KEY: facts.id,
        VERSION_KEY: str(facts.version),
        NET_KEY: net.name,
        SHAPE_KEY: "x".join(map(str, facts.observation_shape)),
        ACTIONS_KEY: str(facts.num_actions),
    }


def check_weights(net: Net, facts: GameFacts, weights: Weights) -> None:
    """ModelError unless the names, shapes and types are those of this network and every number is finite."""
    shapes = weight_shapes(net, facts)
    if stray := sorted(shapes.keys() ^ weights.keys()):
        kind = "lacks" if stray[0] in shapes else "does not have"
        raise ModelError(f"{net.name} for {facts.id}: the set of weights {kind} {stray[0]!r}")
    for name, shape in shapes.items():
        given = weights[name]
        if given.shape != shape or given.dtype != np.float32:
            raise ModelError(
                f"{net.name} for {facts.id}: {name!r} is {given.dtype}{list(given.shape)}, not float32{list(shape)}"
            )
        if not np.isfinite(given).all():
            raise ModelError(f"{net.name} for {facts.id}: {name!r} holds numbers that are not finite")


def _residual(graph: _Graph, net: ResidualNet, facts: GameFacts) -> None:
    trunk = graph.relu(graph.conv(INPUT, "stem"))
    for block in range(net.blocks):
        inner = graph.relu(graph.conv(trunk, f"blocks.{block}.conv1"))
        trunk = graph.relu(graph.node("Add", graph.conv(inner, f"blocks.{block}.conv2"), trunk))
    _board_policy(graph, facts, trunk)
    features = graph.relu(graph.conv(trunk, "value.conv"))
    _value(graph, graph.relu(graph.dense(graph.node("Flatten", features), "value.hidden")))


def _board_policy(graph: _Graph, facts: GameFacts, trunk: str) -> None:
    features = graph.relu(graph.conv(trunk, "policy.conv"))
    if not facts.action_planes:
        graph.dense(graph.node("Flatten", features), "policy.dense", output=LOGITS)
        return
    planes = graph.conv(features, "policy.planes")
    if facts.action_places is not None:
        places = graph.constant("places", np.array(facts.action_places, dtype=np.int64))
        graph.node("Gather", graph.node("Flatten", planes), places, output=LOGITS, axis=1)
        return
    if not facts.has_pass:
        graph.node("Flatten", planes, output=LOGITS)
        return
    mean_cell = graph.node("Flatten", graph.node("GlobalAveragePool", features))
    graph.node("Concat", graph.node("Flatten", planes), graph.dense(mean_cell, "policy.pass"), output=LOGITS, axis=1)


def _thesis(graph: _Graph) -> None:
    trunk = INPUT
    for layer, padded in (("conv1", True), ("conv2", True), ("conv3", False), ("conv4", False)):
        trunk = graph.relu(graph.conv(trunk, layer, padded))
    _flat_heads(graph, _dense_stack(graph, graph.node("Flatten", trunk), len(THESIS_HIDDEN)))


def _schmidt(graph: _Graph) -> None:
    trunk = INPUT
    for layer in ("conv1", "conv2", "conv3"):
        trunk = graph.relu(graph.conv(trunk, layer))
    features = graph.relu(graph.conv(trunk, "policy.conv"))
    graph.dense(graph.node("Flatten", features), "policy.dense", output=LOGITS)
    _value(graph, graph.relu(graph.dense(graph.node("Flatten", trunk), "value.hidden")))


def _dense_stack(graph: _Graph, source: str, depth: int) -> str:
    for number in range(1, depth + 1):
        source = graph.relu(graph.dense(source, f"dense{number}"))
    return source


def _flat_heads(graph: _Graph, features: str) -> None:
    graph.dense(features, "policy.out", output=LOGITS)
    _value(graph, features)


def _value(graph: _Graph, features: str) -> None:
    if graph.head != VALUE_HEAD:
        graph.dense(features, "value.out", output=OUTCOME)
        return
    value = graph.node("Tanh", graph.dense(features, "value.out"))
    graph.node("Squeeze", value, graph.constant("axis", np.array([1], dtype=np.int64)), output=VALUE)


class _Graph:
    """Nodes and constants in the order they are asked for; every method returns the name of its result."""

    def __init__(self, weights: Weights, head: str) -> None:
        from onnx import helper, numpy_helper

        self._helper, self._numpy_helper = helper, numpy_helper
        self._weights, self.head = weights, head
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def node(self, operator: str, *inputs: str, output: str | None = None, **attributes: object) -> str:
        output = output or f"{operator.lower()}_{len(self._nodes)}"
        self._nodes.append(self._helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def constant(self, name: str, array: np.ndarray[Any, Any]) -> str:
        self._constants.append(self._numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def conv(self, source: str, layer: str, padded: bool = True) -> str:
        """A convolution that keeps the board's size if it is padded; a bias of every cell's own is added after it."""
        weight, bias = self._layer(layer)
        size = self._weights[weight].shape[2]
        pads = [size // 2 if padded else 0] * 4
        if self._weights[bias].ndim == 1:
            return self.node("Conv", source, weight, bias, kernel_shape=[size, size], pads=pads)
        return self.node("Add", self.node("Conv", source, weight, kernel_shape=[size, size], pads=pads), bias)

    def dense(self, source: str, layer: str, output: str | None = None) -> str:
        return self.node("Gemm", source, *self._layer(layer), output=output, transB=1)

    def relu(self, source: str) -> str:
        return self.node("Relu", source)

    def _layer(self, layer: str) -> tuple[str, str]:
        weight, bias = f"{layer}.weight", f"{layer}.bias"
        return self.constant(weight, self._weights[weight]), self.constant(bias, self._weights[bias])

    def serialise(self, net: Net, facts: GameFacts) -> bytes:
        from onnx import TensorProto

        def tensor(name: str, *shape: int) -> Any:
            return self._helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", *shape])

        answer = tensor(VALUE) if self.head == VALUE_HEAD else tensor(OUTCOME, head_of(net, facts).outputs)
        graph = self._helper.make_graph(
            self._nodes,
            net.name,
            [tensor(INPUT, *facts.observation_shape)],
            [tensor(LOGITS, facts.num_actions), answer],
            self._constants,
        )
        model = self._helper.make_model(
            graph,
            producer_name="palaestra",
            opset_imports=[self._helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
        )
        self._helper.set_model_props(model, metadata(net, facts))
        serialised: bytes = model.SerializeToString()
        return serialised
