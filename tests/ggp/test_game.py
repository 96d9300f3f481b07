from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from palaestra.base.errors import GameError, GdlError, MoveError
from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.laws import check
from palaestra.games.registry import make_game
from palaestra.games.rows import FIRST, ONGOING, SECOND
from palaestra.ggp.board_layout import find_board
from palaestra.ggp.game import GdlGame
from palaestra.ggp.game_length import CAP, Growth
from palaestra.ggp.interpreter import Interpreter
from palaestra.ggp.propnet import PropNet
from palaestra.ggp.rules import parse_rules, rulesheet, rulesheet_names
from palaestra.ggp.terms import term_text
from tests.ggp.fakes import HANDS
from tests.ggp.sheets import SHEETS, sheets

# Both walk in turn for three turns each; who is ahead at the end has done better, by as much as it is ahead.
WALK = """
(role red) (role blue) (other red blue) (other blue red)
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (score 0 20) (score 1 40) (score 2 60) (score 3 80)
(init (at red 0)) (init (at blue 0)) (init (turn red)) (init (moves 0))
(<= (legal ?r go) (true (turn ?r))) (<= (legal ?r stay) (true (turn ?r)))
(<= (legal ?r wait) (true (turn ?o)) (other ?r ?o))
(<= (next (at ?r ?y)) (does ?r go) (true (at ?r ?x)) (succ ?x ?y))
(<= (next (at ?r ?x)) (true (at ?r ?x)) (not (does ?r go)))
(<= (next (turn ?r)) (true (turn ?o)) (other ?r ?o))
(<= (next (moves ?n)) (true (moves ?m)) (succ ?m ?n))
(<= terminal (true (moves 6)))
(<= (goal ?r ?g) (true (at ?r ?n)) (score ?n ?g))
"""
# Nobody ever wins, and nothing counts the moves.
ENDLESS = """
(role x) (role o) (other x o) (other o x) (init (turn x)) (init (lamp off))
(<= (legal ?r (set ?s)) (true (turn ?r)) (state ?s)) (state on) (state off)
(<= (legal ?r wait) (true (turn ?o)) (other ?r ?o))
(<= (next (turn ?r)) (true (turn ?o)) (other ?r ?o))
(<= (next (lamp ?s)) (does ?r (set ?s)))
(<= terminal (true never)) (<= (next never) (true never))
(<= (goal x 100) (true (lamp on))) (<= (goal x 0) (true (lamp off)))
(<= (goal o 0) (true (lamp on))) (<= (goal o 100) (true (lamp off)))
"""
# A lock of ten digits: whoever completes it lets both choose at once. Random games do not find the number.
LOCK = """
(role x) (role o) (other x o) (other o x) (init (turn x)) (init (right 0)) (init (moves 0))
(digit 0) (digit 1) (digit 2) (digit 3) (digit 4) (digit 5) (digit 6) (digit 7) (digit 8) (digit 9)
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7) (succ 7 8)
(<= (legal ?r (press ?d)) (true (turn ?r)) (digit ?d))
(<= (legal ?r (press ?d)) (role ?r) (digit ?d) (true (right 7)))
(<= (legal ?r wait) (true (turn ?o)) (other ?r ?o) (not (true (right 7))))
(<= (next (turn ?r)) (true (turn ?o)) (other ?r ?o))
(<= (next (right ?n)) (true (right ?m)) (succ ?m ?n) (does ?r (press ?n)))
(<= (next (right ?m)) (true (right ?m)) (succ ?m ?n) (not (pressed ?n)))
(<= (pressed ?n) (does ?r (press ?n)))
(<= (next (moves ?n)) (true (moves ?m)) (succ ?m ?n))
(<= terminal (true (moves 8)))
(<= (goal ?r 50) (role ?r))
"""


def game_of(text: str) -> GdlGame:
    rules = parse_rules(text)
    return GdlGame.of("gdl:test", rules, PropNet(rules))


def play(game: Game, moves: str) -> Int8s:
    return game.from_moves(moves)


def legal_texts(game: Game, state: Int8s) -> list[str]:
    counts, actions = game.legal(state[None])
    return [game.action_to_text(state, int(action)) for action in actions[0, : counts[0]]]


@pytest.mark.parametrize("name", rulesheet_names())
def test_rulesheets_of_the_package_obey_all_laws(name: str) -> None:
    report = check(make_game(f"gdl:{name}"), games=5)
    assert report.violations == []


