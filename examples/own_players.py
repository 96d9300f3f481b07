"""A player that leaves its opponent as few replies as it can; written twice, without and with checked arguments."""

import numpy as np

from palaestra.games.rows import ONGOING
from palaestra.players.base import Analysis, Player
from palaestra.players.kinds import Kind


class Tight(Player):
    """`own_players:Tight`, or `own_players:Tight(wins=false)`, which does not look whether a move ends the game."""

    def __init__(self, game, wins=True):
        super().__init__(game)
        self.wins = wins

    def act(self, states, rng, slots=None):  # one legal action for each state
        return np.array([self.analyse(state, rng).action for state in states], dtype=np.int32)

    def analyse(self, state, rng):  # optional: what `palaestra analyse` shows
        counts, legal = self.game.legal(state[None])
        actions = legal[0, : counts[0]]
        after = self.game.advance(np.repeat(state[None], len(actions), axis=0), actions)
        replies, _ = self.game.legal(after)
        replies = replies.astype(np.float64)
        if self.wins:
            mover = 1 - 2 * int(self.game.to_play(state[None])[0])
            outcomes = self.game.outcome(after)
            over = outcomes != ONGOING
            replies[over] = -mover * outcomes[over]
        best = int(actions[np.argmin(replies)])
        return Analysis(best, pv=[best], note=f"leaves {max(replies.min(), 0):.0f} replies")


class TightKind(Kind):
    """The same as a model, as the built-in kinds are: types and ranges of its arguments are checked."""

    name = "tight"
    example = "own_players:TightKind(wins=false)"

    wins: bool = True  # pydantic.Field gives a number its range

    def build(self, game, text):
        return Tight(game, self.wins)
