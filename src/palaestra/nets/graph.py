"""A network as an ONNX file: its plan written node by node, fast enough to do it every few seconds.

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

from palaestra.base.errors import ModelError
from palaestra.nets.architecture import GameFacts, Net, Weights, weight_shapes
from palaestra.nets.heads import VALUE_HEAD
from palaestra.nets.plan import Layer, Node, Plan, Step, growth

INPUT, LOGITS, VALUE, OUTCOME = "observation", "logits", "value", "outcome"
GAME_KEY, VERSION_KEY, NET_KEY = "palaestra.game", "palaestra.game_version", "palaestra.net"
REWARD_KEY = "palaestra.reward"
SHAPE_KEY, ACTIONS_KEY = "palaestra.observation_shape", "palaestra.num_actions"
SHARED_KEY = "palaestra.shared"

# Old enough for every ONNX Runtime this project accepts, new enough for every operator used here.
OPSET, IR_VERSION = 17, 8


def build_model(net: Net, facts: GameFacts, weights: Weights) -> bytes:
    """The serialised ONNX model; ModelError if the weights are not exactly those of `weight_shapes`."""
    check_weights(net, facts, weights)
    return _Writer(net.plan(facts), weights, net.head == VALUE_HEAD).serialise(net, facts)


def metadata(net: Net, facts: GameFacts) -> dict[str, str]:
    """What a file says about itself."""
    return {
        GAME_KEY: facts.id,
        VERSION_KEY: str(facts.version),
        NET_KEY: net.name,
        SHAPE_KEY: "x".join(map(str, facts.observation_shape)),
        ACTIONS_KEY: str(facts.num_actions),
        **({} if facts.shared is None else {SHARED_KEY: facts.shared.text}),
    }


def with_reward(content: bytes, reward: str) -> bytes:
    """The same file, which also says under which reward its values were learned."""
    import onnx
    from google.protobuf.message import DecodeError

    try:
        model = onnx.load_model_from_string(content)
    except DecodeError:
        raise ModelError("the network's file is not ONNX: it was not written by this program") from None
    known = {entry.key: entry.value for entry in model.metadata_props}
    onnx.helper.set_model_props(model, {**known, REWARD_KEY: reward})
    serialised: bytes = model.SerializeToString()
    return serialised


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


class _Writer:
    """Writes the nodes of a plan in the order of its steps; `names` are those of their results."""

    def __init__(self, plan: Plan, weights: Weights, gives_value: bool) -> None:
        from onnx import helper, numpy_helper

        self._helper, self._numpy_helper = helper, numpy_helper
        self._weights, self._gives_value = weights, gives_value
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        answer = () if gives_value else ((plan.ends["answer"], OUTCOME),)
        self._outputs: dict[Node, str] = dict(((plan.ends["logits"], LOGITS), *answer))
        self._names: list[str] = []
        for number, step in enumerate(plan.steps):
            sources = [self._names[source] for source in step.sources]
            read = plan.steps[step.sources[0]].shape if step.sources else ()
            self._names.append(self._write(step, sources, self._outputs.get(number), read))
        if gives_value:
            value = self._node("Tanh", self._names[plan.ends["answer"]])
            self._node("Squeeze", value, self._constant("axis", np.array([1], dtype=np.int64)), output=VALUE)

    def _write(self, step: Step, sources: list[str], output: str | None, read: tuple[int, ...]) -> str:
        """The name of the step's result, which is `output` where that is given; `read` is the shape of its source."""
        match step.operation:
            case "observation":
                return INPUT
            case "dropout":  # play drops nothing
                return sources[0]
            case "layer":
                assert step.layer is not None
                return self._layer(step.layer, sources[0], output)
            case "mean_cell":
                return self._node("Flatten", self._node("GlobalAveragePool", *sources), output=output)
            case "pool":
                mean = self._node("GlobalAveragePool", *sources)
                by_size = self._constant("growth", np.array(growth(*read[1:]), dtype=np.float32))
                parts = (mean, self._node("GlobalMaxPool", *sources), self._node("Mul", mean, by_size))
                return self._node("Flatten", self._node("Concat", *parts, axis=1), output=output)
            case "column_pool":
                column = [read[1], 1]
                both = [self._node(name, *sources, kernel_shape=column) for name in ("AveragePool", "MaxPool")]
                return self._node("Concat", *both, output=output, axis=1)
            case "take":
                places = self._constant("places", np.array(step.places, dtype=np.int64))
                return self._node("Gather", *sources, places, output=output, axis=1)
            case "difference":
                kernel = self._constant("difference", np.array([1, -1], dtype=np.float32).reshape(1, 2, 1, 1))
                return self._node("Conv", *sources, kernel, output=output, kernel_shape=[1, 1])
            case "join":
                return self._node("Concat", *sources, output=output, axis=1)
        return self._node({"relu": "Relu", "add": "Add", "flatten": "Flatten"}[step.operation], *sources, output=output)

    def _layer(self, layer: Layer, source: str, output: str | None) -> str:
        """A dense layer or a convolution, to which a bias of every cell's own is added afterwards."""
        weight, bias = (
            self._constant(name, self._weights[name]) for name in (f"{layer.name}.weight", f"{layer.name}.bias")
        )
        if len(layer.kernel) == 2:
            return self._node("Gemm", source, weight, bias, output=output, transB=1)
        form: dict[str, Any] = {"kernel_shape": list(layer.kernel[2:]), "pads": [layer.padding] * 4}
        if layer.bias_map is None:
            result = self._node("Conv", source, weight, bias, output=output, **form)
        else:
            result = self._node("Add", self._node("Conv", source, weight, **form), bias, output=output)
        return self._node("Relu", result) if layer.normalised == "after" else result

    def _node(self, operator: str, *inputs: str, output: str | None = None, **attributes: object) -> str:
        output = output or f"{operator.lower()}_{len(self._nodes)}"
        self._nodes.append(self._helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def _constant(self, name: str, array: np.ndarray[Any, Any]) -> str:
        self._constants.append(self._numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def serialise(self, net: Net, facts: GameFacts) -> bytes:
        from onnx import TensorProto

        def tensor(name: str, *shape: int) -> Any:
            return self._helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", *shape])

        answer = tensor(VALUE) if self._gives_value else tensor(OUTCOME, net.head_for(facts).outputs)
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
