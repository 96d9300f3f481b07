"""Alpha-beta with an explicit stack that can stop after any node and go on later: a template bound once per game.

The free names `move`, `legal`, `permute` and `score` are the game's (see `palaestra.games.kernel_game`).

Values are int64 from the first player's view: the first player takes the largest, the second the smallest, whoever's
turn comes next, so that passes, extra turns and one-player games need no care. `alphabeta_values` says what the numbers
mean. A frame is one position on the path from the root. What the functions are given:

    Path     states int8[D+2, S], words uint64[D+2, S/8]   the same memory; the last row is scratch
             keys uint64[D+2, 2]       hash of the position, the smallest over its symmetric images in the first plies
             actions int32[D+2, L]     legal actions, in the order in which they are searched
             merits int64[D+2, L]      what that order is sorted by
             frames int64[D+2, F]      the columns below
    Cuts     killers int32[D+2, 2]     the last two moves that cut at this depth
             history int64[2, A]       how much each move has cut so far, per player
    Images   cells, images, inverses int32[G, ...]   the symmetries of the root, identity first: where each sends
                                       cells and actions, and the action that is sent to each
    table uint64[N, 2, 4]              see `alphabeta_table`
    root_values int64[L]               value of each root move, parallel to actions[0]
    registers int64[R]                 the rows below
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from palaestra.base.jit import inlined, kernel
from palaestra.base.types import Int8s, Int32s, Int64s, UInt64s
from palaestra.games.rows import ONGOING, mover, outcome, ply, set_mover, set_outcome, set_ply
from palaestra.search.alphabeta_table import (
    EXACT,
    LOWER,
    NO_ACTION,
    NO_ENTRY,
    UPPER,
    find,
    hash_words,
    meta_action,
    meta_bound,
    meta_depth,
    meta_proven,
    store,
)

if TYPE_CHECKING:
    from palaestra.games.kernel_game import legal, move, permute, score

Path = tuple[Int8s, UInt64s, UInt64s, Int32s, Int64s, Int64s]
Cuts = tuple[Int32s, Int64s]
Images = tuple[Int32s, Int32s, Int32s]

# Columns of a frame: the window now and as it was opened, the best so far, the moves, what is known about the result.
ALPHA, BETA, FLOOR, CEILING, BEST, CHOICE, COUNT, NEXT, CURRENT, PROVEN, DEPTH, IMAGE, FRAME = range(13)
# Registers: where the search stands, and what it was told.
LEVEL, NODES, STOP_AT, GENERATION, UNIT, LIMIT, SCALE, SETTLED, IMAGES_UNTIL, REGISTERS = range(10)

DONE = -1
UNBOUNDED = np.int64(2**62)
_FIRST_MERIT = np.int64(2**60)


@inlined
def set_keys(level: int, path: Path, symmetries: Images, until: int, p: Int64s) -> None:
    """Hash of the position; early in the game the smallest over its images, which all have the same value."""
    states, words, keys, _, _, frames = path
    cells, images, _ = symmetries
    key_a, key_b = hash_words(words[level])
    frames[level, IMAGE] = 0
    if ply(states[level]) < until:
        scratch = states.shape[0] - 1
        for g in range(1, images.shape[0]):
            for i in range(states.shape[1]):
                states[scratch, i] = 0
            set_ply(states[scratch], ply(states[level]))
            set_mover(states[scratch], mover(states[level]))
            set_outcome(states[scratch], ONGOING)
            permute(states[level], states[scratch], cells[g], images[g], False, p)
            other_a, other_b = hash_words(words[scratch])
            if other_a < key_a or (other_a == key_a and other_b < key_b):
                key_a, key_b = other_a, other_b
                frames[level, IMAGE] = g
    keys[level, 0] = key_a
    keys[level, 1] = key_b


@inlined
def remembered(
    level: int, path: Path, table: UInt64s, generation: int, symmetries: Images
) -> tuple[np.int64, np.int64, np.int64]:
    """(value, meta, best action here) from the table; meta is 0 when the position is unknown."""
    _, _, keys, _, _, frames = path
    _, _, inverses = symmetries
    bucket, slot = find(table, keys[level, 0], keys[level, 1], generation)
    if slot == NO_ENTRY:
        return np.int64(0), np.int64(0), np.int64(NO_ACTION)
    meta = np.int64(table[bucket, slot, 3])
    action = np.int64(inverses[frames[level, IMAGE], meta_action(meta)])
    return np.int64(table[bucket, slot, 2]), meta, action


@inlined
def answers(value: int, meta: int, depth: int, alpha: int, beta: int) -> bool:
    """Whether a remembered result is deep enough (or needs no depth) and falls on the right side of the window."""
    if meta == 0 or (meta_depth(meta) != depth and meta_proven(meta) == 0):
        return False
    bound = meta_bound(meta)
    return bound == EXACT or (bound == LOWER and value >= beta) or (bound == UPPER and value <= alpha)


@inlined
def list_moves(level: int, first: int, path: Path, cuts: Cuts, p: Int64s) -> None:
    """Fill the frame's moves: the remembered best first, then killers, then by history."""
    states, _, _, actions, merits, frames = path
    killers, history = cuts
    count = legal(states[level], actions[level], p)
    frames[level, COUNT] = count
    frames[level, NEXT] = 0
    side = mover(states[level])
    for i in range(count):
        action = actions[level, i]
        merit = history[side, action]
        if action == first:
            merit = _FIRST_MERIT
        elif action == killers[level, 0]:
            merit = _FIRST_MERIT - 1
        elif action == killers[level, 1]:
            merit = _FIRST_MERIT - 2
        merits[level, i] = merit


