"""`palaestra rate` as a person meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli


def pgn(white: str, black: str, result: str, more: str = "") -> str:
    return f'[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n{more}\n1. a1 {{+0.10}} b2 {result}\n\n'


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """28–12 with the sides split (sources: rating test vectors)."""
    path = tmp_path / "games.pgn"
    path.write_text(
        (pgn("a", "b", "1-0") + pgn("b", "a", "0-1")) * 14 + (pgn("a", "b", "0-1") + pgn("b", "a", "1-0")) * 6
    )
    return path


def test_the_published_ratings_come_out_as_json(cli: Cli, games: Path) -> None:
    done = cli("rate", str(games), "--json")
    assert done.code == 0 and done.err == "" and len(done.out.splitlines()) == 1
    found = json.loads(done.out)
    assert [row["player"] for row in found["ratings"]] == ["a", "b"]
    assert [row["elo"] for row in found["ratings"]] == pytest.approx([82.47, -82.47], abs=0.01)
    assert set(found["ratings"][0]) == {"player", "elo", "plus", "minus", "games", "score", "draws", "opponents"}
    assert (found["games"], found["skipped"], found["advantage"], found["draw"]) == (40, {}, 32.8, 97.3)
    assert found["superiority"][0][1] > 0.98 and found["superiority"][0][1] + found["superiority"][1][0] == 1.0


def test_a_person_gets_a_table_and_the_matrix_if_asked(cli: Cli, games: Path) -> None:
    plain, full = cli("rate", str(games)), cli("rate", str(games), "--superiority")
    assert plain.code == full.code == 0 and plain.err == full.err == ""
    assert "40 games of 2 players" in " ".join(plain.out.split()) and "superiority" not in plain.out
    assert "Likelihood of superiority" in full.out


def test_the_options_of_the_model_reach_it(cli: Cli, games: Path) -> None:
    def elo(*options: str) -> list[float]:
        return [row["elo"] for row in json.loads(cli("rate", str(games), "--json", *options).out)["ratings"]]

    assert elo("--anchor", "b=100")[1] == 100.0
    assert elo("--prior", "20")[0] < elo("--prior", "2")[0]
    assert elo("--draw", "200") != elo()
    assert json.loads(cli("rate", str(games), "--json", "--advantage", "fit").out)["advantage"] == pytest.approx(
        0, abs=1
    )


def test_bad_games_are_refused_or_counted_by_reason(cli: Cli, games: Path) -> None:
    bad = [
        pgn("a", "b", "*"),
        pgn("a", "?", "1-0"),
        pgn("a", "b", "0-1").replace("b2 0-1", "b2 1-0"),
        pgn("a", "a", "*"),
    ]
    games.write_text(games.read_text() + "".join(bad))
    refused = cli("rate", str(games))
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith(f"error: {games}, line 241: game 41: its result is '*'")
    assert refused.err.endswith("--bad-games skip leaves such games out\n") and len(refused.err.splitlines()) == 1
    found = json.loads(cli("rate", str(games), "--bad-games", "skip", "--json").out)
    assert found["games"] == 40 and found["skipped"] == {
        "no result": 1, "no players": 1, "two results": 1, "one player on both sides": 1,
    }  # fmt: skip
    assert "Games left out: no result: 1, " in " ".join(cli("rate", str(games), "--bad-games", "skip").out.split())


def test_one_game_of_many_can_be_chosen(cli: Cli, games: Path) -> None:
    games.write_text(games.read_text() + pgn("x", "y", "1-0", '[Variant "hex-3x3"]\n'))
    found = json.loads(cli("rate", str(games), "--game", "hex-3x3", "--bad-games", "skip", "--json").out)
    assert (found["games"], found["skipped"]) == (1, {"another game": 40})
    assert cli("rate", str(games), "--game", "hex-3x3").code == 2


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_a_picture_is_drawn(cli: Cli, games: Path, ending: str) -> None:
    picture = games.with_suffix(f".{ending}")
    done = cli("rate", str(games), "--plot", str(picture))
    assert done.code == 0 and picture.stat().st_size > 1000


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        (None, (), "cannot read"),
        (b"", (), "has no games to rate"),
        (b"\n{only a comment}\n", (), "has no games to rate"),
        (b"name,score\na,1\n", (), "line 1: 'name,score' is not PGN"),
        (b"\x1f\x8b\x08\x00", (), "gzip -dc"),
        (pgn("a", "b", "*").encode(), ("--bad-games", "skip"), "left out: no result: 1"),
        (pgn("a", "b", "1-0").encode(), ("--bad-games", "ignore"), "refuse"),
        (pgn("a", "b", "1-0").encode(), ("--plot", "x.pdf"), "must end in .png or .svg"),
        (pgn("a", "b", "1-0").encode(), ("--plot", "no/such/folder/x.png"), "cannot write"),
        (pgn("a", "b", "1-0").encode(), ("--anchor", "nobody=0"), "nobody"),
        (pgn("a", "b", "1-0").encode(), ("--prior", "none"), "--prior is 'none'"),
    ],
)
def test_what_cannot_be_rated_is_one_line(
    cli: Cli, tmp_path: Path, content: bytes | None, options: tuple[str, ...], words: str
) -> None:
    path = tmp_path / "x.pgn"
    if content is not None:
        path.write_bytes(content)
    done = cli("rate", str(path), *options)
    assert (done.code, done.out) == (2, "") and len(done.err.splitlines()) == 1
    assert words in done.err
    assert [left.name for left in tmp_path.iterdir()] == ([] if content is None else ["x.pgn"])


def test_a_folder_is_named_as_one(cli: Cli, tmp_path: Path) -> None:
    done = cli("rate", str(tmp_path))
    assert done.code == 2 and "is a folder; give one PGN file" in done.err


def test_a_pipe_is_rated_without_compiled_code_or_torch(games: Path) -> None:
    script = (
        "import sys\nfrom palaestra.cli.main import run\ntry:\n    run(['rate', '-', '--json'])\n"
        "finally:\n    print([name for name in ('numba', 'torch', 'onnxruntime', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input=games.read_bytes(), capture_output=True, check=True, timeout=60
    )
    answer, loaded = done.stdout.decode().splitlines()
    assert json.loads(answer)["games"] == 40 and loaded == "[]"
