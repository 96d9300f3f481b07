"""The network against the interpreter and the plain prover, batches against single states, and random games."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from palaestra.base.errors import GdlError
from palaestra.base.streams import keyed_seeds
from palaestra.ggp.interpreter import Interpreter
from palaestra.ggp.machine import make_machine
from palaestra.ggp.propnet import PropNet
from palaestra.ggp.rules import load_rules, parse_rules
from tests.ggp.plain import Plain
from tests.ggp.sheets import LEAVES, RING, agree, leaves, sheets

LARGE = ("chess", "hex", "quarto")  # take long to ground, or cannot be
QUICK = ("ticTacToe", "nim1", "roshambo2", "connectFour", "3pConnectFour", "knightsTour", "hanoi", "reversi")


@pytest.mark.parametrize("path", sheets(*QUICK))
def test_every_answer_is_that_of_the_interpreter(path: Path) -> None:
    rules = load_rules(path)
    assert agree((PropNet(rules), Interpreter(rules)), seed=1) > 3


@pytest.mark.slow
@pytest.mark.parametrize("path", sheets())
def test_every_answer_is_that_of_the_interpreter_in_a_hundred_games(path: Path) -> None:
    rules = load_rules(path)
    machine, games = make_machine(rules, seconds=120.0), 2 if path.stem in LARGE else 100
    if not isinstance(machine, PropNet):
        assert path.stem == "chess" and "interpreted" in machine.note
        return
    interpreter = Interpreter(rules)
    for seed in range(games):
        assert agree((machine, interpreter), seed) > 1


@pytest.mark.slow
@pytest.mark.parametrize("path", sheets())
def test_every_file_plays_a_hundred_random_games_to_the_end(path: Path) -> None:
    machine = make_machine(load_rules(path), seconds=120.0)
    if isinstance(machine, PropNet):
        games = machine.random_playouts(100, np.random.default_rng(1))
        assert (games.lengths > 0).all() and machine.survey(games.states)[0].all()
    else:
        assert machine.note and agree((machine,), seed=1) > 1


@pytest.mark.parametrize("seed", range(5))
def test_facts_that_derive_each_other_are_evaluated_to_their_least_fixpoint(seed: int) -> None:
    rules = parse_rules(RING)
    network = PropNet(rules)
    assert len(network.network.loops) > 0
    assert agree((Plain(rules), network), seed) == 4


@pytest.mark.parametrize("path", sheets(*LEAVES))
def test_leaf_counts_are_those_of_an_independent_prover(path: Path) -> None:
    machine = PropNet(load_rules(path))
    assert [leaves(machine, depth) for depth in (1, 2)] == list(LEAVES[path.stem][:2])
    counts, states = [], machine.initial_states(1)
    for _ in LEAVES[path.stem]:
        states = all_successors(machine, states)
        counts.append(len(states))
    assert counts == list(LEAVES[path.stem])


def all_successors(machine: PropNet, states: np.ndarray) -> np.ndarray:
    """The states after every joint move of every state, in one batch."""
    legal, bounds = machine.survey(states)[1], machine.gates.roles
    parents, joints = [], []
    for row in range(len(states)):
        found: list[tuple[int, ...]] = [()]
        for role in range(len(machine.roles)):
            own = np.flatnonzero(legal[row, bounds[role] : bounds[role + 1]])
            found = [(*joint, int(move)) for joint in found for move in own]
        parents += [row] * len(found)
        joints += found
    return machine.advance(states[parents], np.array(joints, dtype=np.int32))


@pytest.mark.parametrize("count", [1, 63, 64, 65, 513, 1100])
def test_a_batch_of_any_size_equals_its_rows_one_by_one(count: int) -> None:
    machine = PropNet(parse_rules(RING))
    rng = np.random.default_rng(count)
    states = machine.initial_states(count)
    for _ in range(2):  # two joint moves, so that rows differ
        legal, bounds = machine.survey(states)[1], machine.gates.roles
        joint = np.array(
            [[rng.choice(np.flatnonzero(row[a:b])) for a, b in itertools.pairwise(bounds)] for row in legal],
            dtype=np.int32,
        )
        after = machine.advance(states, joint)
        for row in {0, count // 2, count - 1}:
            assert (machine.advance(states[row : row + 1], joint[row : row + 1])[0] == after[row]).all()
        states = after
    over, legal = machine.survey(states)
    goals = machine.score(states)
    for row in {0, count // 2, count - 1}:
        one_over, one_legal = machine.survey(states[row : row + 1])
        assert one_over[0] == over[row] and (one_legal[0] == legal[row]).all()
        assert (machine.score(states[row : row + 1])[0] == goals[row]).all()


def test_a_random_game_depends_on_its_own_stream_alone() -> None:
    machine = PropNet(parse_rules(RING))
    streams = keyed_seeds(7, np.arange(700))
    together = machine.random_playouts(700, streams)
    for row in (0, 64, 600, 699):
        alone = machine.random_playouts(1, streams[row : row + 1])
        assert (alone.states[0] == together.states[row]).all() and alone.lengths[0] == together.lengths[row]
        assert (alone.goals[0] == together.goals[row]).all()
    assert len(np.unique(together.states, axis=0)) > 100


def test_random_games_begin_where_they_are_told_and_end_where_the_rules_say() -> None:
    machine = PropNet(parse_rules(RING))
    begin = machine.step(machine.initial(), ["open", "stay"])
    rows = np.tile(np.frombuffer(begin, dtype=np.uint64), (200, 1))  # type: ignore[arg-type]
    games = machine.random_playouts(200, np.random.default_rng(3), rows)
    assert (games.lengths == 2).all() and machine.survey(games.states)[0].all()
    assert all("open" in machine.facts(state.tobytes()) for state in games.states)


def test_random_moves_are_uniform_among_the_legal_ones() -> None:
    machine = PropNet(parse_rules(RING.replace("(<= terminal (true (count 3)))", "(<= terminal (true (count 1)))")))
    left, right = machine.legal(machine.initial())
    assert (len(left), len(right)) == (3, 6)
    ends = machine.random_playouts(18_000, np.random.default_rng(5)).states  # every joint move gives another state
    counts = np.unique(ends, axis=0, return_counts=True)[1]
    assert len(counts) == 18 and (abs(counts - 1000) < 5 * 31).all()  # five standard deviations


def test_a_state_without_moves_that_is_not_over_is_an_error_of_the_rules() -> None:
    stuck = (
        RING.replace("(<= (legal ?r stay) (role ?r))", "(<= (legal ?r stay) (role ?r) (true (count 0)))")
        .replace("(<= (legal left open) (not (true open)))", "")
        .replace("(<= (legal ?r (go ?y)) (true (at ?r ?x)) (link ?x ?y))", "")
    )
    with pytest.raises(GdlError, match="not terminal and where a role has no legal move"):
        PropNet(parse_rules(stuck)).random_playouts(10, np.random.default_rng(1))


def test_a_game_that_does_not_end_is_given_up() -> None:
    endless = RING.replace("(<= terminal (true (count 3)))", "(<= terminal (true (count 9)))")
    with pytest.raises(GdlError, match="did not end within 50 moves"):
        PropNet(parse_rules(endless)).random_playouts(10, np.random.default_rng(1), longest=50)


def test_what_nothing_asks_for_and_what_is_there_already_gives_no_gate() -> None:
    paths = [line for line in RING.splitlines() if "path" in line]
    again = "\n".join(paths).replace("path", "track").replace("reaches", "arrives")
    once, unasked = PropNet(parse_rules(RING)), PropNet(parse_rules(RING + again))
    assert unasked.network.nodes == once.network.nodes
    same = RING + "(<= (gone ?r) (does ?r (go ?y))) (<= (next (at ?r ?x)) (true (at ?r ?x)) (not (gone ?r)))"
    assert PropNet(parse_rules(same)).network.nodes == once.network.nodes
