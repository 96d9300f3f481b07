"""What others may have written is not believed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from palaestra.base.own_files import NotOwn, read_own, write_own

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system knows no owners")


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    path = tmp_path / "root" / "folder" / "name"
    write_own(path, b"own", "temporary")
    return path


def test_what_was_written_is_read_and_only_the_user_can_enter(kept: Path) -> None:
    write_own(kept, b"again", "temporary")
    assert read_own(kept) == b"again"
    assert os.listdir(kept.parent) == ["name"]
    assert [path.stat().st_mode & 0o777 for path in (kept.parent.parent, kept.parent, kept)] == [0o700, 0o700, 0o600]


def test_what_is_not_there_is_an_ordinary_error(tmp_path: Path, kept: Path) -> None:
    for path in (kept.with_name("other"), kept.parent.with_name("other") / "name", tmp_path / "a" / "b" / "c"):
        with pytest.raises(FileNotFoundError):
            read_own(path)


@pytest.mark.parametrize("mode", [0o020, 0o002])
@pytest.mark.parametrize("level", [0, 1, 2])
def test_what_others_can_write_is_refused(kept: Path, level: int, mode: int) -> None:
    changed = [kept, *kept.parents][level]
    changed.chmod(changed.stat().st_mode | mode)
    with pytest.raises(NotOwn, match=f"others can write {changed}"):
        read_own(kept)


def test_what_another_user_owns_is_refused(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)
    with pytest.raises(NotOwn, match="root belongs to another user"):
        read_own(kept)
    with pytest.raises(NotOwn, match="root belongs to another user"):
        write_own(kept, b"", "temporary")


def replace_by_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def replace_by_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("change", "level", "said"),
    [
        (replace_by_link, 0, "symbolic link"),
        (replace_by_link, 1, "symbolic link"),
        (replace_by_pipe, 0, "not a regular file"),
    ],
)
def test_links_and_pipes_are_refused(kept: Path, change: Callable[[Path], None], level: int, said: str) -> None:
    change([kept, *kept.parents][level])
    with pytest.raises(NotOwn, match=said):
        read_own(kept)


def test_the_uppermost_folder_may_be_a_link_of_the_user(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_by_link(kept.parent.parent)
    assert read_own(kept) == b"own"
    real = os.lstat

    def foreign(path: Path) -> os.stat_result:
        fields = list(real(path))
        fields[4] += 1  # st_uid
        return os.stat_result(fields)

    monkeypatch.setattr(os, "lstat", foreign)
    with pytest.raises(NotOwn, match="link of another user"):
        read_own(kept)


def test_without_owners_files_are_simply_read_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("palaestra.base.own_files._OWNERS", False)  # as on Windows
    path = tmp_path / "root" / "folder" / "name"
    write_own(path, b"own", "temporary")
    assert read_own(path) == b"own"
    assert os.listdir(path.parent) == ["name"]
