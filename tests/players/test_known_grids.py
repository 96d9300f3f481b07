"""Grids that a search is told to avoid: which moves they play, and that the search then looks elsewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from palaestra.base.errors import RecordError
from palaestra.base.streams import keyed_seeds
from palaestra.games.morpion import MorpionGame
from palaestra.games.registry import make_game
from palaestra.players.known_grids import read_known_grids
from palaestra.players.nested import NrpaPlayer
from palaestra.players.registry import make_player
from palaestra.runs.solutions import make_solution
from palaestra.search.nested import nrpa
from tests.arena.test_solutions import random_solution

MORPION = make_game("morpion-4d")
assert isinstance(MORPION, MorpionGame)
ROOT = MORPION.initial(1)[0]


def test_a_move_counts_for_each_grid_that_plays_it_in_one_of_its_eight_images(tmp_path: Path) -> None:
    found = [random_solution(MORPION, seed) for seed in (1, 2)]
    (tmp_path / "known.txt").write_text("".join(map(str, found)))
    shares = read_known_grids(str(tmp_path / "known.txt"), MORPION).shares
    met = np.zeros(MORPION.num_actions)
    for solution in found:
        states = list(MORPION.replay(" ".join(solution.rows)))
        grids = [MORPION.permute(states[-1][None], one)[0] for one in MORPION.symmetries]
        for action in {action for grid in grids for action in MORPION.drawn(grid)}:
            met[action] += 0.5
    assert shares.tolist() == met.tolist() and set(met.tolist()) == {0.0, 0.5, 1.0}


def test_only_images_that_begin_with_the_same_start_count(tmp_path: Path) -> None:
    """On 20×20 the cross of 7×7 lies nearer to the top left: only the identity and one diagonal leave it there."""
    game = make_game("morpion-4d-20x20")
    assert isinstance(game, MorpionGame)
    found = random_solution(game, 1)
    (tmp_path / "known.txt").write_text(str(found))
    end = game.from_moves(" ".join(found.rows))
    images = [game.permute(end[None], one)[0] for one in game.symmetries if one.name in ("identity", "transpose")]
    shares = read_known_grids(str(tmp_path / "known.txt"), game).shares
    assert np.flatnonzero(shares).tolist() == sorted({action for grid in images for action in game.drawn(grid)})


def test_the_search_begins_with_lower_logits_for_the_moves_of_the_grids(tmp_path: Path) -> None:
    file = tmp_path / "known.txt"
    file.write_text(str(random_solution(MORPION, 1)))
    shares = read_known_grids(str(file), MORPION).shares
    player = make_player(f'nrpa(level=1, n=20, avoid="{file}", penalty=2.5)', MORPION)
    assert isinstance(player, NrpaPlayer) and player.logits is not None
    assert player.logits.tolist() == (-2.5 * shares).tolist()
    assert player.search(ROOT, keyed_seeds(1)) == nrpa(MORPION, ROOT, keyed_seeds(1), 1, 20, logits=-2.5 * shares)
    usual = make_player(f'nrpa(level=1, n=20, avoid="{file}")', MORPION)
    assert isinstance(usual, NrpaPlayer) and usual.logits is not None
    assert usual.logits.min() == -1.0


def test_restarts_that_avoid_a_grid_play_fewer_of_its_moves(tmp_path: Path) -> None:
    plain = make_player("nrpa(level=2, n=20)", MORPION)
    assert isinstance(plain, NrpaPlayer)
    line = plain.search(ROOT, keyed_seeds(0, 99)).actions
    file = tmp_path / "known.txt"
    file.write_text(str(make_solution(MORPION, "", line)))
    shares = read_known_grids(str(file), MORPION).shares
    avoiding = make_player(f'nrpa(level=2, n=20, avoid="{file}", penalty=3)', MORPION)
    assert isinstance(avoiding, NrpaPlayer)
    common = [
        [shares[list(player.search(ROOT, keyed_seeds(0, number)).actions)].mean() for number in range(8)]
        for player in (plain, avoiding)
    ]
    assert np.mean(common[1]) < 0.9 * np.mean(common[0])


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("game: morpion-5d\nscore: 1\nmoves: k14e\n", "has a solution of .morpion-5d., and only those of morpion-4d"),
        ("game: morpion-4d\nscore: 1\nmoves: m15e\ngame: morpion-4d\nscore: 1\nmoves: zz\n", "solution 2 cannot be"),
        ("nonsense", "line 1 cannot be read"),
        ("\udcff", "it is not text"),
        (None, "cannot read"),
    ],
)
def test_a_file_of_anything_else_is_refused_in_one_line(tmp_path: Path, text: str | None, piece: str) -> None:
    if text is not None:
        (tmp_path / "known.txt").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(RecordError, match=piece) as error:
        make_player(f'nrpa(avoid="{tmp_path / "known.txt"}")', MORPION)
    assert "\n" not in str(error.value)