@inlined
def next_action(level: int, path: Path) -> np.int64:
    """Bring the best remaining move to the front and take it; equal merits keep their order."""
    _, _, _, actions, merits, frames = path
    start = frames[level, NEXT]
    best = start
    for i in range(start + 1, frames[level, COUNT]):
        if merits[level, i] > merits[level, best]:
            best = i
    action = actions[level, best]
    merit = merits[level, best]
    for i in range(best, start, -1):
        actions[level, i] = actions[level, i - 1]
        merits[level, i] = merits[level, i - 1]
    actions[level, start] = action
    merits[level, start] = merit
    frames[level, NEXT] = start + 1
    frames[level, CURRENT] = action
    return np.int64(action)


@inlined
def absorb(level: int, value: int, proven: int, path: Path, cuts: Cuts, root_values: Int64s) -> None:
    """Take the value of the move just searched into its frame.

    The root's window stays one below the best value, so that moves which are exactly as good show their exact value.
    """
    states, _, _, _, _, frames = path
    killers, history = cuts
    slack = 1 if level == 0 else 0
    if mover(states[level]) == 0:
        if value > frames[level, BEST]:
            frames[level, BEST] = value
            frames[level, CHOICE] = frames[level, CURRENT]
        frames[level, ALPHA] = max(frames[level, ALPHA], value - slack)
    else:
        if value < frames[level, BEST]:
            frames[level, BEST] = value
            frames[level, CHOICE] = frames[level, CURRENT]
        frames[level, BETA] = min(frames[level, BETA], value + slack)
    if level == 0:
        root_values[frames[0, NEXT] - 1] = value
    if frames[level, ALPHA] >= frames[level, BETA]:
        # A cut rests on this move alone; its siblings do not matter.
        frames[level, PROVEN] = proven
        action = frames[level, CURRENT]
        if killers[level, 0] != action:
            killers[level, 1] = killers[level, 0]
            killers[level, 0] = action
        history[mover(states[level]), action] += frames[level, DEPTH] * frames[level, DEPTH]
    else:
        frames[level, PROVEN] &= proven


@inlined
def close(level: int, path: Path, table: UInt64s, symmetries: Images, registers: Int64s) -> None:
    """All moves of a frame are done, or one cut: settle whether its value is proven and remember it."""
    _, _, keys, _, _, frames = path
    _, images, _ = symmetries
    best = frames[level, BEST]
    # Where wins are alike or sooner ones better, no win beyond the horizon can beat one within it, nor any loss.
    if registers[SETTLED] != 0 and abs(best) >= registers[SCALE]:
        frames[level, PROVEN] = 1
    bound = EXACT
    if best <= frames[level, FLOOR]:
        bound = UPPER
    elif best >= frames[level, CEILING]:
        bound = LOWER
    action = images[frames[level, IMAGE], frames[level, CHOICE]]
    depth, proven = frames[level, DEPTH], frames[level, PROVEN]
    store(table, keys[level, 0], keys[level, 1], registers[GENERATION], best, action, depth, bound, proven)


