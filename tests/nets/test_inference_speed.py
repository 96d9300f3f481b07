from __future__ import annotations

from pathlib import Path

import pytest

from palaestra.base.errors import ConfigError, ModelError
from palaestra.games.registry import make_game
from palaestra.nets.architecture import GameFacts, multiply_adds, parse_net
from palaestra.nets.inference_speed import Inference, matmul_gflops, measure
from tests.nets.reference import random_model

GAME = make_game("tic_tac_toe-3x3")


@pytest.mark.parametrize("net, threads", [("b1c8", 1), ("b1c8", 2), ("b1c8-outcome", 1)])
def test_measuring_a_named_network_counts_whole_batches_and_knows_its_arithmetic(net: str, threads: int) -> None:
    result = measure(GAME, net, batch=5, threads=threads, seconds=0.05)
    assert result.evaluations > 0 and result.evaluations % 5 == 0 and result.seconds >= 0.05
    assert result.multiply_adds == multiply_adds(parse_net(net), GameFacts.of(GAME))
    assert (result.net, result.batch, result.threads) == (net, 5, threads)


def test_speed_is_evaluations_over_seconds_and_a_multiply_add_is_two_operations() -> None:
    result = Inference("net", 8, 1, evaluations=4000, seconds=2.0, multiply_adds=10**6)
    assert result.evaluations_per_second == 2000
    assert result.gflops == pytest.approx(4.0)


def test_a_file_is_measured_and_its_arithmetic_known_only_if_it_names_its_network(tmp_path: Path) -> None:
    named, unnamed = tmp_path / "named.onnx", tmp_path / "unnamed.onnx"
    named.write_bytes(random_model(GAME, "b1c8"))
    unnamed.write_bytes(random_model(GAME, "b1c8").replace(b"palaestra.net", b"nobody-xx.net"))
    assert measure(GAME, str(named), batch=4, seconds=0.02).gflops is not None
    assert measure(GAME, str(unnamed), batch=4, seconds=0.02).gflops is None


def test_what_is_neither_a_name_nor_a_file_is_an_error() -> None:
    with pytest.raises(ConfigError, match="unknown network 'resnet'"):
        measure(GAME, "resnet")
    with pytest.raises(ModelError, match="cannot read this file"):
        measure(GAME, "missing.onnx")


@pytest.mark.parametrize("wrong", [{"batch": 0}, {"threads": 0}, {"seconds": 0.0}, {"seconds": float("nan")}])
def test_sizes_must_be_positive(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="all must be positive"):
        measure(GAME, "b1c8", **wrong)  # type: ignore[arg-type]


def test_the_practical_peak_is_a_positive_number() -> None:
    assert matmul_gflops(threads=2, seconds=0.02, size=64) > 0
