"""Charts and tables of the page Watch, from lines of metrics alone."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from palaestra.learn.catalogue import catalogue
from palaestra.learn.loop import resume, train
from palaestra.learn.presets import configure
from palaestra.learn.settings import as_settings
from palaestra.live.progress_file import PROGRESS
from palaestra.runs.folder import MANIFEST, RunFolder
from palaestra.runs.metrics import AgentScore, Demerits, RankedReward, SelfPlayScores
from palaestra.web import charts, run_charts, watch_parts
from palaestra.web.charts import MOST_POINTS, Chart, Options
from palaestra.web.house import House
from palaestra.web.runs_view import table_row
from palaestra.web.watching import look_at, look_at_all
from tests.learn.fakes import FAKES, tiny
from tests.learn.run_folders import metrics_line

LINES = [metrics_line(number) for number in range(1, 9)]
HOSTILE = "<img src=x onerror=alert(1)>\x1b[2J\u202e"


def by_key(found: list[Chart]) -> dict[str, Chart]:
    return {chart.key: chart for chart in found}


def series(chart: Chart, name: str, kind: str = "line") -> Options:
    return next(one for one in chart.options["series"] if one["name"] == name and one["type"] == kind)


def test_strength_has_whiskers_and_marks_where_only_one_end_is_known() -> None:
    chart = by_key(run_charts.run_charts(LINES, "iterations"))["strength"]
    known = series(chart, "against uct(simulations=200)")
    assert known["data"][0] == [2.0, -120.0, -180.0, -60.0] and len(known["data"]) == 4
    assert series(chart, "against uct(simulations=200)", "custom")["data"][0] == [2.0, -180.0, -60.0]
    only_low = series(chart, "against random", "scatter")
    assert only_low["data"][0] == [2.0, 320.0] and only_low["symbolRotate"] == 0
    assert chart.options["yAxis"]["name"] == "Elo above the anchor" and chart.options["xAxis"]["name"] == "iterations"


def test_the_same_points_stand_over_minutes_or_over_iterations() -> None:
    losses = {over: by_key(run_charts.run_charts(LINES, over))["losses"] for over in run_charts.OVERS}
    assert [point[0] for point in series(losses["minutes"], "policy")["data"]] == [line.elapsed / 60 for line in LINES]
    assert [point[0] for point in series(losses["iterations"], "policy")["data"]] == list(range(1, 9))
    assert series(losses["minutes"], "value")["data"][-1][1] == LINES[-1].losses.value


def test_only_charts_that_the_lines_can_fill_are_drawn() -> None:
    keys = list(by_key(run_charts.run_charts(LINES, "minutes")))
    assert keys == ["strength", "losses", "running", "gate", "speed", "time", "results", "length"]
    assert run_charts.run_charts([], "minutes") == []


def test_speed_is_games_and_positions_a_second_of_self_play() -> None:
    chart = by_key(run_charts.run_charts(LINES, "iterations"))["speed"]
    assert series(chart, "games / s")["data"][0] == [1.0, round(50 / 6, 2)]
    assert series(chart, "positions / s")["data"][0] == [1.0, round(1000 / 6, 1)]


def test_one_player_has_scores_with_the_threshold_and_the_best() -> None:
    scores = SelfPlayScores(7.0, 9, 5, None, 9)
    judged = AgentScore("agent", 8.5, 8.0, 9.0, 10, 10, 9)
    ranked = RankedReward(7.5, 200, False, False)
    line = replace(LINES[0], elo=None, results=None, scores=scores, score=judged, ranked=ranked)
    chart = by_key(run_charts.run_charts([line], "iterations"))["scores"]
    assert series(chart, "best so far")["data"] == [[1.0, 9]] and series(chart, "to beat")["data"] == [[1.0, 7.5]]
    assert series(chart, "with search", "custom")["data"] == [[1.0, 8.0, 9.0]]


def test_demerits_are_drawn_where_they_are_counted() -> None:
    line = replace(LINES[0], demerits=Demerits(1.25, 1, 2, 3, 20.0))
    chart = by_key(run_charts.run_charts([line, LINES[1]], "iterations"))["demerits"]
    assert series(chart, "demerits")["data"] == [[1.0, 1.25]]


def test_long_runs_are_thinned_and_keep_both_ends() -> None:
    points: list[charts.Point] = [[float(number), 1.0] for number in range(5000)]
    kept = charts.thin(points)
    assert len(kept) == MOST_POINTS and kept[0] == points[0] and kept[-1] == points[-1]
    many = [replace(LINES[0], iteration=number, elapsed=60.0 * number) for number in range(1, 3000)]
    for chart in run_charts.run_charts(many, "minutes"):
        assert all(len(one["data"]) <= MOST_POINTS for one in chart.options["series"]), chart.key


def test_several_runs_keep_their_colours_in_all_charts() -> None:
    runs = {"one": LINES, "two": LINES[:4]}
    found = run_charts.compared(runs, "uct(simulations=200)", "value")
    assert [chart.key for chart in found] == ["elo-minutes", "elo-iterations", "loss-minutes", "loss-iterations"]
    for chart in found:
        assert {one["color"] for one in chart.options["series"] if one["name"] == "two" and "color" in one} == {
            charts.COLOURS[1]
        }


def test_the_anchor_that_tells_most_is_chosen_first() -> None:
    other = [replace(line, elo={"random": (1.0, 0.0, 2.0), "greedy": (1.0, 0.0, 2.0)}) for line in LINES]
    assert run_charts.anchors_of({"one": LINES}) == ["uct(simulations=200)", "random"]
    assert run_charts.anchors_of({"one": LINES, "two": other}) == ["random", "greedy", "uct(simulations=200)"]


def test_names_from_files_are_data_and_never_code() -> None:
    """A key that begins with a colon is run by the browser: names stand in values alone, without control characters."""
    line = replace(LINES[1], elo={HOSTILE: (1.0, 0.0, 2.0), ":evil": (1.0, 0.0, 2.0)})
    drawn = [*run_charts.run_charts([line], "minutes"), *run_charts.compared({HOSTILE: [line]}, HOSTILE)]
    waiting: list[Any] = [chart.options for chart in drawn]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            for key, value in item.items():
                assert "evil" not in key and "<" not in key
                if key.startswith(":"):
                    assert "onerror" not in value and "evil" not in value
                waiting.append(value)
        elif isinstance(item, list):
            waiting += item
        else:
            assert not isinstance(item, str) or "\x1b" not in item
    assert json.dumps([chart.options for chart in drawn])


# Tables and words.


def test_settings_are_compared_with_the_nearest_preset() -> None:
    config = configure("connect_four-5x5", "fast", ["learn.lr=0.01"], minutes=3, seed=7, threads=1)
    given = watch_parts.flat(as_settings(config))
    assert watch_parts.nearest_preset(given, catalogue()) == ("fast", ["learn.lr"])
    words, table = watch_parts.settings_table(given, "", only_differing=True)
    assert words == "Nearest preset: fast; 1 setting differs." and table.count("<td>learn.lr</td>") == 1
    assert table.count("<tr") == 2
    _, found = watch_parts.settings_table(given, "dirichlet", only_differing=False)
    assert found.count("<tr") == 3
    assert watch_parts.settings_table({"net": HOSTILE}, "", False)[1].count("&lt;img") == 1


def test_what_happened_is_told_in_sentences(tmp_path: Path) -> None:
    train(tiny(iterations=2), tmp_path / "run", stages=FAKES)
    resume(tmp_path / "run", ["learn.lr=0.001"], iterations=3, stages=FAKES)
    manifest = RunFolder(tmp_path / "run").manifest()
    assert manifest is not None
    lines = [replace(LINES[0], diverged="the loss is not finite")]
    words = watch_parts.events_of(manifest, lines, ["iteration 1 diverged: the loss is not finite", HOSTILE])
    assert words.count("iteration 1 diverged: the loss is not finite") == 1
    assert any(word.startswith("after iteration 2: learn.lr:") for word in words)
    assert "<img" not in watch_parts.events_html(words)


# Watching.


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.chdir(tmp_path)
    return House(Path("runs"))


def test_a_row_is_plain_data_and_only_plain_names_are_links(house: House) -> None:
    train(tiny(iterations=1), house.runs / "one", stages=FAKES)
    (house.runs / HOSTILE.replace("/", "")).mkdir()
    (house.runs / "damaged").mkdir()
    (house.runs / "damaged" / MANIFEST).write_text("{")
    rows = {row["name"]: row for row in (table_row(house, row, time.time()) for row in look_at_all(house).rows)}
    assert rows["one"]["link"] == "/watch/one" and rows["one"]["state"] == "finished"
    assert "manifest" in rows["damaged"]["problem"] and rows["damaged"]["kind"] == "bad"
    (strange,) = (row for name, row in rows.items() if "img" in name)
    assert strange["link"] is None and "\x1b" not in json.dumps(strange, ensure_ascii=False)


def test_rows_are_read_again_only_where_something_changed(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        train(tiny(iterations=1), house.runs / name, stages=FAKES)
    first = look_at_all(house)
    resume(house.runs / "two", iterations=2, stages=FAKES)
    asked: list[str] = []

    def noted(folder: Path) -> Any:
        from palaestra.runs.overview import describe

        asked.append(folder.name)
        return describe(folder)

    monkeypatch.setattr("palaestra.web.watching.describe", noted)
    second = look_at_all(house, first)
    assert asked == ["two"] and {row.name: row.iterations for row in second.rows} == {"one": 1, "two": 2}


def test_a_run_is_seen_while_it_is_trained_and_after(house: House) -> None:
    folder = house.runs / "one"
    train(tiny(iterations=1), folder, stages=FAKES)
    before = look_at(house, "one")
    assert before.state == "finished" and before.run is not None and before.problem is None
    (folder / PROGRESS).write_text(json.dumps({
        "iterations": 1, "share": 0.5, "seconds": 3.0, "seconds_left": None, "stage": "self-play", "done": 3,
        "total": 10, "unit": "games", "warnings": [], "ended": False, "written": 0.0,
    }))  # fmt: skip
    with RunFolder(folder).locked():
        now = look_at(house, "one", before)
        assert now.state == "running" and now.progress is not None and now.run is before.run
        assert "iteration 2" in watch_parts.progress_html(now) and "3 of 10 games" in watch_parts.progress_html(now)
    after = look_at(house, "one", now)
    assert after.state == "finished" and after.progress is None


def test_folders_that_are_no_runs_say_why(house: House) -> None:
    house.runs.mkdir()
    (house.runs / "empty").mkdir()
    (house.runs / "link").symlink_to("/tmp")
    assert look_at(house, "nowhere").state == "not there"
    for name in ("empty", "link"):
        assert look_at(house, name).state == "not a run" and look_at(house, name).problem
