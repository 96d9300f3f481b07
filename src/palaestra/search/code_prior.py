"""A prior for NRPA from a network: one logit a code, the network's mean opinion of it (sources: NRPA).

NRPA has one logit per code, whatever the position, and makes some ten thousand moves for each that a network could
judge. So the network is not asked during the search. Some hundred games are drawn from its policy beforehand, and each
code gets the mean, over the positions where it was legal, of

    log π(a|s) - mean over the legal moves b of log π(b|s),

in which the normalisation of π cancels: it is the logit less the mean of the legal logits. A code that was never legal
gets 0, as an average move has. What depends on the position is lost; what the network thinks of a move in general is
kept, and the search adapts it further. A constant bias of this kind is the simplest case of generalised NRPA.

Knows no game's rules and no network: an evaluator answers for positions.
"""

from __future__ import annotations

import numpy as np

from palaestra.base.errors import PlayerError
from palaestra.base.types import Float64s
from palaestra.games.base import Game
from palaestra.games.rows import ONGOING
from palaestra.search.evaluator import Evaluator, Leaves

GAMES = 200


def code_logits(game: Game, evaluator: Evaluator, rng: np.random.Generator, games: int = GAMES) -> Float64s:
    """float64[A]: the mean centred logit of every action over `games` games from the evaluator's own policy."""
    total = np.zeros(game.num_actions, dtype=np.float64)
    met = np.zeros(game.num_actions, dtype=np.int64)
    states = game.initial(games, rng)
    while len(states):
        counts, actions = game.legal(states)
        answer = evaluator(Leaves(states, counts, actions, np.zeros(len(states), dtype=np.uint64)))
        if answer.logits is None:
            raise PlayerError("a prior needs an evaluator with a policy, for example a network")
        listed = np.arange(actions.shape[1]) < counts[:, None]
        logits = np.take_along_axis(answer.logits, np.where(listed, actions, 0), axis=1).astype(np.float64)
        means = np.where(listed, logits, 0.0).sum(axis=1) / counts
        seen = actions[listed]
        total += np.bincount(seen, (logits - means[:, None])[listed], game.num_actions)
        met += np.bincount(seen, minlength=game.num_actions)
        # The largest of logit + Gumbel noise is a draw from the softmax.
        places = np.where(listed, logits + rng.gumbel(size=logits.shape), -np.inf).argmax(axis=1)
        states = game.advance(states, actions[np.arange(len(states)), places])
        states = states[game.outcome(states) == ONGOING]
    return np.asarray(total / np.maximum(met, 1))
