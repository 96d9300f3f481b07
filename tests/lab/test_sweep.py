"""Sweeps: trials are chosen, done once whatever happens, and told to the study."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import optuna
import pytest

from palaestra.base.errors import ConfigError, RunError
from palaestra.lab import sweep as module
from palaestra.lab.sweep import Plan, make_plan, read_outcomes, rivals, run_sweep
from palaestra.lab.sweep_report import make_page, summarise
from palaestra.lab.sweep_trial import COMPLETE, FAILED, PRUNED, Encounter, Outcome, Task, falls_behind, write_outcome

SPACE = """
preset = "thesis-small"
[settings]
net = "b1c8"
iterations = 2
"gate.kind" = "off"
[space]
"learn.lr" = { low = 0.001, high = 0.05, log = true }
"selfplay.games" = { low = 2, high = 6, step = 2 }
"selfplay.search.simulations" = [2, 4]
"""


def silent(*heard: object) -> None:
    pass


@pytest.fixture
def space(tmp_path: Path) -> str:
    path = tmp_path / "space.toml"
    path.write_text(SPACE)
    return str(path)


def plan(space: str, **changes: Any) -> Plan:
    given: dict[str, Any] = {"games": 2, "simulations": 2, "anchors": ("random",), **changes}
    sampler = given.pop("sampler", None)
    ends = {"threads": 1, "seed": given.pop("seed", 0)}
    objectives = given.pop("objectives", ("elo", "minutes"))
    return make_plan("tic_tac_toe-3x3", space, objectives, sampler, None, (), ends, **given)


def fake_trial(task: Task) -> Outcome:
    """A trial in no time, whose strength is its learning rate."""
    wins = round(200 * float(task.values["learn.lr"]))
    against = [*task.anchors, *(f"trial {number}" for number in task.rivals)]
    matches = tuple(Encounter(name, (wins, 0, 10 - wins), (wins, 0, 10 - wins)) for name in against)
    seconds = {"selfplay": 6.0 * int(task.values["selfplay.games"])}
    made = Outcome(task.number, COMPLETE, dict(task.values), "", 2, seconds, 1.0, ((2, 0.5),), matches)
    write_outcome(task.folder, made)
    return made


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Trials in no time; the numbers of those that were done."""
    done: list[int] = []

    def trial(task: Task) -> Outcome:
        done.append(task.number)
        return fake_trial(task)

    monkeypatch.setattr(module, "do_trial", trial)
    return done


def states(folder: Path, storage: str = "sqlite") -> list[str]:
    kept = module._storage(folder / ("study.db" if storage == "sqlite" else "study.journal"), storage)
    return [trial.state.name for trial in optuna.load_study(study_name="sweep", storage=kept).trials]


@pytest.mark.parametrize("sampler", ["tpe", "nsga2", "random", "grid"])
@pytest.mark.parametrize("storage", ["sqlite", "journal"])
def test_a_sweep_goes_on_to_so_many_trials_in_all(tmp_path: Path, quick: list[int], sampler: str, storage: str) -> None:
    path = tmp_path / "space.toml"
    path.write_text(SPACE.replace("{ low = 0.001, high = 0.05, log = true }", "[0.001, 0.01, 0.05]"))
    wanted = plan(str(path), sampler=sampler, storage=storage)
    run_sweep(tmp_path / "s", wanted, 4, "here", silent)
    run_sweep(tmp_path / "s", wanted, 7, "here", silent)
    run_sweep(tmp_path / "s", wanted, 7, "here", silent)
    assert quick == list(range(7))
    assert states(tmp_path / "s", storage) == ["COMPLETE"] * 7


def test_a_grid_is_tried_once_in_order_and_has_an_end(tmp_path: Path, quick: list[int]) -> None:
    path = tmp_path / "space.toml"
    path.write_text('design = "grid"\n' + SPACE.replace("{ low = 0.001, high = 0.05, log = true }", "[0.001, 0.05]"))
    wanted = plan(str(path))
    run_sweep(tmp_path / "s", wanted, None, "here", silent)
    values = [outcome.values for outcome in read_outcomes(tmp_path / "s")]
    assert values == wanted.space.grid() and len(values) == 12
    with pytest.raises(ConfigError, match="has 12 trials"):
        run_sweep(tmp_path / "s", wanted, 13, "here", silent)
    with pytest.raises(ConfigError, match="leave --sampler out"):
        plan(str(path), sampler="tpe")


def test_the_same_seed_chooses_the_same_trials(tmp_path: Path, space: str, quick: list[int]) -> None:
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        run_sweep(tmp_path / name, plan(space, seed=seed), 3, "here", silent)
    a, b, c = ([outcome.values for outcome in read_outcomes(tmp_path / name)] for name in "abc")
    assert a == b != c


