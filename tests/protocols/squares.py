"""A small game whose moves are written as UCI writes them: a race of two pawns on each side, on their own files.

6  . . . .        first: a2 and b2, up to rank 6      second: a5 and b5 of its own board, down to rank 1
                  whoever gets a pawn to the last rank first wins; nobody is in anybody's way
"""

from __future__ import annotations

from palaestra.games.python_game import PlainRules, PythonGame

Pawns = tuple[int, ...]  # ranks of a and b of the first player, of the second, and whose turn it is


class Race(PlainRules[Pawns]):
    def start(self, choice: int) -> Pawns:
        return (2, 2, 5, 5, 0)

    def mover(self, state: Pawns) -> int:
        return state[4]

    def moves(self, state: Pawns) -> list[int]:
        return [0, 1]

    def play(self, state: Pawns, action: int) -> Pawns:
        ranks = list(state)
        ranks[2 * state[4] + action] += 1 - 2 * state[4]
        ranks[4] = 1 - state[4]
        return tuple(ranks)

    def result(self, state: Pawns) -> int | None:
        return 1 if 6 in state[:2] else -1 if 1 in state[2:4] else None

    def move_text(self, state: Pawns, action: int) -> str:
        rank = state[2 * state[4] + action]
        return f"{'ab'[action]}{rank}{'ab'[action]}{rank + 1 - 2 * state[4]}"


GAME = PythonGame.of(Race(), id="race", num_actions=2, max_plies=20)
