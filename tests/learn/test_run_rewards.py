"""The reward of a run outside its loop: as its players use it, or another one in its place."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from palaestra.base.errors import ConfigError, PlayerError, RunError
from palaestra.base.types import Int32s
from palaestra.games.registry import make_game
from palaestra.learn import evaluation, gate
from palaestra.learn.config import RunConfig
from palaestra.learn.loop import train
from palaestra.nets.architecture import GameFacts, parse_net, weight_shapes
from palaestra.nets.graph import build_model
from palaestra.players.registry import make_player
from palaestra.players.runs import make_agent, open_run
from palaestra.rewards.registry import make_reward
from palaestra.runs.folder import unpack
from palaestra.runs.pgn_games import read_games
from tests.learn.fakes import FAKES, tiny, worth
from tests.players.run_folders import random_model, write_run

pytestmark = pytest.mark.usefixtures("quick_disk")
TIC = make_game("tic_tac_toe-3x3")
SAFE, RISKY = 0, 8  # a1 and c3
GAMBLER = "mlp1x1-outcome"


def gambler() -> bytes:
    """A network with an outcome head that likes two moves alike: after a1 it foresees a draw, after c3 that the player
    who moved there wins late with 60 % and otherwise loses soon."""
    net, facts = parse_net(GAMBLER), GameFacts.of(TIC)
    weights = {name: np.zeros(shape, dtype=np.float32) for name, shape in weight_shapes(net, facts).items()}
    safe, risky = (TIC.observe(TIC.from_moves(move)[None]).ravel() for move in ("a1", "c3"))
    weights["dense1.weight"][0] = (risky - safe) / (risky @ (risky - safe))  # 1 after c3, 0 after a1 and before
    weights["policy.out.bias"][[SAFE, RISKY]] = 20.0
    weights["value.out.bias"][:] = (0.0, 20.0, 0.0, 0.0, 0.0)
    weights["value.out.weight"][:, 0] = (math.log(0.4), -40.0, math.log(0.6), 0.2, 0.8)  # in 2 plies, in 8 plies
    return build_model(net, facts, weights)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def outcomes_of(run: Path, iteration: int) -> Int32s:
    games = read_games((run / f"games/{iteration:04d}.pgn").read_text())
    return np.array([int(game.tags["Outcome"]) for game in games], dtype=np.int32)


def test_one_network_chooses_otherwise_under_another_reward(here: Path) -> None:
    """60 % of wins are worth a risk where a win is a win, but not where a late win is worth next to nothing."""
    write_run(here / "runs" / "gambler", TIC, {0: gambler()}, GAMBLER)
    chosen = {
        text: int(make_player(text, TIC).act(TIC.initial(1), np.random.default_rng(0))[0])
        for text in (
            "run:gambler(simulations=3)",
            "run:gambler(simulations=3, reward=primitive)",
            "run:gambler@0(simulations=3, reward=hand_tuned)",
            'run:gambler(simulations=3, reward="switch(hand_tuned, primitive, at=5)")',
        )
    }
    assert list(chosen.values()) == [RISKY, RISKY, SAFE, SAFE]


def test_a_network_that_gives_values_plays_only_under_the_reward_that_it_learned(here: Path) -> None:
    for name, game in (("two", TIC), ("one", make_game("morpion-4d"))):
        write_run(here / "runs" / name, game, {0: random_model(game)})
    words = (
        "^run two cannot play under hand_tuned: the values of its network b1c8 are those of primitive, .*:"
        " train with --set net=b1c8-outcome$"
    )
    with pytest.raises(PlayerError, match=words):
        make_player("run:two(reward=hand_tuned)", TIC)
    with pytest.raises(PlayerError, match=r"--set net=b1c8-categorical$"):
        make_player("run:one(reward=ranked)", make_game("morpion-4d"))
    assert make_player("run:two(reward=primitive)", TIC).text == "run:two(simulations=100, reward=primitive)"


@pytest.mark.parametrize(("reward", "chosen"), [("primitive", RISKY), ("hand_tuned", SAFE)])
@pytest.mark.parametrize("kind", ["puct", "gumbel", "rave"])
def test_a_network_in_a_file_plays_under_the_reward_given(here: Path, kind: str, reward: str, chosen: int) -> None:
    (here / "gambler.onnx").write_bytes(gambler())
    player = make_player(f"{kind}(gambler.onnx, simulations=3, reward={reward})", TIC)
    assert player.act(TIC.initial(1), np.random.default_rng(0))[0] == chosen


def test_random_games_are_worth_what_the_reward_says() -> None:
    """a3 wins at once, at ply 5 of 9, and the few games that are left are all looked at."""
    state = TIC.from_moves("a1 b1 a2 c1")
    values = {
        reward: make_player(f"uct(simulations=500, reward={reward})", TIC)
        .analyse(state, np.random.default_rng(0))
        .value
        for reward in ("primitive", "hand_tuned")
    }
    assert values["primitive"] == 1.0 and values["hand_tuned"] == pytest.approx(1 - 5 / 9, abs=1e-6)


def test_a_reward_that_learns_needs_a_run() -> None:
    words = r'^uct: cdf\(generations=3\) is learned from .* or run:NAME\(reward="cdf\(generations=3\)"\)$'
    with pytest.raises(PlayerError, match=words):
        make_player('uct(reward="cdf(generations=3)")', TIC)


@pytest.mark.parametrize(("reward", "value"), [("primitive", 0.4 - 0.6), ("hand_tuned", 0.4 * (1 - 3 / 9))])
def test_the_network_alone_judges_by_the_runs_reward(here: Path, reward: str, value: float) -> None:
    config = {"net": GAMBLER, "selfplay": {"search": {}}, "reward": reward}
    write_run(here / "runs" / "gambler", TIC, {0: gambler()}, config=config)
    analysis = make_player("net:gambler", TIC).analyse(TIC.from_moves("c3"), np.random.default_rng(0))
    assert analysis.value == pytest.approx(value, abs=1e-5)


def test_a_run_player_has_the_window_that_was_saved(tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(tiny("net=b1c8-outcome", "reward=cdf(generations=2)", iterations=3), run, stages=FAKES)
    found = open_run(str(run)).make_reward(TIC).state()
    path = run / "reward" / "0003.safetensors"
    saved = unpack(path.read_bytes(), path)
    assert {name: array.tolist() for name, array in found.items()} == {n: a.tolist() for n, a in saved.items()}
    assert found["outcomes"].tolist() == [*outcomes_of(run, 2), *outcomes_of(run, 3)]


@pytest.mark.parametrize("own", ["default", "cdf(generations=2)"])
def test_another_reward_is_taught_by_the_games_of_the_run(tmp_path: Path, own: str) -> None:
    run = tmp_path / "run"
    train(tiny("net=b1c8-outcome", f"reward={own}", iterations=3), run, stages=FAKES)
    stored = open_run(str(run))
    for text in ("cdf(generations=2)", "cdf_bonus(alpha=0.25)", "switch(primitive, cdf, at=2)"):
        expected = make_reward(text, TIC)
        for iteration in (1, 2, 3):
            expected.observe(outcomes_of(run, iteration))
        found = stored.make_reward(TIC, text)
        assert found.text == expected.text and worth(found) == worth(expected)
        assert any(worth(found))


def test_a_run_from_before_there_was_a_choice_has_its_games_reward(here: Path) -> None:
    write_run(here / "runs" / "old", TIC, {0: random_model(TIC)})
    assert open_run("old").make_reward(TIC).text == "primitive"


def test_a_window_that_is_not_what_was_saved_is_refused(tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(tiny("net=b1c8-outcome", "reward=cdf", iterations=1), run, stages=FAKES)
    path = run / "reward" / "0001.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"\x07")
    with pytest.raises(RunError, match=r"0001.safetensors is damaged"):
        open_run(str(run)).make_reward(TIC)
    path.unlink()
    with pytest.raises(RunError, match=r"cannot read .*0001\.safetensors"):
        open_run(str(run)).make_reward(TIC)
    (run / "games" / "0001.pgn").unlink()
    with pytest.raises(RunError, match=r"cannot read .*0001\.pgn"):
        open_run(str(run)).make_reward(TIC, "cdf")
    assert open_run(str(run)).make_reward(TIC, "primitive").text == "primitive", "which needs neither"


@pytest.mark.parametrize(
    ("reward", "words"),
    [("elo", "unknown reward 'elo'"), ('"cdf(generations=0)"', "generations is 0"), ("score", "games of one player")],
)
def test_a_reward_that_cannot_be_used_is_one_line(here: Path, reward: str, words: str) -> None:
    write_run(here / "runs" / "first", TIC, {0: random_model(TIC)})
    with pytest.raises(ConfigError) as error:
        make_player(f"run:first(reward={reward})", TIC)
    assert words in str(error.value) and len(str(error.value).splitlines()) == 1


def test_gate_anchors_history_and_demerits_are_played_under_the_reward_given(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def agent(*arguments: Any, reward: Any = None, **options: Any) -> Any:
        seen.append(reward)
        return make_agent(*arguments, reward=reward, **options)

    monkeypatch.setattr(gate, "make_agent", agent)
    monkeypatch.setattr(evaluation, "make_agent", agent)
    game = make_game("opposition-3x3")
    model, reward = random_model(game, net="b1c8-outcome"), make_reward("hand_tuned", game)
    settings: dict[str, Any] = {"games": 2, "simulations": 2}
    config = RunConfig(
        game=game.id,
        iterations=1,
        threads=1,
        gate=settings,
        evaluation={**settings, "history": 2, "anchors": ("random",)},
    )
    gate.judge(game, model, model, config, 1, reward=reward)
    evaluation.as_configured(evaluation.play_anchors, game, model, config, 0, reward=reward)
    evaluation.meet(game, model, model, config, 1, reward=reward)
    counted = evaluation.demerits(game, model, config, 1, reward=reward)
    assert seen == 6 * [reward]
    assert counted.games == 18 and 0 <= counted.demerits <= 18