def test_a_trial_that_was_begun_goes_on_under_its_number(
    tmp_path: Path, space: str, quick: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, wanted = tmp_path / "s", plan(space)

    def killed(task: Task) -> Outcome:
        raise KeyboardInterrupt

    run_sweep(folder, wanted, 2, "here", silent)
    with monkeypatch.context() as patched:
        patched.setattr(module, "do_trial", killed)
        with pytest.raises(KeyboardInterrupt):
            run_sweep(folder, wanted, 4, "here", silent)
    assert states(folder) == ["COMPLETE", "COMPLETE", "RUNNING"]
    run_sweep(folder, wanted, 4, "here", silent)
    assert quick == [0, 1, 2, 3]
    assert states(folder) == ["COMPLETE"] * 4


def test_an_outcome_that_the_study_did_not_hear_of_is_told_and_not_done_again(
    tmp_path: Path, space: str, quick: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, wanted = tmp_path / "s", plan(space)
    with monkeypatch.context() as patched:
        patched.setattr(module._Study, "_tell", lambda self, outcome: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run_sweep(folder, wanted, 1, "here", silent)
    monkeypatch.undo()  # the real trial: it must find the outcome and train nothing
    run_sweep(folder, wanted, 1, "here", silent)
    assert states(folder) == ["COMPLETE"] and not (folder / "trials" / "0000").exists()


@pytest.mark.parametrize("storage", ["sqlite", "journal"])
def test_a_damaged_database_loses_nothing(tmp_path: Path, space: str, quick: list[int], storage: str) -> None:
    folder, wanted = tmp_path / "s", plan(space, storage=storage)
    run_sweep(folder, wanted, 3, "here", silent)
    file = folder / ("study.db" if storage == "sqlite" else "study.journal")
    file.write_bytes(b"this is no database\n" * 100)
    with pytest.raises(RunError, match="remove it, and it is made again") as error:
        run_sweep(folder, wanted, 4, "here", silent)
    assert "\n" not in str(error.value)
    assert len(summarise(folder)["trials"]) == 3  # a report needs no database
    file.unlink()
    run_sweep(folder, wanted, 4, "here", silent)
    assert quick == [0, 1, 2, 3] and states(folder, storage) == ["COMPLETE"] * 4


def test_values_that_do_not_go_together_fail_alone(tmp_path: Path, quick: list[int]) -> None:
    path = tmp_path / "space.toml"
    lines = '[space]\n"gate.games" = { low = 3, high = 5 }\n"learn.lr" = [0.01, 0.05]\n"selfplay.games" = [2, 4]'
    path.write_text('preset = "thesis-small"\ndesign = "grid"\n' + lines)
    run_sweep(tmp_path / "t", plan(str(path)), None, "here", silent)
    assert quick == [4, 5, 6, 7]
    found = {outcome.values["gate.games"]: outcome for outcome in read_outcomes(tmp_path / "t")}
    assert {number: outcome.state for number, outcome in found.items()} == {3: FAILED, 4: COMPLETE, 5: FAILED}
    assert "even number" in found[3].reason


def test_the_folder_of_another_sweep_is_left_alone(tmp_path: Path, space: str, quick: list[int]) -> None:
    folder = tmp_path / "s"
    run_sweep(folder, plan(space), 1, "here", silent)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for other, words in (
        (plan(space, seed=3), "seed 0 there, 3 here"),
        (plan(space, objectives=("loss",)), "objectives"),
        (plan(space, games=4), "games 2 there, 4 here"),
    ):
        with pytest.raises(RunError, match=f"holds another sweep .*{words}"):
            run_sweep(folder, other, 2, "here", silent)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(RunError, match="is no sweep"):
        run_sweep(tmp_path / "mine", plan(space), 1, "here", silent)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]


def test_new_trials_meet_the_best_and_the_middle_one() -> None:
    def one(number: int, wins: int) -> Outcome:
        return Outcome(number, COMPLETE, {}, matches=(Encounter("random", (wins, 0, 9 - wins), (wins, 0, 9 - wins)),))

    assert rivals([one(0, 1), one(1, 8), one(2, 5), Outcome(3, PRUNED, {})], ("random",)) == (1, 2)
    assert rivals([], ("random",)) == ()


def test_only_a_curve_below_the_median_of_enough_others_is_stopped() -> None:
    curves = tuple(((5, 0.5 + 0.01 * k), (10, 0.7 + 0.01 * k)) for k in range(6))
    assert falls_behind(curves, [(5, 0.3)])
    assert not falls_behind(curves, [(5, 0.6)])
    assert not falls_behind(curves[:4], [(5, 0.3)])


def test_a_page_holds_every_figure_and_escapes_what_files_say(tmp_path: Path, space: str, quick: list[int]) -> None:
    folder = tmp_path / "a<b>"
    run_sweep(folder, plan(space), 8, "here", silent)
    page = make_page(folder)
    for title in ("Strength and time", "Rank correlations", "Importances", "Slices", "Parallel coordinates"):
        assert title in page
    assert "a&lt;b&gt;" in page and "a<b>" not in page
    assert 'src="' not in page and 'href="http' not in page


def test_one_real_sweep_from_training_to_elo(tmp_path: Path, space: str) -> None:
    run_sweep(tmp_path / "s", plan(space, prune=False), 2, "here", silent)
    first, second = read_outcomes(tmp_path / "s")
    assert first.iterations == 2 and first.seconds["selfplay"] > 0 and first.loss is not None
    assert [match.against for match in second.matches] == ["random", "trial 0"]
    assert all(sum(match.first) + sum(match.second) == 2 for match in second.matches)


@pytest.mark.slow
def test_killed_again_and_again_no_trial_is_lost_or_doubled(tmp_path: Path, space: str) -> None:
    command = [
        sys.executable, "-m", "palaestra", "sweep", "tic_tac_toe-3x3", "--space", space, "--trials", "6",
        "--games", "2", "--simulations", "2", "--against", "random", "--jobs", "2", "--threads", "1", "--out", "s",
    ]  # fmt: skip
    for seconds in (8.0, 12.0, 16.0):
        process = subprocess.Popen(command, cwd=tmp_path, start_new_session=True, stderr=subprocess.DEVNULL)
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [outcome.number for outcome in read_outcomes(tmp_path / "s")] == list(range(6))
    assert states(tmp_path / "s") == ["COMPLETE"] * 6
