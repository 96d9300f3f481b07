"""docs/strength.md: what runs reached after how long, from the cards of the agents."""

from __future__ import annotations

from pathlib import Path

from palaestra.lab.strength_page import make_page, strength_panels
from palaestra.players.shipped import Card, Stage, cards, find_card

CURVE = tuple(
    Stage(minutes=minutes, iteration=number, elo=elo, plus=30.0, minus=20.0)
    for number, (minutes, elo) in enumerate(((0.9, 100.0), (4.2, 300.0), (29.6, 700.0)), start=1)
)


def with_curve(game: str) -> Card:
    return find_card(game).model_copy(update={"curve": CURVE})


def test_the_table_says_what_was_reached_by_then_and_nothing_of_later_times() -> None:
    page = make_page({"tic_tac_toe-3x3": with_curve("tic_tac_toe-3x3")}, "strength.svg")
    row = next(line for line in page.splitlines() if line.startswith("| tic_tac_toe-3x3 | 100"))
    cells = [cell.strip() for cell in row.split("|")[2:-2]]
    assert cells == ["100 (80 to 130)", "300 (280 to 330)", "700 (680 to 730)", "", "700 (680 to 730) after 30 min"]
    assert "](strength.svg)" in page


def test_there_is_a_panel_for_every_agent_with_a_curve_and_none_for_others() -> None:
    names = ["opposition-3x9", "tic_tac_toe-3x3"]
    found = {name: with_curve(name) for name in names} | {"other": find_card(names[0]).model_copy(update={"curve": ()})}
    assert [axes.get_title(loc="left") for axes in strength_panels(found).axes] == names


def test_a_card_knows_the_newest_stage_at_a_time() -> None:
    card = with_curve("tic_tac_toe-3x3")
    assert [getattr(card.after(minutes), "iteration", None) for minutes in (0.5, 0.9, 10, 120)] == [None, 1, 2, 3]


def test_every_curve_of_the_package_ascends_in_time_and_ends_at_hard() -> None:
    for card in cards().values():
        minutes = [stage.minutes for stage in card.curve]
        assert minutes == sorted(minutes)
        if card.curve:
            assert card.curve[-1].elo == card.levels["hard"].elo


def test_the_page_in_docs_is_that_of_the_cards() -> None:
    page = Path(__file__).parents[2] / "docs" / "strength.md"
    assert page.read_text(encoding="utf-8") == make_page(cards(), "strength.svg") + "\n", "make it again: make pages"
