"""The pure parts of the benchmarks: ratios and the three forms of a table."""

from __future__ import annotations

import json

import pytest
from benchmarks.table import AGAINST, Table, against, as_json, document, markdown, shown, summary
from benchmarks.timing import Ratio, alternate, per_second, ratio


def test_a_ratio_is_the_median_of_neighbouring_rounds_and_not_of_the_speeds() -> None:
    # The machine halves its speed in the second round: the ratio of that round does not notice.
    assert ratio([10.0, 5.0, 12.0], [2.0, 1.0, 4.0]) == Ratio(5.0, 3.0, 5.0)


def test_both_sides_take_turns() -> None:
    order: list[str] = []

    def side(name: str) -> int:
        order.append(name)
        return len(order)

    ours, theirs = alternate(lambda: side("a"), lambda: side("b"), rounds=3)
    assert order == ["a", "b"] * 3
    assert (ours, theirs) == ([1, 3, 5], [2, 4, 6])


def test_work_is_done_at_least_once_however_short_the_time() -> None:
    calls: list[int] = []

    def work() -> int:
        calls.append(1)
        return 7

    assert per_second(work, 0.0) > 0
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, ""),
        ("yes", "yes"),
        (1000, "1000"),
        (1_000_000, "1.00 M"),
        (104_900.0, "105 k"),
        (3_210.0, "3.21 k"),
        (999.6, "1.00 k"),
        (99.96, "100"),
        (9.996, "10.0"),
        (0.61, "0.61"),
        (0.0123, "0.012"),
        (0.0, "0"),
        (Ratio(5.2, 4.9, 11.25), "5.20 (4.90–11.2)"),
    ],
)
def test_numbers_are_shown_in_a_few_digits(cell: object, text: str) -> None:
    assert shown(cell) == text  # type: ignore[arg-type]


def _example() -> Table:
    table = Table("Search", AGAINST, "One core.")
    against(table, "fast", [20.0, 30.0], [2.0, 2.0], "peer", target=10.0)
    against(table, "slow", [2.0], [2.0], "peer", target=10.0)
    against(table, "beside a limit", [0.5], [1.0], "limit")
    return table


def test_a_target_is_reached_by_the_median_ratio() -> None:
    rows = _example().rows
    assert rows[0] == ("fast", 25.0, 2.0, "peer", Ratio(12.5, 10.0, 15.0), "≥ 10.0", "yes")
    assert rows[1][-1] == "no"
    assert rows[2][-2:] == (None, None)


def test_the_summary_holds_the_rows_with_a_target_and_no_others() -> None:
    seconds = Table("Start", ("command", "median s", "target", "reached"), rows=[("games", 0.5, "< 1 s", "yes")])
    assert summary([_example(), seconds]).rows == [
        ("Search", "fast", Ratio(12.5, 10.0, 15.0), "≥ 10.0", "yes"),
        ("Search", "slow", Ratio(1.0, 1.0, 1.0), "≥ 10.0", "no"),
        ("Start", "games", 0.5, "< 1 s", "yes"),
    ]


def test_a_row_with_too_few_cells_is_refused() -> None:
    with pytest.raises(ValueError, match="2 cells for 3 columns"):
        Table("T", ("a", "b", "c")).add(1, 2)


def test_markdown_aligns_numbers_right_and_keeps_the_note() -> None:
    table = Table("Speed", ("game", "per second"), "One core.", [("hex", 12_345.0), ("morpion", None)])
    assert markdown(table) == (
        "### Speed\n\n| game | per second |\n| --- | ---: |\n| hex | 12.3 k |\n| morpion |  |\n\nOne core.\n"
    )


def test_the_document_says_where_it_was_measured() -> None:
    text = document({"date": "2026-01-02", "CPU": "abacus"}, [_example()])
    assert text.startswith("Measured with `make bench`: date 2026-01-02 · CPU abacus.\n\n### Search\n")


def test_json_keeps_all_digits() -> None:
    plain = json.loads(json.dumps(as_json({"cores": "2"}, [_example()])))
    assert plain["machine"] == {"cores": "2"}
    assert plain["tables"][0]["rows"][0]["ours"] == 25.0
    assert plain["tables"][0]["rows"][0]["ratio"] == {"median": 12.5, "low": 10.0, "high": 15.0}
