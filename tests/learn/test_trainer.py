from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice, repeat
from typing import Any

import numpy as np
import pytest
import torch

from palaestra.base.errors import ConfigError, ModelError
from palaestra.base.types import Float64s
from palaestra.games.registry import make_game
from palaestra.learn import trainer as module_under_test
from palaestra.learn.config import LearnConfig, RunConfig, SelfPlayConfig
from palaestra.learn.learner import Batch
from palaestra.learn.optimizers import learning_rate
from palaestra.learn.trainer import Trainer
from palaestra.nets.evaluator import OnnxEvaluator
from palaestra.rewards.base import Primitive, TableReward
from palaestra.rewards.outcomes import OutcomeSpace

GAME = make_game("connect_four-4x4")


def make_trainer(net: str = "b1c8", threads: int = 1, seed: int = 0, **learn: Any) -> Trainer:
    learn = {"batch": 64, "lr": 0.01, "dropout": 0.0} | learn
    config = RunConfig(game=GAME.id, net=net, seed=seed, threads=threads, iterations=1, learn=LearnConfig(**learn))
    return Trainer(GAME, config)


def batches(seed: int = 0, size: int = 64) -> Iterator[Batch]:
    """Positions whose best move and value can be read off the board."""
    rng = np.random.default_rng(seed)
    while True:
        planes = (rng.random((size, *GAME.observation_shape)) < 0.3).astype(np.float32)
        policy = np.eye(4, dtype=np.float32)[planes[:, 0].sum(axis=1).argmax(axis=1)]
        lead = planes[:, 0].sum((1, 2)) - planes[:, 1].sum((1, 2))
        mover = rng.integers(2, size=size).astype(np.int8)
        outcome = ((1 - 2 * mover) * np.clip(2 * lead, -12, 12)).astype(np.int32)
        yield Batch(planes, policy, np.tanh(lead), outcome, np.zeros(size, dtype=np.int32), mover)


def same(one: dict[str, np.ndarray[Any, Any]], other: dict[str, np.ndarray[Any, Any]]) -> bool:
    return one.keys() == other.keys() and all(one[name].tobytes() == other[name].tobytes() for name in one)


@pytest.mark.parametrize("optimizer, lr", [("adam", 0.01), ("adamw", 0.01), ("sgd", 0.1), ("muon", 0.02)])
@pytest.mark.parametrize("net", ["b1c8", "mlp64x2", "schmidt"])
def test_training_learns(net: str, optimizer: str, lr: float) -> None:
    trainer = make_trainer(net, optimizer=optimizer, lr=lr, epochs=10)
    data = batches()
    before = trainer.train(data, 10, 0.0)
    after = trainer.train(data, 120, 0.0)
    assert after.losses.policy < 0.7 * before.losses.policy and after.losses.value < 0.5 * before.losses.value


@pytest.mark.parametrize("net", ["b1c8-outcome", "mlp64x2-categorical"])
def test_heads_of_outcomes_learn(net: str) -> None:
    trainer, data = make_trainer(net), batches()
    before, after = trainer.train(data, 10, 0.0), trainer.train(data, 120, 0.0)
    assert after.losses.value < 0.5 * before.losses.value


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "settings",
    [
        {"optimizer": "adam", "average": 0.9, "dropout": 0.3},
        {"optimizer": "adamw", "weight_decay": 0.1, "clip": 0.5, "net": "mlp16x2", "dropout": 0.5},
        {"optimizer": "sgd", "average": 0.5, "net": "schmidt"},
        {"optimizer": "sgd", "momentum": 0.0, "net": "b1c8-outcome"},
        {"optimizer": "muon", "average": 0.9, "weight_decay": 0.05, "momentum": 0.95},
        {"optimizer": "muon", "average": 0.9, "net": "r1c8", "precision": "auto"},
    ],
)
def test_training_from_a_saved_state_goes_on_bit_for_bit(settings: dict[str, Any], threads: int) -> None:
    through, stopped = make_trainer(threads=threads, **settings), make_trainer(threads=threads, **settings)
    data = list(islice(batches(), 20))
    through.train(iter(data[:8]), 8, 0.0), stopped.train(iter(data[:8]), 8, 0.0)
    resumed = make_trainer(threads=threads, seed=0, **settings)
    resumed.train(batches(seed=9), 3, 0.0)  # whatever it was before is gone
    resumed.load_state(stopped.state())
    assert same(resumed.state(), through.state())
    reports = [trainer.train(iter(data[8:]), 12, 0.5) for trainer in (through, resumed)]
    assert same(resumed.state(), through.state()) and resumed.onnx() == through.onnx()
    assert reports[0].losses.sum == reports[1].losses.sum and reports[0].losses.product == reports[1].losses.product


