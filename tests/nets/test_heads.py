"""Heads against plain loops: what outputs are worth under a reward, and what they should have been."""

from __future__ import annotations

import math

import numpy as np
import pytest

from palaestra.base.errors import ConfigError
from palaestra.base.types import Float32s, Float64s, Int8s, Int32s
from palaestra.games.registry import example_ids, make_game
from palaestra.nets.architecture import GameFacts, parse_net
from palaestra.nets.evaluator import OnnxEvaluator
from palaestra.nets.heads import CATEGORICAL_HEAD, OUTCOME_HEAD, make_head
from palaestra.rewards.base import Primitive, Reward, TableReward
from palaestra.rewards.outcomes import OutcomeSpace
from tests.nets.reference import leaves_of, random_model, random_positions

SPACES = {
    "plies": OutcomeSpace("plies", max_plies=40, lowest=-40, highest=40),
    "margin": OutcomeSpace("margin", max_plies=50, lowest=-36, highest=36),
    "none": OutcomeSpace("none", max_plies=30, lowest=-1, highest=1),
}


class Uneven(TableReward):
    """Ascending values without any symmetry: what is right under this one is right under every reward."""

    def _values(self) -> Float64s:
        steps = np.random.default_rng(self.space.count).random(self.space.count)
        return 2.0 * np.cumsum(steps) / steps.sum() - 1.0


class Even(TableReward):
    """What one side gains the other loses, and twice as much when it is extreme."""

    def _values(self) -> Float64s:
        share = self.space.outcomes() / self.space.highest
        return np.asarray(np.sign(share) * share**2)


def softmax(logits: Float32s) -> list[float]:
    weights = [math.exp(float(logit) - float(logits.max())) for logit in logits]
    return [weight / math.fsum(weights) for weight in weights]


def worth(reward: Reward, outcome: int) -> float:
    return float(reward.value(np.array([outcome], dtype=np.int32))[0])


def outcome_of_win(space: OutcomeSpace, winner: int, amount: float, ply: int) -> int:
    """The first player's outcome if `winner` wins with this tiebreak."""
    if space.tiebreak == "none":
        size = 1
    elif space.tiebreak == "plies":
        end = min(ply + max(1, round(amount)), space.max_plies)
        size = space.max_plies + 1 - end
    else:
        size = min(max(1, round(amount)), space.highest)
    return size if winner == 0 else -size


def plain_outcome_value(space: OutcomeSpace, reward: Reward, raw: Float32s, ply: int, mover: int) -> float:
    """The value for the mover of one row of an outcome head (sources: outcome head)."""
    win, draw, loss = softmax(raw[:3])
    given_win, given_loss = (10.0 * float(number) for number in raw[3:]) if len(raw) == 5 else (0.0, 0.0)
    first = win * worth(reward, outcome_of_win(space, mover, given_win, ply))
    first += loss * worth(reward, outcome_of_win(space, 1 - mover, given_loss, ply))
    first += draw * worth(reward, 0)
    return first if mover == 0 else -first


def plain_categorical_value(space: OutcomeSpace, reward: Reward, raw: Float32s, mover: int) -> float:
    total = 0.0
    for own, share in zip(space.outcomes().tolist(), softmax(raw), strict=True):
        total += share * (worth(reward, own) if mover == 0 else -worth(reward, -own))
    return total


def positions(space: OutcomeSpace, count: int) -> tuple[Int32s, Int8s]:
    rng = np.random.default_rng(count)
    plies = rng.integers(0, space.max_plies, size=count).astype(np.int32)
    return plies, rng.integers(0, 2, size=count).astype(np.int8)


