"""What a sweep says, on outcomes whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.lab.statistics import pareto
from palaestra.lab.sweep_analysis import correlations, elos, importances, interactions
from palaestra.lab.sweep_space import parse_space
from palaestra.lab.sweep_trial import COMPLETE, FAILED, Encounter, Outcome

SPACE = parse_space(
    "s", '[space]\n"learn.lr" = { low = 0.1, high = 1.0 }\n"learn.momentum" = { low = 0.1, high = 0.8 }'
)
ANCHORS = ("random",)


def outcome(number: int, lr: float, momentum: float, loss: float, wins: int = 10) -> Outcome:
    matches = (Encounter("random", (wins, 0, 20 - wins), (wins, 0, 20 - wins)),)
    values = {"learn.lr": lr, "learn.momentum": momentum}
    seconds = {"selfplay": 60 * lr, "training": 0.0, "evaluation": 999.0}
    return Outcome(number, COMPLETE, values, "", 1, seconds, loss, (), matches)


def scattered(count: int = 40) -> list[Outcome]:
    rng = np.random.default_rng(1)
    pairs = np.column_stack([rng.uniform(0.1, 1.0, count), rng.uniform(0.1, 0.8, count)]).tolist()
    noise = 0.01 * rng.standard_normal(count)
    return [
        outcome(number, lr, momentum, 5 * lr + 20 * (lr - 0.55) * (momentum - 0.45) + noise[number], round(19 * lr))
        for number, (lr, momentum) in enumerate(pairs)
    ]


def test_elos_come_from_one_fit_with_the_anchor_at_0() -> None:
    rated = elos([outcome(0, 0.5, 0.5, 1.0, wins=10), outcome(1, 0.5, 0.5, 1.0, wins=16)], ANCHORS)
    assert rated[0].elo == pytest.approx(0.0, abs=40)
    assert rated[1].elo > rated[0].high or rated[1].low > rated[0].elo
    assert rated[0].low < rated[0].elo < rated[0].high
    assert elos([Outcome(0, FAILED, {})], ANCHORS) == {}


def test_minutes_leave_out_what_only_watches() -> None:
    assert outcome(0, 0.5, 0.5, 1.0).minutes == pytest.approx(0.5)


def test_the_front_is_what_no_other_trial_beats_in_both() -> None:
    assert pareto([(0, 100, 5.0), (1, 90, 1.0), (2, 95, 5.0), (3, 90, 2.0), (4, 300, 9.0)]) == [1, 0, 4]


def test_each_parameter_is_held_against_elo_time_and_loss() -> None:
    found = {(one.parameter, one.objective): one for one in correlations(SPACE, scattered(), ANCHORS)}
    assert len(found) == 6
    assert found["learn.lr", "minutes"].rho == pytest.approx(1.0)
    assert found["learn.lr", "elo"].clear and not found["learn.momentum", "elo"].clear


def test_a_product_of_two_parameters_is_found_as_an_interaction() -> None:
    (pair,) = interactions(SPACE, scattered(), ANCHORS, "loss")
    assert {pair.one, pair.other} == {"learn.lr", "learn.momentum"}
    assert pair.low > 0
    (none,) = interactions(SPACE, scattered(), ANCHORS, "minutes")
    assert none.effect == pytest.approx(0.0, abs=1e-9)
    assert interactions(SPACE, scattered(5), ANCHORS, "loss") == []


def test_the_parameter_that_decides_is_the_most_important_one() -> None:
    shares = importances(SPACE, scattered(), ANCHORS, "minutes")
    assert list(shares) == ["learn.lr", "learn.momentum"]
    assert shares["learn.lr"] > 0.9
    assert importances(SPACE, scattered(3), ANCHORS, "minutes") == {}
