"""NMCS and NRPA against recursive textbook versions and exhaustive search of small trees (sources: NMCS; NRPA)."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest

from palaestra.base.stopping import Stopped
from palaestra.base.streams import keyed_seeds
from palaestra.base.types import Float64s, Int8s
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.search import nested
from palaestra.search.code_images import own_codes
from palaestra.search.nested import Found, nmcs, nrpa
from palaestra.search.nested_beam import beam_nrpa
from palaestra.search.nested_stack import NrpaSettings, Played, initial_weights
from tests.search.toy_games import (
    BRANCHES,
    Stream,
    after,
    leaves,
    legal_list,
    outcome_of,
    random_positions,
    tree_game,
    uncompiled,
)

Line = tuple[int, list[int]]  # outcome, actions


class Textbook:
    """Both algorithms as their papers print them, with recursion, logits and replays; counts its playouts.

    `codes` are those of actions that have another code than themselves.
    """

    def __init__(self, game: Game, seed: int, codes: dict[int, int] | None = None) -> None:
        self.game, self.stream, self.playouts, self.codes = game, Stream(seed), 0, codes or {}

    def nmcs(self, state: Int8s, level: int) -> Line:
        if level == 0:
            return self.random_game(state)
        best: Line | None = None
        played: list[int] = []
        while (outcome := outcome_of(self.game, state)) is None:
            for move in legal_list(self.game, state):
                child = after(self.game, state, move)
                if level > 1 and outcome_of(self.game, child) is not None:
                    self.playouts += 1
                score, line = self.nmcs(child, level - 1)
                if best is None or score > best[0]:
                    best = score, [*played, move, *line]
            assert best is not None
            move = best[1][len(played)]
            played.append(move)
            state = after(self.game, state, move)
        return best if best is not None else (outcome, [])

    def random_game(self, state: Int8s) -> Line:
        self.playouts += 1
        line: list[int] = []
        while (outcome := outcome_of(self.game, state)) is None:
            moves = legal_list(self.game, state)
            line.append(moves[self.stream.below(len(moves))])
            state = after(self.game, state, line[-1])
        return outcome, line

    def nrpa(
        self, root: Int8s, level: int, logits: dict[int, float], n: int, alpha: float,
        playouts: int = 1, repeats: float = math.inf,
    ) -> Line:  # fmt: skip
        if level == 0:
            return self.softmax_game(root, logits)
        best: Line = (-(10**9), [])
        again = 0
        for _ in range(n):
            for _ in range(playouts if level == 1 else 1):
                found = self.nrpa(root, level - 1, dict(logits), n, alpha, playouts, repeats)
                if found[0] >= best[0]:
                    again = again + 1 if found == best else 0
                    best = found
            logits = self.adapted(root, logits, best[1], alpha)
            if again >= repeats:
                break
        return best

    def beam_nrpa(
        self, root: Int8s, level: int, n: int, beam: int, playouts: int = 1, repeats: float = math.inf
    ) -> Line:
        """The top level keeps pairs of logits and lines; lines of the same moves in another order count as one."""
        pairs: list[tuple[dict[int, float], Line]] = [({}, (-(10**9), []))]
        again = 0
        for _ in range(n):
            best = pairs[0][1]
            found = [(old, self.best_of(root, level - 1, old, n, playouts, repeats)) for old, _ in pairs]
            again += sum(line == best for _, line in found)
            pool, pairs = sorted([*found, *pairs], key=lambda pair: -pair[1][0]), []
            for logits, line in pool:
                if len(pairs) < beam and all(sorted(line[1]) != sorted(other) for _, (_, other) in pairs):
                    pairs.append((self.adapted(root, logits, line[1], 1.0), line))
            again = again if pairs[0][1] == best else 0
            if again >= repeats:
                break
        return pairs[0][1]

    def best_of(self, root: Int8s, level: int, logits: dict[int, float], n: int, playouts: int, repeats: float) -> Line:
        """A call of a level as the level above makes it: level 0 plays several games, of equals the newer counts."""
        calls = range(playouts if level == 0 else 1)
        return max(
            reversed([self.nrpa(root, level, dict(logits), n, 1.0, playouts, repeats) for _ in calls]),
            key=lambda line: line[0],
        )

    def softmax(self, state: Int8s, logits: dict[int, float]) -> tuple[list[int], list[float]]:
        moves = legal_list(self.game, state)
        powers = [math.exp(logits.get(self.codes.get(move, move), 0.0)) for move in moves]
        return moves, [power / sum(powers) for power in powers]

    def softmax_game(self, state: Int8s, logits: dict[int, float]) -> Line:
        self.playouts += 1
        line: list[int] = []
        while (outcome := outcome_of(self.game, state)) is None:
            moves, chances = self.softmax(state, logits)
            target, chosen = self.stream.uniform(), 0
            while chosen < len(moves) - 1 and sum(chances[: chosen + 1]) <= target:
                chosen += 1
            line.append(moves[chosen])
            state = after(self.game, state, moves[chosen])
        return outcome, line

    def adapted(self, state: Int8s, logits: dict[int, float], line: list[int], alpha: float) -> dict[int, float]:
        new = dict(logits)
        for played in line:
            moves, chances = self.softmax(state, logits)
            for move, chance in zip(moves, chances, strict=True):
                code = self.codes.get(move, move)
                new[code] = new.get(code, 0.0) - alpha * chance
            new[self.codes.get(played, played)] += alpha
            state = after(self.game, state, played)
        return new


@pytest.mark.parametrize("level", [1, 2, 3])
def test_nmcs_equals_the_textbook_draw_for_draw(level: int) -> None:
    for seed in range(8):
        game = tree_game(seed)
        state, streams = random_positions(game, 1, seed)[0], keyed_seeds(seed, 1)
        book = Textbook(game, int(streams[0]))
        outcome, line = book.nmcs(state, level)
        plain = nmcs(uncompiled(game), state, streams.copy(), level)
        found = nmcs(game, state, streams, level)
        assert found == plain == Found(outcome, tuple(line), book.playouts)
        assert int(streams[0]) == book.stream.word


@pytest.mark.parametrize(("level", "n", "alpha"), [(1, 12, 1.0), (2, 6, 1.0), (3, 4, 0.5)])
def test_nrpa_equals_the_textbook_draw_for_draw(level: int, n: int, alpha: float) -> None:
    for seed in range(8):
        game = tree_game(seed)
        state, streams = random_positions(game, 1, seed)[0], keyed_seeds(seed, 2)
        book = Textbook(game, int(streams[0]))
        outcome, line = book.nrpa(state, level, {}, n, alpha)
        plain = nrpa(uncompiled(game), state, streams.copy(), level, n, alpha)
        found = nrpa(game, state, streams, level, n, alpha)
        assert found == plain == Found(outcome, tuple(line), n**level)
        assert int(streams[0]) == book.stream.word


@pytest.mark.parametrize(
    ("level", "n", "playouts", "repeats"), [(1, 12, 3, None), (1, 40, 1, 2), (2, 12, 1, 2), (2, 6, 2, 3), (3, 5, 2, 1)]
)
def test_stabilised_and_limited_nrpa_equal_the_textbook(level: int, n: int, playouts: int, repeats: int | None) -> None:
    shorter = 0
    for seed in range(8):
        game = tree_game(seed)
        root, streams = game.initial(1)[0], keyed_seeds(seed, 6)
        book = Textbook(game, int(streams[0]))
        outcome, line = book.nrpa(root, level, {}, n, 1.0, playouts, math.inf if repeats is None else repeats)
        plain = nrpa(uncompiled(game), root, streams.copy(), level, n, playouts=playouts, repeats=repeats)
        found = nrpa(game, root, streams, level, n, playouts=playouts, repeats=repeats)
        assert found == plain == Found(outcome, tuple(line), book.playouts)
        shorter += found.playouts < playouts * n**level
    assert (shorter > 0) == (repeats is not None)


@pytest.mark.parametrize(
    ("level", "n", "beam", "playouts", "repeats"),
    [(1, 8, 3, 1, None), (1, 6, 2, 3, None), (2, 6, 2, 1, None), (2, 8, 3, 2, 2), (3, 4, 2, 1, None)],
)
def test_nrpa_with_a_beam_equals_the_textbook_draw_for_draw(
    level: int, n: int, beam: int, playouts: int, repeats: int | None
) -> None:
    for seed in range(6):
        game = tree_game(seed)
        root, streams = game.initial(1)[0], keyed_seeds(seed, 7)
        book = Textbook(game, int(streams[0]))
        outcome, line = book.beam_nrpa(root, level, n, beam, playouts, math.inf if repeats is None else repeats)
        plain = nrpa(uncompiled(game), root, streams.copy(), level, n, playouts=playouts, repeats=repeats, beam=beam)
        found = nrpa(game, root, streams, level, n, playouts=playouts, repeats=repeats, beam=beam)
        assert found == plain == Found(outcome, tuple(line), book.playouts)
        assert int(streams[0]) == book.stream.word


@pytest.mark.parametrize(("level", "repeats"), [(1, None), (1, 2), (2, None), (2, 2)])
def test_a_beam_of_one_line_is_plain_nrpa(level: int, repeats: int | None) -> None:
    for seed in range(6):
        game = tree_game(seed)
        root, streams = game.initial(1)[0], keyed_seeds(seed, 8)
        how = NrpaSettings(10, 1.0, 1, repeats, own_codes(game))

        def search(weights: Float64s, level: int, how: NrpaSettings) -> Played:
            return nested.compiled_nrpa(game, root, streams, level, weights, how, None)  # noqa: B023

        plain = nrpa(game, root, streams.copy(), level, 10, repeats=repeats)
        found = beam_nrpa(game, root, level, 1, initial_weights(game, None), how, search)
        assert Found(found.outcome, tuple(found.line), found.playouts) == plain


def test_a_beam_counts_moves_in_another_order_as_the_same_line() -> None:
    game = make_game("morpion-4d")
    state = random_positions(game, 1, seed=4)[0]
    for seed in range(2):
        streams = keyed_seeds(seed, 9)
        book = Textbook(game, int(streams[0]))
        wanted = _found(book, book.beam_nrpa(state, 2, 4, 3))
        assert nrpa(game, state, streams, 2, 4, beam=3) == wanted
        assert int(streams[0]) == book.stream.word


@pytest.mark.parametrize(("level", "n", "beam"), [(1, 12, 1), (2, 6, 1), (3, 4, 1), (2, 5, 2)])
def test_actions_that_share_a_code_learn_together_as_in_the_textbook(level: int, n: int, beam: int) -> None:
    """Branches 0 and 3 of a depth share a code, and so do 1 of the first two depths; others have their own."""
    changed = 0
    for seed in range(6):
        game = tree_game(seed)
        codes = {action: action - 3 for action in range(3, game.num_actions, BRANCHES)} | {BRANCHES + 1: 1}
        images = np.full((game.num_actions, 2), -1, dtype=np.int32)
        for action in range(game.num_actions):
            same = [other for other in range(game.num_actions) if codes.get(other, other) == codes.get(action, action)]
            images[action, : len(same)] = same
        root, streams = game.initial(1)[0], keyed_seeds(seed, 10)
        book = Textbook(game, int(streams[0]), codes)
        outcome, line = book.nrpa(root, level, {}, n, 1.0) if beam == 1 else book.beam_nrpa(root, level, n, beam)
        plain = nrpa(uncompiled(game), root, streams.copy(), level, n, beam=beam, images=images)
        found = nrpa(game, root, streams.copy(), level, n, beam=beam, images=images)
        assert found == plain == Found(outcome, tuple(line), book.playouts)
        changed += found != nrpa(game, root, streams.copy(), level, n, beam=beam)
    assert changed > 0


@pytest.mark.parametrize(("level", "n"), [(1, 12), (2, 6), (3, 4)])
def test_nrpa_with_a_prior_equals_the_textbook_that_begins_with_those_logits(level: int, n: int) -> None:
    changed = 0
    for seed in range(8):
        game = tree_game(seed)
        logits = np.random.default_rng(seed).normal(0.0, 2.0, game.num_actions)
        root, streams = game.initial(1)[0], keyed_seeds(seed, 5)
        book = Textbook(game, int(streams[0]))
        outcome, line = book.nrpa(root, level, dict(enumerate(logits.tolist())), n, 1.0)
        plain = nrpa(uncompiled(game), root, streams.copy(), level, n, 1.0, logits)
        found = nrpa(game, root, streams.copy(), level, n, 1.0, logits)
        assert found == plain == Found(outcome, tuple(line), n**level)
        changed += found != nrpa(game, root, streams.copy(), level, n)
    assert changed > 0


@pytest.mark.parametrize("logit", [-1e6, 1e6])
def test_a_prior_without_measure_neither_overflows_nor_stops_the_search(logit: float) -> None:
    game = tree_game(4)
    logits = np.full(game.num_actions, logit)
    for rules in (game, uncompiled(game)):
        found = nrpa(rules, game.initial(1)[0], keyed_seeds(1), 2, 10, 1.0, logits)
        assert leaves(game)[found.actions] == found.outcome


@pytest.mark.parametrize("compiled", [True, False])
def test_a_search_that_is_told_to_stop_has_no_answer(compiled: bool) -> None:
    game, stopped = tree_game(4), threading.Event()
    rules, root = game if compiled else uncompiled(game), game.initial(1)[0]
    assert nmcs(rules, root, keyed_seeds(1), 2, stopped) == nmcs(rules, root, keyed_seeds(1), 2)
    stopped.set()
    with pytest.raises(Stopped):
        nmcs(rules, root, keyed_seeds(1), 2, stopped)
    with pytest.raises(Stopped):
        nrpa(rules, root, keyed_seeds(1), 2, stopped=stopped)
    with pytest.raises(Stopped):
        nrpa(rules, root, keyed_seeds(1), 2, stopped=stopped, beam=2)


def test_both_equal_the_textbook_on_morpion() -> None:
    game = make_game("morpion-4d")
    state = random_positions(game, 1, seed=4)[0]
    for seed in range(2):
        streams = keyed_seeds(seed, 3)
        book = Textbook(game, int(streams[0]))
        assert nmcs(game, state, streams.copy(), 1) == _found(book, book.nmcs(state, 1))
        book = Textbook(game, int(streams[0]))
        assert nrpa(game, state, streams.copy(), 2, 6, 1.0) == _found(book, book.nrpa(state, 2, {}, 6, 1.0))


def _found(book: Textbook, line: Line) -> Found:
    return Found(line[0], tuple(line[1]), book.playouts)


def test_enough_levels_find_the_best_line_of_a_tree() -> None:
    """NMCS with as many levels as the tree is deep sees every leaf; NRPA with small steps stays random long enough."""
    for seed in range(10):
        game = tree_game(seed)
        lines = leaves(game)
        root = game.initial(1)[0]
        for found in (nmcs(game, root, keyed_seeds(seed), 5), nrpa(game, root, keyed_seeds(seed), 2, 100, 0.01)):
            assert found.outcome == max(lines.values())
            assert lines[found.actions] == found.outcome


@pytest.mark.parametrize("quota", [1, 7])
def test_stopping_between_calls_changes_nothing(quota: int, monkeypatch: pytest.MonkeyPatch) -> None:
    game = tree_game(2)
    root = game.initial(1)[0]
    whole = nmcs(game, root, keyed_seeds(9), 3), nrpa(game, root, keyed_seeds(9), 3, 5)
    monkeypatch.setattr(nested, "QUOTA", quota)
    assert (nmcs(game, root, keyed_seeds(9), 3), nrpa(game, root, keyed_seeds(9), 3, 5)) == whole


def test_huge_steps_neither_overflow_nor_stop_the_search() -> None:
    game = tree_game(4)
    found = nrpa(game, game.initial(1)[0], keyed_seeds(1), 3, 30, alpha=100.0)
    assert leaves(game)[found.actions] == found.outcome


def test_nrpa_on_morpion_scores_far_above_random_play() -> None:
    """Random play reaches 43, level 2 64 to 74 in two sets of 60 runs (sources: random play; prototype of Morpion)."""
    game = make_game("morpion-5d")
    root = game.initial(1)[0]
    for seed in range(3):
        found = nrpa(game, root, keyed_seeds(seed), 2)
        assert found.playouts == 10_000
        assert 60 <= found.outcome <= 82
        state = root
        for action in found.actions:
            assert action in legal_list(game, state)
            state = after(game, state, action)
        assert outcome_of(game, state) == found.outcome == len(found.actions)
