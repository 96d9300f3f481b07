"""The `nmcs` and `nrpa` players: whole games, and the memory of lines."""

from __future__ import annotations

import threading
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from palaestra.base.errors import PlayerError
from palaestra.base.streams import keyed_seeds
from palaestra.base.types import Int8s, UInt64s
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.games.symmetry import Symmetry, identity
from palaestra.nets.evaluator import OnnxEvaluator
from palaestra.players.known_grids import KnownGrids
from palaestra.players.nested import NestedPlayer, NmcsPlayer, NrpaPlayer
from palaestra.players.registry import make_player
from palaestra.search.code_images import shared_codes
from palaestra.search.code_prior import code_logits
from palaestra.search.nested import Found, nrpa
from tests.players.run_folders import random_model, write_run
from tests.search.toy_games import Uncompiled, after, leaves, outcome_of, tree_game, uncompiled

SLOT = np.array([3], dtype=np.int64)


class Scripted(NestedPlayer):
    """Finds the lines it is told, in order, whatever the position."""

    def __init__(self, lines: list[Found]) -> None:
        super().__init__(tree_game(WIDE), "scripted", 1)
        self.lines = lines

    def search(self, state: Int8s, streams: UInt64s, stopped: threading.Event | None = None) -> Found:
        return self.lines.pop(0)


def _all_wide(seed: int) -> bool:
    """Whether every position with moves has at least two of them, so that none is forced."""
    prefixes: dict[tuple[int, ...], set[int]] = {}
    for line in leaves(tree_game(seed)):
        for i, action in enumerate(line):
            prefixes.setdefault(line[:i], set()).add(action)
    best = _best(seed)
    return all(len(prefixes[best[0][:i]]) > 1 for i in range(len(best[0])))


def _best(seed: int) -> tuple[tuple[int, ...], int]:
    return max(leaves(tree_game(seed)).items(), key=lambda item: item[1])


WIDE = next(seed for seed in range(1000) if len(_best(seed)[0]) == 5 and _all_wide(seed))


def test_a_remembered_line_is_followed_until_a_search_finds_better() -> None:
    lines = leaves(tree_game(WIDE))
    best, top = _best(WIDE)
    worse = {line[2:]: outcome for line, outcome in lines.items() if line[:2] == best[:2] and outcome < top}
    rest, low = min(worse.items(), key=lambda item: item[1])
    start = (*best[:2], *rest)  # agrees with the best line for two moves
    player = Scripted(
        [
            Found(low, start, 1),
            Found(low, (-1,), 1),  # not better: what was remembered stays
            Found(top, best[2:], 1),  # better
            Found(low, (-1,), 1),
            Found(top, (-1,), 1),
        ]
    )
    state = player.game.initial(1)[0]
    for expected in best:
        action = int(player.act(state[None, :], np.random.default_rng(1), SLOT)[0])
        assert action == expected
        state = after(player.game, state, action)
    assert outcome_of(player.game, state) == top
    assert player._lines == {}  # nothing is kept of a game that is over


def test_a_line_is_dropped_when_the_game_leaves_it_or_is_forgotten() -> None:
    best, top = _best(WIDE)
    sideways = next(line for line in leaves(tree_game(WIDE)) if line[0] != best[0])
    player = Scripted([Found(top, best, 1), Found(0, sideways[1:], 1), Found(0, best[:1], 1)])
    root = player.game.initial(1)[0]
    rng = np.random.default_rng(1)
    assert player.act(root[None, :], rng, SLOT)[0] == best[0]
    elsewhere = after(player.game, root, sideways[0])
    assert player.act(elsewhere[None, :], rng, SLOT)[0] == sideways[1]
    player.forget(SLOT)
    assert player.act(root[None, :], rng, SLOT)[0] == best[0]
    player.forget()
    assert player._lines == {}


def test_without_slots_nothing_is_remembered() -> None:
    best, top = _best(WIDE)
    player = Scripted([Found(top, best, 1), Found(0, (17,), 1)])
    root = player.game.initial(1)
    rng = np.random.default_rng(1)
    assert player.act(root, rng)[0] == best[0]
    assert player.act(player.game.advance(root, np.array(best[:1], dtype=np.int32)), rng)[0] == 17


@pytest.mark.parametrize("kind", [NmcsPlayer, NrpaPlayer])
def test_a_game_ends_with_at_least_the_first_search_s_score(kind: type[NmcsPlayer] | type[NrpaPlayer]) -> None:
    game = make_game("morpion-4d")
    player = kind(game, "nested", 1)
    first = player.analyse(game.initial(1)[0], keyed_seeds(5))
    promised = first.pv
    state, move = game.initial(1)[0], 0
    while outcome_of(game, state) is None:
        action = int(player.act(state[None, :], keyed_seeds(5) if move == 0 else keyed_seeds(6, move), SLOT)[0])
        state, move = after(game, state, action), move + 1
    assert move >= len(promised)
    assert first.action == promised[0]
    assert f"score {len(promised)} in {len(promised)} moves" in first.note
    assert first.value == pytest.approx(2.0 * len(promised) / game.max_plies - 1.0)


