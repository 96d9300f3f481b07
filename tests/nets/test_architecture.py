from __future__ import annotations

import numpy as np
import pytest

from palaestra.base.errors import ConfigError
from palaestra.nets.architecture import GameFacts, ResidualNet, multiply_adds, parse_net, random_weights, weight_shapes

CONNECT_FOUR = GameFacts("connect_four-6x7", 1, (2, 6, 7), 7)


@pytest.mark.parametrize("blocks, channels", [(1, 1), (3, 32), (20, 256), (64, 1024)])
def test_a_name_is_the_numbers_of_blocks_and_channels_and_can_be_written_back(blocks: int, channels: int) -> None:
    net = parse_net(f"b{blocks}c{channels}")
    assert net == ResidualNet(blocks, channels)
    assert net.name == f"b{blocks}c{channels}"


@pytest.mark.parametrize("head", ["outcome", "categorical"])
@pytest.mark.parametrize("body", ["b3c32", "thesis512", "schmidt", "mlp128x2"])
def test_a_name_may_end_in_its_head_and_everything_else_about_it_stays(body: str, head: str) -> None:
    plain, headed = parse_net(body), parse_net(f"{body}-{head}")
    assert (plain.head, plain.name) == ("value", body) and (headed.head, headed.name) == (head, f"{body}-{head}")
    assert type(plain) is type(headed) and plain != headed
    mine, theirs = weight_shapes(headed, CONNECT_FOUR), weight_shapes(plain, CONNECT_FOUR)
    assert {name for name in mine if mine[name] != theirs[name]} == {"value.out.weight", "value.out.bias"}


@pytest.mark.parametrize("name", ["b3c32-value", "b3c32-outcomes", "b3c32-", "-outcome", "b3c32-outcome-categorical"])
def test_a_head_that_is_none_is_told_which_there_are(name: str) -> None:
    with pytest.raises(ConfigError, match="-outcome or -categorical at the end") as error:
        parse_net(name)
    assert repr(name) in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["", "b3", "c32", "3c32", "b3c", "B3C32", "b3c32 ", "b-1c32", "resnet", "b3c32.onnx"])
def test_a_name_that_is_not_one_is_told_how_names_are_written(name: str) -> None:
    with pytest.raises(ConfigError, match="for example b3c32") as error:
        parse_net(name)
    assert repr(name) in str(error.value)


@pytest.mark.parametrize("name", ["b0c32", "b3c0", "b65c32", "b3c1025"])
def test_sizes_out_of_range_are_refused_with_the_range(name: str) -> None:
    with pytest.raises(ConfigError, match="1 to 64 blocks of 1 to 1024 channels"):
        parse_net(name)


@pytest.mark.parametrize(
    "num_actions, planes, has_pass",
    [(12, 1, False), (13, 1, True), (24, 2, False), (49, 4, True), (4, 0, False), (1, 0, False), (14, 0, False)],
)
def test_actions_that_are_planes_of_cells_are_recognised(num_actions: int, planes: int, has_pass: bool) -> None:
    facts = GameFacts("game", 1, (2, 3, 4), num_actions)
    assert (facts.action_planes, facts.has_pass) == (planes, has_pass)


@pytest.mark.parametrize("num_actions, channels", [(8, 32), (2912, 3), (100_000, 1)])
def test_a_dense_policy_head_has_fewer_channels_where_actions_and_cells_are_many(
    num_actions: int, channels: int
) -> None:
    shapes = weight_shapes(parse_net("b1c4"), GameFacts("lines", 1, (9, 30, 30), num_actions))
    assert shapes["policy.conv.weight"] == (channels, 4, 1, 1)
    assert shapes["policy.dense.weight"] == (num_actions, channels * 900)


def test_multiply_adds_are_those_counted_by_hand() -> None:
    trunk = 42 * 9 * (2 * 32 + 6 * 32 * 32)
    policy = 42 * 32 * 32 + 32 * 42 * 7
    value = 42 * 32 * 32 + 32 * 42 * 64 + 64
    assert multiply_adds(parse_net("b3c32"), CONNECT_FOUR) == trunk + policy + value


def test_random_weights_have_the_declared_shapes_and_depend_on_the_generator_alone() -> None:
    net = parse_net("b2c8")
    one, two, other = (random_weights(net, CONNECT_FOUR, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert {name: array.shape for name, array in one.items()} == weight_shapes(net, CONNECT_FOUR)
    assert all(array.dtype == np.float32 for array in one.values())
    assert all(np.array_equal(one[name], two[name]) for name in one)
    assert not np.array_equal(one["stem.weight"], other["stem.weight"])
