"""Opposition: steps, ends, the view of both sides, and an independent oracle (sources: opposition solved)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from palaestra.base.errors import GameError, MoveError
from palaestra.base.streams import keyed_seeds
from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.laws import check
from palaestra.games.opposition import STEPS
from palaestra.games.opposition import make as make_opposition
from palaestra.games.registry import make_game
from palaestra.games.rows import ONGOING

Square = tuple[int, int]
Position = tuple[Square, Square, int]  # kings of the first and the second player, who is to move


def moves(position: Position, w: int, h: int) -> list[Position | None]:
    """Positions after each move by the plain rules; None is a win for the mover."""
    kings, mover = position[:2], position[2]
    col, rank = kings[mover]
    after: list[Position | None] = []
    for c in (col - 1, col, col + 1):
        for r in (rank - 1, rank, rank + 1):
            if (c, r) != (col, rank) and 0 <= c < w and 0 <= r < h:
                if (c, r) == kings[1 - mover] or r == (0 if mover else h - 1):
                    after.append(None)
                else:
                    after.append(((c, r), kings[1], 1) if mover == 0 else (kings[0], (c, r), 0))
    return after


@lru_cache(maxsize=4)
def solve(w: int, h: int) -> dict[Position, int]:
    """For every decisive position, plies to the end with perfect play: odd is a win for the mover, even a loss."""
    squares = [(c, r) for c in range(w) for r in range(h)]
    positions = [
        (one, two, mover)
        for one in squares
        for two in squares
        for mover in (0, 1)
        if one != two and one[1] != h - 1 and two[1] != 0
    ]
    after = {position: moves(position, w, h) for position in positions}
    distance: dict[Position, int] = {}
    for plies in range(1, 20 * h + 1):
        found = {}
        for position in positions:
            if position in distance:
                continue
            ends = [0 if child is None else distance.get(child, -1) for child in after[position]]
            if plies % 2 == 1 and plies - 1 in ends:
                found[position] = plies
            if plies % 2 == 0 and all(end % 2 == 1 and end > 0 for end in ends):
                found[position] = plies
        distance.update(found)
    return distance


def starts(w: int, h: int) -> list[int]:
    """Signed plies of perfect play from every start, first king's column first: positive if the first player wins."""
    distance = solve(w, h)
    found = [distance[(one, 0), (two, h - 1), 0] for one in range(w) for two in range(w)]
    return [plies if plies % 2 else -plies for plies in found]


def test_a_board_is_drawn_with_the_first_player_below() -> None:
    game = make_game("opposition-3x9")
    state = game.from_moves("@1 b2 a8")
    drawn = game.render(state).splitlines()
    assert drawn[0] == "  9 . . ." and drawn[1] == "  8 k . ." and drawn[7] == "  2 . K ." and drawn[9] == "    a b c"
    assert game.state_to_text(state) == "b2 a8 0 2"


def test_initial_positions_are_numbered_by_both_columns() -> None:
    game = make_game("opposition-3x9")
    texts = [game.state_to_text(state) for state in game.start(np.arange(9))]
    assert texts == [f"{one}1 {two}9 0 0" for one in "abc" for two in "abc"]


def test_forward_is_towards_the_enemy_for_both_players() -> None:
    game = make_game("opposition-3x9")
    first, second = game.state_from_text("b4 b6 0 0"), game.state_from_text("b4 b6 1 1")
    assert [game.action_to_text(first, a) for a in range(8)] == ["a5", "b5", "c5", "a4", "c4", "a3", "b3", "c3"]
    assert [game.action_to_text(second, a) for a in range(8)] == ["a5", "b5", "c5", "a6", "c6", "a7", "b7", "c7"]


def test_a_king_in_the_corner_has_three_steps() -> None:
    game = make_game("opposition-3x9")
    counts, actions = game.legal(game.state_from_text("a1 c9 0 0")[None])
    assert actions[0, : counts[0]].tolist() == [1, 2, 4]


@pytest.mark.parametrize(("w", "h"), [(2, 3), (3, 9), (8, 5)])
def test_no_king_is_ever_without_a_step(w: int, h: int) -> None:
    game = make_opposition((w, h))
    squares = [f"{'abcdefgh'[c]}{r + 1}" for c in range(w) for r in range(h)]
    texts = [f"{one} {two} {mover} 0" for one in squares for two in squares for mover in (0, 1) if one != two]
    states = np.stack([game.state_from_text(text) for text in texts])
    assert game.legal(states)[0].min() >= 3


def test_capturing_the_king_wins() -> None:
    game = make_game("opposition-3x9")
    state = game.advance(game.state_from_text("b4 b5 0 10")[None], np.array([1], dtype=np.int32))
    assert game.outcome(state)[0] == 180 + 1 - 11
    assert game.state_to_text(state[0]) == "b5 - 1 11 170"