@pytest.mark.parametrize("text", [WALK, ENDLESS.replace("(lamp off)", "(lamp on)")])
def test_games_with_margins_and_games_that_are_cut_off_obey_all_laws(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("palaestra.ggp.turn_taking.CAP", 30)
    assert check(game_of(text), games=5).violations == []


def _slow(parameters: object) -> object:
    """The same parameters, kept out of the usual run."""
    return pytest.param(*parameters.values, id=parameters.id, marks=[*parameters.marks, pytest.mark.slow])  # type: ignore[attr-defined]


NO_GAMES = ("3pConnectFour", "chess", "connectFourSimultaneous", "roshambo2")  # three roles, too large, at once
LARGE = ("checkersTiny", "chess", "gomoku_11x11", "hex", "pentago", "quarto", "reversi", "sheepAndWolf")


SMALL = tuple(path.stem for path in SHEETS if path.stem not in LARGE)


@pytest.mark.parametrize("path", [*sheets(*SMALL), *map(_slow, sheets(*LARGE))])
def test_rulesheets_of_servers_obey_all_laws_or_are_refused_with_a_sentence(path: Path) -> None:
    try:
        game = make_game(f"gdl:{path}")
    except GameError as error:
        assert path.stem in NO_GAMES
        assert "network matches" in str(error)
    else:
        assert check(game, games=3).violations == []


# Turns.


def test_a_position_says_what_the_interpreted_rules_say() -> None:
    rules = parse_rules(rulesheet("connect_four-4x4"))
    game, machine, rng = make_game("gdl:connect_four-4x4"), Interpreter(rules), np.random.default_rng(1)
    assert isinstance(game, GdlGame)
    for _ in range(4):
        state, position = game.initial(1)[0], machine.initial()
        while not machine.terminal(position):
            assert set(game.facts(state)) == machine.facts(position)
            options = machine.legal(position)
            mover = next(role for role in (0, 1) if options[role] != ["noop"])
            assert game.to_play(state[None])[0] == mover
            assert sorted(legal_texts(game, state)) == sorted(map(term_text, options[mover]))
            joint = ["noop", "noop"]
            joint[mover] = move = options[mover][int(rng.integers(len(options[mover])))]  # type: ignore[call-overload]
            position = machine.step(position, joint)
            action = game.text_to_action(state, term_text(move))
            state = game.advance(state[None], np.array([action], dtype=np.int32))[0]
        goals = machine.goals(position)
        assert game.outcome(state[None])[0] == np.sign(goals[0] - goals[1])


def test_connect_four_by_rulesheet_is_the_built_in_one_move_for_move() -> None:
    rules, built_in, rng = make_game("gdl:connect_four-4x4"), make_game("connect_four-4x4"), np.random.default_rng(2)
    ours, theirs = rules.initial(200), built_in.initial(200)
    assert rules.max_plies == built_in.max_plies
    while len(ours):
        counts, actions = rules.legal(ours)
        expected, same_actions = built_in.legal(theirs)
        assert np.array_equal(counts, expected)
        inside = np.arange(same_actions.shape[1]) < expected[:, None]
        assert np.array_equal(actions[:, : same_actions.shape[1]][inside], same_actions[inside])  # columns in order
        assert np.array_equal(rules.to_play(ours), built_in.to_play(theirs))
        chosen = actions[np.arange(len(ours)), rng.integers(counts)]
        ours, theirs = rules.advance(ours, chosen), built_in.advance(theirs, chosen)
        outcomes = built_in.outcome(theirs)
        assert np.array_equal(rules.outcome(ours), np.where(outcomes == ONGOING, ONGOING, np.sign(outcomes)))
        running = outcomes == ONGOING
        ours, theirs = ours[running], theirs[running]


def test_a_role_with_one_move_left_is_to_play_and_the_one_that_waits_is_not() -> None:
    game = make_game("gdl:tic_tac_toe-3x3")
    state = play(game, "(mark 1 1) (mark 2 2) (mark 3 3) (mark 1 2) (mark 3 2) (mark 3 1) (mark 1 3) (mark 2 3)")
    assert game.to_play(state[None])[0] == FIRST
    assert legal_texts(game, state) == ["(mark 2 1)"]
    end = play(
        game, "(mark 1 1) (mark 2 2) (mark 3 3) (mark 1 2) (mark 3 2) (mark 3 1) (mark 1 3) (mark 2 3) (mark 2 1)"
    )
    assert game.outcome(end[None])[0] == 0 and legal_texts(game, end) == []


def test_where_both_can_only_wait_the_turn_passes() -> None:
    rules = WALK.replace("(<= (legal ?r go) (true (turn ?r)))", "(<= (legal ?r go) (true (turn ?r)) (true (moves 0)))")
    rules = rules.replace(
        "(<= (legal ?r stay) (true (turn ?r)))", "(<= (legal ?r stay) (true (turn ?r)) (true (moves 0)))"
    )
    rules = rules.replace(
        "(<= (legal ?r wait) (true (turn ?o)) (other ?r ?o))",
        "(<= (legal ?r wait) (role ?r) (not (true (moves 0)))) (<= (legal blue wait) (true (moves 0)))",
    )
    game = game_of(rules)
    movers = [int(game.to_play(state[None])[0]) for state in game.replay("go wait wait wait")]
    assert movers == [FIRST, SECOND, FIRST, SECOND, FIRST]


def test_the_second_role_may_begin() -> None:
    game = game_of(WALK.replace("(init (turn red))", "(init (turn blue))"))
    assert game.to_play(game.initial(1))[0] == SECOND
    assert game.outcome(play(game, "go stay stay stay stay stay")[None])[0] < 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HANDS, "both roles can choose in the same state"),
        ("(role a) (role b) (role c) (init s) (legal a x) (legal b x) (legal c x) (<= terminal (true t))"
         "(<= (next t) (true s)) (goal a 1) (goal b 1) (goal c 1)", r"3 roles \(a, b, c\)"),
        ("(role a) (init s) (<= (legal a x) (true s)) (<= (next t) (true s)) (<= terminal (true u))"
         "(<= (next u) (true u)) (goal a 1)", "no legal move"),
    ],
)  # fmt: skip
def test_rules_that_are_no_game_are_refused_with_a_sentence(text: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        game_of(text)


def test_only_sound_rules_are_sent_to_network_matches(tmp_path: Path) -> None:
    over = "(role a) (init s) (legal a x) (<= terminal (true s)) (<= (next s) (true s)) (goal a 1)"
    for text, elsewhere in ((HANDS, True), (over, False)):
        file = tmp_path / f"{elsewhere}.kif"
        file.write_text(text)
        with pytest.raises(GameError) as error:
            make_game(f"gdl:{file}")
        assert ("network matches" in str(error.value)) is elsewhere


def test_turns_that_random_games_did_not_see_broken_are_noticed_in_play() -> None:
    game = game_of(LOCK)
    moves = " ".join(f"(press {digit})" for digit in range(1, 7))
    state = play(game, moves)
    with pytest.raises(GameError, match="both roles can choose"):
        play(game, f"{moves} (press 7)")
    with pytest.raises(GameError, match="both roles can choose"):
        game.rollout(np.tile(state, (200, 1)), np.arange(200, dtype=np.uint64))


# Outcomes and ends.


def test_two_players_compare_goals_and_a_larger_lead_is_a_better_outcome() -> None:
    game = game_of(WALK)
    assert game.tiebreak == "margin" and game.max_plies == 6
    lines = (
        "go stay go stay go stay",
        "go stay stay stay stay stay",
        "go go stay stay stay stay",
        "stay go stay go stay stay",
    )
    outcomes = [int(game.outcome(play(game, line)[None])[0]) for line in lines]
    assert outcomes == [3, 1, 0, -2]
    assert max(outcomes) <= game.largest_outcome


def test_one_player_scores_its_goal() -> None:
    game = make_game("gdl:eight_puzzle")
    assert (game.players, game.tiebreak, game.max_plies, game.largest_outcome) == (1, "score", 60, 100)
    back_and_forth = "(slide 3 2) (slide 3 3) " * 30
    assert game.outcome(play(game, back_and_forth)[None])[0] == 0


def test_a_game_that_never_ends_is_drawn_at_the_cap() -> None:
    game = game_of(ENDLESS)
    assert game.max_plies == CAP
    ends = game.rollout(game.initial(3), np.arange(3, dtype=np.uint64)).states
    assert game.plies(ends).tolist() == [CAP] * 3 and game.outcome(ends).tolist() == [0] * 3


def test_stones_that_stay_bound_the_length_of_a_game() -> None:
    lengths = {name: make_game(f"gdl:{name}").max_plies for name in rulesheet_names()}
    assert lengths == {
        "connect_four-4x4": 16,
        "connect_four-6x7": 42,
        "eight_puzzle": 60,
        "hex-3x3": 9,
        "tic_tac_toe-3x3": 9,
        "tic_tac_toe-4x4": 16,
        "tic_tac_toe-5x5": 25,
    }


def test_one_move_that_adds_no_stone_leaves_only_the_cap() -> None:
    rules = parse_rules(rulesheet("tic_tac_toe-3x3"))
    net = PropNet(rules)
    start = net.initial_states(1)
    for passes, most in ((False, 9), (True, None)):
        growth = Growth(net, find_board(rules, net.all_facts))
        if passes:
            growth.observe(start, start)
        assert growth.settle(start) == most


# What networks see.


def test_both_players_see_their_own_stones_on_the_same_planes() -> None:
    game = make_game("gdl:tic_tac_toe-3x3")
    assert game.observation_shape == (4, 3, 3)
    one, two = game.observe(np.stack([play(game, "(mark 1 1)"), play(game, "(mark 1 1) (mark 2 2)")]))
    (theirs,) = np.flatnonzero(one[:, 0, 0] * (one.sum(axis=(1, 2)) == 1))
    (mine,) = np.flatnonzero(two[:, 0, 0] * (two.sum(axis=(1, 2)) == 1))
    assert mine != theirs and two[theirs, 1, 1] == 1.0
    assert two[mine].sum() == two[theirs].sum() == 1.0


def test_roles_that_are_not_alike_see_the_same_and_whose_turn_it_is() -> None:
    game = make_game("gdl:hex-3x3")
    start, after = game.observe(np.stack([game.initial(1)[0], play(game, "(mark 2 2)")]))
    assert start[-1].sum() == 0.0 and after[-1].sum() == 9.0


def test_a_counter_of_moves_is_one_plane_that_rises() -> None:
    game = make_game("gdl:eight_puzzle")
    states = np.stack([play(game, "(slide 3 2) (slide 3 3) " * half) for half in (0, 15, 29)])
    planes = game.observe(states)
    (counter,) = np.flatnonzero([len(np.unique(planes[:, c])) == 3 for c in range(planes.shape[1])])
    assert np.allclose(planes[:, counter, 0, 0], [0.0, 0.5, 58 / 60])


def test_rules_without_a_board_are_seen_as_planes_of_one_cell() -> None:
    game = game_of(ENDLESS)
    assert game.observation_shape[1:] == (1, 1)


def test_moves_that_name_cells_have_places_there() -> None:
    game = make_game("gdl:tic_tac_toe-3x3")
    assert game.action_places == tuple(range(10))  # row by row, and waiting on a plane of its own


# Text.


def test_moves_are_terms_and_spaces_case_and_outer_brackets_do_not_matter() -> None:
    game = make_game("gdl:tic_tac_toe-3x3")
    start = game.initial(1)[0]
    centre = game.text_to_action(start, "(mark 2 2)")
    assert game.action_to_text(start, centre) == "(mark 2 2)"
    assert game.text_to_action(start, " MARK  2 2 ") == centre
    for wrong in ("(mark 4 4)", "noop", "(mark 2", ""):
        with pytest.raises(MoveError) as caught:
            game.text_to_action(start, wrong)
        assert "(mark 1 1)" in str(caught.value) and "\n" not in str(caught.value)


def test_a_position_is_drawn_with_its_board_and_its_other_facts() -> None:
    game = make_game("gdl:tic_tac_toe-3x3")
    assert game.render(play(game, "(mark 2 2) (mark 1 3)")) == "\n".join(
        ["  1 2 3", "1 . . o", "2 . x .", "3 . . .", "(control x)"]
    )
    assert game_of(ENDLESS).render(game_of(ENDLESS).initial(1)[0]) == "(lamp off)\n(turn x)"


def test_the_text_of_a_position_names_its_facts_and_wrong_ones_are_refused() -> None:
    game = make_game("gdl:tic_tac_toe-3x3")
    state = play(game, "(mark 2 2)")
    assert game.state_to_text(state) == "1 1 - (cell 2 2 x) (control o)"
    for wrong in ("", "1 1 -(", "1 2 - (control o)", "1 1 - (cell 9 9 x)", "99999 1 -", "1 1 x (control o)", "9 1 2"):
        with pytest.raises(MoveError, match="initial one is"):
            game.state_from_text(wrong)


# Files.


def test_a_version_is_that_of_the_rules_and_not_of_their_layout() -> None:
    plain = game_of(WALK)
    assert game_of("; a walk\n" + WALK.upper()).version == plain.version
    assert game_of(WALK.replace("(score 3 80)", "(score 3 90)")).version != plain.version
    assert 0 < plain.version < 2**53  # so that every reader of JSON keeps it


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "walk.kif"
    file.write_text(WALK)
    os.utime(file, ns=(1, 1))
    first = make_game(f"gdl:{file}")
    assert first.id == f"gdl:{file}" and make_game(f"gdl:{file}") is first
    file.write_text(WALK.replace("(score 3 80)", "(score 3 90)"))
    os.utime(file, ns=(2, 2))
    assert make_game(f"gdl:{file}").version != first.version


def test_what_is_no_file_and_no_rulesheet_is_refused_with_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(GameError, match="known: connect_four-4x4, "):
        make_game("gdl:chess")
    with pytest.raises(GameError, match="no file"):
        make_game("gdl:a\0b")
    with pytest.raises(GdlError, match="cannot read"):
        make_game(f"gdl:{tmp_path}")
    broken = tmp_path / "broken.kif"
    broken.write_text("(role x")
    with pytest.raises(GdlError, match="line 1, column 1"):
        make_game(f"gdl:{broken}")
