"""Domineering: the first player lays dominoes upright, the second flat; who cannot lay one has lost."""

import numpy as np
from numba import njit

from palaestra.games import BoardGame, Rules, Symmetry, permute_cells, state_bytes
from palaestra.games.rows import HEADER, ONGOING, mover, ply, set_mover

N = 6
BOARD = np.arange(N * N, dtype=np.int32).reshape(N, N)
DOMINOES = [(cell, cell + N) for cell in range(N * N - N)]  # an action is a place for a domino: first all upright ones,
DOMINOES += [(cell, cell + 1) for cell in range(N * N) if cell % N < N - 1]  # then all flat ones
HALF, MAX_PLIES = N * (N - 1), N * N // 2


@njit
def start(state, choice, p):
    pass  # the empty board is all zeros


@njit
def legal(state, actions, p):  # p lists the two cells of every domino
    count, first = 0, mover(state) * HALF
    for action in range(first, first + HALF):
        if state[HEADER + p[2 * action]] == 0 and state[HEADER + p[2 * action + 1]] == 0:
            actions[count] = action
            count += 1
    return count


@njit
def play(state, action, p):
    stone = 1 - 2 * mover(state)
    state[HEADER + p[2 * action]] = state[HEADER + p[2 * action + 1]] = stone
    set_mover(state, 1 - mover(state))
    return ONGOING if legal(state, np.empty(HALF, np.int32), p) else stone * (MAX_PLIES + 1 - ply(state))


@njit
def observe(state, planes, p):
    planes[0] = state[HEADER : HEADER + N * N].reshape(N, N) != 0
    planes[1] = mover(state)


class Domineering(BoardGame):
    def action_to_text(self, state, action):
        return self.cell_name(DOMINOES[action][0])  # the upper or left cell: whose turn it is tells the rest


def symmetry(name, images):
    actions = [DOMINOES.index(tuple(sorted(images.flat[list(domino)]))) for domino in DOMINOES]
    return Symmetry(name, images.ravel(), np.array(actions, dtype=np.int32))


MAPS = {"identity": BOARD, "half turn": BOARD[::-1, ::-1], "left-right": BOARD[:, ::-1], "top-bottom": BOARD[::-1]}
GAME = Domineering(
    id=f"domineering-{N}x{N}", rules=Rules(start, play, legal, observe, permute_cells), params=np.ravel(DOMINOES),
    rows=N, cols=N, num_actions=2 * HALF, max_legal=HALF, max_plies=MAX_PLIES, state_size=state_bytes(N * N),
    observation_shape=(2, N, N), tiebreak="plies", exchange=symmetry("transpose", BOARD.T),
    symmetries=tuple(symmetry(name, images) for name, images in MAPS.items()))  # fmt: skip
