"""Networks that play with 8-bit numbers: convolutions of small whole numbers, three times as fast where the processor
multiplies these at once.

A network's file stays as it is; what is made of it here lives in memory, for self-play. A convolution reads features
as bytes and kernels as signed bytes, each channel with a scale of its own, and adds up in 32 bits, exactly. The scales
of features are measured on positions of random games, so the same network and game give the same bytes. Dense layers
and convolutions that end in logits stay float32: they take little time, and what they say is the answer.

Nodes are marked by pairs of QuantizeLinear and DequantizeLinear, which ONNX Runtime turns into its 8-bit kernels.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Any

import numpy as np

from palaestra.base.errors import ConfigError
from palaestra.base.types import Float32s
from palaestra.nets.graph import INPUT, IR_VERSION, OPSET

LARGEST = 255  # of a byte; kernels have 127 on both sides
MOST_BIAS = 2**30  # of 32 bits; a channel whose kernel is almost 0 must not make its bias larger
LEAST = 1e-6  # the least range of features: a channel may be dead


def takes_int8(setting: str) -> bool:
    """Whether a precision means int8 on this machine; ConfigError if it is asked for and cannot be had."""
    if setting == "float32":
        return False
    if has_int8():
        return True
    if setting == "int8":
        raise ConfigError("precision is int8, and this processor cuts off products of bytes; take precision=auto")
    return False


def in_int8(content: bytes, planes: Float32s) -> bytes:
    """A network's file that computes its convolutions with bytes; `planes` are observations to measure ranges on.

    Convolutions count that a ReLU or an addition of features follows; a network without any stays as it is.
    """
    import onnx

    model = onnx.load_model_from_string(content)
    writer = _Writer(model)
    if not writer.convolutions:
        return content
    writer.write(_ranges(model, writer.features, planes))
    serialised: bytes = model.SerializeToString()
    return serialised


def _ranges(model: Any, names: list[str], planes: Float32s) -> dict[str, tuple[float, float]]:
    """The least and largest number of each of the features over some positions; 0 is always among them."""
    import onnx

    from palaestra.nets.evaluator import open_session

    shown = onnx.ModelProto()
    shown.CopyFrom(model)
    del shown.graph.output[:]
    inner = [name for name in names if name != INPUT]
    shown.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in inner)
    found = open_session("the network", shown.SerializeToString(), 1).run(inner, {INPUT: planes})
    arrays = {INPUT: planes, **dict(zip(inner, found, strict=True))}
    return {name: (min(0.0, float(arrays[name].min())), max(0.0, float(arrays[name].max()))) for name in names}


class _Writer:
    """Which nodes of a graph compute with bytes, and the graph in which they do."""

    def __init__(self, model: Any) -> None:
        from onnx import numpy_helper

        self.graph = model.graph
        self.constants = {one.name: numpy_helper.to_array(one) for one in self.graph.initializer}
        self.readers = Counter(name for node in self.graph.node for name in node.input)
        self.read_by = {name: node for node in self.graph.node for name in node.input}
        self.convolutions = [node for node in self.graph.node if node.op_type == "Conv" and self._fits(node)]
        self.additions = [node for node in self.graph.node if self._adds(node)]
        nodes = [*self.convolutions, *self.additions]
        read = [node.input[0] for node in self.convolutions] + [name for node in self.additions for name in node.input]
        self.features = list(dict.fromkeys(read + [self._result(node) for node in nodes]))

    def _adds(self, node: Any) -> bool:
        """Whether a node adds features to features."""
        return node.op_type == "Add" and not any(name in self.constants for name in node.input)

    def _fits(self, node: Any) -> bool:
        follows = self._only_reader(node)
        return len(node.input) == 3 and follows is not None and (follows.op_type == "Relu" or self._adds(follows))

    def _only_reader(self, node: Any) -> Any:
        """The one node that reads what a node makes; None if there are others, or none."""
        name = node.output[0]
        return self.read_by[name] if self.readers[name] == 1 else None

    def _result(self, node: Any) -> str:
        """The features that a node makes, after the ReLU that it is followed by."""
        follows = self._only_reader(node)
        name: str = (follows if follows is not None and follows.op_type == "Relu" else node).output[0]
        return name

    def write(self, ranges: dict[str, tuple[float, float]]) -> None:
        """Put pairs of nodes where features become bytes, and bytes in the place of kernels."""
        from onnx import helper

        scales = {name: (high - low) / LARGEST or LEAST for name, (low, high) in ranges.items()}
        nodes: list[Any] = []
        convolutions, written = {id(node) for node in self.convolutions}, set[str]()

        def mark(name: str) -> None:
            """Let features go through bytes; a ReLU before them is not needed, for bytes begin at 0 as it does."""
            low, source = ranges[name][0], name
            if nodes and nodes[-1].op_type == "Relu":  # the node that has just made them
                source = nodes.pop().input[0]
            form = [f"{name}.scale", f"{name}.zero"]
            self._constant(form[0], np.array(scales[name], dtype=np.float32))
            self._constant(form[1], np.array(round(-low / scales[name]), dtype=np.uint8))
            nodes.append(helper.make_node("QuantizeLinear", [source, *form], [f"{name}.bytes"]))
            nodes.append(helper.make_node("DequantizeLinear", [f"{name}.bytes", *form], [f"{name}.read"]))
            written.add(name)

        if INPUT in ranges:
            mark(INPUT)
        for node in self.graph.node:
            if id(node) in convolutions:
                nodes.extend(self._kernel(node, scales[node.input[0]]))
            for at, name in enumerate(node.input):
                if name in written:
                    node.input[at] = f"{name}.read"
            nodes.append(node)
            if node.output[0] in ranges:
                mark(node.output[0])
        del self.graph.node[:]
        self.graph.node.extend(nodes)
        used = {name for node in nodes for name in node.input}
        kept = [one for one in self.graph.initializer if one.name in used]
        del self.graph.initializer[:]
        self.graph.initializer.extend(kept)

    def _kernel(self, node: Any, scale: float) -> list[Any]:
        """The nodes that give a convolution its kernels and biases, from bytes and from 32 bits."""
        from onnx import helper

        _, kernel, bias = node.input
        weights = self.constants[kernel].astype(np.float64)
        largest = np.abs(weights).reshape(len(weights), -1).max(axis=1) / 127
        steps = np.maximum(largest, np.abs(self.constants[bias]) / (scale * MOST_BIAS) + LEAST / 127)
        whole = np.rint(weights / steps.reshape(-1, *[1] * (weights.ndim - 1)))
        biases = np.rint(self.constants[bias] / (steps * scale))
        made = []
        for at, (name, content, sizes) in enumerate(
            ((kernel, whole.astype(np.int8), steps), (bias, biases.astype(np.int32), steps * scale)), start=1
        ):
            self._constant(f"{name}.bytes", content)
            self._constant(f"{name}.scale", sizes.astype(np.float32))
            self._constant(f"{name}.zero", np.zeros(len(sizes), dtype=content.dtype))
            form = [f"{name}.bytes", f"{name}.scale", f"{name}.zero"]
            made.append(helper.make_node("DequantizeLinear", form, [f"{name}.read"], axis=0))
            node.input[at] = f"{name}.read"
        return made

    def _constant(self, name: str, array: np.ndarray[Any, Any]) -> None:
        from onnx import numpy_helper

        self.graph.initializer.append(numpy_helper.from_array(array, name))


@lru_cache
def has_int8() -> bool:
    """Whether networks are played by a processor that multiplies bytes without losing any: such ones are fast at it.

    Older ones add two products in 16 bits, and what does not fit there is cut off.
    """
    from onnx import TensorProto, helper

    from palaestra.nets.evaluator import CPU, best_providers, open_session

    if best_providers() != [CPU]:
        return False

    def tensor(name: str, kind: int) -> Any:
        return helper.make_tensor_value_info(name, kind, [64, 64])

    node = helper.make_node("MatMulInteger", ["a", "b"], ["c"])
    graph = helper.make_graph(
        [node],
        "products",
        [tensor("a", TensorProto.UINT8), tensor("b", TensorProto.INT8)],
        [tensor("c", TensorProto.INT32)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    a, b = np.full((64, 64), 255, dtype=np.uint8), np.full((64, 64), 127, dtype=np.int8)
    found = open_session("a trial", model.SerializeToString(), 1).run(None, {"a": a, "b": b})[0]
    return bool((found == 64 * 255 * 127).all())
