from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from palaestra.arena.rating_fit import climb
from palaestra.arena.rating_model import PER_ELO, Posterior
from palaestra.arena.ratings import JOINT_PLAYERS, RatingConfig, Ratings, Results, rate
from palaestra.base.errors import ConfigError, RecordError
from palaestra.base.types import Float64s
from tests.arena.simulated import CHAIN, GAUNTLET, ROUND_ROBIN, simulate

Game = tuple[str, str, float]
SCALE = 0.9254794  # of printed ratings at D = 97.3


def games(first: str, second: str, wins: int = 0, draws: int = 0, losses: int = 0) -> list[Game]:
    return [(first, second, 1.0)] * wins + [(first, second, 0.5)] * draws + [(first, second, 0.0)] * losses


def elo_by_name(ratings: Ratings) -> dict[str, float]:
    return dict(zip(ratings.players, ratings.elo.tolist(), strict=True))


def log_posterior(results: Results, config: RatingConfig, elo: Float64s, advantage: float, draw: float) -> float:
    """The model as it is printed (sources: rating model), game by game and virtual draw by virtual draw."""

    def chances(first: int, second: int, a: float, d: float) -> tuple[float, float, float]:
        win = 1 / (1 + 10 ** ((elo[second] - elo[first] - a + d) / 400))
        loss = 1 / (1 + 10 ** ((elo[first] - elo[second] + a + d) / 400))
        return win, 1 - win - loss, loss

    total = 0.0
    met: dict[tuple[int, int], int] = {}
    rows = zip(results.first, results.second, results.wins, results.draws, results.losses, strict=True)
    for first, second, *counts in rows:
        for count, chance in zip(counts, chances(first, second, advantage, draw), strict=True):
            total += count * math.log(chance) if count else 0.0
        for pair in ((first, second), (second, first)):
            met[pair] = met.get(pair, 0) + sum(counts)
    virtual = (32.8 if config.advantage is None else advantage), (97.3 if config.draw is None else draw)
    for player in range(len(results.players)):
        own = {other: count for (one, other), count in met.items() if one == player}
        for other, count in own.items():
            half = config.prior / 2 * count / sum(own.values()) / 2
            for pair in ((player, other), (other, player)):
                total += half * math.log(chances(*pair, *virtual)[1])
    return total


def direct_maximum(results: Results, config: RatingConfig) -> tuple[Float64s, float, float]:
    """Ratings of the model from mean 0, A and D, by a general optimiser."""
    size = len(results.players)

    def unpack(x: Float64s) -> tuple[Float64s, float, float]:
        advantage = 100 * x[size] if config.advantage is None else config.advantage
        draw = math.exp(x[size + 1]) if config.draw is None else config.draw
        return 100 * x[:size], advantage, draw

    def loss(x: Float64s) -> float:
        return -log_posterior(results, config, *unpack(x)) + float(np.sum(x[:size])) ** 2

    start = np.append(np.zeros(size), [0.328, math.log(97.3)])
    return unpack(minimize(loss, start, method="BFGS", options={"gtol": 1e-7}).x)


@pytest.mark.parametrize(
    ("played", "first", "second"),
    [
        (games("a", "b", wins=1), 82.61 / 2, -82.61 / 2),
        (games("a", "b", wins=5), 242.83 / 2, -242.83 / 2),
        (games("a", "b", wins=20, losses=20), -13.81, 13.81),
        (games("a", "b", wins=20) + games("b", "a", losses=20), 288.48, -288.48),
        (games("a", "b", wins=14, losses=6) + games("b", "a", wins=6, losses=14), 82.47, -82.47),
    ],
)
def test_the_published_vectors_come_out(played: list[Game], first: float, second: float) -> None:
    assert rate(Results.count(played)).elo == pytest.approx([first, second], abs=0.01)


