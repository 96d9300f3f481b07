"""Tabular learners in plain Python: a dictionary, one match after the other, and splitmix64 written out.

Rows are by (role, the state's bytes). Random numbers are drawn in the order that the kernels must keep: of each match,
the learner has one stream and the opponent another, of which every word is the stream of one move.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from palaestra.games.base import Game
from palaestra.games.rows import ONGOING
from palaestra.learn.tabular import TabularConfig

WORD = 2**64 - 1
Step = tuple[bytes, int, int]  # state, legal actions, place of the one taken


class Stream:
    """splitmix64."""

    def __init__(self, word: int) -> None:
        self.word = word

    def next(self) -> int:
        self.word = (self.word + 0x9E3779B97F4A7C15) & WORD
        z = self.word
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        return ((self.next() >> 32) * n) >> 32

    def uniform(self) -> float:
        return ((self.next() >> 11) + 0.5) / 2**53


@dataclass
class PlainLearner:
    """A learner of one game."""

    game: Game
    config: TabularConfig
    table: dict[tuple[int, bytes], list[float]] = field(default_factory=dict)

    def match(self, number: int, epsilon: float, learner: int, opponent: int) -> float:
        """Play one match against random moves and learn from it; the learner's goal."""
        role, own, other = number % 2, Stream(learner), Stream(opponent)
        state = self.game.initial(1)
        steps: list[Step] = []
        while self.game.outcome(state)[0] == ONGOING:
            counts, actions = self.game.legal(state)
            count = int(counts[0])
            if state[0, 0] == role:
                place = self.choose(state, count, epsilon, own)
                steps.append((state[0].tobytes(), count, place))
            else:
                place = Stream(other.next()).below(count)
                if self.config.noops:
                    steps.append((state[0].tobytes(), 1, 0))
            state = self.game.advance(state, actions[:, place])
        goal = (1 + self.result(state, role)) / 2
        self.learn(role, steps, goal)
        return goal

    def result(self, state: np.ndarray, role: int) -> int:  # type: ignore[type-arg]
        """1, 0 or -1 for a role."""
        return int(np.sign(self.game.outcome(state)[0])) * (1 if role == 0 else -1)

    def choose(self, state: np.ndarray, count: int, epsilon: float, own: Stream) -> int:  # type: ignore[type-arg]
        if epsilon > 0 and own.uniform() < epsilon:
            return own.below(count)
        values = self.table.get((int(state[0, 0]), state[0].tobytes()))
        if values is None:
            if self.config.playouts is None:
                return own.below(count)
            return (self.nested if self.config.learner == "qn" else self.flat)(state, count, own)
        best = [place for place, value in enumerate(values) if value == max(values)]
        return best[own.below(len(best))] if len(best) > 1 else best[0]

    def flat(self, state: np.ndarray, count: int, own: Stream) -> int:  # type: ignore[type-arg]
        """Alg. 8: playouts for the moves in turn, the best mean, of equal ones the first."""
        results: list[list[int]] = [[] for _ in range(count)]
        for playout in range(max(count, self.config.playouts or 0)):
            stream = Stream(own.next())
            after = self.game.advance(state, self.game.legal(state)[1][:, playout % count])
            while self.game.outcome(after)[0] == ONGOING:
                counts, actions = self.game.legal(after)
                after = self.game.advance(after, actions[:, stream.below(int(counts[0]))])
            results[playout % count].append(self.result(after, int(state[0, 0])))
        means = [sum(one) / len(one) for one in results]
        return means.index(max(means))

    def random_end(self, state: np.ndarray, stream: Stream) -> np.ndarray:  # type: ignore[type-arg]
        while self.game.outcome(state)[0] == ONGOING:
            counts, actions = self.game.legal(state)
            state = self.game.advance(state, actions[:, stream.below(int(counts[0]))])
        return state

    def nested(self, state: np.ndarray, count: int, own: Stream) -> int:  # type: ignore[type-arg]
        """Games for the moves in turn, in which the mover looks at one random game after each of its own moves."""
        role, spent = int(state[0, 0]), 0
        results: list[list[int]] = [[] for _ in range(count)]
        while spent < (self.config.playouts or 0) or not all(results):
            turn = sum(map(len, results)) % count
            stream = Stream(own.next())
            after = self.game.advance(state, self.game.legal(state)[1][:, turn])
            spent += 1
            while self.game.outcome(after)[0] == ONGOING:
                counts, actions = self.game.legal(after)
                number = int(counts[0])
                if after[0, 0] != role or number == 1:
                    after = self.game.advance(after, actions[:, stream.below(number)])
                    continue
                favourite, best, equals = 0, -2, 0
                for place in range(number):
                    end = self.random_end(self.game.advance(after, actions[:, place]), stream)
                    result = self.result(end, role)
                    if result > best:
                        favourite, best, equals = place, result, 1
                    elif result == best:
                        equals += 1
                        favourite = place if stream.below(equals) == 0 else favourite
                spent += number
                after = self.game.advance(after, actions[:, favourite])
            results[turn].append(self.result(after, role))
        means = [sum(one) / len(one) for one in results]
        return means.index(max(means))

    def learn(self, role: int, steps: list[Step], goal: float) -> None:
        for state, count, _ in steps:
            self.table.setdefault((role, state), [0.0] * count)
        rows = [(self.table[role, state], place) for state, _, place in steps]
        if self.config.learner == "td":
            self.learn_traces(rows, goal)
        else:
            self.learn_backwards(rows, goal)

    def learn_backwards(self, rows: list[tuple[list[float], int]], goal: float) -> None:
        alpha, gamma = self.config.alpha, self.config.gamma
        assert alpha is not None and gamma is not None
        for t in reversed(range(len(rows))):
            values, place = rows[t]
            target = goal if t == len(rows) - 1 else gamma * max(rows[t + 1][0])
            values[place] = (1 - alpha) * values[place] + alpha * target

    def learn_traces(self, rows: list[tuple[list[float], int]], goal: float) -> None:
        """Textbook TD(λ): a trace for each pair, which grows by 1 when it is met and fades at every step."""
        alpha, gamma, lambda_ = self.config.alpha, self.config.gamma, self.config.lambda_
        assert alpha is not None and gamma is not None and lambda_ is not None
        traces: dict[tuple[int, int], float] = {}
        by_pair = {(id(values), place): values for values, place in rows}
        for t, (values, place) in enumerate(rows):
            last = t == len(rows) - 1
            after = goal if last else gamma * rows[t + 1][0][rows[t + 1][1]]
            delta = after - values[place]
            traces[id(values), place] = traces.get((id(values), place), 0.0) + 1.0
            for pair, trace in traces.items():
                by_pair[pair][pair[1]] += alpha * delta * trace
                traces[pair] = trace * gamma * lambda_
