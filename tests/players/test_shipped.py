from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from palaestra.base.errors import ModelError, PlayerError
from palaestra.games.registry import make_game
from palaestra.lab.agent_maker import LADDER, recipes
from palaestra.players.registry import make_player
from palaestra.players.shipped import CARD, FOLDER, LEVELS, NETWORK, agent_text, cards, find_card, network, read_card

GAMES = sorted(cards())


@pytest.mark.parametrize("id", GAMES)
def test_an_agent_is_the_network_of_its_card_and_plays_at_every_level(id: str) -> None:
    game, card = make_game(id), find_card(id)
    assert (card.game, card.version) == (game.id, game.version)
    content = network(card)
    assert len(content) == card.bytes <= 1_000_000
    states = game.start(np.zeros(1, dtype=np.int64))
    counts, legal = game.legal(states)
    for level in LEVELS:
        assert (card.levels[level].simulations, card.levels[level].temperature) in (*LADDER, recipes()[id].hard)
        player = make_player(card.text(level), game)
        (action,) = player.act(states, np.random.default_rng(0))
        assert action in legal[0, : counts[0]]


@pytest.mark.parametrize("id", GAMES)
def test_an_agent_was_made_by_its_recipe_and_its_levels_differ(id: str) -> None:
    card, recipe = find_card(id), recipes()[id]
    assert (card.command, card.seed, card.iterations) == (recipe.command, recipe.seed, recipe.iterations)
    easy, medium, hard = (card.levels[level].elo for level in LEVELS)
    assert easy < medium < hard
    assert next(one for one in card.anchors if one.player == "random").elo == 0


def test_all_agents_together_are_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.glob(f"*{NETWORK}")) <= 8_000_000
    assert {path.stem for path in FOLDER.glob(f"*{NETWORK}")} == {path.stem for path in FOLDER.glob(f"*{CARD}")}


def test_only_a_game_with_these_very_rules_has_the_agent() -> None:
    assert agent_text(make_game("tic_tac_toe-3x3"), "easy") == "agent:tic_tac_toe-3x3(level=easy)"
    assert agent_text(make_game("tic_tac_toe-3x3"), "hard") == "agent:tic_tac_toe-3x3"
    assert agent_text(make_game("gdl:tic_tac_toe-3x3"), "hard") is None
    assert agent_text(make_game("tic_tac_toe-4x4"), "hard") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("agent:tic_tac_toe-4x4", "no agent for 'tic_tac_toe-4x4' comes with the package"),
        ("agent:../../secret", "no agent for '../../secret'"),
        ("agent:tic_tac_toe-3x3", "plays tic_tac_toe-3x3 version 1, not hex-5x5"),
        ("agent:tic_tac_toe-3x3(level=best)", "level is best"),
        ("agent", "agent needs of"),
    ],
)
def test_an_agent_that_there_is_not_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(PlayerError) as caught:
        make_player(text, make_game("hex-5x5"))
    assert words in str(caught.value)


def test_another_network_than_that_of_the_card_is_refused(tmp_path: Path) -> None:
    card = find_card("tic_tac_toe-3x3")
    with pytest.raises(ModelError, match="cannot be read"):
        network(card, tmp_path)
    content = bytearray(network(card))
    content[len(content) // 2] ^= 1
    (tmp_path / f"{card.game}{NETWORK}").write_bytes(content)
    with pytest.raises(ModelError, match="not the network of its card"):
        network(card, tmp_path)


@pytest.mark.parametrize("damage", ["", "game = 3", "game = ", "levels = []", "\0"])
def test_a_damaged_card_is_refused_by_its_name(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "tic_tac_toe-3x3.toml"
    path.write_text(damage)
    with pytest.raises(ModelError, match=r"tic_tac_toe-3x3\.toml"):
        read_card(path)


def test_a_time_a_move_takes_the_place_of_simulations() -> None:
    game = make_game("tic_tac_toe-3x3")
    analysis = make_player("agent:tic_tac_toe-3x3(ms=20)", game).analyse(game.initial(1)[0], np.random.default_rng(0))
    assert analysis.visits is not None