@pytest.mark.parametrize(
    "config",
    [
        RatingConfig(),
        RatingConfig(advantage=None),
        RatingConfig(draw=None),
        RatingConfig(advantage=None, draw=None, prior=0.3),
        RatingConfig(advantage=-20.0, draw=150.0, prior=5.0),
    ],
)
@pytest.mark.parametrize(("pairs", "size"), [(ROUND_ROBIN, 8), (GAUNTLET, 8), (CHAIN, 12)])
def test_ratings_are_the_maximum_that_a_general_optimiser_finds(
    config: RatingConfig, pairs: list[tuple[int, int]], size: int
) -> None:
    rng = np.random.default_rng(3)
    results = simulate(rng, rng.normal(0, 200, size), pairs, 3)
    elo, advantage, draw = direct_maximum(results, config)
    rated = rate(results, config)
    scale = 4 * 10 ** (-draw / 400) / (1 + 10 ** (-draw / 400)) ** 2
    assert rated.elo == pytest.approx(scale * elo, abs=0.02)
    assert (rated.advantage, rated.draw_elo) == pytest.approx((advantage, draw), abs=0.02)


def test_mm_rounds_alone_end_at_the_same_ratings_and_never_go_down() -> None:
    rng = np.random.default_rng(4)
    results = simulate(rng, rng.normal(0, 300, 8), ROUND_ROBIN, 5)
    posterior = Posterior.of(results, RatingConfig())
    values, point = [], posterior.start
    for _ in range(30):
        values.append(posterior.value(point))
        point = climb(posterior, point, rounds=1)
    assert np.all(np.diff(values) > -1e-9)
    published = climb(posterior, posterior.start, stop=1e-5, rounds=10_000)
    published -= published.mean()
    assert SCALE * published / PER_ELO == pytest.approx(rate(results).elo, abs=0.02)


def test_derivatives_are_those_of_the_value() -> None:
    rng = np.random.default_rng(6)
    results = simulate(rng, rng.normal(0, 200, 8), ROUND_ROBIN, 3)
    posterior = Posterior.of(results, RatingConfig(advantage=None, draw=None))
    point = np.append(rng.normal(0, 1, 8), [0.3, 0.7])
    slopes, units = posterior.slopes(point), 1e-5 * np.eye(10)
    numeric = [(posterior.value(point + unit) - posterior.value(point - unit)) / 2e-5 for unit in units]
    assert slopes.gradient == pytest.approx(numeric, abs=1e-5)
    hessian = posterior.hessian(slopes)
    bent = [
        (posterior.slopes(point - unit).gradient - posterior.slopes(point + unit).gradient) / 2e-5 for unit in units
    ]
    assert hessian == pytest.approx(np.array(bent), abs=1e-5)
    step = rng.normal(size=10)
    assert posterior.times_hessian(slopes, step) == pytest.approx(hessian @ step)
    assert posterior.diagonal(slopes) == pytest.approx(np.diagonal(hessian))


def test_intervals_are_the_profile_of_the_posterior_for_two_players() -> None:
    """The difference of two players has one dimension: its ends are where the posterior has fallen by z²/2."""
    config = RatingConfig()
    results = Results.count(games("a", "b", wins=9, draws=1) + games("b", "a", losses=10))
    rated = rate(results, config)
    top = log_posterior(results, config, np.array([rated.elo[0], rated.elo[1]]) / SCALE, 32.8, 97.3)
    assert rated.plus[0] > 1.2 * rated.minus[0]  # a player who won nearly all games may be much stronger
    for end in (rated.elo[0] + rated.plus[0], rated.elo[0] - rated.minus[0]):
        fall = top - log_posterior(results, config, np.array([end, -end]) / SCALE, 32.8, 97.3)
        assert fall == pytest.approx(1.95996**2 / 2, abs=1e-3)


