from __future__ import annotations

import pytest
import torch
from torch import nn

from palaestra.base.errors import ConfigError
from palaestra.games.morpion import MorpionGame
from palaestra.games.registry import make_game
from palaestra.nets.architecture import DenseNet, GameFacts, SchmidtNet, ThesisNet, parse_net, weight_shapes
from palaestra.nets.export import folded_weights
from palaestra.nets.modules import NORM_EPSILON, Dropout, Norm, count_parameters, make_module, seed_dropout

CONNECT_FOUR = GameFacts("connect_four-6x7", 1, (2, 6, 7), 7)
OTHELLO = GameFacts("othello-6x6", 1, (2, 6, 6), 37)
FLAT = GameFacts("flat", 1, (5, 1, 1), 4)
NETS = [("b2c8", CONNECT_FOUR), ("b2c8", OTHELLO), ("thesis256", OTHELLO), ("schmidt", CONNECT_FOUR), ("mlp16x3", FLAT)]


@pytest.mark.parametrize(
    "net, board, actions, count",
    [
        ("thesis256-signed", 6, 37, 3_371_814),
        ("thesis512-signed", 6, 37, 9_734_182),
        ("thesis-signed", 5, 26, 2_579_739),
        ("thesis-signed", 6, 6, 3_355_911),
        ("thesis-signed", 5, 5, 2_568_966),
    ],
)
def test_the_thesis_networks_have_the_published_parameter_counts(
    net: str, board: int, actions: int, count: int
) -> None:
    # For its one plane of -1, 0 and 1 (sources: thesis network).
    assert count_parameters(make_module(net, GameFacts("game", 1, (2, board, board), actions), 0.3, 0)) == count


def test_a_signed_network_sees_only_the_difference_of_two_planes() -> None:
    module = make_module("thesis256-signed", OTHELLO, 0.0, 0)
    planes = torch.zeros(2, 2, 6, 6)
    planes[0, 0, 1, 2] = planes[0, 1, 3, 3] = 1.0
    planes[1] = planes[0] + torch.rand(1, 6, 6)  # the same added to both planes
    logits, _ = module(planes)
    torch.testing.assert_close(logits[0], logits[1])
    assert (logits[0] - module(planes.flip(1))[0][0]).abs().max() > 0.001
    with pytest.raises(ConfigError, match="has 5 planes"):
        make_module("thesis256-signed", GameFacts("many", 1, (5, 6, 6), 37), 0.0, 0)


def test_the_parts_of_the_schmidt_network_have_the_published_parameter_counts() -> None:
    module = make_module("schmidt", GameFacts("opposition-3x9", 1, (5, 9, 3), 8), 0.0, 0)  # (sources: Schmidt network)
    assert [count_parameters(part) for part in (module.trunk, module.policy, module.value)] == [5_472, 11_624, 27_777]
    assert count_parameters(module) == 44_873


def test_the_schmidt_network_with_an_outcome_head_has_the_published_parameter_count() -> None:
    facts = GameFacts.of(make_game("opposition-3x9-absolute"))
    assert facts.observation_shape == (5, 9, 3)
    module = make_module("schmidt-outcome", facts, 0.0, 0)  # (sources: Schmidt network)
    assert count_parameters(module.value) == 28_037 and count_parameters(module) == 45_133
    assert count_parameters(make_module("schmidt", facts, 0.0, 0)) == 44_873


@pytest.mark.parametrize("net, facts", NETS)
def test_answers_have_the_agreed_shapes_and_folded_weights_those_of_the_architecture(
    net: str, facts: GameFacts
) -> None:
    module = make_module(net, facts, 0.3, 0)
    logits, value = module(torch.randn(6, *facts.observation_shape))
    assert logits.shape == (6, facts.num_actions) and value.shape == (6,)
    assert value.abs().max() <= 1
    for head in ("outcome", "categorical"):
        _, raw = make_module(f"{net}-{head}", facts, 0.3, 0)(torch.randn(6, *facts.observation_shape))
        assert raw.shape == (6, 3)
    assert {name: array.shape for name, array in folded_weights(module).items()} == weight_shapes(parse_net(net), facts)


