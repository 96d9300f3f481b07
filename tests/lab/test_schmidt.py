from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import LineCollection

from palaestra.base.errors import ConfigError, RunError
from palaestra.base.types import Float64s
from palaestra.games.registry import make_game
from palaestra.lab import schmidt
from palaestra.lab.demerit_curves import Curve
from palaestra.lab.schmidt import AGENTS, agent_configs, claims, demerits_of, folders, reward_curves, run_folder
from palaestra.lab.schmidt_plots import demerits_figure, duel_figure, worth_figure
from palaestra.lab.trained import train_side_by_side, trained
from palaestra.learn.events import Event, IterationEnded, RunStarted
from palaestra.learn.presets import configure
from palaestra.rewards.outcomes import OutcomeSpace

TINY = [
    "selfplay.games=2", "selfplay.search.simulations=2", "evaluation.simulations=2", "learn.epochs=0.2"
]  # fmt: skip


def test_the_six_agents_differ_in_reward_and_head_alone() -> None:
    configs = agent_configs([3], 100)
    assert [name for name, _ in configs] == list(AGENTS)
    common = [
        config.model_dump(exclude={"net": True, "reward": True, "learn": {"policy_weight"}})
        for config in configs.values()
    ]
    assert all(one == common[0] for one in common)
    assert {(config.net, config.learn.policy_weight) for config in configs.values()} == {
        ("schmidt", 20 / 8), ("schmidt-outcome", 100 / 8),
    }  # fmt: skip
    assert configs["cdf", 3] == configure("opposition-3x9-absolute", "schmidt", seed=3)


def test_another_height_has_as_many_visits_as_plies() -> None:
    config = agent_configs([0], 1, game="opposition-4x5")["cdf", 0]
    assert config.selfplay.search.simulations == config.evaluation.simulations == 100


def runs(generations: int, *sets: str) -> dict[tuple[str, int], object]:
    return {("cdf", 1): agent_configs([1], generations, sets=[*TINY, *sets], threads=1)["cdf", 1]}


def test_runs_are_begun_gone_on_with_and_only_read(tmp_path: Path) -> None:
    heard: list[Event] = []

    def curve(generations: int) -> Curve:
        for folder, config in folders(tmp_path, runs(generations)).items():
            trained(folder, config, [heard.append])
        return demerits_of(tmp_path, runs(generations))["cdf"]

    def iterations() -> list[int]:
        done = [event.iteration for event in heard if isinstance(event, IterationEnded)]
        heard.clear()
        return done

    one = curve(1)
    assert one.shape == (1, 1) and iterations() == [1]
    three = curve(3)
    assert three.shape == (1, 3) and three[0, 0] == one[0, 0] and iterations() == [2, 3]
    two = curve(2)
    assert np.array_equal(two, three[:, :2]) and not heard, "a longer run is only read"
    run = run_folder(tmp_path, "cdf", 1)
    (run / "manifest.json").unlink()  # as if it had been killed at its beginning
    for path in (run / "generations").iterdir():
        path.unlink()
    again = curve(2)
    assert isinstance(heard[0], RunStarted) and np.array_equal(again, two), "as long as is asked for now"
    with pytest.raises(RunError, match=r"holds a run with learn\.lr 0\.005, not 0\.01; choose another folder"):
        demerits_of(tmp_path, runs(1, "learn.lr=0.01"))


@pytest.mark.slow
def test_runs_side_by_side_end_as_one_after_another(tmp_path: Path) -> None:
    alone, together, shares = tmp_path / "alone", tmp_path / "together", list[float]()
    configs = agent_configs([1, 2], 2, sets=TINY, threads=1)
    both = {key: config for key, config in configs.items() if key[0] == "cdf"}
    train_side_by_side(folders(alone, both), 1, shares.append)
    assert shares == [0.5, 1.0, 1.0, 1.5, 2.0, 2.0]
    train_side_by_side(folders(together, both), 2, shares.append)
    assert shares[-1] == 2.0
    assert np.array_equal(demerits_of(alone, both)["cdf"], demerits_of(together, both)["cdf"])
    for one, other in zip(folders(alone, both), folders(together, both), strict=True):
        assert (one / "checkpoints" / "0002.onnx").read_bytes() == (other / "checkpoints" / "0002.onnx").read_bytes()
    other = {path: config.model_copy(update={"seed": 9}) for path, config in folders(together, both).items()}
    with pytest.raises(RunError, match="holds a run with seed"):
        train_side_by_side(other, 2, shares.append)


@pytest.mark.parametrize("text", ["net=b3c32", "reward=cdf", "seed=3", " iterations = 7", "evaluation.demerits=false"])
def test_what_the_experiment_chooses_cannot_be_set(text: str) -> None:
    key = text.partition("=")[0].strip()
    with pytest.raises(ConfigError, match=f"^{key} is what this experiment itself chooses") as error:
        agent_configs([0], 1, sets=["learn.lr=0.1", text])
    assert "\n" not in str(error.value)


def test_figure_1_is_what_the_reward_had_learned_by_then(tmp_path: Path) -> None:
    demerits_of(tmp_path, runs(2))
    run = run_folder(tmp_path, "cdf", 1)
    curves = reward_curves(run, schmidt.GAME, shown=(1, 2, 50))
    assert list(curves) == [1, 2] and list(reward_curves(run, schmidt.GAME)) == [2]
    for worth in curves.values():
        assert worth.min() == -1 and worth.max() == 1 and (np.diff(worth) >= 0).all()
    assert not np.array_equal(curves[1], curves[2])