def test_a_state_is_a_copy_that_later_training_leaves_alone() -> None:
    trainer = make_trainer(average=0.9)
    trainer.train(batches(), 2, 0.0)
    state = trainer.state()
    kept = {name: array.copy() for name, array in state.items()}
    trainer.train(batches(), 2, 0.0)
    assert same(state, kept) and not same(trainer.state(), kept)
    trainer.load_state(state)
    trainer.train(batches(), 2, 0.0)
    assert same(state, kept)


@pytest.mark.parametrize(
    "change, complaint",
    [
        (lambda state: state.pop("weights.trunk.stem.weight"), "lacks 'weights.trunk.stem.weight'"),
        (lambda state: state.update(other=np.zeros(1)), "has 'other'"),
        (lambda state: state.update({"weights.trunk.stem.weight": np.zeros((4, 2, 3, 3))}), r"\[4, 2, 3, 3\], not \[8"),
        (lambda state: state.pop("optimizer.trunk.stem.weight.step"), "lacks 'optimizer.trunk.stem.weight.step'"),
    ],
)
def test_a_state_of_something_else_is_refused_and_changes_nothing(change: Any, complaint: str) -> None:
    trainer = make_trainer()
    trainer.train(batches(), 1, 0.0)
    before, wrong = trainer.state(), trainer.state()
    change(wrong)
    with pytest.raises(ModelError, match=f"{complaint}.*not one of b1c8 for connect_four-4x4, trained with adam"):
        trainer.load_state(wrong)
    assert same(trainer.state(), before)


def test_averaging_may_begin_or_end_with_a_loaded_state() -> None:
    plain, averaging = make_trainer(), make_trainer(average=0.9)
    plain.train(batches(), 3, 0.0)
    averaging.load_state(plain.state())
    assert averaging.onnx() == plain.onnx()
    averaging.train(batches(), 3, 0.0)
    plain.load_state(averaging.state())
    assert not any(name.startswith("averaged.") for name in plain.state())
    assert plain.onnx() != averaging.onnx()