def test_entering_the_back_rank_wins_for_either_side() -> None:
    game = make_game("opposition-3x9")
    first = game.advance(game.state_from_text("a8 c2 0 4")[None], np.array([1], dtype=np.int32))
    second = game.advance(game.state_from_text("a4 c2 1 5")[None], np.array([0], dtype=np.int32))
    assert game.outcome(first)[0] == 180 + 1 - 5
    assert game.outcome(second)[0] == -(180 + 1 - 6)


def test_the_last_ply_is_a_draw_unless_it_wins() -> None:
    game = make_game("opposition-3x9")
    last = game.state_from_text("a5 c2 1 179")
    assert game.outcome(game.advance(last[None], np.array([3], dtype=np.int32)))[0] == 0
    assert game.outcome(game.advance(last[None], np.array([1], dtype=np.int32)))[0] == -1
    earlier = game.state_from_text("a5 c2 1 178")
    assert game.outcome(game.advance(earlier[None], np.array([3], dtype=np.int32)))[0] == ONGOING


def test_each_player_sees_the_board_from_the_own_side() -> None:
    game = make_game("opposition-3x9")
    first, second = game.observe(np.stack([game.state_from_text("a2 c7 0 90"), game.state_from_text("a2 c7 1 90")]))
    assert np.argwhere(first[0]).tolist() == [[7, 0]] and np.argwhere(first[1]).tolist() == [[2, 2]]
    assert np.argwhere(second[0]).tolist() == [[6, 2]] and np.argwhere(second[1]).tolist() == [[1, 0]]
    assert (first[2] == 0.5).all() and (second[2] == 0.5).all()


def test_exchanging_the_players_shows_the_mover_the_same_board() -> None:
    game = make_game("opposition-3x9")
    assert game.exchange is not None
    state = game.from_moves("@5 b2 b8 c3")
    image = game.permute(state[None], game.exchange, swap=True)
    assert game.state_to_text(image[0]) == "b2 c7 0 3"
    assert np.array_equal(game.observe(image), game.observe(state[None]))


def test_score_is_the_lead_in_ranks() -> None:
    game = make_game("opposition-3x9")
    texts = ["a1 c9 0 0", "a4 c8 0 4", "a2 c5 0 4"]
    assert game.score(np.stack([game.state_from_text(text) for text in texts])).tolist() == [0, 2, -3]


def test_positions_of_3x9_split_as_the_sources_say() -> None:
    distance = solve(3, 9)  # (sources: opposition solved)
    wins = sum(plies % 2 == 1 for plies in distance.values())
    assert (len(distance), wins, len(distance) - wins) == (984, 728, 256)
    squares = [(c, r) for c in range(3) for r in range(9)]
    positions = [(a, b) for a in squares for b in squares if a != b and a[1] != 8 and b[1] != 0]
    assert (2 * len(positions), 2 * len(positions) - len(distance)) == (1110, 126)


def test_perfect_play_from_every_start_is_that_of_the_sources() -> None:
    assert starts(3, 9) == [-30, 29, 27, 27, -28, 27, 27, 29, -30]  # (sources: opposition solved)
    assert sum(plies > 0 for plies in starts(3, 8)) == 9
    assert sum(plies > 0 for plies in starts(5, 9)) == 20


def test_the_engine_keeps_to_the_oracle_move_by_move() -> None:
    """From every decisive position of 3×9, the distances of the engine's own successors explain its distance."""
    game, distance = make_game("opposition-3x9"), solve(3, 9)

    def place(position: Position) -> Int8s:
        one, two = (f"{'abc'[c]}{r + 1}" for c, r in position[:2])
        return game.state_from_text(f"{one} {two} {position[2]} 0")

    def value(state: Int8s) -> int:
        """Plies to the end for the player to move (odd wins), 0 if play is over, -1 if drawn."""
        if int(game.outcome(state[None])[0]) != ONGOING:
            return 0
        one, two = ((ord(word[0]) - ord("a"), int(word[1:]) - 1) for word in game.state_to_text(state).split()[:2])
        return distance.get((one, two, int(state[0])), -1)

    for position, plies in distance.items():
        states = place(position)[None]
        counts, actions = game.legal(states)
        children = game.advance(np.repeat(states, counts[0], axis=0), actions[0, : counts[0]])
        values = [value(child) for child in children]
        lost = [v for v in values if v >= 0 and v % 2 == 0]  # the opponent is lost, or play is over
        assert plies == 1 + (min(lost) if lost else max(values))
        assert bool(lost) == (plies % 2 == 1)


def test_random_self_play_is_as_in_the_sources() -> None:
    game = make_game("opposition-3x9")  # 48/50/2 %, mean 60 plies (sources: random play)
    ends = game.rollout(game.initial(50_000, np.random.default_rng(1)), keyed_seeds(1, np.arange(50_000)))
    assert (ends.outcomes > 0).mean() == pytest.approx(0.48, abs=0.02)
    assert (ends.outcomes < 0).mean() == pytest.approx(0.50, abs=0.02)
    assert (ends.outcomes == 0).mean() == pytest.approx(0.02, abs=0.01)
    assert game.plies(ends.states).mean() == pytest.approx(60, abs=1)


