"""`run:` and `net:` players: what they read of a run's folder, and what they say when it is not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from palaestra.base.errors import ModelError, PalaestraError, PlayerError
from palaestra.games.registry import make_game
from palaestra.players.registry import expand, find_checkpoint, make_player
from palaestra.players.runs import open_run, playing_search
from palaestra.search.config import SearchConfig
from tests.players.run_folders import random_model, write_run

TIC = make_game("tic_tac_toe-3x3")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a run `first` of networks 0, 3 and 7, of which 3 is the best."""
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "runs" / "first", TIC, {number: random_model(TIC, number) for number in (0, 3, 7)}, best=3)
    return tmp_path


def policy(text: str) -> Any:
    return make_player(text, TIC).analyse(TIC.from_moves("a1"), np.random.default_rng(0)).policy


def test_best_last_and_a_number_name_different_networks_and_best_is_the_default(here: Path) -> None:
    by_number = {number: policy(f"net:first@{number}") for number in (0, 3, 7)}
    assert not np.array_equal(by_number[0], by_number[3]) and not np.array_equal(by_number[3], by_number[7])
    assert np.array_equal(policy("net:first@best"), by_number[3])
    assert np.array_equal(policy("net:first"), by_number[3])
    assert np.array_equal(policy("net:first@last"), by_number[7])


def test_a_run_is_found_by_its_folder_too(here: Path) -> None:
    (here / "runs" / "first").rename(here / "elsewhere@home")
    assert np.array_equal(policy("net:elsewhere@home@3"), policy(f"net:{here}/elsewhere@home@best"))


def test_a_network_of_an_iteration_that_was_cut_off_is_not_there(here: Path) -> None:
    (here / "runs" / "first" / "checkpoints" / "0009.onnx").write_bytes(b"half")
    assert open_run("first").checkpoints == [0, 3, 7]


def test_the_agent_explores_as_its_run_did_but_without_noise(here: Path) -> None:
    own: Any = make_player("run:first@3(simulations=8)", TIC)
    config = own.search.config
    assert (config.rule, config.simulations, config.c_puct, config.fpu) == ("puct", 8, 1.5, 0.2)
    assert (config.solver, config.dirichlet_fraction, config.temperature) == (False, 0.0, 0.0)
    other: Any = make_player("run:first@3(c=3, fpu=0.5, solver=true, nodes=77, ms=5)", TIC)
    config = other.search.config
    assert (config.c_puct, config.fpu, config.solver, config.node_budget) == (3.0, 0.5, True, 77)
    assert (config.simulations, config.ms) == (None, 5.0)


SELF_PLAY = {
    "uct": SearchConfig(rule="uct", c_uct=0.7, temperature=1),
    "rave": SearchConfig(rule="rave", rave_k=40, dirichlet_fraction=0.25),
    "gumbel": SearchConfig(rule="gumbel", gumbel_root=True, reuse=False, simulations=16, gumbel_scale=0.3),
    "puct": SearchConfig(fpu=0.2, gumbel_root=True, reuse=False, simulations=16),
}
JUDGED = {
    "uct": SearchConfig(rule="uct", c_uct=0.7, simulations=50),
    "rave": SearchConfig(rule="rave", rave_k=40, simulations=50),
    "gumbel": SearchConfig(rule="gumbel", gumbel_root=True, reuse=False, simulations=50, gumbel_scale=0.3),
    "puct": SearchConfig(fpu=0.2, simulations=50),
}


@pytest.mark.parametrize("rule", SELF_PLAY)
def test_a_run_is_judged_by_the_rule_that_it_plays_itself_with(rule: str) -> None:
    assert playing_search(SELF_PLAY[rule], 50) == JUDGED[rule]


def test_another_rule_can_be_asked_for(here: Path) -> None:
    player: Any = make_player("run:first@3(simulations=8, rule=uct, c=0.5)", TIC)
    config = player.search.config
    assert (config.rule, config.c, config.fpu) == ("uct", 0.5, None)
    with pytest.raises(PlayerError, match="run: unknown rule 'ucd'"):
        make_player("run:first(rule=ucd)", TIC)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("run:second", "'second' is not a run; runs in ./runs: first;"),
        ("run:frist", "'frist' is not a run (did you mean first?); runs in ./runs: first;"),
        ("run:first@5", "run first has no network '5'; it has best, last, 0, 3, 7"),
        ("net:first@newest", "run first has no network 'newest'; it has best, last, 0, 3, 7"),
        ("net:runs", "is a folder but not a run"),
        ("run:" + 4000 * "x", "is not a run"),
    ],
)
def test_what_is_not_there_is_said_in_one_line_with_what_is(here: Path, text: str, words: str) -> None:
    with pytest.raises(PlayerError) as error:
        make_player(text, TIC)
    assert words in str(error.value) and len(str(error.value).splitlines()) == 1


