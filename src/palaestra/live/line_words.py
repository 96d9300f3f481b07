"""One iteration of a run in words, from its line of metrics."""

from __future__ import annotations

from collections.abc import Sequence

from palaestra.arena.statistics import elo_in_words
from palaestra.live.words import mean_in_words
from palaestra.runs.metrics import MetricsLine, RunningElo, Score, WorkerSpeed

LISTED = 4  # workers whose speeds are told one by one


def line_in_words(line: MetricsLine) -> str:
    """ "iteration 12; 500 games of 21.3 plies; policy 1.312, value 0.541; against random +312 (+240 to +420)"."""
    words = [
        f"iteration {line.iteration}",
        f"{line.games} games of {line.mean_plies:.1f} plies",
        f"policy {number(line.losses.policy)}, value {number(line.losses.value)}",
    ]
    if line.course is not None:
        words[1] = " and ".join(f"{one.games} games of {one.game}" for one in line.course.games)
    if line.gate is not None:
        words.append(f"{'accepted' if line.gate.accepted else 'rejected'}: {line.gate.reason}")
    if line.demerits is not None:
        words.append(f"{line.demerits.demerits:.2f} demerits")
    if line.running_elo is not None:
        words.append(f"running Elo {running_words(line.running_elo)}")
    words += [f"against {anchor} {elo_in_words(elo)}" for anchor, elo in (line.elo or {}).items()]
    if line.workers and not all(speed.worker.startswith("thread ") for speed in line.workers):
        words.append(workers_words(line.workers))
    words += [ages_words(line.ages)] if line.ages is not None else []
    return "; ".join([*words, *course_words(line), *solo_words(line)])


def course_words(line: MetricsLine) -> list[str]:
    """What a line says of other games of its run's course, and of a curriculum that goes on."""
    if line.course is None:
        return []
    words = [
        f"at {one.game} against {result.anchor} {elo_in_words(result.elo)}"
        for one in line.course.games
        for result in one.against or ()
    ]
    return words + ([f"on to the next game: {line.course.ended}"] if line.course.ended else [])


def workers_words(speeds: Sequence[WorkerSpeed]) -> str:
    """ "2 workers with 41 and 39 games/s"; of more than four the slowest and the fastest."""
    rates = [f"{speed.games_per_second:.3g}" for speed in sorted(speeds, key=lambda speed: speed.games_per_second)]
    if len(rates) > LISTED:
        return f"{len(rates)} workers with {rates[0]} to {rates[-1]} games/s each"
    each = " and ".join([", ".join(rates[:-1]), rates[-1]] if len(rates) > 1 else rates)
    return f"{len(rates)} worker{'s' * (len(rates) > 1)} with {each} games/s"


def ages_words(ages: Sequence[int]) -> str:
    """ "40 % of the games by a network that was 1 iteration old"."""
    share = sum(ages[1:]) / max(sum(ages), 1)
    return f"{100 * share:.0f} % of the games by a network that was 1 iteration old"


def solo_words(metrics: MetricsLine) -> list[str]:
    """What a line says of a game for one player only."""
    scores, ranked, score = metrics.scores, metrics.ranked, metrics.score
    if scores is None:
        return []
    words = [f"score {scores.mean:.1f}, at most {scores.highest}, best so far {scores.best}"]
    words += [f"{ranked.threshold:g} to beat"] if ranked else []
    words += [f"deep search {scores.deep.highest}"] if scores.deep else []
    words += [f"exploring ×{metrics.exploration:.2f}"] if (metrics.exploration or 1.0) > 1 else []
    words += [f"{one.player} {score_words(one)}" for one in ([score, *score.anchors] if score else [])]
    return words


def score_words(score: Score) -> str:
    """ "61.3 (60.1–62.5), best 66"."""
    return f"{mean_in_words(score.mean, score.low, score.high)}, best {score.best}"


def gate_words(line: MetricsLine) -> str:
    """ "✓ 21=4−15"."""
    gate = line.gate
    return "" if gate is None else f"{'✓' if gate.accepted else '✗'} {gate.wins}={gate.draws}−{gate.losses}"


def running_words(running: RunningElo | None) -> str:
    """ "+312 ±40", the larger half of the interval; nothing where there is none."""
    return "" if running is None else f"{running.elo:+.0f} ±{max(running.plus, running.minus):.0f}"


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
