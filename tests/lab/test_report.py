"""The page about a run: complete, self-contained, and safe to open."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from palaestra.base.errors import PalaestraError
from palaestra.games.registry import make_game
from palaestra.lab.plots import run_plots
from palaestra.lab.report import flat, make_report, render
from palaestra.runs.folder import RunFolder
from tests.learn.run_folders import make_run, metrics_line


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "a <b> run")


@pytest.fixture(scope="module")
def text(run: Path) -> str:
    return make_report(run)


class Page(HTMLParser):
    """Tags and attributes of a page; what stands in the two scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._in_script = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in_script = tag == "script"

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False


def test_the_page_fetches_nothing(text: str) -> None:
    page = Page(text)
    for tag, attributes in page.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base")
        assert "src" not in attributes and not str(attributes.get("href") or "#").startswith(("http", "/", "file"))
        assert str(attributes.get("xlink:href") or "#").startswith("#")


def test_every_plot_is_there_once_and_no_identifier_is_used_twice(text: str) -> None:
    page = Page(text)
    titles = ["Losses", "Strength", "Running Elo", "Length of self-play games", "Results of self-play", "Gate", "Time"]
    for title in [*titles, "Speed of self-play", "Share of self-play inside the network"]:
        assert text.count(f"<h3>{title}</h3>") == 1
    identifiers = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(identifiers) == len(set(identifiers)) > 50
    used = set(re.findall(r"url\(#([^)]+)\)", text)) | set(re.findall(r'href="#([^"]+)"', text))
    assert used and used <= set(identifiers)


def test_the_numbers_at_the_top_and_the_settings_are_the_runs(text: str) -> None:
    assert "<h1>a &lt;b&gt; run <small>learned connect_four-4x4</small></h1>" in text and "<b> run" not in text
    assert "<b>4</b><span>iterations</span>" in text and "<b>b1c8</b><span>network</span>" in text
    assert "<b>+∞ (+340 to +∞)</b><span>Elo against random, 95 %</span>" in text
    assert "<b>−40 (−100 to +20)</b><span>Elo against uct(simulations=200), 95 %</span>" in text
    assert "<tr><th>selfplay.search.c_puct</th><td>1.0</td></tr>" in text
    assert "<tr><th>learn.samples_per_position</th><td>–</td></tr>" in text


def test_every_position_of_the_games_is_drawn(text: str) -> None:
    page = Page(text)
    games: list[list[str]] = json.loads(page.scripts[0])
    assert len(games) == 4  # one of each iteration
    cards = [attributes for tag, attributes in page.tags if tag == "article"]
    assert [card["data-game"] for card in cards] == ["0", "1", "2", "3"]
    moves = [attributes for _, attributes in page.tags if "data-to" in attributes]
    assert len(moves) == sum(len(game) - 1 for game in games)
    assert any("opening" in str(move["class"]) for move in moves)
    empty = make_game("connect_four-4x4").svg(make_game("connect_four-4x4").initial(1)[0])
    assert all(game[0] == empty and ElementTree.fromstring(game[-1]).tag.endswith("svg") for game in games)


def test_a_drawing_cannot_end_the_script_that_holds_it(text: str) -> None:
    assert len(Page(text).scripts) == 2
    data = text[text.index('id="positions">') :].partition("</script>")[0]
    assert "</" not in data.partition(">")[2]


