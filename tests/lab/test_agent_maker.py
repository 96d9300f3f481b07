from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from palaestra.base.errors import ConfigError, RunError
from palaestra.games.registry import make_game
from palaestra.lab import agent_maker
from palaestra.lab.agent_maker import LADDER, Recipe, find_recipe, make_files, nearest, recipes
from palaestra.players import shipped
from palaestra.players.registry import make_player

SMALL = Recipe(
    "tic_tac_toe-3x3",
    iterations=1,
    threads=1,
    sets=("net=b1c4", "selfplay.games=4", "evaluation.anchors=[]"),
    simulations=30,
    rated_games=2,
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a small agent, while few games rate it."""
    folder = tmp_path_factory.mktemp("agents")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agent_maker, "ANCHORS", ("random", "uct(simulations=5)"))
        make_files(SMALL, folder, lambda words: None)
        yield folder


def test_a_recipe_becomes_a_network_and_a_card_that_play_as_the_run_does(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = shipped.read_card(made / "tic_tac_toe-3x3.toml")
    assert card.command == (
        "palaestra train tic_tac_toe-3x3 --iterations 1 --threads 1 --seed 1 --set net=b1c4 --set selfplay.games=4"
        " --set 'evaluation.anchors=[]'"
    )
    assert (card.iterations, card.games, card.rated_games) == (1, 4, 2)
    assert set(card.levels) == set(shipped.LEVELS)
    assert [anchor.player for anchor in card.anchors] == ["random", "uct(simulations=5)"]
    assert [(stage.iteration, stage.elo) for stage in card.curve] == [(1, card.levels["hard"].elo)]
    assert set(card.mistakes) == {f"all positions of {card.game}, {m} simulations" for m in (0, 30)}
    assert card.levels["hard"].simulations == 30
    content = shipped.network(card, made)

    monkeypatch.setattr(shipped, "cards", lambda: {card.game: card})
    monkeypatch.setattr(shipped, "network", lambda card: content)
    game = make_game(card.game)
    states = game.initial(4)
    for level in shipped.LEVELS:
        how = card.levels[level]
        kind = f"simulations={how.simulations}, " if how.simulations else ""
        name = "run" if how.simulations else "net"
        of_run = f"{name}:{made / 'runs' / game.id}({kind}temperature={how.temperature:g})"
        chosen = [make_player(text, game).act(states, np.random.default_rng(3)) for text in (card.text(level), of_run)]
        assert chosen[0].tolist() == chosen[1].tolist()


def test_the_same_command_goes_on_and_another_recipe_is_refused(made: Path) -> None:
    before = shipped.read_card(made / "tic_tac_toe-3x3.toml")
    again = make_files(SMALL, made, lambda words: None)
    assert (again.sha256, again.levels) == (before.sha256, before.levels)
    with pytest.raises(RunError, match="not a run of this recipe"):
        make_files(Recipe("tic_tac_toe-3x3", iterations=1, threads=1, seed=2), made, lambda words: None)


def test_a_level_is_the_temperature_whose_elo_is_nearest_to_what_is_wanted() -> None:
    falling = {tried: 1000.0 - 100 * place for place, tried in enumerate(LADDER)}
    assert nearest(falling, 700.0) == LADDER[3]
    assert nearest(falling, 400.0) == LADDER[6]
    assert nearest(dict.fromkeys(LADDER, 500.0), 200.0) == LADDER[-1]


def test_every_recipe_makes_a_configuration() -> None:
    for game, recipe in recipes().items():
        config = recipe.config()
        assert (config.game, config.iterations, config.minutes) == (game, recipe.iterations, None)


def test_a_game_without_a_recipe_is_refused_with_the_games_that_have_one() -> None:
    with pytest.raises(ConfigError, match=r"no recipe for 'hex-5x6' \(did you mean hex-5x5\?\); there are recipes for"):
        find_recipe("hex-5x6")