@pytest.mark.parametrize("reward", [Uneven, Even, Primitive])
@pytest.mark.parametrize("tiebreak", SPACES)
def test_the_value_of_an_outcome_head_is_that_of_a_plain_loop(tiebreak: str, reward: type[Reward]) -> None:
    space = SPACES[tiebreak]
    head = make_head(OUTCOME_HEAD, space, "misfit")
    judge = Primitive() if reward is Primitive else reward(space, "test")  # type: ignore[call-arg]
    raw = 3.0 * np.random.default_rng(1).standard_normal((200, head.outputs), dtype=np.float32)
    plies, movers = positions(space, 200)
    values = head.value(raw, judge, plies, movers)
    expected = [
        plain_outcome_value(space, judge, *row)
        for row in zip(raw, plies.tolist(), movers.tolist(), strict=True)  # type: ignore[arg-type]
    ]
    assert values.dtype == np.float32 and values.std() > 0.1
    np.testing.assert_allclose(values, expected, atol=1e-5)


@pytest.mark.parametrize("tiebreak", SPACES)
def test_the_value_of_a_categorical_head_is_that_of_a_plain_loop(tiebreak: str) -> None:
    space = SPACES[tiebreak]
    head, judge = make_head(CATEGORICAL_HEAD, space, "misfit"), Uneven(space, "test")
    raw = 3.0 * np.random.default_rng(1).standard_normal((200, head.outputs), dtype=np.float32)
    plies, movers = positions(space, 200)
    values = head.value(raw, judge, plies, movers)
    expected = [
        plain_categorical_value(space, judge, row, mover) for row, mover in zip(raw, movers.tolist(), strict=True)
    ]
    assert values.dtype == np.float32 and values.std() > 0.05
    np.testing.assert_allclose(values, expected, atol=1e-5)


@pytest.mark.parametrize("name", [OUTCOME_HEAD, CATEGORICAL_HEAD])
@pytest.mark.parametrize("tiebreak", SPACES)
def test_outputs_that_hit_their_target_are_worth_what_the_game_was_worth(tiebreak: str, name: str) -> None:
    space = SPACES[tiebreak]
    head, reward = make_head(name, space, "misfit"), Uneven(space, "test")
    rng = np.random.default_rng(3)
    outcomes = rng.integers(space.lowest, space.highest + 1, size=300).astype(np.int32)
    plies, movers = positions(space, 300)
    if tiebreak == "plies":  # a game that ended at ply t was at an earlier one before
        ends = np.where(outcomes == 0, space.max_plies, space.max_plies + 1 - np.abs(outcomes))
        plies = rng.integers(0, ends).astype(np.int32)
    targets = head.targets(np.zeros(300, dtype=np.float32), outcomes, plies, movers)
    raw = np.zeros((300, head.outputs), dtype=np.float32)
    if name == CATEGORICAL_HEAD:
        raw[np.arange(300), targets.astype(np.int64)] = 100.0
    else:
        raw[np.arange(300), targets[:, 0].astype(np.int64)] = 100.0
        raw[:, 3:] = targets[:, 1:]
    own = np.where(movers == 1, -1.0, 1.0) * reward.value(outcomes)
    np.testing.assert_allclose(head.value(raw, reward, plies, movers), own, atol=1e-6)


def test_targets_are_the_results_of_the_player_to_move_and_a_tenth_of_what_is_left() -> None:
    head = make_head(OUTCOME_HEAD, SPACES["plies"], "misfit")
    outcomes = np.array([31, 31, -21, -21, 0], dtype=np.int32)  # won at ply 10, lost at ply 20, drawn
    plies, movers = np.array([4, 9, 5, 0, 7], dtype=np.int32), np.array([0, 1, 1, 0, 1], dtype=np.int8)
    targets = head.targets(np.zeros(5, dtype=np.float32), outcomes, plies, movers)
    np.testing.assert_allclose(targets, [[0, 0.6], [2, 0.1], [0, 1.5], [2, 2.0], [1, 0.0]], atol=1e-6)
    categorical = make_head(CATEGORICAL_HEAD, SPACES["plies"], "misfit")
    ranks = categorical.targets(np.zeros(5, dtype=np.float32), outcomes, plies, movers)
    assert ranks.tolist() == [71, 9, 61, 19, 40]


