"""Restarts of a search: the journal, the solutions that are kept, and what an interruption leaves behind."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from palaestra.arena.solutions import check_solution
from palaestra.base.atomic import append_file
from palaestra.base.errors import RunError
from palaestra.games.registry import make_game
from palaestra.lab import solve_folder
from palaestra.lab.restarts import Limits, Restarts
from palaestra.lab.solve_folder import About, Entry, Journal, open_folder, read_journal
from palaestra.players.base import Player
from palaestra.players.registry import make_player
from palaestra.players.solo import games_at_once, play_whole
from palaestra.runs.solutions import parse_solution

GAME = make_game("morpion-4d")
TEXT = "nrpa(level=1, n=15)"


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)


def about(text: str = TEXT, **changes: object) -> About:
    player = make_player(text, GAME)
    return replace(About(GAME.id, GAME.version, player.text, 5, "", games_at_once(player)), **changes)  # type: ignore[arg-type]


def session(
    path: Path,
    limits: Limits,
    threads: int = 1,
    wanted: About | None = None,
    listen: Callable[[Entry], None] = lambda entry: None,
) -> Restarts:
    wanted = wanted or about()
    players: list[Player] = [make_player(wanted.player, GAME) for _ in range(threads)]
    with open_folder(path, GAME, wanted) as folder:
        run = Restarts(folder, players, limits)
        run.run(listen)
    return run


def results(journal: Journal) -> dict[int, dict[int, int]]:
    return {entry.restart: entry.scores for entry in journal.entries}


def solutions(path: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in sorted((path / "solutions").iterdir())}


def test_every_restart_is_in_the_journal_with_the_score_that_its_number_gives(tmp_path: Path) -> None:
    run = session(tmp_path / "a", Limits(restarts=6))
    journal = read_journal(tmp_path / "a")
    assert run.stopped_by == "restarts" and results(journal) == results(run.folder.journal)
    player, root = make_player(TEXT, GAME), GAME.initial(1)[0]
    outcomes = play_whole(player, root, 5, range(6)).outcomes.tolist()
    assert [entry.scores for entry in journal.entries] == [{outcome: 1} for outcome in outcomes]
    assert journal.scores == {score: outcomes.count(score) for score in outcomes}
    assert journal.best == max(outcomes) and journal.restarts == 6
    seconds = [entry.seconds for entry in journal.entries]
    assert seconds == sorted(seconds) and journal.seconds == seconds[-1]
    assert journal.first_met == {score: seconds[outcomes.index(score)] for score in outcomes}


def test_two_sessions_and_two_threads_are_the_same_as_one(tmp_path: Path) -> None:
    session(tmp_path / "whole", Limits(restarts=8))
    session(tmp_path / "parts", Limits(restarts=3), threads=2)
    session(tmp_path / "parts", Limits(restarts=5), threads=2)
    whole, parts = read_journal(tmp_path / "whole"), read_journal(tmp_path / "parts")
    assert results(whole) == results(parts)
    assert whole.best == parts.best


def test_each_new_best_is_kept_and_verified(tmp_path: Path) -> None:
    session(tmp_path / "a", Limits(restarts=25))
    journal = read_journal(tmp_path / "a")
    risen = list[int]()
    for entry in journal.entries:
        if max(entry.scores) > max(risen, default=-1):
            risen.append(max(entry.scores))
    kept = {name: text for name, text in solutions(tmp_path / "a").items() if name.endswith(".txt")}
    assert sorted({int(name[:3]) for name in kept}) == risen and len(risen) > 1
    for name, text in kept.items():
        solution = parse_solution(text, name)
        assert check_solution(solution).score == solution.score == int(name[:3])
        assert (tmp_path / "a" / "solutions" / name).with_suffix(".svg").read_text().startswith("<svg")
        assert solution.notes[-1] == f"found by {TEXT}, seed 5, restart {int(name.split('-')[2][:6])}"


def test_grids_that_are_images_of_each_other_are_one(tmp_path: Path) -> None:
    root = GAME.initial(1)[0]
    player = make_player("random", GAME)
    games = play_whole(player, root, 1, range(300))
    score = int(games.outcomes.max())
    best = games.lines[int(games.outcomes.argmax())]
    mirror = GAME.symmetries[3]
    image = mirror.actions[best]
    other = min(games.lines, key=len)
    with open_folder(tmp_path / "a", GAME, about()) as folder:
        for number, line in enumerate((other, best, image, best)):
            outcomes = np.array([len(line)], dtype=np.int32)
            folder.record(Entry(number, 1, {len(line): 1}, 1.0, 1.0), outcomes, [line])
        assert folder.journal.restarts == 4
    names = [name for name in solutions(tmp_path / "a") if name.endswith(".txt")]
    assert names == [f"{len(other):03d}-restart-000000.txt", f"{score:03d}-restart-000001.txt"]
    with open_folder(tmp_path / "a", GAME, about()) as folder:  # what is known survives the session
        folder.record(Entry(4, 1, {score: 1}, 1.0, 1.0), np.array([score], dtype=np.int32), [image])
    assert [name for name in solutions(tmp_path / "a") if name.endswith(".txt")] == names


def test_different_grids_of_the_best_score_are_all_kept_up_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = play_whole(make_player("random", GAME), GAME.initial(1)[0], 1, range(2000))
    outcomes = games.outcomes
    common = int(np.bincount(outcomes).argmax())
    lines = [line for line, outcome in zip(games.lines, outcomes, strict=True) if outcome == common][:6]
    several = np.full(6, common, dtype=np.int32)
    for most, kept in ((1000, 6), (4, 4)):
        monkeypatch.setattr(solve_folder, "MOST_EQUALS", most)
        with open_folder(tmp_path / str(most), GAME, about()) as folder:
            folder.record(Entry(0, 6, {common: 6}, 1.0, 1.0), several, lines)
            assert len(folder.best_files()) == kept


def test_a_target_ends_it_at_once_and_is_not_searched_for_again(tmp_path: Path) -> None:
    run = session(tmp_path / "a", Limits(target=20, restarts=1000))
    best = run.folder.journal.best
    assert run.stopped_by == "target" and best is not None and best >= 20
    made = run.folder.journal.restarts
    assert made < 1000
    again = session(tmp_path / "a", Limits(target=20, restarts=1000))
    assert again.stopped_by == "target" and again.folder.journal.restarts == made


def test_time_that_is_up_leaves_no_trace_of_the_restarts_under_way(tmp_path: Path) -> None:
    run = session(tmp_path / "a", Limits(seconds=0.3), threads=2, wanted=about("nrpa(level=6)"))
    assert run.stopped_by == "time" and run.folder.journal.entries == [] and run.under_way == {}
    assert (tmp_path / "a" / "journal.jsonl").read_bytes() == b""


def test_time_that_players_took_to_make_counts(tmp_path: Path) -> None:
    with open_folder(tmp_path / "a", GAME, about()) as folder:
        run = Restarts(folder, [make_player(TEXT, GAME)], Limits(restarts=1, seconds=1e6), time.perf_counter() - 1000)
        run.run(lambda entry: None)
        assert run.seconds_left is not None and run.seconds_left < 1e6 - 1000
    assert read_journal(tmp_path / "a").entries[0].seconds > 1000
    with open_folder(tmp_path / "a", GAME, about()) as folder:  # the next session adds to it
        assert Restarts(folder, [make_player(TEXT, GAME)], Limits()).seconds > 1000


def test_an_interrupt_keeps_what_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    three = threading.Event()
    ended: list[Entry] = []

    def hear(entry: Entry) -> None:
        ended.append(entry)
        if len(ended) == 3:
            three.set()

    def interrupted(self: Restarts, working: object) -> None:
        three.wait(60)
        raise KeyboardInterrupt

    monkeypatch.setattr(Restarts, "_watch", interrupted)
    run = session(tmp_path / "a", Limits(), threads=2, listen=hear)
    assert run.stopped_by == "interrupt" and len(ended) >= 3
    assert read_journal(tmp_path / "a").entries == [
        replace(entry, seconds=round(entry.seconds, 3), took=round(entry.took, 3)) for entry in ended
    ]


def test_an_interrupt_while_threads_are_started_ends_those_that_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit, begun = ThreadPoolExecutor.submit, list[int]()

    def interrupted(pool: ThreadPoolExecutor, work: Callable[..., None], *arguments: Any) -> Future[None]:
        if begun:
            raise KeyboardInterrupt
        begun.append(1)
        return submit(pool, work, *arguments)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
    assert session(tmp_path / "a", Limits(), threads=2).stopped_by == "interrupt"


def test_an_error_of_a_player_is_told_and_ends_all_threads(tmp_path: Path) -> None:
    with open_folder(tmp_path / "a", GAME, about("uct(simulations=2)")) as folder:
        broken = make_player("uct(simulations=2)", GAME)
        broken.act = lambda *arguments: 1 / 0  # type: ignore[method-assign, assignment, return-value]
        run = Restarts(folder, [make_player("uct(simulations=2)", GAME), broken], Limits())
        with pytest.raises(ZeroDivisionError):
            run.run(lambda entry: None)


def test_a_disk_that_takes_no_more_ends_it_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []

    def full(path: Path, data: bytes, at: int) -> None:
        if len(written) == 2:
            path.write_bytes(path.read_bytes()[:at] + data[:9])
            raise RunError(f"cannot write {path}: no space left on device")
        written.append(data)
        append_file(path, data, at)

    with monkeypatch.context() as patched:
        patched.setattr(solve_folder, "append_file", full)
        with pytest.raises(RunError, match="no space left"):
            session(tmp_path / "a", Limits(restarts=5))
    session(tmp_path / "a", Limits(restarts=3))
    session(tmp_path / "whole", Limits(restarts=5))
    assert results(read_journal(tmp_path / "a")) == results(read_journal(tmp_path / "whole"))


def test_a_gap_that_a_kill_left_is_filled_first(tmp_path: Path) -> None:
    session(tmp_path / "a", Limits(restarts=5))
    path = tmp_path / "a" / "journal.jsonl"
    whole = results(read_journal(tmp_path / "a"))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], lines[3], lines[4], lines[1][:20]]))  # 1 and 2 missing, and a torn line
    session(tmp_path / "a", Limits(restarts=2))
    journal = read_journal(tmp_path / "a")
    assert [entry.restart for entry in journal.entries] == [0, 3, 4, 1, 2]
    assert results(journal) == whole


@pytest.mark.slow  # a search of level 3 takes a quarter of a minute on a core
def test_one_restart_of_level_3_comes_near_the_record(tmp_path: Path) -> None:
    """75 to 82 in two hundred restarts (sources: prototype of Morpion)."""
    game = make_game("morpion-5d")
    player = make_player("nrpa(level=3)", game)
    with open_folder(tmp_path / "a", game, About(game.id, game.version, player.text, 0, "", 1)) as folder:
        Restarts(folder, [player], Limits(restarts=1)).run(lambda entry: None)
        (solution,) = folder.best_solutions()
    assert 74 <= solution.score <= 84
    assert check_solution(solution).score == solution.score


def test_random_games_are_counted_many_to_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("palaestra.players.solo.RANDOM_GAMES", 50)
    session(tmp_path / "a", Limits(restarts=100), wanted=about("random"))
    monkeypatch.setattr("palaestra.players.solo.RANDOM_GAMES", 7)  # a folder goes on as it began
    session(tmp_path / "a", Limits(restarts=50), wanted=about("random"))
    journal = read_journal(tmp_path / "a")
    assert [(entry.restart, entry.count) for entry in journal.entries] == [(0, 50), (50, 50), (100, 50)]
    outcomes = play_whole(make_player("random", GAME), GAME.initial(1)[0], 5, range(150)).outcomes
    assert journal.scores == {score: int((outcomes == score).sum()) for score in set(outcomes.tolist())}


@pytest.mark.parametrize(
    ("changes", "piece"),
    [
        ({"seed": 6}, "solves with seed 5, not 6"),
        ({"player": "random"}, "solves with player 'nrpa(level=1, n=15)', not 'random'"),
        ({"opening": "m15e"}, "solves with opening '', not 'm15e'"),
        ({"avoided_grids": "1b"}, "solves with avoided grids '', not '1b'"),
    ],
)
def test_a_folder_of_another_search_is_refused(tmp_path: Path, changes: dict[str, object], piece: str) -> None:
    session(tmp_path / "a", Limits(restarts=1))
    before = solutions(tmp_path / "a")
    with pytest.raises(RunError) as error, open_folder(tmp_path / "a", GAME, about(**changes)):
        pass
    assert piece in str(error.value) and "\n" not in str(error.value)
    assert solutions(tmp_path / "a") == before


def test_a_folder_with_other_files_or_damage_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(RunError, match=r"holds other files, such as notes\.txt"), open_folder(tmp_path, GAME, about()):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    session(tmp_path / "a", Limits(restarts=1))
    (tmp_path / "a" / "journal.jsonl").write_text("nonsense\n")
    with pytest.raises(RunError, match=r"damaged in line 1"):
        read_journal(tmp_path / "a")
    (tmp_path / "a" / "solve.json").write_text(json.dumps({"format": 1}))
    with pytest.raises(RunError, match=r"solve\.json is damaged"):
        read_journal(tmp_path / "a")
    with pytest.raises(RunError, match=r"is no folder of palaestra solve"):
        read_journal(tmp_path / "b")


@pytest.mark.parametrize(
    "change", [{"restart": None}, {"scores": {}}, {"scores": {"a": 1}}, {"seconds": "soon"}, {"took": []}]
)
def test_a_line_of_the_journal_that_says_nothing_is_named(tmp_path: Path, change: dict[str, Any]) -> None:
    session(tmp_path / "a", Limits(restarts=2))
    path = tmp_path / "a" / "journal.jsonl"
    first, second = path.read_text().splitlines()
    path.write_text(f"{first}\n{json.dumps(json.loads(second) | change)}\n")
    with pytest.raises(RunError, match=r"damaged in line 2"):
        read_journal(tmp_path / "a")


def test_a_journal_of_nobody_knows_what_is_not_written_over(tmp_path: Path) -> None:
    session(tmp_path / "a", Limits(restarts=2))
    journal = (tmp_path / "a" / "journal.jsonl").read_bytes()
    (tmp_path / "a" / "solve.json").unlink()
    with pytest.raises(RunError, match=r"a journal\.jsonl but no solve\.json"):
        session(tmp_path / "a", Limits(restarts=1))
    assert (tmp_path / "a" / "journal.jsonl").read_bytes() == journal


def test_a_folder_that_another_process_makes_at_the_same_moment_keeps_its_own_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(path: Path) -> None:
        monkeypatch.undo()
        session(tmp_path / "a", Limits(restarts=1), wanted=about(seed=6))

    monkeypatch.setattr(solve_folder, "make_folder", slow)
    with pytest.raises(RunError, match="solves with seed 6, not 5"):
        session(tmp_path / "a", Limits(restarts=1))
    assert read_journal(tmp_path / "a").about.seed == 6


def test_only_one_process_writes_a_folder(tmp_path: Path) -> None:
    with (
        open_folder(tmp_path / "a", GAME, about()),
        pytest.raises(RunError, match="is being written by another process"),
        open_folder(tmp_path / "a", GAME, about()),
    ):
        pass
