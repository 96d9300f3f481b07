"""The page about OpenSpiel's games says what the code does."""

from __future__ import annotations

from pathlib import Path

import pytest

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")

from palaestra.adapters.openspiel_catalogue import kinds, markdown, names, why_not  # noqa: E402  # as above

PAGE = Path(__file__).parents[2] / "docs" / "openspiel.md"


def test_the_lists_of_the_page_are_those_of_the_code() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert f"<!-- games -->\n{markdown()}<!-- end of games -->" in text, "write docs/openspiel.md again: markdown()"


def test_every_registered_game_is_listed_once() -> None:
    listed = [kind.short_name for kind in kinds()]
    assert sorted(listed) == sorted(set(pyspiel.registered_names()))
    assert all((why_not(kind) is None) == (kind.short_name in names()) for kind in kinds())
    assert {"amazons", "breakthrough", "checkers", "chess", "go", "havannah", "oware"} <= set(names())
