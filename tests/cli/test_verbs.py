from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
import typer.main

from palaestra import __version__
from palaestra.cli.main import VERBS, build_app
from palaestra.games.overlay import DECIDING
from palaestra.games.registry import FAMILIES
from palaestra.live.words import short_value
from tests.cli.interrupts import hear_interrupts


def test_alone_it_explains_itself_in_a_screen_and_names_the_demo(cli: Any) -> None:
    done = cli()
    assert done.code == 0 and done.err == ""
    assert "palaestra demo" in done.out
    assert len(done.out.splitlines()) <= 24


def test_the_version_is_the_packages(cli: Any) -> None:
    assert cli("--version").out.strip() == __version__


@pytest.mark.parametrize("verb", [verb for verb, _, _ in VERBS])
def test_every_verb_has_help_with_an_example(cli: Any, verb: str) -> None:
    done = cli(verb, "--help")
    assert done.code == 0
    assert f"Example: palaestra {verb}" in done.out


def test_no_example_in_a_help_text_is_broken_at_80_columns(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    waiting: list[tuple[tuple[str, ...], Any]] = [((), typer.main.get_command(build_app()))]
    while waiting:
        words, command = waiting.pop()
        waiting += [((*words, name), inner) for name, inner in getattr(command, "commands", {}).items()]
        if words:
            assert command.epilog.startswith(f"Example: palaestra {words[0]}")
            lines = [line.strip() for line in cli(*words, "--help").out.splitlines()]
            assert command.epilog in lines, words


@pytest.mark.parametrize("verb, example", [(verb, example) for verb, _, example in VERBS])
def test_every_example_is_a_command_that_can_be_given(verb: str, example: str) -> None:
    program, named, *arguments = shlex.split(example)
    assert (program, named) == ("palaestra", verb)
    group: Any = typer.main.get_command(build_app())
    group.commands[verb].make_context(verb, arguments)  # raises where an option or a value does not exist


def test_games_lists_ids_with_the_agreed_fields(cli: Any) -> None:
    listed = json.loads(cli("games", "--json").out)
    by_id = {entry["id"]: entry for entry in listed}
    four = by_id["connect_four-6x7"]
    assert (four["players"], four["num_actions"], four["max_plies"]) == (2, 7, 42)
    assert by_id["morpion-5d"]["players"] == 1
    assert all(id in cli("games").out for id in by_id)


def test_a_family_alone_is_its_usual_size_and_is_shown_by_its_full_id(cli: Any) -> None:
    assert json.loads(cli("perft", "connect_four", "1", "--json").out)["game"] == "connect_four-6x7"
    listed = " ".join(cli("games").out.split())
    assert all(entry.usual in listed.partition("takes its usual size:")[2] for entry in FAMILIES.values())


def test_perft_counts_every_depth(cli: Any) -> None:
    counted = json.loads(cli("perft", "connect_four-4x4", "6", "--json").out)
    assert (counted["game"], counted["depth"], counted["leaves"]) == ("connect_four-4x4", 6, 4020)
    assert counted["leaves_by_depth"] == [1, 4, 16, 64, 256, 1020, 4020]  # (sources: leaf counts)
    assert "4,020" in cli("perft", "connect_four-4x4", "6").out
    assert json.loads(cli("perft", "tic_tac_toe-3x3", "3", "--moves", "a1", "--json").out)["leaves"] == 8 * 7 * 6


def test_check_game_names_the_laws_it_ran(cli: Any) -> None:
    report = json.loads(cli("check-game", "hex-3x3", "--json").out)
    assert report["game"] == "hex-3x3" and report["violations"] == []
    assert {"legal", "ends", "symmetry"} <= set(report["laws"])
    assert "obeys the laws" in cli("check-game", "hex-3x3").out


def test_analyse_writes_moves_in_the_games_notation(cli: Any) -> None:
    arguments = ("analyse", "tic_tac_toe-3x3", "--moves", "a1 c1 a2 c3", "--player", "uct(simulations=300)")
    found = json.loads(cli(*arguments, "--json").out)
    assert (found["action"], found["action_id"], found["value"], found["to_play"]) == ("a3", 6, 1.0, "first")
    assert found["pv"][0] == "a3"
    assert sum(found["policy"].values()) == pytest.approx(1.0)
    assert set(found["visits"]) == set(found["policy"]) == {"b1", "b2", "c2", "a3", "b3"}
    table = cli(*arguments).out
    assert "plays a3" in table and "+1.000 for the player to move" in table


def test_analyse_is_repeatable_by_its_seed(cli: Any) -> None:
    def visits(seed: str) -> dict[str, int]:
        done = cli("analyse", "gobang-5x5", "--player", "uct(simulations=200)", "--seed", seed, "--json")
        found: dict[str, int] = json.loads(done.out)["visits"]
        return found

    assert visits("1") == visits("1")
    assert visits("1") != visits("2")


@pytest.mark.parametrize(("game", "proven"), [("gobang-15x15-5", False), ("tic_tac_toe-3x3", True)])
def test_analyse_says_whether_perfect_has_a_proof(cli: Any, game: str, proven: bool) -> None:
    arguments = ("analyse", game, "--moves", "b2", "--player", "perfect(nodes=20000, seconds=20)")
    found = json.loads(cli(*arguments, "--json").out)
    assert (found["proven"], found["value"]) == (proven, 0.0)
    assert ("not proven" in cli(*arguments).out) != proven


def test_analyse_draws_the_position_into_a_file(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "board.svg"
    assert (
        cli("analyse", "tic_tac_toe-3x3", "--moves", "a1", "--player", "uct(simulations=10)", "--svg", str(path)).code
        == 0
    )
    assert ElementTree.parse(path).getroot().tag.endswith("svg")
    assert list(tmp_path.iterdir()) == [path]


def test_analyse_gives_value_prior_and_exact_result_of_every_move(cli: Any) -> None:
    moves = ("--moves", "a1 b2 c3", "--player", "uct(simulations=3000)")
    found = json.loads(cli("analyse", "tic_tac_toe-3x3", *moves, "--json").out)
    assert found["exact"] == {"b1": "draw", "c1": "loss", "a2": "draw", "c2": "draw", "a3": "loss", "b3": "draw"}
    assert set(found["values"]) == set(found["priors"]) == set(found["policy"]) == set(found["exact"])
    assert found["values"][found["action"]] == pytest.approx(0.0, abs=0.5)
    assert json.loads(cli("analyse", "hex-3x3", "--player", "random", "--json").out)["values"] is None
    out = cli("analyse", "tic_tac_toe-3x3", *moves).out
    assert all(len(line) <= 80 for line in out.splitlines() if "%" in line)
    assert "value" in out and "exact" in out and "draw" in out


@pytest.mark.parametrize("overlay", ["value", "policy", "visits"])
def test_analyse_writes_the_chosen_number_on_every_move(cli: Any, tmp_path: Path, overlay: str) -> None:
    path = tmp_path / "position.svg"
    arguments = ("analyse", "tic_tac_toe-3x3", "--moves", "a1", "--player", "mcs(playouts=800)", "--svg", str(path))
    found = json.loads(cli(*arguments, "--overlay", overlay, "--json").out)
    text = path.read_text(encoding="utf-8")
    if overlay == "visits":
        assert text.count(">100</text>") == 8 and set(found["visits"].values()) == {100}
    elif overlay == "policy":
        assert all(f">{100 * share:.0f}</text>" in text for share in found["policy"].values())
    else:
        assert all(f">{short_value(value)}</text>" in text for value in found["values"].values())


def test_an_overlay_that_cannot_be_drawn_is_refused_in_a_line(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "position.svg"
    for arguments, words in (
        (("hex-3x3", "--player", "random", "--svg", str(path), "--overlay", "visits"), "it has policy"),
        (("hex-3x3", "--player", "random", "--overlay", "value"), "--svg FILE"),
    ):
        done = cli("analyse", *arguments)
        assert done.code == 2 and words in done.err and not path.exists()
    assert cli("analyse", "gdl:tic_tac_toe-3x3", "--player", "random", "--svg", str(path)).code == 0 and path.exists()


def test_analyse_draws_the_end_of_a_game_with_its_winning_line(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "end.svg"
    over = ("analyse", "tic_tac_toe-3x3", "--moves", "a1 a2 b1 b2 c1", "--svg", str(path))
    assert cli(*over, "--overlay", "value").code == 2 and not path.exists()
    done = cli(*over)
    assert done.code == 0 and "the first player wins at ply 5" in done.out
    assert path.read_text(encoding="utf-8").count(DECIDING) == 3
    assert json.loads(cli(*over, "--json").out)["outcome"] > 0


def test_analyse_works_for_one_player(cli: Any) -> None:
    found = json.loads(cli("analyse", "morpion-4d", "--player", "nmcs(level=1)", "--json").out)
    assert len(found["pv"]) >= 10 and found["pv"][0] == found["action"]


def test_a_match_reports_the_agreed_fields(cli: Any) -> None:
    arguments = ("match", "tic_tac_toe-3x3", "uct(simulations=50)", "mcs(playouts=5)", "--games", "20", "--seed", "3")
    done = cli(*arguments, "--json")
    result = json.loads(done.out)
    assert done.err == ""
    assert result["games"] == 20 == result["wins"] + result["draws"] + result["losses"]
    assert result["score"] == (result["wins"] + result["draws"] / 2) / 20
    assert 0 < result["distinct_games"] <= 20
    assert result["seconds"] > 0
    assert sum(result["pairs"]) == 10
    again = json.loads(cli(*arguments, "--json").out)
    timing = ("seconds", "seconds_per_move")
    assert {k: v for k, v in again.items() if k not in timing} == {k: v for k, v in result.items() if k not in timing}
    assert "Elo difference" in cli(*arguments).out


def test_a_match_honours_the_length_of_openings(cli: Any) -> None:
    done = cli(
        "match", "gobang-5x5", "mcs(playouts=5)", "mcs(playouts=6)", "--games", "4", "--opening-plies", "6", "--json"
    )
    assert json.loads(done.out)["opening_plies"] == 6


def test_a_person_can_play_a_match(cli: Any) -> None:
    corner_games = "zz\na1\nb1\nc1\na2\nb2\nc2\na3\nb3\nc3\n" * 12  # illegal ones are asked again
    done = cli("match", "tic_tac_toe-3x3", "human", "mcs(playouts=5)", "--games", "2", "--json", stdin=corner_games)
    assert json.loads(done.out)["games"] == 2
    assert "not a legal move" in done.err


def test_the_demo_of_players_shows_a_table_a_board_and_what_to_try_next(cli: Any) -> None:
    done = cli("demo", "--players", "--games", "2")
    assert done.code == 0 and done.err == ""
    for piece in ("random", "score", "1 2 3 4 5", "What to try next", "palaestra play"):
        assert piece in done.out


def command(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "palaestra", *arguments], capture_output=True, text=True, timeout=120, **options
    )


def test_the_command_works_as_a_process() -> None:
    done = command("perft", "tic_tac_toe-3x3", "2", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["leaves"] == 72


@pytest.mark.skipif(os.name == "nt", reason="pipes differ")
@pytest.mark.parametrize("verb", ["games", "games --json", "perft hex-3x3 2", "--version"])
def test_a_reader_that_goes_away_is_no_error(verb: str) -> None:
    script = f"{sys.executable} -m palaestra {verb} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_starting_loads_no_compiler_and_no_network() -> None:
    script = "import sys, palaestra.cli.main as m; m.build_app(); print([n for n in sys.modules if n in HEAVY])"
    heavy = "HEAVY = {'numba', 'numpy', 'onnxruntime', 'onnx', 'rich', 'pydantic', 'torch'}; "
    done = subprocess.run([sys.executable, "-c", heavy + script], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "verb", ["settings learn.lr", "runs", "perft tic_tac_toe-3x3 2", "match hex-3x3 random random --games 2"]
)
def test_a_verb_loads_nothing_that_it_does_not_need(verb: str) -> None:
    script = (
        "import sys; from palaestra.cli.main import run\ntry:\n    run()\nfinally:\n"
        "    print([name for name in sys.modules if name in HEAVY or name in OTHERS], file=sys.stderr)"
    )
    others = {f"palaestra.cli.{function}" for _, function, _ in VERBS} - {f"palaestra.cli.{verb.split()[0]}"}
    heavy = {"scipy", "onnxruntime", "onnx", "torch", "matplotlib", "pandas", "optuna", "ray", "nicegui"}
    given = f"OTHERS = {others}; HEAVY = {heavy}; {script}"
    done = subprocess.run([sys.executable, "-c", given, *verb.split()], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr.strip()) == (0, "[]")


def test_the_package_offers_its_two_makers_lazily() -> None:
    script = (
        "import sys, palaestra; assert 'numpy' not in sys.modules; "
        "game = palaestra.make_game('hex-3x3'); print(palaestra.make_player('uct', game).text)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "uct(simulations=100)"


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
def test_an_interrupt_leaves_quietly() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "palaestra", "match", "tic_tac_toe-3x3", "human", "random", "--games", "2", "--json"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=hear_interrupts,
    )  # fmt: skip
    assert process.stderr is not None
    asked = ""
    while not asked.endswith("your move: "):  # it runs, and waits for a person
        asked += process.stderr.read(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "")
