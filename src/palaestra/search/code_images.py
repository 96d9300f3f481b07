"""Codes of NRPA and the symmetries of a game: which actions are images of each other (sources: NRPA).

A symmetry counts if it leaves the initial position as it is: then a line of play and its image are equally good, and
what is learned of an action is true of its images. Knows no game's rules.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from palaestra.base.types import Float64s, Int8s, Int32s
from palaestra.games.base import Game
from palaestra.games.symmetry import Symmetry


def own_codes(game: Game) -> Int32s:
    """int32[A, 1]: every action is a code of its own."""
    return np.arange(game.num_actions, dtype=np.int32)[:, None]


def symmetries_of(game: Game, state: Int8s) -> list[Symmetry]:
    """The symmetries that leave state int8[S] as it is, identity first."""
    return [one for one in game.symmetries if np.array_equal(game.permute(state[None], one)[0], state)]


def shared_codes(symmetries: Sequence[Symmetry]) -> Int32s:
    """int32[A, K]: of each action all that share its code, ascending, then -1: its images, their images, and so on."""
    first = np.arange(len(symmetries[0].actions))
    while True:  # until each action knows the first of those that it shares its code with
        lower = first.copy()
        for symmetry in symmetries:
            np.minimum.at(lower, symmetry.actions, first)
            np.minimum(lower, first[symmetry.actions], out=lower)
        if np.array_equal(lower, first):
            break
        first = lower
    order = np.argsort(first, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(first[order])) + 1)
    table = np.full((len(first), max(map(len, groups))), -1, dtype=np.int32)
    for group in groups:
        table[group, : len(group)] = group
    return table


def shared_logits(logits: Float64s, images: Int32s) -> Float64s:
    """Logits float64[A] in which all that share a code (images int32[A, K]) have the mean of theirs."""
    there = images >= 0
    return np.asarray(np.where(there, logits[images], 0.0).sum(axis=1) / there.sum(axis=1))
