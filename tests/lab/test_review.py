"""A finished game looked at again: who erred where, and a page that is safe to open."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from palaestra.base.errors import RecordError
from palaestra.base.streams import Rng
from palaestra.base.types import Int8s, Int32s, Int64s
from palaestra.games.base import Game
from palaestra.games.python_game import PlainRules, PythonGame
from palaestra.games.registry import make_game
from palaestra.lab.review import Review, review_game, review_page, thresholds_in_words, verdicts_in_words
from palaestra.players.base import Analysis, Player
from palaestra.players.registry import make_player
from palaestra.runs.pgn_games import PgnGame, read_games

# The second player's b1 loses, the first player's a3 lets it go, b3 loses again, and c3 gives the whole point away.
ERRORS = "1. c2 b1 2. a3 b3 3. c3 b2 0-1"


def reviewed(id: str, moves: str, player: str = "uct(simulations=500)", tags: str = "") -> Review:
    game = make_game(id)
    (played,) = read_games(f'[Variant "{id}"]\n{tags}\n\n{moves}')
    return review_game(game, played, make_player(player, game))


def test_each_move_is_judged_by_its_exact_result_where_that_is_known() -> None:
    found = reviewed("tic_tac_toe-3x3", ERRORS)
    assert [move.verdict for move in found.moves] == ["", "mistake", "mistake", "mistake", "blunder", ""]
    assert all(move.exact for move in found.moves)
    assert found.values == [0.0, 0.0, 1.0, 0.0, 1.0, -1.0, -1.0]  # the first player's
    assert {move.best for move in found.moves if move.verdict} == {"b2"}
    assert verdicts_in_words(found, 0) == "1 mistake, 1 blunder" and verdicts_in_words(found, 1) == "2 mistakes"
    for move in found.moves:
        assert move.fall == max(0.0, move.best_value - move.value)
        assert move.line[0] == move.best


def test_perfect_play_has_no_mistakes() -> None:
    found = reviewed("tic_tac_toe-3x3", "b2 a1 c1 a3 a2 c2 b1 b3 c3 1/2-1/2")
    assert [move.verdict for move in found.moves] == [""] * 9
    assert set(found.values) == {0.0}


class Scripted(Player):
    """Says these values, ply by ply, and always likes the first legal move."""

    def __init__(self, game: Game, values: list[float]) -> None:
        super().__init__(game, "scripted")
        self.values = values

    def act(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Int32s:
        return self.game.legal(states)[1][:, 0].copy()

    def analyse(self, state: Int8s, rng: Rng) -> Analysis:
        return Analysis(int(self.act(state[None], rng)[0]), self.values[int(self.game.plies(state[None])[0])])


def test_where_nothing_is_certain_the_fall_of_the_value_counts() -> None:
    game = make_game("gobang-9x9-5")
    values = [0.0, 0.2, 0.1, 0.4, 0.5, 0.5, 0.0]  # each for the player to move
    (played,) = read_games("e5 f5 e6 f6 g8 a1 *")
    found = review_game(game, played, Scripted(game, values))
    assert found.values == [0.0, -0.2, 0.1, -0.4, 0.5, -0.5, 0.0]
    falls = [0.2, 0.3, 0.5, 0.9, 1.0, 0.0]  # the last is the adviser's own move
    assert [move.fall for move in found.moves] == pytest.approx(falls)
    assert [move.verdict for move in found.moves] == ["", "inaccuracy", "mistake", "mistake", "blunder", ""]
    assert not any(move.exact for move in found.moves)
    assert "0.25 inaccuracy, 0.5 mistake, 1 blunder" in thresholds_in_words(game)


def test_random_moves_of_the_opening_are_nobodys_fault() -> None:
    found = reviewed("tic_tac_toe-3x3", ERRORS, tags='[Opening "3"]')
    assert [move.verdict for move in found.moves] == ["", "", "", "mistake", "blunder", ""]
    assert [move.opening for move in found.moves] == [True] * 3 + [False] * 3


def test_a_game_with_passes_keeps_whose_value_it_is() -> None:
    game = make_game("othello-4x4")
    ends = game.rollout(game.initial(50), np.arange(1, 51, dtype=np.uint64), trace=True)
    assert ends.moves is not None and ends.lengths is not None
    row = next(r for r in range(50) if game.num_actions - 1 in ends.moves[r, : ends.lengths[r]])
    moves = " ".join(f"#{action}" for action in ends.moves[row, : ends.lengths[row]])
    found = reviewed("othello-4x4", moves)
    assert [move.mover for move in found.moves] == [int(state[0]) for state in found.states[:-1]]
    passes = [move for move in found.moves if move.text == "pass"]
    assert passes and all(move.best == "pass" and move.fall == 0.0 for move in passes)
    for move in found.moves:  # what is certain is the same from either side of a move
        if move.exact and found.moves[-1].ply > move.ply and found.moves[move.ply].exact:
            assert move.value * (1 - 2 * move.mover) == found.values[move.ply]
    review_page(found, {"first": "a", "second": "b", "result": "*"})


def test_one_player_is_judged_by_scores() -> None:
    game = make_game("bin_packing-2d-2")
    start = game.from_moves("@0")
    legal = [game.action_to_text(start, int(a)) for a in game.legal(start[None])[1][0, : game.legal(start[None])[0][0]]]
    assert legal
    first = game.from_moves(f"@0 {legal[0]}")
    last = [game.action_to_text(first, int(a)) for a in game.legal(first[None])[1][0, : game.legal(first[None])[0][0]]]
    scores = {text: int(game.outcome(game.from_moves(f"@0 {legal[0]} {text}")[None])[0]) for text in last}
    worst = min(scores, key=lambda text: scores[text])
    bad = reviewed("bin_packing-2d-2", f"{legal[0]} {worst} *", "uct(simulations=200)", '[Start "0"]')
    assert scores[worst] < 11 and bad.moves[-1].verdict and bad.moves[-1].exact
    assert "largest possible" in thresholds_in_words(game)
    page = review_page(bad, {"first": "me", "second": "?", "result": "*"})
    assert "<h1>me</h1>" in page


def test_a_game_that_was_not_finished_and_one_of_a_single_move() -> None:
    found = reviewed("hex-3x3", "b2 *")
    assert len(found.moves) == 1 and len(found.values) == 2
    assert review_page(found, {"first": "a", "second": "b", "result": "*"}).count("<rect class=") == 2


@pytest.mark.parametrize(
    ("moves", "player", "words"),
    [("*", "random", "no move"), ("b2 *", "random", "no value"), ("b2 b2 *", "random", "move 2 of the game")],
)
def test_what_cannot_be_reviewed_is_said(moves: str, player: str, words: str) -> None:
    with pytest.raises(RecordError, match=words):
        reviewed("hex-3x3", moves, player)


def test_the_same_seed_gives_the_same_review() -> None:
    one, two = (reviewed("connect_four-4x4", "1 2 3 4 1 2 *") for _ in range(2))
    assert one.moves == two.moves and one.values == two.values


class Page(HTMLParser):
    """Tags and attributes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_the_page_is_whole_and_escapes_what_it_is_told() -> None:
    found = reviewed("tic_tac_toe-3x3", ERRORS)
    evil = "</title><script>alert(1)</script>"
    page = review_page(found, {"first": evil, "second": "<b>", "result": "0-1"})
    tags = Page(page).tags
    assert page.count("<script") == 2 and "alert(1)</script>" not in page.replace("&lt;/script&gt;", "")
    for tag, attributes in tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base")
        assert "src" not in attributes and "href" not in attributes and "onclick" not in attributes
    drawings = json.loads(page.partition('id="positions">')[2].partition("</script>")[0])
    assert len(drawings) == 1 and len(drawings[0]) == 7
    assert sorted({int(str(a["data-to"])) for _, a in tags if "data-to" in a}) == list(range(7))
    assert sorted({int(str(a["data-at"])) for _, a in tags if "data-at" in a}) == list(range(7))
    assert len(re.findall(r'class="move (?:mistake|blunder)"', page)) == 4
    assert thresholds_in_words(found.game)[:20] in page