@inlined
def open_frame(level: int, depth: int, alpha: int, beta: int, path: Path) -> None:
    states, _, _, _, _, frames = path
    frames[level, ALPHA] = alpha
    frames[level, BETA] = beta
    frames[level, FLOOR] = alpha
    frames[level, CEILING] = beta
    frames[level, BEST] = -UNBOUNDED if mover(states[level]) == 0 else UNBOUNDED
    frames[level, CHOICE] = NO_ACTION
    frames[level, PROVEN] = 1
    frames[level, DEPTH] = depth


@kernel
def begin(
    depth: int, alpha: int, beta: int, path: Path, cuts: Cuts, table: UInt64s, registers: Int64s, symmetries: Images,
    p: Int64s,
) -> None:  # fmt: skip
    """Open the root, states[0], which is not over: `depth` plies, window (alpha, beta)."""
    open_frame(0, depth, alpha, beta, path)
    set_keys(0, path, symmetries, registers[IMAGES_UNTIL], p)
    _, _, first = remembered(0, path, table, registers[GENERATION], symmetries)
    list_moves(0, first, path, cuts, p)
    registers[LEVEL] = 0


@kernel
def run(
    path: Path, cuts: Cuts, table: UInt64s, root_values: Int64s, registers: Int64s, symmetries: Images, p: Int64s
) -> None:
    """Search until the root is done (LEVEL is DONE) or NODES reaches STOP_AT; call again to go on."""
    states, _, _, _, _, frames = path
    level = registers[LEVEL]
    nodes = registers[NODES]
    while level >= 0:
        if frames[level, NEXT] == frames[level, COUNT] or frames[level, ALPHA] >= frames[level, BETA]:
            close(level, path, table, symmetries, registers)
            value, proven = frames[level, BEST], frames[level, PROVEN]
            level -= 1
            if level >= 0:
                absorb(level, value, proven, path, cuts, root_values)
            continue
        if nodes >= registers[STOP_AT]:
            break
        nodes += 1
        action = next_action(level, path)
        below = level + 1
        for i in range(states.shape[1]):
            states[below, i] = states[level, i]
        move(states[below], action, p)
        depth = frames[level, DEPTH] - 1
        value, proven = outcome(states[below]), np.int64(1)
        if value != ONGOING:
            value *= registers[SCALE]
        elif depth == 0:
            proven = np.int64(0)
            estimate = np.int64(score(states[below], p)) * registers[UNIT]
            value = min(max(estimate, -registers[LIMIT]), registers[LIMIT])
        else:
            open_frame(below, depth, frames[level, ALPHA], frames[level, BETA], path)
            set_keys(below, path, symmetries, registers[IMAGES_UNTIL], p)
            value, meta, first = remembered(below, path, table, registers[GENERATION], symmetries)
            if not answers(value, meta, depth, frames[level, ALPHA], frames[level, BETA]):
                list_moves(below, first, path, cuts, p)
                level = below
                continue
            proven = meta_proven(meta)
        absorb(level, value, proven, path, cuts, root_values)
    registers[LEVEL] = level
    registers[NODES] = nodes


@kernel
def recall(path: Path, table: UInt64s, registers: Int64s, symmetries: Images, proven: bool, p: Int64s) -> np.int64:
    """The best action of states[0] if the table knows its value (and, if asked, its proof), else NO_ACTION."""
    set_keys(0, path, symmetries, registers[IMAGES_UNTIL], p)
    _, meta, action = remembered(0, path, table, registers[GENERATION], symmetries)
    known = meta_bound(meta) == EXACT and (meta_proven(meta) == 1 or not proven)
    return action if known else np.int64(NO_ACTION)