def falling(to_zero_at: int | None, generations: int = 100, high: float = 16.0, end: float = 3.0) -> Float64s:
    """Five seeds that fall to 0, one generation apart, or to `end`."""
    curve = np.full((5, generations), end)
    for seed in range(5):
        last = min((to_zero_at or 40) - 1 + seed, generations)
        curve[seed, :last] = np.linspace(high, max(end, 1.0), last)
        if to_zero_at is not None:
            curve[seed, last:] = 0.0
    return curve


def verdicts(**changes: Float64s) -> list[str]:
    """Curves as the paper describes them, with changes."""
    plateau = falling(60, high=10.0)
    plateau[:, 20:45] = 5.0
    curves = {
        "primitive-value": falling(None), "primitive-outcome": falling(None),
        "hand_tuned-value": falling(20, high=12.0), "hand_tuned-outcome": falling(25), "cdf": falling(40),
        "cdf_bonus": plateau, **changes,
    }  # fmt: skip
    return [claim.verdict for claim in claims(curves)]


def test_curves_as_in_the_paper_bear_out_every_claim() -> None:
    assert verdicts() == ["yes"] * 7


def test_a_claim_that_the_curves_do_not_bear_out_is_said_so() -> None:
    never = falling(None)
    assert verdicts(**{"hand_tuned-value": never, "hand_tuned-outcome": never})[0] == "no"
    assert verdicts(**{"hand_tuned-value": falling(50), "hand_tuned-outcome": falling(50)})[0] == "no"
    assert verdicts(cdf=never)[2] == verdicts(cdf=never)[6] == "no"
    assert verdicts(cdf=falling(60))[2] == "yes" and verdicts(cdf=falling(60))[6] == "no"
    assert verdicts(cdf_bonus=falling(40, high=17.0))[3] == "no"
    assert verdicts(cdf_bonus=falling(12))[4] == "no"
    late = falling(40)
    late[:, :25] = 16.5
    assert verdicts(cdf_bonus=late)[4] == "no", "a flat beginning is no plateau"
    assert verdicts(**{"primitive-value": falling(9), "primitive-outcome": falling(9)})[5] == "no"


def test_primitive_has_settled_neither_never_nor_mostly_if_some_runs_did_or_were_too_late() -> None:
    assert verdicts(**{"primitive-value": falling(9)})[5] == "open", "half of the runs"
    assert verdicts(**{"primitive-value": falling(75)})[5] == "open", "the first 0 came too late to say"


def test_first_of_all_is_open_where_the_seeds_do_not_tell_two_agents_apart() -> None:
    scattered = np.concatenate([falling(20)[:2], falling(60)[:3]])
    assert verdicts(**{"hand_tuned-value": scattered, "hand_tuned-outcome": scattered})[0] == "open"


def test_short_runs_leave_claims_open() -> None:
    curves = {name: falling(None, 10) for name in AGENTS}
    assert {claim.verdict for claim in claims(curves)} == {"open"}


def test_pictures_have_a_line_an_agent_and_the_anchors() -> None:
    figure = demerits_figure({"one": falling(20), "two": falling(30)[:1]}, {"random play": 16.5})
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels == ["one", "two"] and figure.axes[0].texts[0].get_text() == "random play"
    outcomes = OutcomeSpace.of(make_game(schmidt.GAME)).outcomes()
    worth = np.linspace(-1, 1, len(outcomes), dtype=np.float32)
    assert [axes.get_title() for axes in worth_figure(outcomes, {"a": {5: worth}, "b": {20: worth}}).axes] == ["a", "b"]
    one, other = np.array([1.0, np.nan]), np.array([2.0, 3.0])
    bars = duel_figure({"score": {"primitive": {"CDF": one}, "uct": {"CDF": one, "primitive": other}}})
    assert sorted(bar.get_height() for bar in bars.axes[0].patches) == [1.0, 1.0, 2.5]
    assert [text.get_text() for text in bars.legends[0].get_texts()] == ["CDF", "primitive"]


def test_no_title_lies_on_the_legend() -> None:
    pair = np.array([2.0, 3.0])
    agents = {"CDF": pair, "primitive": pair}
    titles = [f"connect_four-5x5: plies of {kind} games" for kind in ("won", "lost", "drawn", "all")]
    figure = duel_figure({title: {"uct(simulations=200)": agents} for title in titles})
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert not any(axes.title.get_window_extent().overlaps(legend.get_window_extent()) for axes in figure.axes)
    assert not any(axes._left_title.get_window_extent().overlaps(legend.get_window_extent()) for axes in figure.axes)


@pytest.mark.parametrize("generations", [16, 60])
def test_intervals_stand_beside_each_other_and_behind_the_curves(generations: int) -> None:
    figure = demerits_figure({name: falling(8, generations) for name in ("one", "two", "three")}, {})
    (axes,) = figure.axes
    bars = [collection for collection in axes.collections if isinstance(collection, LineCollection)]
    places = [{round(float(segment[0][0]), 3) for segment in bar.get_segments()} for bar in bars]
    assert len(places) == 3 and all(places)
    assert not places[0] & places[1] and not places[1] & places[2] and not places[0] & places[2]
    assert max(bar.get_zorder() for bar in bars) < min(line.get_zorder() for line in axes.lines)


def test_a_game_without_demerits_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    configs = agent_configs([0], 1, game="hex-3x3", sets=TINY)
    with pytest.raises(ConfigError, match="demerits need"):
        demerits_of(tmp_path, configs)
    assert not list(tmp_path.iterdir())
