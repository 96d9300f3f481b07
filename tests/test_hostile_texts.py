"""Whatever is typed where a text is read, the answer is a value or one line of a PalaestraError.

A reader that takes time out of proportion makes this test take it too: there are texts of a million characters.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from palaestra.arena.openings import parse_openings
from palaestra.base.errors import PalaestraError
from palaestra.cli.evaluate import read_budgets
from palaestra.games.registry import FAMILIES, example_ids, make_game
from palaestra.ggp.http_client import read_address
from palaestra.learn.presets import configure
from palaestra.nets.architecture import parse_net
from palaestra.players.registry import KINDS, read_player
from palaestra.rewards.registry import KINDS as REWARDS
from palaestra.rewards.registry import make_reward
from tests.hostile_texts import hostile_texts

HEX = make_game("hex-3x3")
BOARDS = [make_game(id) for id in ("hex-3x3", "connect_four-4x4", "othello-4x4", "opposition-3x9", "bin_packing-2d")]
SETTINGS = (
    "learn.lr=0.01", "seed=3", "net=b3c32", "reward=cdf", "evaluation.anchors=['random', \"greedy\"]", "minutes=none",
    "gate.kind=off", "selfplay.search.simulations=10", "threads=2",
)  # fmt: skip
MOVES = ("a1 b2 c3", "@0 b2", "1 2 3", "1234", "d3, c5", "ne sw", "@17 3 4")


def player(text: str) -> None:
    """Also: what was read, written and read again is the same."""
    kind = read_player(text)
    assert str(kind).isprintable() and read_player(str(kind)) == kind


def reward(text: str) -> None:
    made = make_reward(text, HEX)
    assert made.text.isprintable() and make_reward(made.text, HEX).text == made.text


def game(id: str) -> None:
    if ":" not in id or id.startswith("gdl:"):  # a module that is there would be imported
        make_game(id)


def moves(text: str) -> None:
    BOARDS[len(text) % len(BOARDS)].from_moves(text)


GRAMMARS: dict[str, tuple[Callable[[str], Any], tuple[str, ...], tuple[str, ...]]] = {
    "players": (
        player,
        tuple(kind.example for kind in KINDS.values()),
        (*KINDS, "simulations", "ms", "=", "(", ")", ", ", "100", ":NAME", "@best", '"model.onnx"', "level=2", "true"),
    ),
    "rewards": (
        reward,
        tuple(kind.example for kind in REWARDS.values()),
        (*REWARDS, "(", ")", "generations", "=", "5", ", ", "alpha=0.5", "at=20", '"cdf"', '"switch(cdf, cdf, at=1)"'),
    ),
    "games": (game, tuple(example_ids()), (*FAMILIES, "-", "3x3", "x", "4", "gdl:", "tictactoe", "5d", "absolute")),
    "settings": (
        lambda text: configure("hex-3x3", "fast", [text]),
        SETTINGS,
        ("learn", "gate", "selfplay", "search", ".", "lr", "games", "=", "[", "]", '"', "1", "0.5", "{a=1}"),
    ),
    "networks": (
        parse_net,
        ("b3c32", "thesis256", "schmidt", "mlp128x2", "b3c32-outcome", "b1c8-categorical"),
        ("b", "c", "3", "32", "thesis", "mlp", "x", "-outcome", "-categorical", "-", "schmidt"),
    ),
    "openings": (
        parse_openings,
        ("random", "random:4", "all:3", "file.pgn:4", "games.txt"),
        ("random", "all", ":", "4", "file.pgn", "/", ".."),
    ),
    "moves": (moves, MOVES, ("@", "0", "1", "a1", "b2", " ", ",", "pass", "ne", "e5n", "#3", "A1")),
    "addresses": (read_address, ("127.0.0.1:9147", "[::1]:80", "host"), ("127.0.0.1", ":", "[", "]", "9147", "host")),
    "budgets": (read_budgets, ("100,600", "1"), ("100", ",", "600", " ", "0")),
}  # fmt: skip


def assert_one_line(error: PalaestraError) -> None:
    assert len(" ".join(str(error).split())) > 10


@pytest.mark.parametrize("grammar", GRAMMARS)
@pytest.mark.parametrize("count", [1_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_a_text_is_read_or_refused(grammar: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # where there are no files
    reader, good, pieces = GRAMMARS[grammar]
    accepted = 0
    for text in hostile_texts(good, pieces, count):
        try:
            reader(text)
            accepted += 1
        except PalaestraError as error:
            assert_one_line(error)
        except Exception as error:
            pytest.fail(f"{text[:300]!r} of {len(text)} characters: {error!r}")
    assert 0 < accepted < count
