from __future__ import annotations

import subprocess
from typing import Any

import numpy as np
import pytest
import torch

from palaestra.base.errors import ConfigError
from palaestra.learn import precision
from palaestra.learn.precision import takes_bfloat16
from palaestra.learn.trainer import Trainer
from tests.learn.test_trainer import batches, make_trainer

needs_bfloat16 = pytest.mark.skipif(
    not precision._has_bfloat16(), reason="this processor has no instructions for bfloat16"
)


@pytest.fixture
def has(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make the processor have bfloat16 or not."""
    return lambda there: monkeypatch.setattr(precision, "_has_bfloat16", lambda: there)


def test_auto_takes_bfloat16_where_it_is_there_and_the_network_is_of_the_package(has: Any) -> None:
    for there, usual in ((True, True), (True, False), (False, True)):
        has(there)
        assert takes_bfloat16("auto", usual) is (there and usual)
        assert not takes_bfloat16("float32", usual)


@pytest.mark.parametrize("there, usual, complaint", [(False, True, "no instructions"), (True, False, "of the package")])
def test_bfloat16_that_cannot_be_had_is_an_error_of_one_line(
    has: Any, there: bool, usual: bool, complaint: str
) -> None:
    has(there)
    with pytest.raises(ConfigError, match=f"{complaint}.*learn.precision=auto") as error:
        takes_bfloat16("bfloat16", usual)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("promised, trial, there", [(False, None, False), (True, 0, True), (True, -4, False)])
def test_a_processor_is_believed_only_after_a_trial(
    monkeypatch: pytest.MonkeyPatch, promised: bool, trial: int | None, there: bool
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": promised})
    made = []

    def run(arguments: list[str], **_: Any) -> subprocess.CompletedProcess[bytes]:
        made.append(arguments)
        assert trial is not None
        return subprocess.CompletedProcess(arguments, trial)

    monkeypatch.setattr(subprocess, "run", run)
    assert precision._has_bfloat16.__wrapped__() is there
    assert len(made) == promised


def _trained(setting: str, threads: int, net: str = "b1c8") -> tuple[Trainer, float]:
    """A trainer, and the share of its first loss that is left."""
    trainer = make_trainer(net, threads, precision=setting, optimizer="muon", lr=0.02, average=0.9, epochs=10)
    first = trainer.train(batches(), 60, 0.0).epochs[0].sum
    return trainer, trainer.train(batches(seed=1), 20, 0.0).losses.sum / first


@needs_bfloat16
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("net", ["b1c8", "r1c8", "schmidt", "mlp64x2"])
def test_bfloat16_learns_as_float32_does_and_keeps_its_weights_exact(net: str, threads: int) -> None:
    (exact, left), (low, other) = _trained("float32", threads, net), _trained("bfloat16", threads, net)
    assert left < 0.5 and other == pytest.approx(left, abs=0.1)
    ours, theirs = exact.state(), low.state()
    assert {name: array.dtype for name, array in ours.items()} == {name: array.dtype for name, array in theirs.items()}
    weights = [array for name, array in theirs.items() if name.endswith("weight") and name.startswith("weights.")]
    assert any((array != torch.from_numpy(array).bfloat16().float().numpy()).any() for array in weights)
    assert any((ours[name] != theirs[name]).any() for name in ours)


@needs_bfloat16
def test_copies_in_bfloat16_have_the_rounded_weights_after_every_change() -> None:
    trainer, _ = _trained("bfloat16", 2)

    def assert_rounded() -> None:
        for copy in trainer.parameters:
            for low, exact in zip(copy, trainer.weights, strict=True):
                assert torch.equal(low.float(), exact.to(low.dtype).float())

    assert_rounded()
    state = trainer.state()
    assert any(low.dtype == torch.bfloat16 for low in trainer.parameters[1])
    trainer.load_state({name: np.asarray(1.5 * array, dtype=array.dtype) for name, array in state.items()})
    assert_rounded()
