"""Whatever a file is, reading it ends, in a value, an OSError or a ValueError."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from palaestra.base.reading import MOST_DEPTH, MOST_TEXT, MOST_TOML, parse_json, parse_toml, read_bytes


def test_files_are_read_whole(tmp_path: Path) -> None:
    (path := tmp_path / "file").write_bytes(b"abc")
    assert read_bytes(path) == read_bytes(str(path), most=3) == b"abc"
    with pytest.raises(OSError, match="larger than 2 bytes"):
        read_bytes(path, most=2)


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for path, words in (
        (tmp_path / "pipe", "not a regular file"),
        (Path("/dev/zero"), "not a regular file"),
        (tmp_path, "it is a folder"),
        (tmp_path / "none", "No such file"),
        (tmp_path / "loop", "symbolic links"),
        ("a\0b", "no file can have this name"),
        ("\ud800", "no file can have this name"),
        ("a" * 300, "too long"),
    ):
        with pytest.raises(OSError, match=words):
            read_bytes(path)


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    with (path := tmp_path / "sparse").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(OSError, match="larger than"):
        read_bytes(path)


def test_json_and_toml_are_read() -> None:
    assert parse_json(b'{"a": [1, 2.5, null, "x"]}') == parse_json('{"a": [1, 2.5, null, "x"]}')
    assert parse_toml(b'a.b = [1, "x"]\n[c]\nd = 2026-01-01') == parse_toml('a.b = [1, "x"]\n[c]\nd = 2026-01-01')
    deep = MOST_DEPTH - 1
    assert parse_json("[" * deep + "]" * deep) and parse_toml("a = " + "[" * (deep - 1) + "]" * (deep - 1))


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "[", "NaN", "[Infinity]", "-Infinity", "9" * 5000, "\ud800",
        "[" * (MOST_DEPTH + 1) + "]" * (MOST_DEPTH + 1), "[" * 100_000, '{"a":' * 100_000, " " * (MOST_TEXT + 1),
    ],
)  # fmt: skip
def test_json_that_cannot_be_used_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        parse_json(text)


def test_bytes_that_are_no_text_are_a_value_error() -> None:
    for parse in (parse_json, parse_toml):
        with pytest.raises(ValueError):
            parse(b"\xff\xfe\x00")


@pytest.mark.parametrize(
    "text",
    [
        "x", "a = ", "a = " + "9" * 5000, "a = " + "[" * 100 + "]" * 100, "a = " + "[" * 30_000, "a = " + "{a=" * 9000,
        "a" + ".a" * 101 + " = 1", "a" + ".a" * 30_000 + " = 1", "[a" + ".a" * 30_000 + "]",
        "\n".join(f"[a{'.a' * 90}]\na{'.a' * 90} = {n}" for n in range(2)), "#" * (MOST_TOML + 1),
    ],
)  # fmt: skip
def test_toml_that_cannot_be_used_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        parse_toml(text)