def test_rows_do_not_depend_on_their_batch() -> None:
    game = tree_game(1)
    player = NrpaPlayer(game, "nrpa", level=1, n=3)
    states, seeds = np.repeat(game.initial(1), 5, axis=0), keyed_seeds(8, np.arange(5))
    together = player.act(states, seeds)
    assert together.tolist() == [int(player.act(states[:1], seeds[i : i + 1])[0]) for i in range(5)]


@pytest.mark.parametrize("kind", [NmcsPlayer, NrpaPlayer])
def test_a_game_for_two_is_refused_in_one_line(kind: type[NmcsPlayer] | type[NrpaPlayer]) -> None:
    with pytest.raises(PlayerError, match="games for one player, and tic_tac_toe-3x3 is for two"):
        kind(make_game("tic_tac_toe-3x3"), "nmcs(level=2)")


@pytest.mark.parametrize("arguments", [{"level": 0}, {"level": 7}, {"n": 0}, {"alpha": 0.0}, {"alpha": 1000.0}])
def test_an_impossible_setting_is_one_clear_line(arguments: dict[str, float]) -> None:
    (name,) = arguments
    with pytest.raises(PlayerError, match=rf"^nrpa\(…\): {name} is .*for example nrpa\(") as caught:
        NrpaPlayer(tree_game(0), "nrpa(…)", **arguments)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


@dataclass(frozen=True, eq=False, kw_only=True)
class Lopsided(Uncompiled):
    """Its symmetry moves the initial position."""

    def permute(self, states: Int8s, symmetry: Symmetry, swap: bool = False) -> Int8s:
        return states.copy() if symmetry is self.symmetries[0] else states + np.int8(1)


def lopsided() -> Lopsided:
    plain = uncompiled(tree_game(1))
    facts = {field.name: getattr(plain, field.name) for field in fields(plain) if field.init}
    return Lopsided(**{**facts, "symmetries": (identity(1, plain.num_actions), identity(1, plain.num_actions))})


def test_a_beam_and_symmetric_codes_reach_the_search() -> None:
    game = make_game("morpion-4d")
    root = game.initial(1)[0]
    images = shared_codes(game.symmetries)
    for text, wanted in (
        ("nrpa(level=1, n=10, beam=3)", nrpa(game, root, keyed_seeds(1), 1, 10, beam=3)),
        ("nrpa(level=1, n=10, symmetric=true)", nrpa(game, root, keyed_seeds(1), 1, 10, images=images)),
    ):
        player = make_player(text, game)
        assert isinstance(player, NrpaPlayer) and player.text == text
        assert player.search(root, keyed_seeds(1)) == wanted != nrpa(game, root, keyed_seeds(1), 1, 10)


@pytest.mark.parametrize(
    ("game", "piece"),
    [
        (tree_game(1), "tree-1 has no symmetries"),
        (make_game("tsp-5"), "initial positions, and symmetric codes need one that is its own image"),
        (lopsided(), "no symmetry of tree-1 leaves its initial position as it is"),
    ],
)
def test_symmetric_codes_need_a_start_with_symmetries(game: Game, piece: str) -> None:
    with pytest.raises(PlayerError, match=f"{piece}.*; leave out symmetric=true") as error:
        make_player("nrpa(symmetric=true)", game)
    assert "\n" not in str(error.value)


def test_a_prior_is_the_same_for_moves_that_share_a_code() -> None:
    game = make_game("morpion-4d")
    shares = np.random.default_rng(1).random(game.num_actions)
    player = NrpaPlayer(game, "nrpa", symmetric=True, known=KnownGrids(shares, "digest"), penalty=2.0)
    images = shared_codes(game.symmetries)
    assert player.logits is not None
    for action in range(0, game.num_actions, 50):
        together = [image for image in images[action] if image >= 0]
        assert player.logits[action] == pytest.approx(-2.0 * shares[together].mean())


def test_a_network_from_a_file_or_a_run_is_the_prior_times_its_factor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = make_game("morpion-4d")
    model = random_model(game, net="b1c4")
    (tmp_path / "net.onnx").write_bytes(model)
    write_run(tmp_path / "run", game, {3: model})
    monkeypatch.setattr("palaestra.players.nested.code_logits", partial(code_logits, games=4))
    wanted = code_logits(game, OnnxEvaluator(game, model), np.random.default_rng(0), games=4)
    assert np.abs(wanted).max() > 0
    by_file = make_player(f'nrpa(level=1, n=10, model="{tmp_path / "net.onnx"}")', game)
    by_run = make_player(f'nrpa(level=1, n=10, run="{tmp_path / "run"}@3", prior=2.5)', game)
    plain = make_player("nrpa(level=1, n=10)", game)
    assert isinstance(by_file, NrpaPlayer) and isinstance(by_run, NrpaPlayer) and isinstance(plain, NrpaPlayer)
    assert by_file.logits is not None and by_run.logits is not None and plain.logits is None
    assert np.array_equal(by_file.logits, wanted) and np.array_equal(by_run.logits, 2.5 * wanted)
    root = game.initial(1)[0]
    assert by_run.search(root, keyed_seeds(1)) != plain.search(root, keyed_seeds(1))
    assert "model=" in by_file.text and "prior=2.5" in by_run.text
