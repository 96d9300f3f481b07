"""Networks of the user's own: plans and torch modules, with any head, whose files compute what the modules do."""

from __future__ import annotations

import copy
import re

import numpy as np
import pytest
import torch

from palaestra.base.errors import ConfigError, ModelError
from palaestra.games.registry import make_game
from palaestra.nets.architecture import GameFacts, parse_net
from palaestra.nets.evaluator import OnnxEvaluator
from palaestra.nets.export import export_onnx
from palaestra.nets.inference_speed import measure
from palaestra.nets.modules import make_module, seed_dropout
from palaestra.nets.torch_net import OwnModule
from tests.conftest import OwnFile

GAME = make_game("connect_four-4x4")
KNOWN = GameFacts.of(GAME)
OWN = """
from dataclasses import dataclass
import torch
from torch import nn
from palaestra.nets.families.base import Net, flat_heads
from palaestra.nets.plan import Plan

@dataclass(frozen=True)
class Tiny(Net):
    width: int = 4
    head: str = "value"
    def plan(self, facts):
        plan = Plan(facts.observation_shape)
        x = plan.relu(plan.conv("stem", plan.observation, self.width))
        return flat_heads(self, facts, plan, plan.flatten(x))

class Short(Tiny):
    def plan(self, facts):
        plan = super().plan(facts)
        plan.logits(plan.dense("more", plan.ends["logits"], 2))
        return plan

class Module(nn.Module):
    extra = 0
    def __init__(self, facts, outputs, width=4):
        super().__init__()
        planes, rows, cols = facts.observation_shape
        self.stem, self.norm = nn.Conv2d(planes, width, 3, padding=1), nn.BatchNorm2d(width)
        self.drop = nn.Dropout(0.5)
        self.policy = nn.Linear(width * rows * cols, facts.num_actions + self.extra)
        self.answer = nn.Linear(width * rows * cols, outputs)
    def forward(self, planes):
        x = self.drop(torch.relu(self.norm(self.stem(planes))).view(planes.shape[0], -1))
        return self.policy(x), self.answer(x)

class Wide(Module):
    extra = 1
class Single(Module):
    def forward(self, planes): return super().forward(planes)[0]
class Unused(Module):
    def __init__(self, facts, outputs):
        super().__init__(facts, outputs)
        self.more = nn.Linear(2, 2)
class Frozen(Module):
    def __init__(self, facts, outputs):
        super().__init__(facts, outputs)
        self.policy.bias.requires_grad_(False)
class Folded(Module):
    def forward(self, planes): return super().forward(planes.reshape(5, -1))
class Fixed(Module):
    def forward(self, planes): return super().forward(planes.reshape(len(planes), *planes.shape[1:]))
def number(facts, outputs): return 3
LIST = [1]
"""


@pytest.fixture
def nets(own_file: OwnFile) -> None:
    own_file("own_nets", OWN)


def answers(module: torch.nn.Module, planes: np.ndarray) -> list[np.ndarray]:
    with torch.no_grad():
        return [tensor.numpy() for tensor in module.eval()(torch.from_numpy(planes))]


@pytest.mark.usefixtures("nets")
@pytest.mark.parametrize(
    "net", ["own_nets:Tiny(width=3)", "own_nets:Tiny-categorical", "own_nets:Module(width=3)-outcome"]
)
def test_its_file_computes_what_the_module_does(net: str) -> None:
    module = make_module(net, KNOWN, 0.0, seed=1)
    evaluator = OnnxEvaluator(GAME, export_onnx(module, KNOWN))
    planes = np.random.default_rng(0).random((5, *KNOWN.observation_shape), dtype=np.float32)
    assert parse_net(net).name == net and evaluator.metadata["palaestra.net"] == net
    for mine, theirs in zip(evaluator.forward(planes), answers(module, planes), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-5)