def test_games_that_were_changed_are_refused(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    file = folder / "games" / "0001.pgn"
    text = file.read_text()
    file.write_text(text.replace("one", "two"))
    with pytest.raises(PalaestraError, match=r"0001\.pgn is damaged"):
        make_report(folder)
    file.unlink()
    with pytest.raises(PalaestraError, match=r"cannot read .*0001\.pgn"):
        make_report(folder)
    file.write_text(text)
    assert "Iteration 1:" in make_report(folder)


def test_a_run_without_an_iteration_has_nothing_to_report(tmp_path: Path) -> None:
    home = RunFolder(tmp_path / "run")
    home.create()
    home.write_config("")
    with pytest.raises(PalaestraError, match="no finished iteration"):
        make_report(tmp_path / "run")
    with pytest.raises(PalaestraError, match="does not exist"):
        make_report(tmp_path / "none")


def test_a_run_without_gate_and_evaluation_has_no_such_plots(run: Path) -> None:
    lines = [metrics_line(1, gate=None, elo=None, running_elo=None)]
    titles = [title for title, _, _ in run_plots(lines)]
    assert not {"Gate", "Strength", "Running Elo"} & set(titles) and "Losses" in titles
    manifest = RunFolder(run).manifest()
    assert manifest is not None
    assert "Elo against" not in render("x", manifest, lines, [])


def test_demerits_and_what_a_reward_has_learned_are_drawn_where_there_are_any(run: Path) -> None:
    counts = {"demerits": 16.5, "wins": 1, "draws": 0, "losses": 17, "mean_plies": 30.0}
    learned = {"window": 125, "draw": 0.1, "median_win": None}
    changed: dict[str, Any] = {"reward": "cdf(generations=5)", "learned": learned, "demerits": counts}
    lines = [metrics_line(1), metrics_line(2, **changed), metrics_line(3, **changed)]
    titles = [title for title, _, _ in run_plots(lines)]
    assert "Demerits" in titles and "What outcomes are worth" in titles
    assert not {"Demerits", "What outcomes are worth"} & {title for title, _, _ in run_plots(lines[:1])}
    manifest = RunFolder(run).manifest()
    assert manifest is not None
    page = render("x", manifest, lines, [])
    assert "<b>cdf(generations=5)</b><span>reward</span>" in page
    assert "<b>16.50</b><span>demerits against perfect play</span>" in page


@pytest.mark.parametrize("count", [1, 3, 120])
def test_plots_are_one_svg_each_for_short_and_long_runs(count: int) -> None:
    lines = [replace(metrics_line(min(i, 20)), iteration=i) for i in range(1, count + 1)]
    for _, caption, svg in run_plots(lines, threshold=0.6):
        assert ElementTree.fromstring(svg).tag.endswith("svg") and caption.endswith(".")


def test_plots_are_a_function_of_the_metrics() -> None:
    lines = [metrics_line(i) for i in range(1, 6)]
    assert list(run_plots(lines)) == list(run_plots(lines))


def test_values_that_were_not_measured_leave_a_gap_and_no_error() -> None:
    broken: dict[str, Any] = {"policy": None, "value": 0.5, "sum": None, "product": None}
    lines = [metrics_line(1), metrics_line(2, losses=broken), metrics_line(3)]
    assert len(list(run_plots(lines))) == 9
    running = {title: svg for title, _, svg in run_plots([metrics_line(2, running_elo=None), *lines])}
    assert "earliest network" in running["Running Elo"], "runs of older versions have none"
    lost = [metrics_line(i, elo={"perfect": [None, None, -300.0]}) for i in (1, 2)]
    strength = next(svg for title, _, svg in run_plots(lost) if title == "Strength")
    assert strength.count(">perfect<") == 1


def test_nested_settings_are_flattened_in_their_order() -> None:
    assert flat({"a": 1, "b": {"c": [1, 2], "d": {"e": None}}, "f": "x"}) == [
        ("a", "1"), ("f", "x"), ("b.c", "[1, 2]"), ("b.d.e", "–"),
    ]  # fmt: skip


def ticks_of(svg: str) -> list[str]:
    """The words below the x-axis."""
    return re.findall(r'id="[^"]*xtick_\d+".*?<text[^>]*>([^<]*)</text>', svg, flags=re.DOTALL)


@pytest.mark.parametrize("iterations", [1, 2, 9, 60])
def test_iterations_are_whole_numbers_and_all_on_the_axis_however_few_were_evaluated(iterations: int) -> None:
    lines = [metrics_line(number, elo=None, running_elo=None) for number in range(1, iterations)]
    lines.append(metrics_line(iterations, elo={"random": [200.0, 150.0, 250.0]}))
    plots = {title: svg for title, _, svg in run_plots(lines)}
    ticks = {title: ticks_of(svg) for title, svg in plots.items()}
    assert {"Strength", "Losses", "Running Elo", "Gate"} <= set(ticks)
    for title, words in ticks.items():
        assert words and all(word.isdigit() for word in words), (title, words)
    assert int(ticks["Strength"][0]) <= max(1, iterations // 5), "the run's axis, not that of the one evaluation"
