"""The transposition table of alpha-beta: positions already searched, in one fixed array that knows no game.

The table is uint64[N, 2, 4], N a power of two. A bucket is one cache line of two entries, an entry is four words:

    0, 1   128-bit hash of the state (all of it: whose turn, ply and board)
    2      value, int64 from the first player's view
    3      action, 24 bits | depth, 16 | bound, 2 | proven, 1 | generation, 16

Two states are taken for the same only if all 128 bits agree, which for 10⁹ different positions has a chance of about
10⁻²⁰ to happen by accident: results are called exact on that understanding. The first entry of a bucket keeps the
deeper search, the second the latest. An entry of another generation counts as empty, so forgetting all costs nothing.
"""

from __future__ import annotations

import numpy as np

from palaestra.base.jit import inlined
from palaestra.base.types import UInt64s

UPPER, LOWER, EXACT = 1, 2, 3  # what a stored value is: at most, at least, or just the true one
NO_ENTRY = -1
NO_ACTION = -1
MAX_GENERATION = 2**16 - 1
MAX_ACTIONS = 2**24 - 1

_ACTION_MASK, _DEPTH_MASK, _BOUND_MASK, _GENERATION_MASK = 0xFFFFFF, 0xFFFF, 3, 0xFFFF
_DEPTH_SHIFT, _BOUND_SHIFT, _PROVEN_SHIFT, _GENERATION_SHIFT = 24, 40, 42, 44

_SEED_A, _SEED_B = np.uint64(0x243F6A8885A308D3), np.uint64(0x13198A2E03707344)
_STEP_A, _STEP_B = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_32, _29 = np.uint64(32), np.uint64(29)


def make_table(entries: int) -> UInt64s:
    """An empty table with at least `entries` entries; memory is taken only as it is touched."""
    buckets = 1 << max(0, (entries - 1) // 2).bit_length()
    return np.zeros((buckets, 2, 4), dtype=np.uint64)


@inlined
def hash_words(words: UInt64s) -> tuple[np.uint64, np.uint64]:
    """128 bits that depend on every bit of uint64[W]: two chains, each step a bijection of the running word."""
    a, b = _SEED_A, _SEED_B
    for i in range(words.shape[0]):
        a = (a ^ words[i]) * _STEP_A
        a ^= a >> _32
        b = (b + words[i]) * _STEP_B
        b ^= b >> _29
    return (a * _STEP_B) ^ (a >> _29), (b * _STEP_A) ^ (b >> _32)


@inlined
def find(table: UInt64s, key_a: np.uint64, key_b: np.uint64, generation: int) -> tuple[np.int64, np.int64]:
    """(bucket, slot) of a position; slot is NO_ENTRY when this generation does not know it."""
    bucket = np.int64(key_a & np.uint64(table.shape[0] - 1))
    for slot in range(2):
        if table[bucket, slot, 0] == key_a and table[bucket, slot, 1] == key_b:
            if meta_generation(np.int64(table[bucket, slot, 3])) == generation:
                return bucket, np.int64(slot)
    return bucket, np.int64(NO_ENTRY)


@inlined
def meta_action(meta: int) -> np.int64:
    return np.int64(meta & _ACTION_MASK)


@inlined
def meta_depth(meta: int) -> np.int64:
    return np.int64((meta >> _DEPTH_SHIFT) & _DEPTH_MASK)


@inlined
def meta_bound(meta: int) -> np.int64:
    return np.int64((meta >> _BOUND_SHIFT) & _BOUND_MASK)


@inlined
def meta_proven(meta: int) -> np.int64:
    return np.int64((meta >> _PROVEN_SHIFT) & 1)


@inlined
def meta_generation(meta: int) -> np.int64:
    return np.int64((meta >> _GENERATION_SHIFT) & _GENERATION_MASK)


@inlined
def store(
    table: UInt64s,
    key_a: np.uint64,
    key_b: np.uint64,
    generation: int,
    value: int,
    action: int,
    depth: int,
    bound: int,
    proven: int,
) -> None:
    """Remember a result in place of the same position, else of a shallower or forgotten one, else of the latest."""
    bucket, slot = find(table, key_a, key_b, generation)
    if slot == NO_ENTRY:
        first = np.int64(table[bucket, 0, 3])
        slot = np.int64(0) if meta_generation(first) != generation or meta_depth(first) <= depth else np.int64(1)
    table[bucket, slot, 0] = key_a
    table[bucket, slot, 1] = key_b
    table[bucket, slot, 2] = np.uint64(np.int64(value))
    table[bucket, slot, 3] = np.uint64(
        action
        | (depth << _DEPTH_SHIFT)
        | (bound << _BOUND_SHIFT)
        | (proven << _PROVEN_SHIFT)
        | (generation << _GENERATION_SHIFT)
    )
