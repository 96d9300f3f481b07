"""Which positions are learned from more often: those where the search departs from what the network thought.

A position that a network knows already teaches it little. Its weight is 1 - s for being there, and s times its surprise
as a multiple of the mean of its iteration, with s = `learn.surprise` (sources: weights by surprise). A weight is a
number of copies, of which a fraction is drawn, so that what follows knows of no weights, and an iteration has about as
many examples as positions.
"""

from __future__ import annotations

import numpy as np

from palaestra.base.types import Float32s, Int64s


def surprise(policy: Float32s, prior: Float32s) -> Float32s:
    """float32[n]: Σ π log(π / p) of policies [n, L] over priors [n, L].

    0 where no network was asked, as by evolution, and where nothing was searched: there priors have no columns.
    """
    if prior.shape != policy.shape:
        return np.zeros(len(policy), dtype=np.float32)
    there = (policy > 0) & prior.any(axis=1, keepdims=True)
    ratio = np.divide(policy, np.maximum(prior, np.float32(1e-9)), out=np.ones_like(policy), where=there)
    return (policy * np.log(ratio)).sum(axis=1)


def copies(surprises: Float32s, share: float, rng: np.random.Generator) -> Int64s:
    """int64[n]: how many copies to learn from; all one where nothing surprises."""
    mean = surprises.mean(dtype=np.float64) if len(surprises) else 0.0
    if mean <= 0:
        return np.ones(len(surprises), dtype=np.int64)
    weights = (1.0 - share) + share / mean * np.maximum(surprises, 0).astype(np.float64)
    return np.floor(weights + rng.random(len(weights))).astype(np.int64)
