"""No text from outside is obeyed by a terminal or a page: control characters and markup are shown, in every verb."""

from __future__ import annotations

import io
import json
import re
import shutil
from pathlib import Path

import pytest
from rich.live import Live
from rich.table import Table
from rich.text import Text

import palaestra.cli
from palaestra.cli.console import PlainConsole
from palaestra.cli.ggp_view import live_view, print_matches
from palaestra.cli.output import progress_bar
from palaestra.ggp.record import Fault, MatchRecord, Seat
from palaestra.live.network_matches import summary
from tests.cli.conftest import Cli
from tests.cli.hostile_names import CODES, NAME, QUOTED, obeyed, write_files

PLAYER = f"puct({QUOTED}, simulations=2)"
SHORT = ("--games", "2", "--seed", "1")
FOUND = {  # what is done with names from outside, and succeeds
    "rate": ("rate", "games.pgn", "--superiority", "--anchor", f"{' '.join(NAME.split())}=0", "--plot", f"{NAME}.svg"),
    "rate as PNG": ("rate", "games.pgn", "--plot", f"{NAME}.png"),
    "match": ("match", "hex-3x3", PLAYER, "random", *SHORT, "--pgn", f"{NAME}.pgn"),
    "tournament": (
        "tournament", "hex-3x3", PLAYER, "random", *SHORT, "--pgn", "t.pgn", "--plot", f"{NAME}.svg",
    ),
    "analyse": ("analyse", "hex-3x3", "--player", f"puct({QUOTED}, simulations=4)", "--svg", f"{NAME}.svg"),
    "play": ("play", "hex-3x3", "--against", PLAYER),
    "evaluate": ("evaluate", f"runs/{NAME}", "--games", "2", "--simulations", "2", "--against", "random"),
    "evaluate on sets": (
        "evaluate", f"runs/{NAME}", "--games", "0", "--simulations", "2", "--positions", "sets.json",
    ),
    "report": ("report", "learned", "--out", f"{NAME}.html"),
    "export": ("export", f"runs/{NAME}", "--out", f"{NAME}.onnx"),
    "qlearn": ("qlearn", "tic_tac_toe-3x3", "--games", "40", "--seeds", "1", "--save", NAME, "--plot", "q.svg"),
    "solve": ("solve", "morpion-4d", "--player", "random", "--restarts", "1", "--out", NAME + "s"),
}  # fmt: skip
REFUSED = {
    "verb": (NAME,),
    "option": ("games", f"--{NAME}"),
    "number": ("perft", "hex-3x3", NAME),
    "game": ("perft", NAME, "2"),
    "size": ("perft", f"hex-{NAME}", "2"),
    "module": ("perft", f"{NAME}:GAME", "2"),
    "rules": ("perft", f"gdl:{NAME}.kif", "2"),
    "no rules": ("perft", f"gdl:{NAME}", "2"),
    "moves": ("analyse", "hex-3x3", "--moves", NAME),
    "player": ("match", "hex-3x3", NAME, "random"),
    "subject": ("match", "hex-3x3", f"run:{NAME}", "random"),
    "argument": ("match", "hex-3x3", f"uct(simulations={NAME})", "random"),
    "network's file": ("match", "hex-3x3", f"puct({json.dumps(NAME + '.none')})", "random"),
    "network's names": ("match", "hex-3x3", "puct(odd.onnx, simulations=2)", "random"),
    "table": ("match", "tic_tac_toe-3x3", "qtable:other.table", "random"),
    "table's file": ("match", "tic_tac_toe-3x3", f"qtable({QUOTED})", "random"),
    "openings": ("match", "hex-3x3", "random", "uct(simulations=2)", "--openings", NAME),
    "openings' file": ("match", "hex-3x3", "random", "uct(simulations=2)", "--openings", "openings.txt"),
    "names in the list of runs": ("evaluate", "none"),
    "run's game": ("evaluate", "game"),
    "new run": ("train", "hex-3x3", "--out", NAME),
    "setting": ("train", "hex-3x3", "--set", f"net={NAME}"),
    "key": ("train", "hex-3x3", "--set", f"{NAME}=1"),
    "preset": ("train", "hex-3x3", "--preset", NAME),
    "resume": ("resume", f"runs/{NAME}"),
    "positions": ("evaluate", f"runs/{NAME}", "--positions", "wrong.json"),
    "solution": ("check-solution", "solution.txt"),
    "solution's file": ("check-solution", f"{NAME}.txt"),
    "PGN": ("rate", "bad.pgn"),
    "PGN's file": ("rate", f"{NAME}.none"),
    "picture": ("rate", "games.pgn", "--plot", f"{NAME}/x.svg"),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    write_files(folder)
    return folder


@pytest.fixture
def here(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("what", FOUND)
def test_names_are_shown_and_not_obeyed(cli: Cli, here: Path, what: str) -> None:
    before = set(here.rglob("*"))
    done = cli(*FOUND[what])
    assert done.code == 0, done.err
    assert (obeyed(done.out), obeyed(done.err)) == (set(), set())
    assert "warning" not in done.err.lower()  # of a library
    for path in set(here.rglob("*")) - before:
        if path.suffix in (".svg", ".html", ".pgn", ".txt") and path.is_file():
            text = path.read_text()
            assert obeyed(text) == set(), path
            assert path.suffix != ".svg" or text.rstrip().endswith("</svg>")


@pytest.mark.parametrize("what", REFUSED)
def test_errors_are_one_line_that_can_be_shown(cli: Cli, here: Path, what: str) -> None:
    done = cli(*REFUSED[what])
    assert (done.code, done.out) == (2, ""), done.out + done.err
    assert obeyed(done.err) == set()
    assert done.err.startswith("error: ") and len(done.err.splitlines()) == 1


def test_a_wrong_solution_is_told_in_lines_that_can_be_shown(cli: Cli, here: Path) -> None:
    done = cli("check-solution", "wrong.txt")
    assert done.code == 1 and "wrong, morpion-5d" in done.out
    assert (obeyed(done.out), done.err) == (set(), "")


def test_markup_in_names_is_text(cli: Cli, here: Path) -> None:
    assert cli("rate", "games.pgn").out.count("[red]z$") >= 2
    assert "[red]z$" in (cli(*FOUND["report"]) and (here / f"{NAME}.html").read_text())


def test_json_stays_json_and_keeps_the_names(cli: Cli, here: Path) -> None:
    done = cli("rate", "games.pgn", "--json")
    assert obeyed(done.out) == set()
    assert " ".join(NAME.split()) in [row["player"] for row in json.loads(done.out)["ratings"]]


def drawn(*renderables: object) -> str:
    """What reaches a terminal, without the codes that Rich itself sends."""
    out = io.StringIO()
    console = PlainConsole(file=out, force_terminal=True, color_system=None, width=100)
    with Live(console=console, auto_refresh=False, transient=True) as live:
        for renderable in renderables:
            live.update(renderable, refresh=True)  # type: ignore[arg-type]
            console.print(renderable)
    return out.getvalue()


def test_tables_live_views_and_bars_are_clean() -> None:
    seats = (Seat(NAME, "127.0.0.1:1", NAME),)
    record = MatchRecord(match=NAME, game=NAME, seats=seats, start_clock=1, play_clock=1, began="", seed=0)
    record.states += [["x"], [NAME]]
    record.moves.append([NAME])
    record.seconds.append([0.5])
    record.faults.append(Fault(1, NAME, "IL", NAME))
    table = Table(NAME, title=NAME, caption=NAME)
    table.add_row(NAME, style="red")
    bar = progress_bar()
    bar.add_task(NAME)
    plain = drawn("a", Text("b"))
    own = {code for code in obeyed(plain)}
    shown = drawn(live_view(record), table, bar, Text(NAME), NAME)
    assert obeyed(shown) <= own == {"\x1b", "\r"}
    assert "\x1b[2J" not in shown and "\x1b]" not in shown and "[red]z$" in shown


def test_what_network_matches_came_to_is_clean(capsys: pytest.CaptureFixture[str]) -> None:
    seats = (Seat(NAME, "127.0.0.1:1", NAME),)
    record = MatchRecord(match=NAME, game=NAME, seats=seats, start_clock=1, play_clock=1, began="", seed=0)
    record.ending = NAME
    print_matches([record], summary([record])["players"])
    out = capsys.readouterr().out
    assert obeyed(out) == set()


def test_the_codes_are_all_of_a_kind_that_is_not_shown() -> None:
    assert obeyed(CODES) >= set("\x1b\x07\r\x08\x7f\x9b\x85\u200b\u202e\u2066\ufeff")


def test_verbs_print_through_the_one_place_that_cleans() -> None:
    folder = Path(palaestra.cli.__file__).parent
    alone = re.compile(r"(?<![\w.])print\(|rich\.console import Console$|sys\.std(out|err)\.write", re.MULTILINE)
    found = {path.name for path in folder.glob("*.py") if alone.search(path.read_text().partition("TYPE_CHECKING:")[2])}
    assert found <= {"main.py", "output.py"}