@pytest.mark.usefixtures("nets")
def test_a_torch_module_is_exported_again_with_the_weights_of_now() -> None:
    module = make_module("own_nets:Module", KNOWN, 0.0, seed=1)
    assert isinstance(module, OwnModule)
    first, graph = module.onnx(), module._file
    with torch.no_grad():
        for tensor in module.state_dict().values():
            tensor.add_(1 if tensor.dtype == torch.int64 else 0.25)
    second = module.onnx()
    planes = np.ones((2, *KNOWN.observation_shape), dtype=np.float32)
    logits = [OnnxEvaluator(GAME, content).forward(planes)[0] for content in (first, second)]
    assert module._file is graph and not np.allclose(*logits)
    np.testing.assert_allclose(logits[1], answers(module, planes)[0], atol=1e-5)
    with torch.no_grad():
        module.inner.policy.bias[0] = torch.nan
    with pytest.raises(ModelError, match=r"own_nets:Module: inner.policy.bias holds numbers that are not finite"):
        module.onnx()


@pytest.mark.usefixtures("nets")
def test_a_module_for_one_size_of_batch_is_told_how_to_take_any() -> None:
    module = make_module("own_nets:Fixed", KNOWN, 0.0, seed=1)
    with pytest.raises(ModelError, match=r"own_nets:Fixed: .* 2 rows only; in forward, ask for x.shape"):
        export_onnx(module, KNOWN)


@pytest.mark.usefixtures("nets")
def test_seeds_decide_first_weights_and_dropout_and_no_global_state_moves() -> None:
    before = torch.random.get_rng_state()
    one, same, other = (make_module("own_nets:Module", KNOWN, 0.0, seed).train() for seed in (1, 1, 2))
    planes = torch.ones(4, *KNOWN.observation_shape)
    for module in (one, same, other):
        seed_dropout(module, 7)
    assert torch.equal(one(planes)[0], same(planes)[0])
    assert not torch.equal(one(planes)[0], other(planes)[0])
    assert not torch.equal(one(planes)[0], copy.deepcopy(one).eval()(planes)[0])
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.usefixtures("nets")
@pytest.mark.parametrize(
    ("net", "words"),
    [
        ("Wide", "logits is torch.float32[3, 5], not float32[3, 4], for observations [3, 2, 4, 4]"),
        ("Single", "own_nets:Single: forward gave Tensor, not the pair (logits, answer)"),
        ("Unused", "own_nets:Unused: more.weight takes no part in the answer"),
        ("Frozen", "own_nets:Frozen: policy.bias does not learn; keep what is fixed with register_buffer"),
        ("Folded", "own_nets:Folded failed (RuntimeError: shape '[5, -1]' is invalid"),
        ("number", "own_nets:number gave int; expected: own_nets:number(facts, outputs, …) gives a torch.nn.Module"),
        ("Module(depth=2)", "'own_nets:Module(depth=2)' does not fit own_nets:Module(facts, outputs, width=4)"),
        ("Tiny(depth=2)", "'own_nets:Tiny(depth=2, head=value)' does not fit own_nets:Tiny"),
        ("Short", "own_nets:Short for connect_four-4x4: its plan has logits of the shape [2], not [4]"),
        ("LIST", "own_nets:LIST is list; expected: a Net, or what gives a torch.nn.Module"),
        ("Tinny", "own_nets has no Tinny (did you mean Tiny?)"),
    ],
)
def test_what_does_not_fit_is_one_line(net: str, words: str) -> None:
    from palaestra.base.user_code import trust

    trust(f"own_nets:{net}")
    with pytest.raises(ConfigError, match=re.escape(words)) as caught:
        make_module(f"own_nets:{net}", KNOWN, 0.0, seed=1)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("nets")
def test_speed_is_measured_with_work_where_it_is_known() -> None:
    plan, module = (measure(GAME, f"own_nets:{net}", batch=2, seconds=0.01) for net in ("Tiny", "Module"))
    assert plan.multiply_adds == 2 * 9 * 4 * 16 + 64 * 4 + 64 and module.multiply_adds is None


def test_names_that_are_nearly_right_are_guessed() -> None:
    with pytest.raises(ConfigError, match=r"unknown network 'tesis256' \(did you mean thesis256\?\); write b"):
        parse_net("tesis256")
