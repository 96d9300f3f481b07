"""The folder of a search for one player, looked at while it grows."""

from __future__ import annotations

from pathlib import Path

import pytest

from palaestra.base.errors import RunError
from palaestra.lab.solve_folder import JOURNAL
from palaestra.live.solve_file import SolveFile
from palaestra.live.solving import solve


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("solve") / "morpion"
    solve("morpion-4d", "nrpa(level=1)", restarts=6, threads=1, out=folder)
    return folder


def test_a_folder_tells_what_its_session_told(solved: Path) -> None:
    file = SolveFile(solved)
    assert file.standing == "no restart has ended yet" and file.best_files() == []
    assert file.look() and not file.look()
    assert file.journal.restarts == 6 and file.standing.startswith(f"best {file.journal.best}, 6 restarts")
    assert "morpion-4d, nrpa(level=1)" in file.title
    solution = file.solution(file.best_files()[0])
    assert solution.score == file.journal.best == len(solution.rows)
    times, bests = zip(*file.best_over_time(), strict=True)
    assert list(bests) == sorted(bests) and list(times) == sorted(times) and bests[-1] == file.journal.best
    assert len(file.pieces_over_time()) == 6


def test_lines_are_read_once_and_a_torn_one_later(solved: Path, tmp_path: Path) -> None:
    data = (solved / JOURNAL).read_bytes()
    (tmp_path / "solve.json").write_bytes((solved / "solve.json").read_bytes())
    file = SolveFile(tmp_path)
    for end in range(0, len(data) + 31, 31):
        (tmp_path / JOURNAL).write_bytes(data[:end])
        file.look()
    assert file.journal.restarts == 6 and [entry.count for entry in file.journal.entries] == [1] * 6
    (tmp_path / JOURNAL).write_bytes(data + b"nonsense\n")
    with pytest.raises(RunError, match="damaged in line 7"):
        file.look()


def test_another_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no folder of palaestra solve"):
        SolveFile(tmp_path)
