from __future__ import annotations

from palaestra.lab.data import Data, Row
from palaestra.lab.experiments.table_5_1 import EXPERIMENT, PUBLISHED


def test_every_reading_of_the_table_gets_verdicts_of_its_own() -> None:
    """Results as published for Eq. 5.1, and 20 points off for UCB1: only the former agree."""
    rows: list[Row] = []
    for known in PUBLISHED:
        percent = (
            known.value
            if "Eq. 5.1" in known.arm or "mcts" not in known.arm
            else known.value + (20 if known.value < 50 else -20)
        )
        won = round(10 * percent)
        who: Row = {"measured": "call", "game": known.game, "arm": known.arm, "seed": 0}
        rows.append({**who, "wins": won, "draws": 0, "losses": 1000 - won, "distinct_games": 1000})
    found = {claim.text: claim.check(Data.of(rows)).answer for claim in EXPERIMENT.claims}
    assert found["rave by cell : mcts by Eq. 5.1, connect_four-6x6: 73 %"] == "holds"
    assert found["rave by cell : mcts, connect_four-6x6: 73 %"] == "fails"
    assert found["rave is better than mcts: rave : mcts by Eq. 5.1 at gobang-6x6"] == "holds"
    assert found["Eq. 5.1 with uniform priors is nearer to the published MCTS than UCB1"] == "holds"
