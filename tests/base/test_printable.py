"""What is shown can only be read."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from palaestra.base.printable import escape, printable


@given(st.text(alphabet=st.characters(codec=None)))
def test_nothing_is_left_that_a_terminal_obeys_and_no_character_is_lost(text: str) -> None:
    shown = printable(text)
    assert len(shown) == len(text)
    assert all(c.isprintable() or c == "\n" or unicodedata.category(c) == "Zs" for c in shown)
    shown.encode()  # halves of characters are gone too


def test_what_can_be_shown_stays_as_it_is() -> None:
    text = "Zürich 63.0 % (57.2–68.5)\n日本 ½ ∞ a\u00a0b"
    assert printable(text) == text
    assert printable("\x1b[2J\ta\r\n\x9b\u202e") == "�[2J a�\n��"


def test_pages_get_neither_codes_nor_elements() -> None:
    assert escape('<b a="\x1b">&') == "&lt;b a=&quot;�&quot;&gt;&amp;"
