"""Other names for everything in some rules, so that players know them by nothing but what follows from them.

Names of roles, relations, functions, objects and variables become random words; the words of GDL itself and numbers
stay. Works on texts of KIF without comments. Knows no match.
"""

from __future__ import annotations

import re

import numpy as np

from palaestra.ggp.kif import read_kif, term_text

KEPT = frozenset("role init true next legal does goal terminal base input distinct not or and <=".split())
_NAME = re.compile(r"[^\s,;()]+")
_LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))
LENGTH = 6  # letters of a word


class Scramble:
    """One set of other names for the names in `source`; the same seed gives the same."""

    def __init__(self, source: str, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self._new: dict[str, str] = {}
        self._old: dict[str, str] = {}
        for form in read_kif(source):
            for name in _NAME.findall(term_text(form.term)):
                if name in self._new or name.lower() in KEPT or name.isdigit():
                    continue
                word = name
                while word in (name, "nil") or word in self._old or word in KEPT:
                    word = "?" * name.startswith("?") + "".join(rng.choice(_LETTERS, LENGTH))
                self._new[name], self._old[word] = word, name
        self._secret = {name.lower() for name in self._new}

    def there(self, text: str) -> str:
        """A text in the rules' names as players are told it."""
        return _NAME.sub(lambda found: self._new.get(found[0], found[0]), text)

    def back(self, text: str) -> str:
        """A text of a player in the rules' names. A name of the rules that it was not told is no name of theirs."""
        return _NAME.sub(lambda found: self._name(found[0]), text)

    def _name(self, word: str) -> str:
        key = word.lower()
        return self._old.get(key, f"not_told_{word}" if key in self._secret else word)
