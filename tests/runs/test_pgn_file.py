"""A file of games that is whole up to the last finished game, whenever its writer is killed."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from palaestra.base.errors import RecordError
from palaestra.runs.pgn_file import PgnFile
from palaestra.runs.pgn_games import read_games


def game(number: int, result: str = "1-0") -> str:
    moves = " ".join(f"{ply}. a1 {{+0.10}} b2 {{-0.10}}" for ply in range(1, 5 + number % 7))
    return f'[Event "t"]\n[Round "{number}"]\n[White "a"]\n[Black "b"]\n[Result "{result}"]\n\n{moves} {result}\n\n'


def test_games_are_appended_and_found_again(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    with PgnFile.open(path) as file:
        assert file.games == []
        for number in range(3):
            file.write(game(number))
    with PgnFile.open(path, resume=True) as file:
        assert [found.tags["Round"] for found in file.games] == ["0", "1", "2"]
        file.write(game(3, "1/2-1/2"))
    assert path.read_text() == game(0) + game(1) + game(2) + game(3, "1/2-1/2")


def test_cut_at_any_byte_the_whole_games_remain_and_writing_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # hundreds of times, and no power is cut here
    path = tmp_path / "games.pgn"
    pieces = [game(0), game(1, "1/2-1/2"), game(2, "*")]
    whole = "".join(pieces).encode()
    ends = [0, *(len("".join(pieces[: i + 1])) for i in range(3))]
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        with PgnFile.open(path, resume=True) as file:
            done = max(i for i, end in enumerate(ends) if end <= size)
            assert [found.tags["Round"] for found in file.games] == ["0", "1", "2"][:done]
            for piece in pieces[done:]:
                file.write(piece)
        assert path.read_bytes() == whole


def test_a_file_that_exists_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(game(0))
    with pytest.raises(RecordError, match=r"games\.pgn exists; give another name, or resume"):
        PgnFile.open(path)
    assert path.read_text() == game(0)


def test_resuming_what_is_not_there_begins_it(tmp_path: Path) -> None:
    with PgnFile.open(tmp_path / "games.pgn", resume=True) as file:
        assert file.games == []


@pytest.mark.parametrize(
    "text",
    [
        "a letter\nto a friend\n",
        game(0) + "my own notes\n",
        (game(0) + game(1)).replace("\n", "\r\n"),
        '{"games": []}',
        game(0).replace("1. a1", "1. ) a1") + game(1),
    ],
)
def test_what_is_no_file_of_ours_is_refused_and_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "games.pgn"
    path.write_bytes(text.encode())
    with pytest.raises(RecordError) as error:
        PgnFile.open(path, resume=True)
    assert len(str(error.value).splitlines()) == 1 and "games.pgn" in str(error.value) and "line" in str(error.value)
    assert path.read_bytes() == text.encode()


def test_nothing_changes_before_the_first_game_is_written(tmp_path: Path) -> None:
    torn, new = tmp_path / "torn.pgn", tmp_path / "new.pgn"
    torn.write_text(game(0) + game(1)[:50])
    with PgnFile.open(torn, resume=True) as file:
        assert len(file.games) == 1
    assert torn.read_text() == game(0) + game(1)[:50]
    PgnFile.open(new).close()
    assert not new.exists()


def test_two_writers_do_not_meet_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    with PgnFile.open(path), pytest.raises(RecordError, match="another process"):
        PgnFile.open(path, resume=True)
    PgnFile.open(path).close()


def test_a_place_where_nothing_can_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"cannot write .*no such file or directory"):
        PgnFile.open(tmp_path / "no" / "games.pgn")
    with pytest.raises(RecordError, match=r"cannot write .*is a directory"):
        PgnFile.open(tmp_path, resume=True)


def test_a_full_disk_is_one_line_and_costs_the_last_game_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "games.pgn"
    real = os.write
    left = len(game(0)) + 30

    def write(handle: int, data: memoryview) -> int:
        nonlocal left
        if not left:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = real(handle, data[:left])
        left -= written
        return written

    with PgnFile.open(path) as file:
        monkeypatch.setattr(os, "write", write)
        file.write(game(0))
        with pytest.raises(RecordError, match="no space left on device"):
            file.write(game(1))
        monkeypatch.undo()
    with PgnFile.open(path, resume=True) as file:
        assert len(file.games) == 1


WRITER = """
import sys
from palaestra.runs.pgn_file import PgnFile
from tests.runs.test_pgn_file import game
with PgnFile.open(sys.argv[1], resume=True) as file:
    for number in range(len(file.games), 10**6):
        file.write(game(number))
"""


def test_killed_again_and_again_the_file_is_whole_games_in_order(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    before = 0
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], cwd=Path(__file__).parents[2])
        while not path.exists() or path.stat().st_size < before + 20_000:
            time.sleep(0.002)
            assert process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        before = path.stat().st_size
    with PgnFile.open(path, resume=True) as file:
        count = len(file.games) + 1
        file.write(game(count - 1))
    assert path.read_text() == "".join(game(number) for number in range(count))
    assert len(read_games(path.read_text())) == count > 100