def test_a_run_of_another_game_is_refused(here: Path) -> None:
    with pytest.raises(PlayerError, match="plays tic_tac_toe-3x3, not hex-3x3"):
        make_player("run:first", make_game("hex-3x3"))


def test_a_network_with_a_flipped_bit_is_refused(here: Path) -> None:
    path = here / "runs" / "first" / "checkpoints" / "0003.onnx"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelError, match="is damaged"):
        make_player("run:first", TIC)
    path.unlink()
    with pytest.raises(ModelError, match="cannot read"):
        make_player("run:first", TIC)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 2}', '{"format": 1, "game": 3}', "\x00\xff"])
def test_a_damaged_manifest_is_one_line(here: Path, text: str) -> None:
    (here / "runs" / "first" / "manifest.json").write_text(text, encoding="latin-1")
    with pytest.raises(PalaestraError) as error:
        make_player("run:first", TIC)
    assert "manifest" in str(error.value) and len(str(error.value).splitlines()) == 1


def test_a_star_is_every_checkpoint_and_a_number_behind_it_every_so_many_with_the_last(here: Path) -> None:
    assert expand(["run:first@*"]) == ["run:first@0", "run:first@3", "run:first@7"]
    assert expand(["net:first@*2"]) == ["net:first@0", "net:first@7"]
    numbers = dict.fromkeys(range(12), random_model(TIC))
    write_run(here / "runs" / "long", TIC, numbers)
    assert expand(["run:long@*5"]) == ["run:long@0", "run:long@5", "run:long@10", "run:long@11"]
    assert expand(["run:long@*1"]) == expand(["run:long@*"]) and len(expand(["run:long@*"])) == 12
    assert expand(["run:long@*999"]) == ["run:long@0", "run:long@11"]
    (here / "runs" / "long").rename(here / "at@home")
    assert expand(["run:at@home@*5"])[1] == "run:at@home@5"


def test_settings_are_carried_over_and_every_player_of_an_expansion_can_be_made(here: Path) -> None:
    texts = expand(["run:first@*(simulations=4, c=2.5)", "net:first@*2(temperature=0.5)"])
    assert texts[:2] == ["run:first@0(simulations=4, c=2.5)", "run:first@3(simulations=4, c=2.5)"]
    assert texts[-1] == "net:first@7(temperature=0.5)"
    assert [make_player(text, TIC).text.split("(")[0] for text in texts] == [text.split("(")[0] for text in texts]


def test_other_players_are_left_as_they_are_and_in_their_order(here: Path) -> None:
    texts = ["random", "uct( simulations=7 )", "run:first", "run:first@best(simulations=3)", "net:nowhere@3"]
    assert expand(texts) == texts
    assert expand(["random", "net:first@*2", "greedy"]) == ["random", "net:first@0", "net:first@7", "greedy"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("run:second@*", "'second' is not a run; runs in ./runs: first;"),
        ("run:first@*0", "after @* stands nothing or a positive whole number, not '0'"),
        ("net:first@*x", "not 'x'; for example run:NAME@*5"),
        ("run:first@*-3", "not '-3'"),
        ("run:first@*(simulations=4", "the bracket is not closed"),
    ],
)
def test_an_expansion_that_cannot_be_made_is_one_line(here: Path, text: str, words: str) -> None:
    with pytest.raises(PlayerError) as error:
        expand([text])
    assert words in str(error.value) and len(str(error.value).splitlines()) == 1


def test_a_player_is_traced_to_its_run_and_iteration(here: Path) -> None:
    found = find_checkpoint("run:first@best(simulations=4)")
    assert found is not None
    assert (found[0].name, *found[1:]) == ("first", 3, "run(simulations=4)")
    assert find_checkpoint("net:first@7") == (open_run("first"), 7, "net")
    assert find_checkpoint("uct(simulations=4)") is None and find_checkpoint("puct(run.onnx)") is None
