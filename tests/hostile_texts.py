"""Texts to try readers with: random ones, ones made of a grammar's pieces, and good ones that were damaged."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

CHARACTERS = "\x00\x1b\r\n\t \x7f\x85\x9b\u202e\ud800\ufeff٣²é日🂡\"'\\()[]{}=,:;.@#*-+/%$0123456789aeINFxX"
PIECES = (
    *'()[]{}=,:;.@"-+\\ ', "\n", "\x1b", "1e999", "-1", "0", "0.5", "9" * 30, "9" * 5000, "nan", "inf", "none", "true",
    "null", "²", "٣", "../", "/dev/zero", "a" * 300, '"', "'''", '"""', "[[", "]]", "((", "))", "=" * 3,
)  # fmt: skip


def hostile_texts(good: Sequence[str], pieces: Sequence[str], count: int, seed: int = 0) -> Iterator[str]:
    """`count` texts, a third of each sort; `good` are texts that can be read, `pieces` what they are made of."""
    rng = random.Random(seed)
    sorts = (lambda: _any_text(rng), lambda: _assembled(rng, pieces), lambda: _damaged(rng, rng.choice(good)))
    for number in range(count):
        text = sorts[number % 3]()
        yield text * rng.randint(2, 3000) if rng.random() < 0.002 else text


def _any_text(rng: random.Random) -> str:
    plain = rng.random() < 0.8
    return "".join(rng.choice(CHARACTERS) if plain else chr(rng.randrange(0x110000)) for _ in range(rng.randrange(30)))


def _assembled(rng: random.Random, pieces: Sequence[str]) -> str:
    return "".join(rng.choice(pieces if rng.random() < 0.8 else PIECES) for _ in range(rng.randint(1, 12)))


def _damaged(rng: random.Random, text: str) -> str:
    for _ in range(rng.randint(1, 4)):
        at, to = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        replaced = rng.choice(("", text[at:to] * 2, rng.choice(PIECES), rng.choice(CHARACTERS)))
        text = text[:at] + replaced + text[to if rng.random() < 0.5 else at :]
    return text