def test_a_game_of_gdl_is_reviewed_without_marks() -> None:
    found = reviewed("gdl:tic_tac_toe-3x3", "#4 #0 *")
    assert len(found.moves) == 2
    assert "(mark" in review_page(found, {"first": "a", "second": "b", "result": "*"})


class Coin(PlainRules[tuple[int, ...]]):
    """Who calls heads wins, at once."""

    def start(self, choice: int) -> tuple[int, ...]:
        return (0, 0)

    def mover(self, state: tuple[int, ...]) -> int:
        return state[1]

    def moves(self, state: tuple[int, ...]) -> list[int]:
        return [0, 1]

    def play(self, state: tuple[int, ...], action: int) -> tuple[int, ...]:
        return (1 + action, 1)

    def result(self, state: tuple[int, ...]) -> int | None:
        return None if state[0] == 0 else 1 if state[0] == 1 else -1


def test_a_game_that_is_over_in_one_move() -> None:
    game = PythonGame.of(Coin(), id="coin", num_actions=2, max_plies=1)
    for text, verdict in (("0 1-0", ""), ("1 0-1", "blunder")):
        (played,) = read_games(text)
        found = review_game(game, played, make_player("uct(simulations=10)", game))
        assert [move.verdict for move in found.moves] == [verdict] and found.moves[0].best == "0"
        assert found.values == [1.0, 1.0 if not verdict else -1.0]
        assert "coin, 1 ply" in review_page(found, {"first": "a", "second": "b", "result": "*"})


def test_an_empty_game_is_refused() -> None:
    game = make_game("hex-3x3")
    with pytest.raises(RecordError, match="no move"):
        review_game(game, PgnGame(), make_player("random", game))
