"""A match that ends as soon as a sequential test is sure: the same for gates and for the verb `match`.

Pairs are played in parts, and the test looks after each. The parts are the same whatever the number of threads, and
so are the games, the verdict and where it falls. Knows no player: how a part is played is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from palaestra.arena.match import MatchListener, MatchResult, Running
from palaestra.arena.parallel import joined
from palaestra.arena.sprt import Sprt, Verdict

PAIRS_AT_ONCE = 16  # the test looks after so many pairs; more would fill batches better and stop later

PlayPairs = Callable[[range, MatchListener | None], MatchResult]


@dataclass(frozen=True)
class SequentialMatch:
    """The games that were played, and what the test made of them."""

    match: MatchResult
    test: Sprt
    ratio: float  # the log-likelihood ratio of H1 to H0
    verdict: Verdict | None  # None: the games ran out first

    @property
    def standing(self) -> str:
        """For people: where the ratio stands between the bounds."""
        low, high = self.test.bounds
        return f"log-likelihood ratio {self.ratio:+.2f} of {low:.2f} to {high:+.2f}"


def play_until_sure(test: Sprt, games: int, play: PlayPairs, listen: MatchListener | None = None) -> SequentialMatch:
    """Play at most `games` games of a match; `play` plays some of its pairs, given by their numbers."""
    parts: list[MatchResult] = []
    verdict: Verdict | None = None
    pairs = games // 2
    for start in range(0, pairs, PAIRS_AT_ONCE):
        heard = listen and _after(parts, games, listen)
        parts.append(play(range(start, min(start + PAIRS_AT_ONCE, pairs)), heard))
        verdict = test.verdict(joined(parts).pairs)
        if verdict is not None:
            break
    match = joined(parts)
    return SequentialMatch(match, test, test.ratio(match.pairs), verdict)


def _after(parts: Sequence[MatchResult], games: int, listen: MatchListener) -> MatchListener:
    """A listener that adds what earlier parts gave."""
    wins, draws, losses = (sum(getattr(part, name) for part in parts) for name in ("wins", "draws", "losses"))

    def heard(running: Running) -> None:
        sums = wins + running.wins, draws + running.draws, losses + running.losses
        listen(Running(*sums, games, running.ended))

    return heard
