from __future__ import annotations

from palaestra.lab.catalogue import declared
from palaestra.lab.data import Data
from palaestra.lab.experiments.boards import NOTHING, SMALLER, minutes_needed, minutes_saved, together_elo
from palaestra.lab.jobs import Call, Train
from palaestra.lab.plan import FLOAT32, make_plan
from palaestra.lab.reproduce import jobs_of
from palaestra.learn.presets import configure

CURVES = {NOTHING: {0: (-400, -200, 0), 1: (-300, 0, 0)}, SMALLER: {0: (-100, 100, 300), 1: (-100, -50, -10)}}
DATA = Data.of(
    {"measured": "minutes", "game": "hex-7x7", "arm": arm, "seed": seed, "at_minute": 2.0 * k, "elo": float(elo)}
    for arm, seeds in CURVES.items()
    for seed, curve in seeds.items()
    for k, elo in enumerate(curve)
)


def test_minutes_are_saved_where_the_strength_of_a_run_from_nothing_is_reached_sooner() -> None:
    assert minutes_needed(DATA, NOTHING).tolist() == [4.0, 2.0]
    assert minutes_needed(DATA, SMALLER).tolist() == [1.0, 4.0], "on a line between two moments; never is the end"
    assert minutes_saved(DATA, SMALLER).value == 0.5


def test_elo_of_a_run_of_several_games_is_its_score_at_each_of_them() -> None:
    row = {"measured": "match", "game": "hex-6x6", "arm": "together", "seed": 0, "wins": 5, "draws": 2, "losses": 5}
    assert together_elo(Data.of([row]), "hex-6x6").tolist() == [0.0]


def test_runs_that_start_from_a_smaller_board_come_after_those_on_it() -> None:
    jobs = jobs_of([make_plan(declared()["board-start"], "smoke", seeds=2)])
    trains = [job for job in jobs if isinstance(job, Train)]
    late = [job for job in trains if job.after is not None]
    assert len(late) == 6 and len(trains) == 6 * 4 and jobs.index(late[0]) > 17
    assert all(job.after in jobs and jobs.index(job.after) < jobs.index(late[0]) for job in late)
    assert late[0].after is not None and late[0].key != Train(late[0].config).key
    assert {job.config.game for job in late} & {"othello-6x6"} and late[0].after.config.game == "othello-4x4"
    assert all(isinstance(job, Call) for job in jobs[len(trains) :])


def test_runs_of_one_game_have_the_keys_that_they_had_before_there_were_courses() -> None:
    config = configure("othello-6x6", "fast", FLOAT32, iterations=3, threads=1)
    assert Train(config).key == "othello-6x6-458293f13c9d"