def test_covariance_and_superiority_are_those_of_samples_of_the_posterior() -> None:
    """A random walk over the posterior of three players, of whom two hardly met."""
    played = games("a", "b", 12, 6, 6) + games("b", "a", 8, 6, 10) + games("b", "c", 9, 4, 8) + games("c", "b", 6, 6, 9)
    results, config = Results.count(played), RatingConfig()
    rng = np.random.default_rng(8)
    point, value = np.zeros(3), log_posterior(results, config, np.zeros(3), 32.8, 97.3)
    samples = []
    for step in range(12_000):
        proposal = point + rng.normal(0, 45, 3)
        proposal -= proposal.mean()
        after = log_posterior(results, config, proposal, 32.8, 97.3)
        if math.log(rng.random()) < after - value:
            point, value = proposal, after
        if step > 500:
            samples.append(SCALE * point)
    drawn = np.array(samples)
    rated = rate(results)
    assert rated.covariance is not None
    assert np.cov(drawn.T) == pytest.approx(rated.covariance, rel=0.25, abs=60)
    for i in range(3):
        for j in range(3):
            share = np.mean(drawn[:, i] > drawn[:, j]) if i != j else 0.5
            assert rated.superiority()[i, j] == pytest.approx(share, abs=0.04)


def test_an_anchor_shifts_ratings_and_gives_intervals_of_the_difference_to_it() -> None:
    played = games("a", "b", wins=14, losses=6) + games("b", "a", wins=6, losses=14)
    free = rate(Results.count(played))
    tied = rate(Results.count(played), RatingConfig(anchor=("b", 1000.0)))
    assert tied.elo == pytest.approx([1000.0 + 2 * free.elo[0], 1000.0])
    assert (tied.plus[1], tied.minus[1]) == (0.0, 0.0)
    assert tied.plus[0] == pytest.approx(2 * free.plus[0])  # the two move against each other
    assert tied.minus[0] == pytest.approx(2 * free.minus[0])
    assert tied.superiority() == pytest.approx(free.superiority())


def test_an_anchor_who_lost_everything_leaves_the_others_open_upwards() -> None:
    rng = np.random.default_rng(2)
    results = simulate(rng, np.array([-900.0, 0, 50, 100, 0, 0, 0, 0]), ROUND_ROBIN, 5)
    rated = rate(results, RatingConfig(anchor=("player 0", 0.0)))
    assert np.all(rated.plus[1:] > 1.1 * rated.minus[1:])


def test_an_unknown_anchor_is_refused_with_the_names() -> None:
    with pytest.raises(ConfigError, match=r"anchor 'c' is no player here; players are a, b"):
        rate(Results.count(games("a", "b", 1)), RatingConfig(anchor=("c", 0.0)))


def test_more_virtual_draws_pull_ratings_together() -> None:
    results = Results.count(games("a", "b", 8, 0, 2))
    gaps = [rate(results, RatingConfig(prior=prior)).elo[0] for prior in (0.01, 0.5, 2, 10)]
    assert np.all(np.diff(gaps) < 0)


def test_groups_that_never_met_are_rated_apart_and_named() -> None:
    left, right = games("a", "b", 3, 1, 1), games("c", "d", 1, 0, 5) + games("d", "e", 2, 0, 2)
    both = rate(Results.count(left + right))
    alone = elo_by_name(rate(Results.count(left))) | elo_by_name(rate(Results.count(right)))
    assert elo_by_name(both) == pytest.approx(alone)
    assert both.groups.tolist() == [1, 1, 0, 0, 0]
    assert [both.players[i] for i in both.order()][-2:] == ["a", "b"]  # a ranking across groups would mean nothing
    assert both.superiority()[0, 2] == 0.5
    (note,) = both.notes()
    assert note == (
        "2 groups of players never met, not even through others, and their Elos cannot be compared: c, d, e; a, b"
    )
    anchored = rate(Results.count(left + right), RatingConfig(anchor=("c", 500.0)))
    assert anchored.elo[2] == 500.0 and anchored.elo[0] == pytest.approx(both.elo[0])


