"""Games, players and rewards reach other processes, also after use, and are the same there."""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from palaestra.base.errors import GameError
from palaestra.base.streams import keyed_seeds
from palaestra.base.user_code import begin_command, trust
from palaestra.games.base import Game
from palaestra.games.registry import FAMILIES, make_game
from palaestra.players.base import Player
from palaestra.players.registry import make_player
from palaestra.players.simple import RandomPlayer
from palaestra.rewards.base import Reward
from palaestra.rewards.registry import make_reward
from palaestra.work.jobs import Job
from palaestra.work.workers import make_workers
from tests.learn.double_moves import double_moves
from tests.learn.test_tabular import RACE

EXAMPLES = Path(__file__).parents[2] / "examples"
RULES = Path(__file__).parents[2] / "src" / "palaestra" / "ggp" / "rulesheets"


@pytest.fixture(autouse=True)
def fresh_imports() -> Iterator[None]:
    """The user's own modules, and where they were found, end with a test."""
    paths = list(sys.path)
    yield
    sys.path[:] = paths
    for name in ("domineering", "domineering_plain", "own_game"):
        sys.modules.pop(name, None)


def played(game: Game) -> tuple[str, str, str]:
    """Facts of a game and a digest of random games: the same wherever it is played."""
    ends = game.rollout(game.initial(20, np.random.default_rng(0)), keyed_seeds(1, np.arange(20)))
    digest = hashlib.sha256(ends.states.tobytes() + ends.outcomes.tobytes() + game.observe(ends.states).tobytes())
    return game.fingerprint, game.made_from, digest.hexdigest()


@pytest.mark.slow
def test_every_game_is_the_same_in_another_process_after_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = next(RULES.glob("*.kif"))
    (tmp_path / "own.kif").write_text(rules.read_text())
    monkeypatch.chdir(EXAMPLES)
    trust("domineering:GAME", "domineering_plain:GAME")
    games = [make_game(entry.examples[0]) for entry in FAMILIES.values()]
    games += map(
        make_game, ("domineering:GAME", "domineering_plain:GAME", f"gdl:{rules.stem}", f"gdl:{tmp_path}/own.kif")
    )
    games += [double_moves(), RACE]  # made by hand, not from a text
    here = [played(game) for game in games]
    (tmp_path / "own.kif").unlink()
    monkeypatch.chdir(tmp_path)
    with make_workers("processes:1") as workers:
        found = dict(workers.run(Job(f"{number}", played, (game,)) for number, game in enumerate(games)))
    assert [found[Job(f"{number}", played)] for number in range(len(games))] == here
    for game in games[:-2]:
        assert pickle.loads(pickle.dumps(game)) is game, "made from a text, one object serves a whole process"
        assert len(pickle.dumps(game)) < 10_000
    assert all(played(pickle.loads(pickle.dumps(game))) == played(game) for game in games[-2:])


@pytest.mark.slow
@pytest.mark.parametrize("example", ["domineering", "domineering_plain"])
def test_code_is_taken_as_the_user_had_it_and_from_nowhere_else(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, strangers = tmp_path / "mine", tmp_path / "strangers"
    for folder in (mine, strangers):
        folder.mkdir()
        (folder / "own_game.py").write_text((EXAMPLES / f"{example}.py").read_text())
    (strangers / "own_game.py").write_text("raise SystemExit('a stranger was imported')")
    monkeypatch.chdir(mine)
    trust("own_game:GAME")
    game = make_game("own_game:GAME")
    monkeypatch.chdir(strangers)
    with make_workers("processes:1") as workers:
        assert [result for _, result in workers.run([Job("a", played, (game,))])] == [played(game)]
    with (mine / "own_game.py").open("a") as file:
        file.write("# edited while work is under way\n")
    with (
        make_workers("processes:1") as workers,
        pytest.raises(GameError, match=r"^'?own_game:GAME'? is another version here"),
    ):
        list(workers.run([Job("a", played, (game,))]))


def id_of(text: str) -> str:
    return make_game(text).id


def test_a_job_may_load_what_the_user_has_named_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_game.py").write_text((EXAMPLES / "domineering.py").read_text())
    monkeypatch.chdir(tmp_path)
    begin_command(["train", "own_game:GAME"])
    with make_workers("processes:1") as workers:
        assert [id for _, id in workers.run([Job("named", id_of, ("own_game:GAME",))])] == ["domineering-6x6"]
    (tmp_path / "own_game.py").write_text("raise SystemExit('changed, and not named')")
    begin_command(["resume", "a run that names it"])
    with make_workers("processes:1") as workers, pytest.raises(GameError, match="not loaded because a file says so"):
        list(workers.run([Job("not named", id_of, ("own_game:GAME",))]))


def moves_of(player: Player) -> list[int]:
    states = player.game.initial(8, np.random.default_rng(0))
    return player.act(states, keyed_seeds(3, np.arange(8))).tolist()


def test_players_are_made_again_from_their_texts(tmp_path: Path) -> None:
    game = make_game("connect_four-4x4")
    players = [make_player(text, game) for text in ("random", "alphabeta(depth=3)", "uct(simulations=30)", "perfect")]
    here = [moves_of(player) for player in players]
    with make_workers("processes:1") as workers:
        found = dict(workers.run(Job(player.text, moves_of, (player,)) for player in players))
    assert [found[Job(player.text, moves_of)] for player in players] == here
    again = pickle.loads(pickle.dumps(players[2]))
    assert again.text == players[2].text and again.game is game
    with pytest.raises(pickle.PicklingError, match="mine was not made from a text"):
        pickle.dumps(RandomPlayer(game, "mine"))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("primitive", "connect_four-4x4"), ("hand_tuned", "connect_four-4x4"), ("cdf(generations=2)", "othello-4x4"),
        ("cdf_bonus", "othello-4x4"), ("ranked", "morpion-4d"), ("score", "morpion-4d"),
        ("switch(primitive, cdf, at=2)", "othello-4x4"),
    ],
)  # fmt: skip
def test_rewards_take_along_what_they_have_learned(text: str, name: str) -> None:
    game, rng = make_game(name), np.random.default_rng(0)
    outcomes = game.rollout(game.initial(50, rng), keyed_seeds(1, np.arange(50))).outcomes

    def worth(reward: Reward) -> list[list[float]]:
        return [reward.settle(outcomes, np.random.default_rng(1)).tolist() for _ in range(3)]

    reward = make_reward(text, game)
    reward.settle(outcomes[:20], rng)
    again = pickle.loads(pickle.dumps(reward))
    assert again.text == reward.text and again.state().keys() == reward.state().keys()
    assert worth(again) == worth(reward)
