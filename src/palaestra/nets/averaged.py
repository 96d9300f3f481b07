"""A network asked in every orientation of the board: its mistakes that are not symmetric average out.

One answer costs as many evaluations as the game has symmetries (two at Connect Four, eight at Othello), so this is for
play and analysis, where the number of simulations is what is fixed, not for making games.
"""

from __future__ import annotations

import numpy as np

from palaestra.games.base import Game
from palaestra.search.evaluator import Evaluation, Evaluator, Leaves


class Averaged(Evaluator):
    """The mean of what `inner` says over the symmetries of the game, moves carried back to where they came from.

    Values are averaged, not the outcomes that a network may have made them of.
    """

    def __init__(self, inner: Evaluator, game: Game) -> None:
        self.inner, self.game = inner, game

    @property
    def network_seconds(self) -> float | None:
        return self.inner.network_seconds

    def __call__(self, leaves: Leaves) -> Evaluation:
        count = len(leaves.states)
        images = [self.game.permute(leaves.states, symmetry) for symmetry in self.game.symmetries]
        times = len(images)
        # The images have other legal moves: their lists are not carried along, because networks do not read them.
        together = Leaves(
            np.concatenate(images),
            np.tile(leaves.counts, times),
            np.tile(leaves.actions, (times, 1)),
            np.tile(leaves.streams, times),
        )
        answer = self.inner(together)
        assert answer.logits is not None, "only networks have opinions that depend on the orientation"
        logits = np.zeros((count, self.game.num_actions), dtype=np.float32)
        for k, symmetry in enumerate(self.game.symmetries):
            logits += answer.logits[k * count : (k + 1) * count][:, symmetry.actions]
        values = answer.values.reshape(times, count).mean(axis=0, dtype=np.float64).astype(np.float32)
        return Evaluation(logits / np.float32(times), values)
