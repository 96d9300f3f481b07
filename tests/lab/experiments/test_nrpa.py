from __future__ import annotations

from palaestra.lab.catalogue import declared
from palaestra.lab.data import Data
from palaestra.lab.experiments.nrpa import DEEPER, OPTIONS, PLAIN, an_hour, scores_found
from palaestra.players.registry import read_player

FOUND = {0: {78: 5, 80: 2, 82: 1}, 1: {79: 6}}  # seed -> score -> restarts
DATA = Data.of(
    {"game": "morpion-5d", "arm": PLAIN, "seed": seed, "minutes": 4.0, "score": score, "restarts": restarts}
    for seed, scores in FOUND.items()
    for score, restarts in scores.items()
)


def test_long_games_are_counted_for_an_hour_of_one_core_seed_by_seed() -> None:
    assert an_hour(DATA, PLAIN, 80).tolist() == [45.0, 0.0]
    assert an_hour(DATA, PLAIN, 82).tolist() == [15.0, 0.0]


def test_every_arm_is_a_player_and_one_searches_a_level_deeper() -> None:
    for options in OPTIONS.values():
        read_player(f"nrpa(level=3{options})")
    deeper = {arm.name for arm in declared()["nrpa-settings"].arms if arm.values["deeper"]}
    assert deeper == {DEEPER}


def test_the_scale_for_a_laptop_says_what_it_costs_in_all() -> None:
    experiment = declared()["nrpa-settings"]
    laptop = experiment.scales.laptop
    total = len(experiment.arms) * laptop.seeds * float(laptop.values["minutes"] or 0)
    assert f"{total:g} of one core" in laptop.departs


def test_rows_say_which_player_found_which_scores() -> None:
    for _ in range(2):  # the first time may go by while kernels are compiled
        rows = list(scores_found("morpion-4d", 1, ", n=5", 1, 0, 0.005))
    assert rows and {row["player"] for row in rows} == {"nrpa(level=1, n=5)"}
    assert all(isinstance(row["score"], int) and int(row["restarts"] or 0) > 0 for row in rows)