@pytest.mark.parametrize("net, facts", NETS)
def test_the_seed_alone_decides_the_weights_and_the_global_generator_is_not_touched(net: str, facts: GameFacts) -> None:
    before = torch.get_rng_state()
    one, two, other = (make_module(net, facts, 0.3, seed).state_dict() for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert any(not torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("shape", [(2, 4, 4), (2, 9, 3), (2, 3, 9)])
def test_the_thesis_network_does_not_fit_boards_below_five_by_five(shape: tuple[int, int, int]) -> None:
    with pytest.raises(ConfigError, match=f"does not fit the {shape[1]}×{shape[2]} board of small") as error:
        make_module("thesis", GameFacts("small", 1, shape, 8), 0.3, 0)
    assert "\n" not in str(error.value)


def test_lines_are_read_off_the_planes_of_their_directions_at_the_cell_where_they_begin() -> None:
    game = make_game("morpion-4d")
    facts = GameFacts.of(game)
    assert isinstance(game, MorpionGame) and facts.action_planes == 4 and not facts.has_pass
    places = [divmod(place, facts.cells) for place in facts.action_places or ()]
    directions = ("e", "s", "se", "sw")
    assert [(cell // 31, cell % 31, directions[plane]) for plane, cell in places] == game.lines
    module = make_module("b1c4", facts, 0.0, 0)
    assert count_parameters(module.policy) == 44  # a dense head would have 8 million
    planes = torch.randn(2, *facts.observation_shape)
    seen: list[torch.Tensor] = []
    module.get_submodule("policy.planes").register_forward_hook(lambda _unit, _given, result: seen.append(result))
    logits, _ = module(planes)
    (boards,) = seen
    for action in (0, 500, 1700, game.num_actions - 1):
        row, col, name = game.lines[action]
        assert torch.equal(logits[:, action], boards[:, directions.index(name), row, col])


def test_names_of_all_kinds_are_understood_and_bad_ones_explained() -> None:
    assert parse_net("thesis") == parse_net("thesis256") == ThesisNet(256)
    assert parse_net("schmidt") == SchmidtNet() and parse_net("mlp128x2") == DenseNet(128, 2)
    for name in ("thesis512", "thesis256-signed", "schmidt", "mlp128x2", "b3c32"):
        assert parse_net(name).name == name
    for name in ("thesis128", "schmidt3", "mlp", "mlp128", "mlp12x٣"):
        with pytest.raises(ConfigError, match=r"unknown network .* for example mlp128x2"):
            parse_net(name)
    for name in ("mlp0x2", "mlp8x0", "mlp8193x2", "mlp8x17"):
        with pytest.raises(ConfigError, match="1 to 16 layers of a width of 1 to 8192"):
            parse_net(name)


def test_a_new_residual_network_is_shallow_and_almost_undecided() -> None:
    stones = torch.randint(3, (50, 6, 7), generator=torch.Generator().manual_seed(4))
    planes = torch.stack([stones == 1, stones == 2], dim=1).float()
    deep, shallow = (make_module(net, CONNECT_FOUR, 0.0, 3) for net in ("b9c16", "b1c16"))
    theirs = deep.state_dict()
    shallow.load_state_dict({name: theirs[name] for name in shallow.state_dict()})
    assert torch.equal(deep(planes)[0], shallow(planes)[0])  # blocks start as the identity
    logits, value = deep(planes)
    assert torch.softmax(logits, dim=1).max() < 0.4 and 0 < value.abs().max() < 0.4


@pytest.mark.parametrize("shape", [(64, 3, 4, 5), (64, 3)])
def test_normalisation_is_the_librarys_with_the_declared_constants(shape: tuple[int, ...]) -> None:
    theirs = (nn.BatchNorm2d if len(shape) == 4 else nn.BatchNorm1d)(3, eps=NORM_EPSILON, momentum=0.01)
    ours = Norm(3, 0.01)
    for step in range(3):
        x = torch.randn(shape, generator=torch.Generator().manual_seed(step)) * 3 + 1
        torch.testing.assert_close(ours(x), theirs(x))
    theirs.eval(), ours.eval()
    torch.testing.assert_close(ours(x), theirs(x))
    scale, shift = ours.affine()
    view = (-1, *[1] * (len(shape) - 2))
    torch.testing.assert_close((x * scale.view(view) + shift.view(view)).float(), theirs(x))


def test_the_papers_networks_forget_one_hundredth_a_step_and_ours_a_tenth() -> None:
    for net, momentum in (("thesis", 0.01), ("schmidt", 0.01), ("b1c4", 0.1), ("mlp8x1", 0.1)):
        norms = [part for part in make_module(net, OTHELLO, 0.0, 0).modules() if isinstance(part, Norm)]
        assert norms and all(norm.momentum == pytest.approx(momentum) for norm in norms)


@pytest.mark.parametrize("net", ["b1c8", "thesis", "schmidt", "mlp16x2"])
def test_dropout_is_on_in_training_repeats_with_its_seed_and_is_off_in_play(net: str) -> None:
    planes = torch.randn(16, *OTHELLO.observation_shape)
    module = make_module(net, OTHELLO, 0.5, 0).train()

    def values(seed: int) -> torch.Tensor:
        seed_dropout(module, seed)
        return module(planes)[1]

    assert torch.equal(values(1), values(1)) and not torch.equal(values(1), values(2))
    module.eval()
    assert torch.equal(values(1), values(2))
    plain = make_module(net, OTHELLO, 0.0, 0)
    plain.load_state_dict(module.state_dict())
    assert torch.equal(plain(planes)[1], values(1))


def test_dropout_drops_its_share_and_keeps_the_mean() -> None:
    module = Dropout(0.25).train()
    seed_dropout(module, 0)
    out = module(torch.ones(400, 100))
    assert out.eq(0).float().mean().item() == pytest.approx(0.25, abs=0.01)
    assert out.max().item() == pytest.approx(1 / 0.75) and out.mean().item() == pytest.approx(1.0, abs=0.02)
    with pytest.raises(RuntimeError, match="seed_dropout"):
        make_module("mlp8x1", FLAT, 0.25, 0).train()(torch.ones(4, 5, 1, 1))


def test_signals_of_the_papers_networks_neither_die_nor_explode() -> None:
    for net in ("thesis", "schmidt"):
        logits, value = make_module(net, OTHELLO, 0.0, 0)(torch.randn(50, 2, 6, 6))
        assert 0.001 < logits.std() < 5 and value.abs().mean() < 0.9


def test_boards_that_are_learned_together_are_normalised_as_one_batch() -> None:
    """Cut into two, which are computed side by side, a batch gives what it gives whole: outputs, gradients, means."""
    game = make_game("hex-4x4")
    whole, cut = (make_module("r1c8", GameFacts.of(game), 0.0, seed=1).train() for _ in range(2))
    planes = torch.randn(12, *game.observation_shape)
    planes[:3] += 2.0  # so that the halves differ
    together = cut.together([planes[:3], planes[3:]])
    for answer, parts in zip(whole(planes), zip(*together, strict=True), strict=True):
        torch.testing.assert_close(torch.cat(parts), answer, atol=1e-5, rtol=1e-4)
    sum(one.square().sum() for one in whole(planes)).backward()
    sum(one.square().sum() for part in cut.together([planes[:3], planes[3:]]) for one in part).backward()
    for (name, mine), theirs in zip(whole.named_parameters(), cut.parameters(), strict=True):
        torch.testing.assert_close(theirs.grad, mine.grad, atol=1e-3, rtol=1e-3, msg=name)
    for (name, mine), theirs in zip(whole.named_buffers(), cut.buffers(), strict=True):
        torch.testing.assert_close(theirs, mine, atol=1e-5, rtol=1e-4, msg=name)
