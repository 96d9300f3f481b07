"""Solution files: what is written is read back, what is wrong is named, what is no solution is refused."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from palaestra.arena.solutions import check_solution
from palaestra.base.errors import RecordError
from palaestra.base.streams import keyed_seeds
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.runs.solutions import Solution, final_state, make_solution, parse_solution
from tests.search.toy_games import leaves, tree_game

MORPION = make_game("morpion-4d")


def random_solution(game: Game, seed: int) -> Solution:
    ends = game.rollout(game.initial(1), keyed_seeds(seed), trace=True)
    assert ends.moves is not None and ends.lengths is not None
    return make_solution(game, "", ends.moves[0, : ends.lengths[0]].tolist(), ["by chance", f"seed {seed}"])


@pytest.mark.parametrize("id", ["morpion-4d", "morpion-4t", "morpion-5d", "morpion-5t"])
def test_a_random_game_is_valid_and_survives_its_file(id: str) -> None:
    game = make_game(id)
    found = random_solution(game, 1)
    read = parse_solution(str(found), "f")
    assert (read.game, read.score, read.rows) == (found.game, found.score, found.rows)
    assert read.notes[1:] == found.notes == ("by chance", "seed 1")
    verdict = check_solution(read)
    assert (verdict.valid, verdict.score, verdict.independent, verdict.more) == (True, found.score, True, 0)
    assert game.outcome(final_state(read, game)[None])[0] == found.score


def test_the_picture_numbers_the_moves() -> None:
    found = random_solution(MORPION, 2)
    root = ElementTree.fromstring(check_solution(found).svg)
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert texts == [str(number) for number in range(1, found.score + 1)]
    circles = [element for element in root.iter() if element.tag.endswith("circle")]
    assert len(circles) == 24 + found.score


def test_a_person_may_write_many_moves_to_a_line() -> None:
    found = random_solution(MORPION, 3)
    text = f"game: morpion-4d\n\nscore : {found.score}\nmoves: {' '.join(found.rows[:5])}\n{', '.join(found.rows[5:])}"
    assert check_solution(parse_solution(text, "f")).score == found.score


def test_an_illegal_line_is_named_with_its_number_and_the_reason() -> None:
    found = random_solution(MORPION, 4)
    rows = [*found.rows[:6], found.rows[2], *found.rows[6:]]
    read = parse_solution(str(Solution(found.game, found.score, tuple(rows))), "f")
    verdict = check_solution(read)
    assert not verdict.valid and verdict.score is None and verdict.svg == ""
    assert verdict.error is not None
    assert verdict.error.startswith(
        f"move 7 ({found.rows[2]}, line 11 of the file) is wrong: all its 4 points are there"
    )


def test_a_claim_that_is_not_the_score_is_wrong() -> None:
    found = random_solution(MORPION, 5)
    verdict = check_solution(Solution(found.game, found.score + 1, found.rows))
    assert not verdict.valid and verdict.score == found.score
    assert verdict.error == f"the file claims a score of {found.score + 1}, and its moves score {found.score}"


def test_an_unfinished_game_is_valid_and_says_what_is_left() -> None:
    verdict = check_solution(Solution("morpion-5d", 1, ("k14e",)))
    assert verdict.valid and verdict.score == 1
    after = make_game("morpion-5d").from_moves("k14e")
    assert verdict.more == make_game("morpion-5d").legal(after[None])[0][0]


def test_other_games_are_replayed_through_their_rules() -> None:
    game = tree_game(3)
    line, outcome = max(leaves(game).items(), key=lambda item: item[1])
    found = make_solution(game, "", line)
    verdict = check_solution(parse_solution(str(found), "f"), game)
    assert (verdict.valid, verdict.score, verdict.independent) == (True, outcome, False)
    assert check_solution(Solution(game.id, outcome, ("@0 " + " ".join(map(str, line)),)), game).valid
    early = check_solution(Solution(game.id, outcome, found.rows[:-1]), game)
    assert early.error is not None and "do not end the game" in early.error
    wrong = check_solution(Solution(game.id, outcome, ("77", *found.rows[1:])), game)
    assert wrong.error is not None and wrong.error.startswith("move 1 (77) is wrong: '77' is not a legal move here")
    start = check_solution(Solution(game.id, outcome, ("@5", *found.rows)), game)
    assert start.error is not None and "'@5' is not an initial position" in start.error


def test_a_line_that_cannot_even_be_split_into_moves_is_wrong() -> None:
    verdict = check_solution(Solution("gdl:eight_puzzle", 0, ("(move 1 1",)), make_game("gdl:eight_puzzle"))
    assert verdict.error is not None and "never closed" in verdict.error


def test_a_game_for_two_has_no_solutions() -> None:
    with pytest.raises(RecordError, match="hex-3x3 is for two"):
        check_solution(Solution("hex-3x3", 1, ("a1",)), make_game("hex-3x3"))
