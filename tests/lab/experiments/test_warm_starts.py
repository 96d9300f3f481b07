from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import pytest

from palaestra.lab.catalogue import declared
from palaestra.lab.data import Data, Row
from palaestra.lab.experiments._warm import BASELINE, NAMES
from palaestra.lab.experiments.chapter_5 import OTHELLO
from palaestra.lab.plan import make_plan

SEEDS = range(4)
WARM = tuple(NAMES.values())


def tournament(game: str, strength: Mapping[str, int]) -> list[Row]:
    """All against all: of 20 games, the stronger wins its strength's lead more than the weaker; random loses all."""
    players = [(arm, seed) for arm in strength for seed in SEEDS]
    rows: list[Row] = []
    for (a, i), (b, j) in combinations(players, 2):
        ahead = strength[a] - strength[b] + (i - j)
        who: Row = {"measured": "tournament", "game": game, "arm": a, "seed": i, "opponent": b, "opponent_seed": j}
        rows.append({**who, "wins": 10 + ahead, "draws": 0, "losses": 10 - ahead})
    lost: Row = {"measured": "tournament", "game": game, "opponent": "random", "wins": 20, "draws": 0, "losses": 0}
    return rows + [{**lost, "arm": arm, "seed": seed, "opponent_seed": None} for arm, seed in players]


def verdicts(id: str, rows: list[Row]) -> dict[str, str]:
    return {claim.text: claim.check(Data.of(rows)).answer for claim in declared()[id].claims}


@pytest.mark.parametrize(("lead", "answer"), [(4, "holds"), (-4, "fails")])
def test_a_warm_start_helps_where_its_players_win(lead: int, answer: str) -> None:
    found = verdicts("fig-5.2", tournament(OTHELLO, {BASELINE: 0, **dict.fromkeys(WARM, lead), "RHEA": 0}))
    assert found[f"WRo is stronger than {BASELINE} at {OTHELLO}"] == answer
    assert found[f"a warm start by evolution helps at {OTHELLO}"] == "open"
    assert set(verdicts("fig-5.1", []).values()) == {"open"}  # boards that were not played


def test_the_rating_list_shows_what_wrong_sides_in_the_records_do() -> None:
    rows = tournament(OTHELLO, {BASELINE: 0, **dict.fromkeys(WARM, 0)})
    found = verdicts("table-a.3", rows)
    assert found["the records' wrong sides put WRoRa further ahead of the baseline"] == "holds"
    assert found["runs of one kind differ more than kinds do"] == "holds"
    table = declared()["table-a.3"].table(Data.of(rows))
    last = dict(zip(table.headings, table.rows[-1], strict=True))
    assert (last["name"], last["games"], last["score"], last["draws"]) == ("random", "480", "0%", "0%")


def test_lengths_are_compared_within_an_enhancement() -> None:
    lengths = {f"Rave, I′ = {length}": 4 * (length == 7) for length in (1, 3, 5, 7, 9)}
    others = {f"WRo, I′ = {length}": 4 * (length == 1) for length in (1, 3, 5, 7, 9)}
    rows = tournament("connect_four-6x6", lengths) + tournament("connect_four-6x6", others)
    found = verdicts("fig-6.1", rows)
    assert found["I′ = 7 is best for Rave"] == "holds" and found["I′ = 7 is best for WRoRa"] == "open"
    assert found["no I′ stands out for WRo (here: by more than 30 Elo)"] == "fails"


def test_adaptive_is_better_where_it_wins_for_the_best_of_them() -> None:
    switching = {f"{name}, adaptive": 3 + 3 * (name in ("WRo", "RoRa")) for name in WARM}
    found = verdicts("fig-6.3", tournament("connect_four-6x6", {BASELINE: 0, **dict.fromkeys(WARM, 0), **switching}))
    assert found["every adaptive warm start beats the baseline at connect_four-6x6"] == "holds"
    assert found["every warm start of 5 iterations beats the baseline at connect_four-6x6"] == "open"
    assert found["Rave is better adaptive than fixed at connect_four-6x6"] == "holds"
    assert found["adaptive, WRo and RoRa are best at connect_four-6x6"] == "holds"


def test_balances_improve_only_if_they_do_before_the_switch() -> None:
    curves = {"Rollout": (-20, -8, 2), "Rave": (-2, -12, 2), "RoRa": (-2, 4)}
    rows: list[Row] = [
        {"measured": "curve", "game": OTHELLO, "arm": arm, "seed": seed, "iteration": at, "balance": r + seed % 2 * at}
        for arm, curve in curves.items()
        for seed in SEEDS
        for at, r in enumerate(curve, start=1)
    ]
    found = [verdicts("fig-6.2", rows)[f"against {arm} the balance of the plain search improves"] for arm in curves]
    assert found == ["holds", "fails", "open"]


@pytest.mark.parametrize("scale", ["laptop", "paper"])
def test_both_chapters_share_their_runs(scale: str) -> None:
    keys = {}
    for id in ("fig-5.1", "fig-5.2", "table-a.3", "fig-6.1", "table-6.2", "fig-6.2", "fig-6.3"):
        plan = make_plan(declared()[id], scale, 1)
        keys[id] = {plan.run("thesis", arm, 0).key for arm in plan.arms}
    assert keys["table-a.3"] < keys["fig-5.2"]
    assert len(keys["fig-6.1"] & keys["fig-5.1"]) == len(WARM)
    assert keys["fig-6.2"] < keys["table-6.2"] and len(keys["table-6.2"] - keys["fig-6.3"]) == len(WARM)  # Gobang's
    assert keys["fig-6.3"] <= keys["fig-5.1"] | keys["fig-5.2"] | keys["table-6.2"]
    plan = make_plan(declared()["table-6.2"], scale, 1)
    simulations = {arm.game: plan.run("thesis", arm, 0).config.selfplay.search.simulations for arm in plan.arms}
    assert simulations["gobang-6x6"] == 2 * simulations["othello-6x6"]


@pytest.mark.parametrize(("switch", "answers"), [(1, {"holds"}), (0, {"open"})])
def test_a_mean_that_the_limit_cut_short_decides_nothing_that_it_might_not(switch: int, answers: set[str]) -> None:
    rows: list[Row] = [
        {
            "measured": "curve", "game": "connect_four-6x6", "arm": "Rave", "seed": seed, "iteration": iteration,
            "balance": -1, "switched": switch * (iteration == last),
        }
        for seed, last in enumerate((2, 3, 2, 3, 2))
        for iteration in range(1, last + 1)
    ]  # fmt: skip
    found = verdicts("table-6.2", rows)
    texts = (
        "Rave switches after 2.38 iterations at connect_four-6x6",
        "Rave switches sooner than its best fixed length",
    )
    assert {answer for text, answer in found.items() if text.startswith(texts)} == answers
