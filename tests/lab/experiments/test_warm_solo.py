"""What is read off a run with a warm start."""

from __future__ import annotations

from dataclasses import replace

from palaestra.lab.data import Data
from palaestra.lab.experiments.warm_solo import ADAPTIVE, EXPERIMENT, FIXED, NONE, read_scores
from palaestra.runs.metrics import AgentScore, MetricsLine, WarmStartState
from tests.learn.run_folders import metrics_line

WARM = WarmStartState("rollout", 1.0, -4, False)


def lines(*scores: float | None, warm: int) -> list[MetricsLine]:
    """Iterations of ten seconds each, the first `warm` of them with an enhancement."""
    return [
        replace(
            metrics_line(number),
            elapsed=10.0 * number,
            score=None if score is None else AgentScore("agent", score, None, None, 11, 1, 1),
            warm=WARM if number <= warm else None,
        )
        for number, score in enumerate(scores, start=1)
    ]


def test_a_row_has_the_last_score_before_its_time_and_the_last_warm_iteration() -> None:
    rows = list(read_scores(lines(None, 4.0, None, 6.0, None, 9.0, warm=3)))
    assert [row["score"] for row in rows] == [None, 4, 4, 6, 6, 9]
    assert {row["switch"] for row in rows} == {3} and {row["iterations"] for row in rows} == {6}
    assert {row["switch"] for row in read_scores(lines(1.0, warm=0))} == {0}


def test_claims_compare_scores_of_the_same_time_seed_by_seed() -> None:
    final = {NONE: 6.0, FIXED: 9.0, ADAPTIVE: 8.0}
    rows = [
        {"arm": arm, "seed": seed, **row, "score": 5.0 if float(str(row["share"])) < 1 else score * (1 + seed / 100)}
        for arm, score in final.items()
        for seed in range(4)
        for row in read_scores(lines(*[5.0] * 6, warm=2))
    ]
    early, late, fixed = (claim.check(Data.of(rows)) for claim in EXPERIMENT.claims)
    assert (early.answer, late.answer, fixed.answer) == ("open", "holds", "fails")
