from __future__ import annotations

import pytest

from palaestra.base.suggest import did_you_mean, nearest

FAMILIES = ("tic_tac_toe", "connect_four", "hex")


@pytest.mark.parametrize("given", ["connect_fuor", "connect-four", "Connect Four", "connectfour", "conect_four", "c4"])
def test_a_slip_another_spelling_and_another_name_lead_to_the_known_word(given: str) -> None:
    assert nearest(given, FAMILIES, {"c4": "connect_four"}) == "connect_four"
    assert did_you_mean(given, FAMILIES, {"c4": "connect_four"}) == " (did you mean connect_four?)"


@pytest.mark.parametrize("given", ["", "---", "chess", "x" * 10_000, "hex" * 1000])
def test_a_word_that_is_near_to_none_gets_no_answer(given: str) -> None:
    assert nearest(given, FAMILIES) is None
    assert did_you_mean(given, FAMILIES) == ""