def test_weights_that_play_are_averaged_with_their_running_means_and_the_start_is_soon_forgotten() -> None:
    trainer, decay, expected = make_trainer(average=0.95), 0.0, None
    for step in range(1, 30):
        before = {n.removeprefix("averaged."): a for n, a in trainer.state().items() if n.startswith("averaged.")}
        trainer.train(batches(step), 1, 0.0)
        decay = min(0.95, (1 + step) / (10 + step))
        weights = {n.removeprefix("weights."): a for n, a in trainer.state().items() if n.startswith("weights.")}
        expected = {name: decay * before[name] + (1 - decay) * weights[name] for name in before}
    assert decay < 0.95 and expected is not None
    assert any(name.endswith("norm.variance") for name in expected)
    for name, array in expected.items():
        np.testing.assert_allclose(trainer.state()[f"averaged.{name}"], array, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("net", ["b1c8", "mlp16x2", "schmidt", "mlp16x2-outcome"])
def test_parts_on_two_threads_add_up_to_the_gradient_of_the_batch(net: str) -> None:
    (half,) = islice(batches(size=32), 1)
    double = Batch(
        *(np.concatenate((a, a)) for a in vars(half).values() if not isinstance(a, int))
    )  # both parts: the half
    one, two = (
        make_trainer(net, 1, optimizer="sgd", loss="product"),
        make_trainer(net, 2, optimizer="sgd", loss="product"),
    )
    reports = one.train(repeat(half), 5, 0.0), two.train(repeat(double), 5, 0.0)
    assert reports[1].samples == 2 * reports[0].samples == 320
    assert reports[0].losses.product == pytest.approx(reports[1].losses.product, rel=1e-5)
    alone, parted = one.state(), two.state()
    for name, array in alone.items():
        if not name.endswith("variance"):
            np.testing.assert_allclose(parted[name], array, atol=1e-5, err_msg=name)


def test_running_means_are_those_of_all_parts() -> None:
    trainer = make_trainer(threads=2, lr=1e-9)
    (batch,) = islice(batches(), 1)
    trainer.train(iter([batch]), 1, 0.0)
    stem = torch.nn.functional.conv2d(torch.from_numpy(batch.planes), trainer.module.trunk.stem.weight, padding=1)  # type: ignore[union-attr, arg-type]
    means = trainer.state()["weights.trunk.stem.norm.mean"]
    np.testing.assert_allclose(means, 0.1 * stem.mean((0, 2, 3)).detach().numpy(), atol=1e-6)
    trainer.train(iter([batch]), 1, 0.0)  # the copies went on from the common means
    again = trainer.state()["weights.trunk.stem.norm.mean"]
    np.testing.assert_allclose(again, 1.9 * means, atol=1e-6)


def test_each_number_of_threads_repeats_itself() -> None:
    for threads in (1, 2, 3):
        one, other = make_trainer("mlp16x2", threads, dropout=0.5), make_trainer("mlp16x2", threads, dropout=0.5)
        one.train(batches(size=100), 10, 0.0), other.train(batches(size=100), 10, 0.0)
        assert same(one.state(), other.state())


def test_training_leaves_pytorchs_threads_and_random_state_as_they_were() -> None:
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    make_trainer(threads=2, dropout=0.5).train(batches(), 2, 0.0)
    assert torch.equal(torch.get_rng_state(), before) and torch.get_num_threads() == threads


def spoilt(batch: Batch) -> Batch:
    planes = batch.planes.copy()
    planes[3, 0, 1, 2] = np.nan
    return replace(batch, planes=planes)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_loss_that_is_not_finite_restores_the_last_good_weights_and_says_so(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module_under_test, "SNAPSHOT", 3)
    data = list(islice(batches(), 9))
    trainer, reference = (make_trainer(threads=threads, average=0.9) for _ in range(2))
    reference.train(iter(data), 6, 0.0)
    report = trainer.train(chain(data[:8], [spoilt(data[8])], batches()), 20, 0.0)
    assert report.stopped == (
        "a loss or gradient was not finite at step 9 of 20; the weights went back to those of step 6"
    )
    assert report.steps == 6 and np.isfinite(report.losses.sum)
    assert same(trainer.state(), reference.state())
    assert trainer.train(batches(), 5, 0.0).stopped is None


def test_a_first_batch_that_is_not_finite_leaves_no_trace() -> None:
    trainer = make_trainer()
    before = trainer.state()
    (batch,) = islice(batches(), 1)
    report = trainer.train(repeat(spoilt(batch)), 5, 0.0)
    assert report.stopped and report.steps == 0 and np.isnan(report.losses.sum)
    assert same(trainer.state(), before)


def test_a_rate_that_blows_up_the_weights_is_stopped_too() -> None:
    trainer = make_trainer(optimizer="sgd", lr=10.0, net="mlp16x2", weight_decay=1.0, momentum=0.99)
    before = trainer.state()
    report = trainer.train(batches(), 99, 0.0)
    assert report.stopped is not None and report.stopped.endswith("step 0")
    assert same(trainer.state(), before)


@pytest.mark.parametrize("loss", ["sum", "product", "policy", "value", "weighted"])
def test_all_four_losses_are_measured_whichever_is_minimised(loss: str) -> None:
    trainer = make_trainer(loss=loss, epochs=None, samples_per_position=1.0, lr=1e-9, optimizer="sgd")
    report = trainer.train(batches(), 6, 0.0)
    assert report.losses.sum == pytest.approx(report.losses.policy + report.losses.value)
    assert report.losses.policy == pytest.approx(np.log(4), rel=0.1) and 0.1 < report.losses.value < 1
    assert report.losses.product == pytest.approx(report.losses.policy * report.losses.value, rel=0.05)
    assert report.samples == 6 * 64


def test_a_loss_moves_only_its_own_head() -> None:
    for loss, still, moved in (("policy", "value.out", "policy.dense"), ("value", "policy.dense", "value.out")):
        trainer = make_trainer(loss=loss, optimizer="sgd")
        before = trainer.state()
        trainer.train(batches(), 3, 0.0)
        after = trainer.state()
        assert np.array_equal(after[f"weights.{still}.weight"], before[f"weights.{still}.weight"])
        assert not np.array_equal(after[f"weights.{moved}.weight"], before[f"weights.{moved}.weight"])


def test_reported_losses_are_those_of_the_last_epoch() -> None:
    data = list(islice(batches(), 10))
    still = {"lr": 1e-12, "optimizer": "sgd"}
    last = make_trainer(**still, epochs=None, samples_per_position=1.0).train(iter(data[8:]), 2, 0.0)
    report = make_trainer(**still, epochs=5).train(iter(data), 10, 0.0)
    assert report.losses.sum == pytest.approx(last.losses.sum, rel=1e-5)
    assert report.losses == report.epochs[-1] and len(report.epochs) == 5
    first = make_trainer(**still, epochs=None, samples_per_position=1.0).train(iter(data[:2]), 2, 0.0)
    assert report.epochs[0].sum == pytest.approx(first.losses.sum, rel=1e-5)
    every = make_trainer(**still, epochs=None, samples_per_position=1.0).train(iter(data), 10, 0.0)
    assert len(every.epochs) == 1 and abs(every.losses.sum - last.losses.sum) > 1e-3


def test_weight_decay_is_decoupled_in_adamw_and_spares_biases_and_normalisations() -> None:
    plain, decayed = make_trainer(optimizer="adamw"), make_trainer(optimizer="adamw", weight_decay=0.5)
    start = plain.state()
    plain.train(batches(), 1, 0.0), decayed.train(batches(), 1, 0.0)
    one, other = plain.state(), decayed.state()
    for name in (name for name in one if name.startswith("weights.")):
        decay = 0.01 * 0.5 * start[name] if start[name].ndim > 1 else 0.0
        np.testing.assert_allclose(other[name], one[name] - decay, atol=1e-7, err_msg=name)


def test_weight_decay_is_part_of_the_gradient_in_adam_and_sgd() -> None:
    for optimizer in ("adam", "sgd"):
        plain, decayed = make_trainer(optimizer=optimizer), make_trainer(optimizer=optimizer, weight_decay=0.5)
        start = plain.state()["weights.trunk.stem.weight"]
        plain.train(batches(), 1, 0.0), decayed.train(batches(), 1, 0.0)
        key = "exp_avg" if optimizer == "adam" else "momentum_buffer"
        one, other = (trainer.state()[f"optimizer.trunk.stem.weight.{key}"] for trainer in (plain, decayed))
        np.testing.assert_allclose(other, one + (0.1 if optimizer == "adam" else 1.0) * 0.5 * start, atol=1e-6)


def test_clipping_bounds_the_whole_gradient() -> None:
    def travelled(clip: float | None) -> float:
        trainer = make_trainer(optimizer="sgd", momentum=0.0, lr=1.0, clip=clip)
        names = [f"weights.{name}" for name, _ in trainer.module.named_parameters()]
        before = trainer.state()
        trainer.train(batches(), 1, 0.0)
        after = trainer.state()
        return float(np.sqrt(sum(((after[name] - before[name]) ** 2).sum() for name in names)))

    assert travelled(0.01) == pytest.approx(0.01, rel=1e-3)
    assert travelled(None) == pytest.approx(travelled(1e6), rel=1e-4) and travelled(None) > 0.1


def test_momentum_carries_the_last_step_on() -> None:
    slow, fast = (make_trainer(optimizer="sgd", momentum=momentum) for momentum in (0.0, 0.9))
    start = slow.state()["weights.policy.dense.weight"]
    slow.train(batches(), 4, 0.0), fast.train(batches(), 4, 0.0)
    distances = [np.abs(trainer.state()["weights.policy.dense.weight"] - start).sum() for trainer in (slow, fast)]
    assert distances[1] > 1.5 * distances[0]


def test_the_rate_follows_the_schedule_and_is_reported() -> None:
    cosine = LearnConfig(lr=0.02, schedule="cosine", lr_end=0.1)
    rates = [learning_rate(cosine, progress) for progress in (0.0, 0.5, 1.0, 1.5)]
    assert rates == pytest.approx([0.02, 0.011, 0.002, 0.002])
    assert learning_rate(LearnConfig(lr=0.02), 0.7) == 0.02
    start, end = make_trainer(schedule="cosine"), make_trainer(schedule="cosine")
    assert start.train(batches(), 1, 0.0).lr == 0.01 and end.train(batches(), 1, 1.0).lr == pytest.approx(0.001)
    moved = [trainer.state()["weights.policy.dense.bias"] for trainer in (start, end)]  # Adam's first step is the rate
    np.testing.assert_allclose(moved[0], 10 * moved[1], rtol=1e-3)


def test_dropout_changes_training_and_differs_from_call_to_call() -> None:
    plain, dropped = make_trainer("mlp32x1"), make_trainer("mlp32x1", dropout=0.5)
    assert plain.onnx() == dropped.onnx()
    (batch,) = islice(batches(), 1)
    still = make_trainer("mlp32x1", dropout=0.5, lr=1e-12, optimizer="sgd")
    losses = [still.train(repeat(batch), 1, 0.0).losses.sum for _ in range(3)]
    assert len(set(losses)) == 3
    plain.train(batches(), 3, 0.0), dropped.train(batches(), 3, 0.0)
    assert plain.onnx() != dropped.onnx()


def test_listeners_hear_every_step() -> None:
    heard: list[tuple[int, int]] = []
    make_trainer().train(batches(), 3, 0.0, lambda done, total: heard.append((done, total)))
    assert heard == [(1, 3), (2, 3), (3, 3)]


def test_no_steps_are_no_training() -> None:
    trainer = make_trainer()
    before = trainer.state()
    report = trainer.train(batches(), 0, 0.0)
    assert report.steps == report.samples == 0 and report.stopped is None and np.isnan(report.losses.policy)
    assert same(trainer.state(), before)


def test_the_exported_network_answers_as_the_trained_one() -> None:
    trainer = make_trainer(threads=2)
    trainer.train(batches(), 30, 0.0)
    (batch,) = islice(batches(seed=3), 1)
    logits, values = OnnxEvaluator(GAME, trainer.onnx()).forward(batch.planes)
    trainer.module.eval()
    with torch.no_grad():
        expected = trainer.module(torch.from_numpy(batch.planes))
    np.testing.assert_allclose(logits, expected[0].numpy(), atol=1e-4)
    np.testing.assert_allclose(values, expected[1].numpy(), atol=1e-4)


class Squares(TableReward):
    """Twice as good is four times the value."""

    def _values(self) -> Float64s:
        share = self.space.outcomes() / self.space.highest
        return np.asarray(np.sign(share) * share**2)


@pytest.mark.parametrize("head", ["outcome", "categorical"])
def test_a_network_trained_once_gives_values_under_any_reward(head: str) -> None:
    trainer = make_trainer(f"mlp64x2-{head}")
    trainer.train(batches(), 150, 0.0)
    (batch,) = islice(batches(seed=3, size=200), 1)
    model, space = trainer.onnx(), OutcomeSpace.of(GAME)
    values = {}
    for reward in (Primitive(), Squares(space, "squares")):
        evaluator = OnnxEvaluator(GAME, model, reward=reward)
        values[reward.text] = evaluator.head.value(evaluator.forward(batch.planes)[1], reward, batch.ply, batch.mover)
        own = (1 - 2 * batch.mover) * reward.value(batch.outcome)
        assert np.corrcoef(values[reward.text], own)[0, 1] > 0.8
    far = np.abs(batch.outcome) <= 4  # small leads: a win is a win, but worth little in squares
    assert np.abs(values["squares"][far]).mean() < 0.4 * np.abs(values["primitive"][far]).mean()


def test_a_head_of_outcomes_reads_no_value_and_refuses_settings_that_would_make_one() -> None:
    (batch,) = islice(batches(), 1)
    one, other = make_trainer("b1c8-outcome"), make_trainer("b1c8-outcome")
    one.train(repeat(batch), 2, 0.0), other.train(repeat(replace(batch, value=-batch.value)), 2, 0.0)
    assert same(one.state(), other.state())
    selfplay = SelfPlayConfig(value_target="td")
    config = RunConfig(game=GAME.id, net="b1c8-outcome", iterations=1, selfplay=selfplay)
    with pytest.raises(ConfigError, match=r"value_target is td: b1c8-outcome .* set selfplay\.value_target=z") as error:
        Trainer(GAME, config)
    assert "\n" not in str(error.value)


def test_a_device_that_is_not_there_and_a_batch_of_one_are_errors_of_one_line() -> None:
    missing = "cuda:7" if not torch.cuda.is_available() or torch.cuda.device_count() < 8 else "mps"
    with pytest.raises(ConfigError, match=f"device {missing!r} is not there; this machine has cpu") as error:
        Trainer(GAME, RunConfig(game=GAME.id, iterations=1, device=missing))
    assert "\n" not in str(error.value)
    with pytest.raises(ConfigError, match="at least 2 positions"):
        make_trainer(batch=1)