def test_players_without_games_are_there_and_unknown() -> None:
    rated = rate(Results.count(games("a", "b", 3, 1, 1), players=["idle", "b"]))
    assert rated.players == ("idle", "b", "a")
    assert [row["player"] for row in rated.as_json()] == ["a", "b", "idle"]
    assert rated.as_json()[-1] == {
        "player": "idle", "elo": 0.0, "plus": None, "minus": None, "games": 0, "score": 0.5, "draws": 0,
        "opponents": None,
    }  # fmt: skip
    assert "without games and unrated: idle" in rated.notes()
    assert np.all(rated.superiority()[0] == 0.5)
    assert elo_by_name(rated) | {"idle": 0} == {"idle": 0, **elo_by_name(rate(Results.count(games("a", "b", 3, 1, 1))))}


def test_one_player_alone_and_nobody() -> None:
    assert math.isinf(rate(Results.count([], players=["a"])).plus[0])
    with pytest.raises(RecordError, match="no games to rate"):
        rate(Results.count([]))


def test_games_against_oneself_are_counted_and_left_out() -> None:
    plain, more = games("a", "b", 3, 1, 1), games("a", "a", 2, 1)
    rated = rate(Results.count(plain + more))
    assert rated.elo == pytest.approx(rate(Results.count(plain)).elo)
    assert rated.notes() == ["games of a player against itself, left out: 3"]


def test_the_opponents_mean_weighs_them_by_games() -> None:
    rated = rate(Results.count(games("a", "b", wins=30, losses=10) + games("c", "a", wins=4, losses=6)))
    a, b, c = rated.elo
    np.testing.assert_allclose(rated.opponents, [(40 * b + 10 * c) / 50, a, a])


