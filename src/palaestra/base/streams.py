"""Random numbers for kernels: one 64-bit stream per row, so that no game depends on which games share its batch.

A stream is one uint64 that a kernel advances in place (splitmix64). Python code draws from a
`numpy.random.Generator`; `seeds_from` turns either of the two into streams.
"""

from __future__ import annotations

import math

import numpy as np

from palaestra.base.jit import inlined, kernel
from palaestra.base.types import Int64s, UInt64s

Rng = np.random.Generator | UInt64s

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _32, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32), np.uint64(11)


@inlined
def mix(z: np.uint64) -> np.uint64:
    """The splitmix64 finaliser: a bijection of 64-bit words that scatters neighbours."""
    z = (z ^ (z >> _30)) * _MIX1
    z = (z ^ (z >> _27)) * _MIX2
    return z ^ (z >> _31)


@inlined
def next_word(streams: UInt64s, row: int) -> np.uint64:
    """Advance stream `row` and return 64 random bits."""
    streams[row] += _STEP
    return mix(streams[row])


@inlined
def below(streams: UInt64s, row: int, n: int) -> np.int64:
    """A uniform integer in 0 … n-1 (n < 2**31; the bias is below n / 2**32)."""
    return np.int64(((next_word(streams, row) >> _32) * np.uint64(n)) >> _32)


@inlined
def uniform(streams: UInt64s, row: int) -> float:
    """A float64 in (0, 1): never 0, so that its logarithm is finite."""
    return (np.float64(next_word(streams, row) >> _11) + 0.5) * (1.0 / 9007199254740992.0)


@kernel
def normal(streams: UInt64s, row: int) -> float:
    """A standard normal variate (Box and Muller)."""
    radius = math.sqrt(-2.0 * math.log(uniform(streams, row)))
    return radius * math.cos(2.0 * math.pi * uniform(streams, row))


@kernel
def gamma(streams: UInt64s, row: int, shape: float) -> float:
    """A gamma variate with the given shape and scale 1 (Marsaglia and Tsang, 2000)."""
    boost = 1.0
    if shape < 1.0:
        boost = uniform(streams, row) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(streams, row)
        v = (1.0 + c * x) ** 3
        if v > 0.0 and math.log(uniform(streams, row)) < 0.5 * x * x + d - d * v + d * math.log(v):
            return d * v * boost


def seeds_from(rng: Rng, count: int) -> UInt64s:
    """`count` fresh streams: drawn from a Generator, or a copy of the given ones."""
    if isinstance(rng, np.random.Generator):
        return rng.integers(0, 2**64, size=count, dtype=np.uint64)
    if rng.shape != (count,):
        raise ValueError(f"{count} rows need {count} streams, not {rng.shape}")
    return rng.copy()


def keyed_seeds(seed: int, *keys: Int64s | int) -> UInt64s:
    """Streams that depend on (seed, key, key, …) alone: row i uses the i-th entry of every array among the keys."""
    with np.errstate(over="ignore"):
        word = _mix_array(np.asarray(np.uint64(seed % 2**64)) + _STEP)
        for key in keys:
            word = _mix_array(word ^ (np.asarray(key).astype(np.uint64) * _STEP + _MIX1))
    return np.atleast_1d(word)


def _mix_array(z: UInt64s) -> UInt64s:
    z = (z ^ (z >> _30)) * _MIX1
    z = (z ^ (z >> _27)) * _MIX2
    return np.asarray(z ^ (z >> _31), dtype=np.uint64)
