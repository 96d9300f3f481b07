"""Streams are splitmix64, uniform, and independent of the batch they are drawn in."""

from __future__ import annotations

import math

import numpy as np
import pytest

from palaestra.base.jit import allocating
from palaestra.base.streams import below, gamma, keyed_seeds, next_word, normal, seeds_from, uniform

MASK = 2**64 - 1


@allocating
def words(streams, count):
    drawn = np.empty(count, dtype=np.uint64)
    for i in range(count):
        drawn[i] = next_word(streams, 0)
    return drawn


@allocating
def integers(streams, n, count):
    drawn = np.empty(count, dtype=np.int64)
    for i in range(count):
        drawn[i] = below(streams, 0, n)
    return drawn


@allocating
def uniforms(streams, count):
    drawn = np.empty(count)
    for i in range(count):
        drawn[i] = uniform(streams, 0)
    return drawn


@allocating
def normals(streams, count):
    drawn = np.empty(count)
    for i in range(count):
        drawn[i] = normal(streams, 0)
    return drawn


@allocating
def gammas(streams, shape, count):
    drawn = np.empty(count)
    for i in range(count):
        drawn[i] = gamma(streams, 0, shape)
    return drawn


def stream(seed: int) -> np.ndarray:
    return np.array([seed], dtype=np.uint64)


def plain_splitmix64(seed: int, count: int) -> list[int]:
    drawn = []
    for _ in range(count):
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        drawn.append(z ^ (z >> 31))
    return drawn


def chi_square(counts: np.ndarray) -> float:
    expected = counts.sum() / len(counts)
    return float(((counts - expected) ** 2).sum() / expected)


def test_words_are_the_published_splitmix64_sequence() -> None:
    published = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert words(stream(1234567), 5).tolist() == published


@pytest.mark.parametrize("seed", [0, 1, MASK, 0x0123456789ABCDEF])
def test_words_equal_a_plain_splitmix64(seed: int) -> None:
    assert words(stream(seed), 100).tolist() == plain_splitmix64(seed, 100)


@pytest.mark.parametrize("n", [1, 2, 7, 64, 361])
def test_below_is_uniform_and_in_range(n: int) -> None:
    drawn = integers(stream(5), n, 200 * n)
    assert drawn.min() >= 0 and drawn.max() < n
    # chi-square with n-1 degrees of freedom: five standard deviations above its mean
    assert chi_square(np.bincount(drawn, minlength=n)) <= n - 1 + 5 * math.sqrt(2 * n)


def test_below_covers_ranges_up_to_two_to_the_31() -> None:
    drawn = integers(stream(9), 2**31 - 1, 4000)
    assert drawn.min() >= 0 and drawn.max() < 2**31 - 1
    assert drawn.max() > 0.99 * 2**31 and drawn.min() < 0.01 * 2**31


def test_uniform_is_flat_and_never_zero_or_one() -> None:
    drawn = uniforms(stream(11), 100_000)
    assert 0.0 < drawn.min() and drawn.max() < 1.0
    assert chi_square(np.bincount((drawn * 100).astype(int), minlength=100)) < 99 + 5 * math.sqrt(198)


def test_successive_uniforms_are_not_correlated() -> None:
    drawn = uniforms(stream(12), 100_000)
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 5 / math.sqrt(100_000)


def test_normal_has_mean_0_and_variance_1() -> None:
    drawn = normals(stream(13), 100_000)
    assert abs(drawn.mean()) < 5 / math.sqrt(100_000)
    assert abs(drawn.var() - 1) < 5 * math.sqrt(2 / 100_000)


@pytest.mark.parametrize("shape", [0.3, 2.0])
def test_gamma_has_mean_and_variance_equal_to_its_shape(shape: float) -> None:
    count = 200_000
    drawn = gammas(stream(17), shape, count)
    assert drawn.min() >= 0
    assert abs(drawn.mean() - shape) < 5 * math.sqrt(shape / count)
    # variance of a sample variance: (fourth central moment - variance²) / n, and the moment is 3 shape² + 6 shape
    assert abs(drawn.var() - shape) < 5 * math.sqrt((2 * shape**2 + 6 * shape) / count)


@allocating
def one_each(streams):
    drawn = np.empty(streams.shape[0], dtype=np.uint64)
    for row in range(streams.shape[0]):
        drawn[row] = next_word(streams, row)
    return drawn


def test_a_row_draws_the_same_in_any_batch() -> None:
    streams = keyed_seeds(3, np.arange(20))
    together = one_each(streams.copy())
    alone = [one_each(streams[i : i + 1].copy())[0] for i in range(20)]
    shuffled = np.random.default_rng(0).permutation(20)
    assert together.tolist() == alone
    assert one_each(streams[shuffled].copy()).tolist() == together[shuffled].tolist()


def test_seeds_from_a_generator_are_repeatable_and_distinct() -> None:
    first, again = (seeds_from(np.random.default_rng(7), 1000) for _ in range(2))
    assert first.dtype == np.uint64 and len(set(first.tolist())) == 1000
    assert first.tolist() == again.tolist()
    assert (first >= 2**63).any()  # all 64 bits are used


def test_seeds_from_streams_are_a_copy_of_them() -> None:
    given = np.arange(4, dtype=np.uint64)
    copy = seeds_from(given, 4)
    assert copy.tolist() == given.tolist()
    one_each(copy)
    assert given.tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="5 rows need 5 streams"):
        seeds_from(given, 5)


def test_keyed_seeds_depend_on_seed_and_keys_alone() -> None:
    games = np.arange(50)
    together = keyed_seeds(1, games, 3)
    assert together.tolist() == [keyed_seeds(1, int(game), 3)[0] for game in games]
    assert together[10:20].tolist() == keyed_seeds(1, games[10:20], 3).tolist()


def test_keyed_seeds_of_near_keys_are_all_different() -> None:
    grid = [keyed_seeds(seed, np.arange(40), other) for seed in (0, 1, 2, -1) for other in range(40)]
    assert len(set(np.concatenate(grid).tolist())) == 4 * 40 * 40
    # the order of keys matters, and so does their number
    assert keyed_seeds(0, 1, 2)[0] != keyed_seeds(0, 2, 1)[0]
    assert keyed_seeds(0, 0)[0] != keyed_seeds(0)[0] != keyed_seeds(0, 0, 0)[0]


def test_first_words_of_neighbouring_streams_look_independent() -> None:
    first = one_each(keyed_seeds(4, np.arange(6400)))
    assert chi_square(np.bincount((first >> np.uint64(58)).astype(np.int64), minlength=64)) < 63 + 5 * math.sqrt(126)
