"""A sequential test of two Elo differences that stops as soon as the games decide it. Knows no player.

H0: A is `elo0` stronger than B. H1: A is `elo1` stronger. Games come in pairs from one opening with sides swapped,
whose two results depend on each other, so the pair is the unit: it gives A 0, ½, 1, 1½ or 2 points (five counts, hence
"pentanomial"), or a share s ∈ {0, ¼, ½, ¾, 1} of the points.

Wald's test needs the likelihood of the counts n_i under each hypothesis, but a hypothesis fixes only the mean
E s = σ(elo) = 1 / (1 + 10^(-elo/400)), not the five probabilities. The generalised test takes the best ones:

    maximise Σ n_i log p_i   subject to   Σ p_i = 1,  Σ p_i s_i = σ

whose solution (Lagrange) is p_i = f_i / (1 + θ (s_i - σ)), f_i = n_i / n, with θ the only root of

    g(θ) = Σ f_i (s_i - σ) / (1 + θ (s_i - σ))     in  -1/(1-σ) < θ < 1/σ,

where g falls from +∞ to -∞. The log-likelihood ratio is then Σ n_i log(p_i(σ1) / p_i(σ0)), and the test ends when it
leaves (log β/(1-α), log (1-β)/α): α is the share of wrong acceptances under H0, β that of wrong rejections under H1, in
the limit of many games. Every count begins at `PRIOR`, so that a result not seen yet is rare and not impossible.

On single games (`GAME_SHARES`) the same function is the trinomial test. It takes the games of a pair as independent,
and is then too slow where, as usual, the opening favours one side and the pair's results cancel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from palaestra.base.errors import ConfigError

PAIR_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
GAME_SHARES = (0.0, 0.5, 1.0)
MOST_ELO = 2000  # as a hypothesis; beyond it there is nothing to test
PRIOR = 1e-3  # of a pair, added to every count
_HALVINGS = 60  # of the bracket of θ: down to rounding

Verdict = Literal["accepted", "rejected"]


@dataclass(frozen=True)
class Sprt:
    """The test: H0 is `elo0`, H1 is `elo1`, both in logistic Elo of a single game's expected score."""

    elo0: float = 0.0
    elo1: float = 30.0
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        if not -MOST_ELO <= self.elo0 < self.elo1 <= MOST_ELO:
            raise ConfigError(
                f"elo0 is {self.elo0:g} and elo1 {self.elo1:g}; elo1 must be larger, for example 0 and 30, "
                f"and both lie between -{MOST_ELO} and {MOST_ELO}"
            )
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ConfigError(f"alpha is {self.alpha:g} and beta {self.beta:g}; both lie between 0 and 0.5, as 0.05")

    @property
    def bounds(self) -> tuple[float, float]:
        """Below the first the verdict is "rejected", above the second "accepted"."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def ratio(self, counts: Sequence[int], shares: Sequence[float] = PAIR_SHARES) -> float:
        """The log-likelihood ratio of H1 to H0; `counts` are those of pairs with 0, ½, 1, 1½ and 2 points."""
        if len(counts) != len(shares):
            raise ValueError(f"{len(shares)} counts are needed, not {len(counts)}")
        if not any(counts):
            return 0.0
        filled = [count + PRIOR for count in counts]
        low, high = (_tilts(filled, shares, expected_score(elo)) for elo in (self.elo0, self.elo1))
        return sum(count * math.log(before / after) for count, before, after in zip(filled, low, high, strict=True))

    def verdict(self, counts: Sequence[int], shares: Sequence[float] = PAIR_SHARES) -> Verdict | None:
        """What the games say so far; None while they do not suffice."""
        lower, upper = self.bounds
        ratio = self.ratio(counts, shares)
        return "rejected" if ratio <= lower else "accepted" if ratio >= upper else None


def parse_sprt(text: str) -> Sprt:
    """The test that "elo0,elo1" or "elo0,elo1,alpha,beta" means."""
    words = text.split(",")
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        numbers = []
    if len(numbers) not in (2, 4):
        raise ConfigError(f"sprt is {text!r}; give elo0,elo1 or elo0,elo1,alpha,beta, for example 0,30,0.05,0.05")
    return Sprt(*numbers)


def expected_score(elo: float) -> float:
    """σ(elo): points per game of a player that is this much stronger."""
    return 1.0 / (1.0 + 10.0 ** (-elo / 400.0))


def _tilts(counts: Sequence[float], shares: Sequence[float], mean: float) -> list[float]:
    """f_i / p_i = 1 + θ (s_i - mean): how far the most likely probabilities with this mean are from the frequencies."""
    offsets = [share - mean for share in shares]
    low, high = -1.0 / max(offsets), -1.0 / min(offsets)
    for _ in range(_HALVINGS):
        theta = (low + high) / 2
        slope = sum(count * offset / (1.0 + theta * offset) for count, offset in zip(counts, offsets, strict=True))
        low, high = (theta, high) if slope > 0 else (low, theta)
    return [1.0 + theta * offset for offset in offsets]
