"""The laws of symmetries (`palaestra.games.laws`): maps of the board, and the exchange of the players."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palaestra.games.base import Game
from palaestra.games.sample import Sample, differing, listed_rows, true_rows
from palaestra.games.symmetry import Symmetry


def group(sample: Sample) -> Iterator[str]:
    """Symmetries are permutations of cells and actions, closed under composition, identity first."""
    game, (_, height, width) = sample.game, sample.game.observation_shape
    if faults := faulty_maps(game):
        yield from faults
        return
    keys = [_key(symmetry.cells, symmetry.actions) for symmetry in game.symmetries]
    if keys[0] != _key(np.arange(height * width), np.arange(game.num_actions)):
        yield f"the first symmetry is {game.symmetries[0].name!r}, not the identity"
    for one in game.symmetries:
        for other in game.symmetries:
            if _key(one.cells[other.cells], one.actions[other.actions]) not in keys:
                yield f"{other.name} and then {one.name} is not among the symmetries"


def symmetry(sample: Sample) -> Iterator[str]:
    """Symmetries commute with `advance`, `legal` and `observe`."""
    if faulty_maps(sample.game):
        return  # the law of the group says so
    planes = sample.game.observe(sample.before.copy())
    for one in sample.game.symmetries:
        yield from _commutes(sample, one, swap=False)
        images = sample.game.permute(sample.before.copy(), one)
        for row in differing(sample.game.observe(images), one.planes(planes))[:1]:
            yield f"{sample.where(row)}: {one.name} does not commute with observe"


def layout(sample: Sample) -> Iterator[str]:
    """Symmetries move actions with the cells or columns that `action_layout` puts them on."""
    game, (_, height, width) = sample.game, sample.game.observation_shape
    if game.action_layout not in ("cells", "columns") or faulty_maps(game):
        return
    for one in game.symmetries:
        places = np.arange(height * width) if game.action_layout == "cells" else np.arange(width)
        moved = one.cells if game.action_layout == "cells" else one.cells[:width] % width
        planes = game.num_actions // len(places)
        wanted, found = np.tile(moved, planes), one.actions[: planes * len(places)] % len(places)
        for action in true_rows(found != wanted)[:1]:
            what = "cell" if game.action_layout == "cells" else "column"
            yield f"{one.name}: action {action} does not move with its {what}, as action_layout says"


def exchange(sample: Sample) -> Iterator[str]:
    """Exchanging the players commutes with `advance` and `legal`, passes the turn and negates the outcome."""
    game, one = sample.game, sample.game.exchange
    assert one is not None
    if game.players == 1:
        yield "a game of one player has no exchange of players"
    if game.players == 1 or faulty_maps(game):
        return
    yield from _commutes(sample, one, swap=True)
    for row in differing(
        game.to_play(game.permute(sample.before.copy(), one, swap=True)), 1 - game.to_play(sample.before)
    ):
        yield f"{sample.where(row)}: exchanging the players does not pass the turn"
    ended = game.outcome(game.permute(sample.ends.copy(), one, swap=True))
    for number in differing(ended, -game.outcome(sample.ends)):
        yield f"{sample.end_of(number)}: exchanging the players gives outcome {ended[number]}, not its negative"


def faulty_maps(game: Game) -> list[str]:
    """Lines about maps that are no permutations: compiled rules would write outside their arrays with them."""
    _, height, width = game.observation_shape
    lines = []
    for one in (*game.symmetries, *([game.exchange] if game.exchange else [])):
        for what, image, size in (("cells", one.cells, height * width), ("actions", one.actions, game.num_actions)):
            if not np.array_equal(np.sort(image), np.arange(size)):
                lines.append(f"{one.name}: {what} is not a permutation of 0 to {size - 1}")
    return lines


def _commutes(sample: Sample, one: Symmetry, swap: bool) -> Iterator[str]:
    """The lines of a map that does not commute with `advance` or `legal`; one of each."""
    game = sample.game
    name = f"{one.name} with the players exchanged" if swap else one.name
    images = game.permute(sample.before.copy(), one, swap)
    listed = listed_rows(*game.legal(images.copy()))
    wanted = [sorted(one.actions[row].tolist()) for row in listed_rows(*game.legal(sample.before.copy()))]
    for row in [row for row in range(len(images)) if listed[row] != wanted[row]][:1]:
        yield f"{sample.where(row)}: {name} does not commute with legal: {listed[row]} instead of {wanted[row]}"
        return  # the image of a move may then be no move: advance could not be trusted with it
    after = game.advance(images.copy(), one.actions[sample.action].astype(np.int32))
    for row in differing(after, game.permute(sample.after.copy(), one, swap))[:1]:
        yield f"{sample.where(row, sample.action[row])}: {name} does not commute with advance"


def _key(cells: NDArray[Any], actions: NDArray[Any]) -> tuple[bytes, bytes]:
    return cells.astype(np.int64).tobytes(), actions.astype(np.int64).tobytes()