@pytest.mark.parametrize("name", [OUTCOME_HEAD, CATEGORICAL_HEAD])
@pytest.mark.parametrize("size", [1e3, 3e38])
def test_outputs_of_any_size_give_values_that_are_finite_and_in_range(name: str, size: float) -> None:
    space = SPACES["plies"]
    head, reward = make_head(name, space, "misfit"), Uneven(space, "test")
    signs = np.random.default_rng(0).choice([-1.0, 0.0, 1.0], size=(100, head.outputs))
    raw = (signs * size).astype(np.float32)
    plies, movers = positions(space, 100)
    values = head.value(raw, reward, plies, movers)
    assert np.isfinite(values).all() and np.abs(values).max() <= 1.0


@pytest.mark.parametrize("name", [OUTCOME_HEAD, CATEGORICAL_HEAD])
def test_a_later_ply_or_another_mover_changes_what_the_same_outputs_are_worth(name: str) -> None:
    space = SPACES["plies"]
    head, reward = make_head(name, space, "misfit"), Uneven(space, "test")
    raw = np.zeros((4, head.outputs), dtype=np.float32)
    raw[:, 0] = 5.0  # a win soon, or in the categorical head the worst outcome
    plies, movers = np.array([0, 20, 0, 20], dtype=np.int32), np.array([0, 0, 1, 1], dtype=np.int8)
    early, late, second, late_second = head.value(raw, reward, plies, movers).tolist()
    assert early != second and late != late_second
    assert (early == late) == (name == CATEGORICAL_HEAD)  # which names outcomes, not what is left to play


@pytest.mark.parametrize("net", ["b1c8-outcome", "b1c8-categorical", "schmidt-outcome", "mlp16x1-outcome"])
@pytest.mark.parametrize("id", ["connect_four-5x5", "othello-4x4", "opposition-3x5"])  # which show both sides the same
def test_values_are_antisymmetric_when_the_players_change_places(net: str, id: str) -> None:
    game = make_game(id)
    assert game.exchange is not None
    evaluator = OnnxEvaluator(game, random_model(game, net), reward=Even(OutcomeSpace.of(game), "test"))
    states = random_positions(game, 40)
    swapped = game.permute(states, game.exchange, swap=True)
    assert np.array_equal(game.observe(states), game.observe(swapped))
    assert (game.to_play(states) != game.to_play(swapped)).all()
    here, there = (evaluator(leaves_of(game, some)).values for some in (states, swapped))
    sides = [1 - 2 * game.to_play(some) for some in (states, swapped)]
    assert here.std() > 1e-4
    np.testing.assert_allclose(here * sides[0], -there * sides[1], atol=1e-6)  # both for the first player


@pytest.mark.parametrize("id", example_ids())
def test_heads_have_the_outputs_that_a_game_needs_or_are_refused_in_one_line(id: str) -> None:
    facts = GameFacts.of(make_game(id))
    one_player = make_game(id).players == 1
    counts: dict[str, int | None] = {
        "b3c32": 1,
        "b3c32-outcome": None if one_player else 5,
        "b3c32-categorical": facts.space.count if facts.space.count <= 256 else None,
    }
    for net, count in counts.items():
        if count is not None:
            assert parse_net(net).head_for(facts).outputs == count
            continue
        with pytest.raises(ConfigError, match=f"{net} does not fit {id}: .* for example b3c32") as error:
            parse_net(net).plan(facts)
        assert "\n" not in str(error.value)


def test_a_game_without_a_tiebreak_has_no_amounts() -> None:
    facts = GameFacts("plain", 1, (2, 3, 3), 9)
    assert [parse_net(f"b1c4-{name}").head_for(facts).outputs for name in ("outcome", "categorical")] == [3, 3]
