"""A torch module of the user's own as a network of a run: made for a game, trained, and written as ONNX by PyTorch.

The user's class or function is called with `GameFacts` and the number K of outputs of the second head; the module takes
observations float32[B, C, H, W] and gives logits [B, A] and the raw answer [B, K]. Where the head is a value, tanh is
applied here. All of this is tried when it is made, so that a mistake is told before a run begins.

PyTorch's exporter takes seconds, so it is asked once: later files are the same graph with the weights of now. What each
file computes is compared with what the module does.
"""

from __future__ import annotations

import copy
import logging
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from palaestra.base.errors import ConfigError, ModelError
from palaestra.base.user_code import call, in_words
from palaestra.nets.evaluator import open_session
from palaestra.nets.facts import GameFacts
from palaestra.nets.graph import INPUT, LOGITS, OUTCOME, VALUE, metadata
from palaestra.nets.heads import VALUE_HEAD
from palaestra.nets.modules import Dropout, Trained, seed_dropout
from palaestra.nets.own import TorchNet

ROWS = 3  # of the batch on which a module is tried
OPSET = 18  # what PyTorch's exporter writes without converting
TOLERANCE = 1e-3  # between what the module and its file compute, relative to the largest number


class OwnModule(Trained):
    """The user's module, with the answer that training and play expect: the value [B], or outcomes [B, K]."""

    memory_format = torch.contiguous_format  # the user's code may take views, which other formats do not allow

    def __init__(self, net: TorchNet, facts: GameFacts, seed: int) -> None:
        super().__init__()
        self.net, self.facts = net, facts
        self.outputs = net.head_for(facts).outputs
        self.shapes = f"{list(facts.observation_shape)} a row to logits [{facts.num_actions}], answer [{self.outputs}]"
        expected = f"{net.body}(facts, outputs, …) gives a torch.nn.Module from observations {self.shapes}"
        with torch.random.fork_rng(devices=[]):  # the user's first weights come from PyTorch's global state
            torch.manual_seed(seed)
            inner = call(net.made, net.parts, (facts, self.outputs), ConfigError, expected)
        if not isinstance(inner, nn.Module):
            raise ConfigError(f"{net.body} gave {type(inner).__name__}; expected: {expected}")
        self.inner = _with_own_dropout(inner.float())
        self._file: Any = None
        self._try()

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        logits, raw = self.inner(planes)
        return logits, torch.tanh(raw).squeeze(1) if self.net.head == VALUE_HEAD else raw

    def hidden_kernels(self) -> Iterator[nn.Parameter]:
        """Weights that are matrices, but for those that give as many numbers as one of the two ends has."""
        ends = (self.facts.num_actions, self.outputs)
        return (weight for weight in self.parameters() if weight.dim() > 1 and weight.shape[0] not in ends)

    def onnx(self) -> bytes:
        """The file that computes what `eval()` does; ModelError if it does not."""
        from onnx import numpy_helper

        if self._file is None:
            self._file = self._export()
        weights = {name: tensor.detach().cpu().numpy() for name, tensor in self.state_dict().items()}
        for constant in self._file.graph.initializer:
            if constant.name in weights:
                array = np.ascontiguousarray(weights[constant.name])
                if not np.isfinite(array).all():
                    raise ModelError(f"{self.net.name}: {constant.name} holds numbers that are not finite")
                constant.CopyFrom(numpy_helper.from_array(array, constant.name))
        content: bytes = self._file.SerializeToString()
        self._compare(content)
        return content

    def _try(self) -> None:
        """ConfigError unless it answers in the right shapes and all its weights take part."""
        planes = torch.linspace(-1, 1, ROWS * int(np.prod(self.facts.observation_shape)))
        planes = planes.reshape(ROWS, *self.facts.observation_shape)
        wanted = {"logits": (ROWS, self.facts.num_actions), "answer": (ROWS, self.outputs)}
        body, parameters = self.net.body, dict(self.inner.named_parameters())
        with torch.random.fork_rng(devices=[]), in_words(body, ConfigError, f"forward takes {self.shapes}"):
            seed_dropout(self, 0)
            found = self.inner.train()(planes)
            if not (isinstance(found, tuple) and len(found) == 2):
                raise ConfigError(f"{body}: forward gave {type(found).__name__}, not the pair (logits, answer)")
            for (end, shape), tensor in zip(wanted.items(), found, strict=True):
                if tuple(tensor.shape) != shape or tensor.dtype != torch.float32:
                    raise ConfigError(
                        f"{body} for {self.facts.id}: {end} is {tensor.dtype}{list(tensor.shape)}, not"
                        f" float32{list(shape)}, for observations {list(planes.shape)}"
                    )
            if frozen := [name for name, parameter in parameters.items() if not parameter.requires_grad]:
                raise ConfigError(f"{body}: {frozen[0]} does not learn; keep what is fixed with register_buffer")
            total = found[0].sum() + found[1].sum()
            gradients = torch.autograd.grad(total, list(parameters.values()), allow_unused=True)
        unused = [name for name, gradient in zip(parameters, gradients, strict=True) if gradient is None]
        if unused:
            raise ConfigError(f"{body}: {unused[0]} takes no part in the answer; leave out what forward does not use")
        self.eval()

    def _export(self) -> Any:
        """The graph of this module as PyTorch writes it, without notes about where its code is."""
        from onnx import helper

        answer = VALUE if self.net.head == VALUE_HEAD else OUTCOME
        planes = torch.zeros(2, *self.facts.observation_shape)
        logger = logging.getLogger("torch.onnx")
        level = logger.level
        logger.setLevel(logging.ERROR)
        try:
            with warnings.catch_warnings(), in_words(self.net.body, ModelError, "PyTorch can write it as ONNX"):
                warnings.simplefilter("ignore")
                program = torch.onnx.export(
                    copy.deepcopy(self).cpu().eval(),
                    (planes,),
                    dynamo=True,
                    input_names=[INPUT],
                    output_names=[LOGITS, answer],
                    dynamic_shapes=({0: torch.export.Dim("N")},),
                    opset_version=OPSET,
                    optimize=False,  # or weights would be folded into each other
                    verbose=False,
                )
        finally:
            logger.setLevel(level)
        assert program is not None
        model: Any = program.model_proto
        if not model.graph.input[0].type.tensor_type.shape.dim[0].dim_param:
            raise ModelError(
                f"{self.net.body}: written as ONNX, it takes {len(planes)} rows only; in forward, ask for x.shape[0]"
                " and not len(x), or use x.flatten(1)"
            )
        for part in (*model.graph.node, *model.graph.initializer, *model.graph.input, *model.graph.output):
            del part.metadata_props[:]
        del model.graph.metadata_props[:], model.graph.value_info[:], model.metadata_props[:]
        helper.set_model_props(model, metadata(self.net, self.facts))
        return model

    def _compare(self, content: bytes) -> None:
        """ModelError if the file computes something else than the module."""
        count = ROWS * int(np.prod(self.facts.observation_shape))
        planes = np.sin(np.arange(count, dtype=np.float32)).reshape(ROWS, *self.facts.observation_shape)
        training, device = self.training, next(self.parameters()).device
        with torch.no_grad():
            wanted = [tensor.cpu().numpy() for tensor in self.eval()(torch.from_numpy(planes).to(device))]
        self.train(training)
        with in_words(self.net.body, ModelError, "ONNX Runtime computes what PyTorch has written"):
            found = open_session(self.net.name, content, threads=1).run(None, {INPUT: planes})
        for end, one, other in zip((LOGITS, "answer"), wanted, found, strict=True):
            difference = float(np.abs(one - other).max())
            if not difference <= TOLERANCE * max(1.0, float(np.abs(one).max())):
                raise ModelError(
                    f"{self.net.name}: the ONNX file of PyTorch's exporter computes other {end}, off by {difference:g}"
                )


def _with_own_dropout(module: nn.Module) -> nn.Module:
    """The module with every nn.Dropout replaced by one whose random numbers a run can repeat, also on threads."""
    for name, part in list(module.named_children()):
        if type(part) is nn.Dropout:
            setattr(module, name, Dropout(part.p))
        else:
            _with_own_dropout(part)
    return module