@pytest.mark.parametrize("id", ["opposition-2x3", "opposition-3x9", "opposition-8x26", "opposition-3x9-absolute"])
def test_opposition_obeys_the_laws(id: str) -> None:
    assert check(make_game(id), seed=5, games=8).violations == []


def test_the_compiled_rollout_is_plain_play() -> None:
    game = make_game("opposition-5x9")
    begin = game.initial(50, np.random.default_rng(4))
    fast = game.rollout(begin, keyed_seeds(2, np.arange(50)))
    plain = Game.rollout(game, begin, keyed_seeds(2, np.arange(50)))
    assert np.array_equal(fast.states, plain.states)


def test_the_steps_named_in_python_are_those_of_the_kernel() -> None:
    game = make_game("opposition-3x9")
    state = game.state_from_text("b4 b8 0 0")
    for action, (right, forward) in enumerate(STEPS):
        after = game.advance(state[None], np.array([action], dtype=np.int32))[0]
        assert game.state_to_text(after).split()[0] == f"{'abc'[1 + right]}{4 + forward}"


@pytest.mark.parametrize("sizes", [(1, 9), (9, 9), (3, 2), (3, 27)])
def test_impossible_boards_are_refused(sizes: tuple[int, int]) -> None:
    with pytest.raises(GameError, match="2 to 8 wide and 3 to 26 high"):
        make_opposition(sizes)


@pytest.mark.parametrize(
    "text",
    ["", "a1 b9", "a1 d9 0 0", "a0 b9 0 0", "b5 b5 0 0", "a1 b9 2 0", "a1 b9 0 181", "a1 b9 0 -1", "a1 b9 x 0"],
)
def test_a_text_that_is_no_position_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(MoveError, match="a1 b9 0 0"):
        make_game("opposition-3x9").state_from_text(text)


def test_the_drawing_shows_both_kings_until_one_is_captured() -> None:
    game = make_game("opposition-3x9")
    drawing = game.svg(game.state_from_text("a1 b9 0 0"))
    assert "♔" in drawing and "♚" in drawing and drawing.count("<rect") == 27 + 1
    assert "♚" not in game.svg(game.state_from_text("b5 - 1 11 170"))


# The absolute view.


def test_steps_of_the_absolute_view_are_those_of_the_board_as_drawn_for_both_players() -> None:
    game = make_game("opposition-3x9-absolute")
    first, second = game.state_from_text("b4 b6 0 0"), game.state_from_text("b4 b6 1 1")
    assert [game.action_to_text(first, a) for a in range(8)] == ["a5", "b5", "c5", "a4", "c4", "a3", "b3", "c3"]
    assert [game.action_to_text(second, a) for a in range(8)] == ["a7", "b7", "c7", "a6", "c6", "a5", "b5", "c5"]


def test_the_absolute_view_shows_the_planes_of_the_paper() -> None:
    game = make_game("opposition-3x9-absolute")  # ε = 1 / 27 (sources: input planes)
    states = np.stack([game.state_from_text("a2 c7 0 90"), game.state_from_text("b5 - 1 11 170")])
    wanted = np.full((2, 5, 9, 3), -1 / 27, dtype=np.float32)
    wanted[0, 0, 7, 0] = wanted[0, 1, 2, 2] = wanted[1, 0, 4, 1] = 1.0
    wanted[0, 2], wanted[1, 2] = 0.1 * 90 / 27, 0.1 * 11 / 27
    wanted[0, 3] = 1 / 27
    wanted[:, 4] = 1 / 27
    assert game.observe(states) == pytest.approx(wanted, rel=1e-6)


def test_both_views_are_one_game() -> None:
    """The same squares, ends and numbers of moves whenever the same moves are played."""
    own, drawn = make_game("opposition-3x9"), make_game("opposition-3x9-absolute")
    flipped = np.array([STEPS.index((right, -up)) for right, up in STEPS], dtype=np.int32)
    states = own.start(np.arange(9).repeat(20))
    assert np.array_equal(states, drawn.start(np.arange(9).repeat(20)))
    rng = np.random.default_rng(3)
    while len(states):
        counts, actions = own.legal(states)
        chosen = actions[np.arange(len(states)), rng.integers(counts)]
        same = np.where(states[:, 0] == 0, chosen, flipped[chosen])
        assert np.array_equal(counts, drawn.legal(states)[0])
        after = own.advance(states, chosen)
        assert np.array_equal(after, drawn.advance(states, same))
        states = after[own.outcome(after) == ONGOING]


def test_the_absolute_view_has_an_id_of_its_own_and_nothing_else_may_follow_the_size() -> None:
    assert make_game("opposition-3x9-absolute").id == "opposition-3x9-absolute"
    for id in ("opposition-3x9-relative", "opposition-3x9-", "opposition-3x9-absolute-absolute"):
        with pytest.raises(GameError, match="opposition-WIDTHxHEIGHT-absolute"):
            make_game(id)
