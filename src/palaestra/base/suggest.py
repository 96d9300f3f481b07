"""Words that were nearly right: what somebody who typed `gams` may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

LONGEST = 60  # comparing takes the product of two lengths, and longer words are no slips of the finger


def did_you_mean(given: str, known: Iterable[str], other_names: Mapping[str, str] | None = None) -> str:
    """ " (did you mean games?)" for an error message, or nothing where no known word is near.

    `other_names` are words that people know a thing by, and what it is called here.
    """
    found = nearest(given, known, other_names)
    return f" (did you mean {found}?)" if found else ""


def nearest(given: str, known: Iterable[str], other_names: Mapping[str, str] | None = None) -> str | None:
    """The known word that is nearest, by its letters and digits alone; None where none is near."""
    plain = _plain(given)
    if not plain or len(plain) > LONGEST:
        return None
    meant = {_plain(name): name for name in known} | {_plain(old): new for old, new in (other_names or {}).items()}
    found = difflib.get_close_matches(plain, meant, n=1)
    return meant[found[0]] if found else None


def _plain(word: str) -> str:
    return "".join(character for character in word[: 4 * LONGEST].lower() if character.isalnum())