def test_the_first_listed_as_white_in_all_records_looks_weaker_at_half_the_points() -> None:
    """The defect L8: sides alternate, half of the points is half of the points, and the record says otherwise."""
    results = Results.count(games("a", "b", wins=10, losses=10) + games("b", "a", wins=10, losses=10))
    np.testing.assert_allclose(rate(results).elo, [0.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(rate(results.first_listed_white()).elo, [-13.81, 13.81], atol=0.01)
    assert results.first_listed_white().points.tolist() == results.points.tolist()


def test_names_that_look_alike_are_pointed_out() -> None:
    rated = rate(Results.count(games("Uct (1)", "uct(1)", 3, 1, 2) + games("uct(1)", "uct(2)", 2, 1, 2)))
    assert rated.notes() == ["rated as different players: 'Uct (1)' and 'uct(1)'"]


def test_a_prior_that_decides_more_than_the_games_is_pointed_out() -> None:
    won = games("a", "b", wins=20) + games("b", "a", losses=20)
    (note,) = rate(Results.count(won)).notes()
    assert "the prior of 2 draws pulls these" in note and "a, b" in note and "such as 0.5" in note
    assert rate(Results.count(games("a", "b", 12, 2, 8))).notes() == []


def test_the_pull_of_the_prior_is_the_way_from_ratings_without_it() -> None:
    rng = np.random.default_rng(9)
    results = simulate(rng, rng.normal(0, 150, 8), ROUND_ROBIN, 20)
    moved = rate(results).elo - rate(results, RatingConfig(prior=0.001)).elo
    assert rate(results).pull == pytest.approx(moved, abs=0.15 * np.abs(moved).max())


@pytest.mark.parametrize(
    ("config", "played", "message"),
    [
        (RatingConfig(draw=None), games("a", "b", draws=5), r"draw parameter cannot be fitted: .* drew 5 .* 97\.3"),
        (RatingConfig(advantage=None), games("a", "b", wins=5), r"advantage cannot be fitted: .* won 5.* 32\.8"),
        (RatingConfig(advantage=None, draw=None), games("a", "b", wins=5, draws=2), "advantage cannot be fitted"),
        (RatingConfig(draw=0), games("a", "b", wins=5, draws=2), "no game is drawn, and 2 were"),
    ],
)
def test_parameters_that_the_games_leave_open_are_refused(
    config: RatingConfig, played: list[Game], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        rate(Results.count(played), config)


def test_without_draws_the_fitted_draw_parameter_is_0() -> None:
    results = Results.count(games("a", "b", wins=12, losses=8))
    fitted, fixed = rate(results, RatingConfig(draw=None)), rate(results, RatingConfig(draw=0.0))
    assert fitted.draw_elo == 0.0
    assert fitted.elo == pytest.approx(fixed.elo)


def test_fitted_parameters_are_near_the_true_ones_although_each_player_has_few_games() -> None:
    """The virtual draws, one game in six here, are no evidence for draws."""
    rng = np.random.default_rng(10)
    pairs = [(i, (i + k) % 400) for i in range(400) for k in (1, 7, 60, 133, 201)]
    rated = rate(simulate(rng, rng.normal(0, 150, 400), pairs, 1, 60.0, 97.3), RatingConfig(advantage=None, draw=None))
    assert rated.draw_elo == pytest.approx(97.3, abs=12)
    assert rated.advantage == pytest.approx(60.0, abs=20)


def test_with_very_many_players_each_interval_stands_alone_and_a_note_says_so() -> None:
    size = JOINT_PLAYERS + 1
    rng = np.random.default_rng(11)
    ring = [(i, (i + k) % size) for i in range(size) for k in (1, 2)]
    rated = rate(simulate(rng, np.zeros(size), ring, 2))
    assert rated.covariance is None
    assert np.all(np.isfinite(rated.plus)) and rated.plus.min() > 0
    assert any("hold all other ratings fixed" in note for note in rated.notes())


def test_points_that_no_game_gives_are_refused() -> None:
    with pytest.raises(RecordError, match=r"a scored 0\.75 against b; a game gives 1, 0\.5 or 0 points"):
        Results.count([("a", "b", 0.75)])


def test_results_refuse_rows_that_are_no_pairs() -> None:
    one, none = np.array([1], dtype=np.int64), np.array([0], dtype=np.int64)
    index = np.array([0], dtype=np.int32)
    with pytest.raises(ValueError, match="pairs of different players"):
        Results(("a", "b"), index, index, one, none, none)
    with pytest.raises(ValueError, match="'a' stands there twice"):
        Results(("a", "a"), index, index + 1, one, none, none)


played_games = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef"), st.sampled_from([0.0, 0.5, 1.0])), min_size=1
)


@settings(max_examples=60, deadline=None)
@given(played_games)
def test_counts_and_ratings_hold_together_for_any_games(played: list[Game]) -> None:
    results = Results.count(iter(played))
    real = [game for game in played if game[0] != game[1]]
    for name, games_of, points, drawn in zip(
        results.players, results.games, results.points, results.drawn, strict=True
    ):
        own = [game for game in real if name in game[:2]]
        assert games_of == len(own)
        assert points == sum(game[2] if game[0] == name else 1 - game[2] for game in own)
        assert drawn == sum(game[2] == 0.5 for game in own)
    rated = rate(results)
    for group in set(rated.groups.tolist()):
        assert rated.elo[rated.groups == group].mean() == pytest.approx(0, abs=1e-6)
    chances = rated.superiority()
    assert chances + chances.T == pytest.approx(np.ones_like(chances))
    assert np.all((rated.plus > 0) & (rated.minus > 0))
    order = rated.order()
    assert sorted(order) == list(range(len(order)))
    mirrored = rate(Results.count((b, a, 1 - p) for a, b, p in played), RatingConfig(advantage=-32.8))
    assert elo_by_name(mirrored) == pytest.approx(elo_by_name(rated), abs=1e-4)
