"""`qtable`: a learned table as a player. How it was learned is not known here."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from palaestra.base.errors import PlayerError
from palaestra.base.streams import Rng, seeds_from
from palaestra.base.types import Int8s, Int32s, Int64s, UInt64s
from palaestra.games.base import Game, pick_rows
from palaestra.players.base import Analysis, Player
from palaestra.players.table import NO_ROW, About, Table, greedy_rows, read_table
from palaestra.rewards.base import default_reward
from palaestra.search.flat import flat_playouts, flat_timed
from palaestra.search.nested_duel import nested_actions

NESTED = "qn"  # the learner that searches nested


class TablePlayer(Player):
    """The move with the largest value, equally good ones drawn from the row's stream.

    A state that the table does not know is played by the learner's own rule: a random move, or flat or nested Monte
    Carlo with its budget. `playouts` is another budget instead, 0 for a random move.
    """

    def __init__(self, game: Game, text: str, table: Table, about: About, playouts: int | None = None) -> None:
        super().__init__(game, text)
        self.table, self.about = table, about
        self.playouts, self.ms = (about.playouts or 0, about.ms) if playouts is None else (playouts, None)
        self.nested = about.learner == NESTED and self.playouts > 0

    @classmethod
    def read(cls, game: Game, text: str, file: str, playouts: int | None = None) -> TablePlayer:
        """The player of a file; PlayerError where it is damaged or another game's."""
        return cls(game, text, *read_table(Path(file), game), playouts)

    def act(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Int32s:
        streams = seeds_from(rng, len(states))
        counts, actions = self.game.legal(states)
        found = self.table.look(states)
        self._check(found, counts)
        places = np.empty(len(states), dtype=np.int64)
        greedy_rows(self.table.rows, found, streams, places)
        chosen = np.asarray(actions[np.arange(len(states)), np.maximum(places, 0)])
        if (unknown := np.flatnonzero(places == NO_ROW)).size:
            fresh = streams[unknown]
            chosen[unknown] = unseen_actions(
                self.game, states[unknown], fresh, self.playouts, self.ms, nested=self.nested
            )
        return chosen

    def analyse(self, state: Int8s, rng: Rng) -> Analysis:
        """Uniform over the best moves. Values are discounted goals, from which no value in [-1, 1] follows."""
        counts, actions = self.game.legal(state[None])
        found = self.table.look(state[None])
        self._check(found, counts)
        action = int(self.act(state[None], rng)[0])
        policy = np.zeros(self.game.num_actions, dtype=np.float32)
        if found[0] == NO_ROW:
            policy[action] = 1.0
            return Analysis(action, None, policy, pv=[action], note=f"not among the {len(self.table):,} rows")
        values = self.table.values(int(found[0]))
        best = values == values.max()
        policy[actions[0, : counts[0]][best]] = 1.0 / best.sum()
        note = f"Q {values.max():.3f} of 1, discounted; {len(self.table):,} rows"
        return Analysis(action, None, policy, pv=[action], note=note)

    def _check(self, found: Int64s, counts: Int32s) -> None:
        """Rows have a value for every legal move, unless the rules have changed since."""
        known = found != NO_ROW
        sizes = self.table.rows.first[found[known] + 1] - self.table.rows.first[found[known]]
        if np.any(sizes != counts[known]):
            raise PlayerError(f"{self.text}: its table was learned by other rules of {self.game.id}; learn it again")


def unseen_actions(
    game: Game, states: Int8s, streams: UInt64s, playouts: int, ms: float | None, *, nested: bool = False
) -> Int32s:
    """int32[B]: moves where a table says nothing; flat Monte Carlo by time or by playouts, random for 0 playouts.

    With `nested`, the playouts are those of a nested search.

    Row i draws from streams[i] alone, in place.
    """
    if nested:
        return nested_actions(game, states, streams, playouts)
    if ms is not None:
        return flat_timed(game, default_reward(game), states, streams, ms).chosen()
    if playouts:
        return flat_playouts(game, default_reward(game), states, streams, playouts).chosen()
    counts, actions = game.legal(states)
    return np.asarray(pick_rows(counts, actions, streams, np.arange(len(states))))
