from __future__ import annotations

from itertools import combinations

import pytest

from palaestra.lab.catalogue import declared
from palaestra.lab.data import Data, Row
from palaestra.lab.experiments._losses import BOARDS, LOSSES, read_losses, strongest
from palaestra.lab.experiments.loss_question import DEFECTS
from palaestra.lab.plan import make_plan
from tests.learn.test_running_elo import line

SEEDS = range(4)


def tournament(game: str, strength: dict[str, int], behind: str = "") -> list[Row]:
    """All against all: of 10 games, the stronger wins its strength's lead more than the weaker."""
    players = [(loss, seed) for loss in LOSSES for seed in SEEDS]
    return [
        {
            "measured": "tournament", "game": game, "arm": f"{a}{behind}", "seed": i, "opponent": f"{b}{behind}",
            "opponent_seed": j, "wins": 5 + strength[a] - strength[b] + (i + j) % 2, "draws": 0,
            "losses": 5 - strength[a] + strength[b] - (i + j) % 2,
        }
        for (a, i), (b, j) in combinations(players, 2)
    ]  # fmt: skip


@pytest.mark.parametrize(("best", "answer"), [("value", "holds"), ("sum", "fails")])
def test_a_loss_is_best_where_its_players_win(best: str, answer: str) -> None:
    strength = {loss: 3 * (loss == best) for loss in LOSSES}
    verdict = strongest("hex-3x3", "value").check(Data.of(tournament("hex-3x3", strength)))
    assert verdict.answer == answer and verdict.estimate.interval is not None


def test_boards_that_were_not_played_leave_their_claims_open() -> None:
    assert strongest("hex-3x3", "value").check(Data.of([])).answer == "open"


def test_a_defect_is_seen_in_what_it_does_to_the_order() -> None:
    even = dict.fromkeys(LOSSES, 0)
    rows = tournament("connect_four-5x5", even) + tournament("connect_four-5x5", {**even, "value": 3}, ", L1")
    claims = {claim.text: claim.check(Data.of(rows)).answer for claim in declared()["loss-defects"].claims}
    assert claims["L1 helps value against sum at connect_four-5x5"] == "holds"
    assert claims["the value's loss alone is the best to learn from at connect_four-5x5 with L1"] == "holds"
    assert claims["L1 helps value against sum at connect_four-6x6"] == "open"


def test_all_figures_of_the_chapter_share_their_runs() -> None:
    keys = {}
    for id in ("fig-4.4", "fig-4.7", "fig-4.8", "loss-defects"):
        plan = make_plan(declared()[id], "laptop")
        keys[id] = {plan.run("thesis", arm, seed).key for arm, seed in plan.each()}
    assert keys["fig-4.7"] == keys["fig-4.8"] and len(keys["fig-4.8"]) == len(BOARDS) * len(LOSSES) * 5
    assert keys["fig-4.4"] < keys["fig-4.8"]
    assert len(keys["loss-defects"] - keys["fig-4.8"]) == len(DEFECTS) * len(LOSSES) * 5


def test_the_running_elo_is_that_of_the_network_that_plays() -> None:
    lines = [line(1, 0, (8, 0, 2), (8, 0, 2)), line(2, 1, (2, 0, 8), (2, 0, 8), accepted=False)]
    first, second = (row["running_elo"] for row in read_losses(lines))
    assert first == second and isinstance(first, float) and first > 0
