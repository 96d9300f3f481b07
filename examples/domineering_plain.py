"""Domineering without Numba: the same game as domineering.py, one state at a time."""

from palaestra.games import PlainRules, PythonGame

N = 6
UPRIGHT = [(cell, cell + N) for cell in range(N * N - N)]
FLAT = [(cell, cell + 1) for cell in range(N * N) if cell % N < N - 1]
DOMINOES = UPRIGHT + FLAT


class Domineering(PlainRules):
    """A state is the cells (1 upright, -1 flat, 0 empty) and then whose turn it is."""

    def start(self, choice):
        return (0,) * (N * N) + (0,)

    def mover(self, state):
        return state[-1]

    def moves(self, state):
        mine = range(len(UPRIGHT)) if state[-1] == 0 else range(len(UPRIGHT), len(DOMINOES))
        return [action for action in mine if state[DOMINOES[action][0]] == state[DOMINOES[action][1]] == 0]

    def play(self, state, action):
        cells = list(state)
        for cell in DOMINOES[action]:
            cells[cell] = 1 - 2 * state[-1]
        return (*cells[:-1], 1 - state[-1])

    def result(self, state):
        return None if self.moves(state) else 2 * state[-1] - 1  # who is to move has lost

    def draw(self, state):
        return "\n".join(" ".join(".XO"[stone] for stone in state[row * N : row * N + N]) for row in range(N))

    def move_text(self, state, action):
        return "abcdef"[DOMINOES[action][0] % N] + str(DOMINOES[action][0] // N + 1)


GAME = PythonGame.of(
    Domineering(), id="domineering-plain", num_actions=len(DOMINOES), max_plies=N * N // 2, tiebreak="plies"
)
