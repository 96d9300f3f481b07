from __future__ import annotations

import pytest

from palaestra.lab.data import Data, Row
from palaestra.lab.experiments.fig_7_2 import EXPERIMENT


@pytest.mark.parametrize(
    ("best", "answers"),
    [(50, ["fails", "holds", "holds", "holds"]), (67, ["open", "open", "holds", "holds"]),
     (81, ["holds", "fails", "open", "holds"])],
)  # fmt: skip
def test_the_best_games_are_compared_with_those_of_the_thesis_of_people_and_of_the_record(
    best: int, answers: list[str]
) -> None:
    rows: list[Row] = [
        {"measured": "curve", "game": "morpion-5d-22x22", "arm": "ranked reward", "seed": seed, "iteration": at,
         "best": best + seed - 1 if at == 20 else 30, "mean": 30 + at * (1 + seed / 10)}
        for seed in range(3)
        for at in range(1, 21)
    ]  # fmt: skip
    assert [claim.check(Data.of(rows)).answer for claim in EXPERIMENT.claims] == answers
