"""Selection rules by name: what is taken, and what is said about the rest."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from palaestra.base.errors import SearchError
from palaestra.base.user_code import trust
from palaestra.games.registry import make_game
from palaestra.rewards.base import default_reward
from palaestra.search.config import SearchConfig
from palaestra.search.driver import Search, SearchResult
from palaestra.search.evaluator import Evaluator, Rollout, Uniform
from palaestra.search.rule_registry import make_rule

MODULE = """
import math
from numba import njit
from palaestra.search.selection import Rule

@njit
def uct(move, node, settings):
    if move.visits == 0:
        return math.inf
    return move.value + settings.c * math.sqrt(math.log(node.visits) / move.visits)

@njit
def puct(move, node, settings):
    return move.value + settings.c * move.prior * math.sqrt(node.visits + 1e-8) / (1 + move.visits)

@njit
def rave(move, node, settings):
    return move.rave_sum / move.rave_visits if move.rave_visits else math.inf

@njit
def two(move, node): return 0.0
@njit
def text(move, node, settings): return "high"
@njit
def divides(move, node, settings): return 1 / move.visits
@njit
def misspelt(move, node, settings): return move.visitz
@njit
def nan(move, node, settings): return math.nan
@njit
def lowest(move, node, settings): return -math.inf
@njit
def late(move, node, settings): return math.sqrt(4.0 - move.visits)
def plain(move, node, settings): return 1.0
RAVE, BOTH = Rule(rave, rave=True), 3
"""


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "own_rules.py").write_text(MODULE)
    yield
    sys.modules.pop("own_rules", None)


def searched(rule: str, evaluator: type[Evaluator] = Rollout, simulations: int = 60, leaves: int = 1) -> SearchResult:
    trust(rule)
    game = make_game("tic_tac_toe-3x3")
    judge = Rollout(game, default_reward(game)) if evaluator is Rollout else Uniform()
    config = SearchConfig(rule=rule, simulations=simulations, c_puct=math.sqrt(2), leaves_per_step=leaves, solver=False)
    return Search(game, judge, config).run(game.initial(2), np.arange(2, dtype=np.uint64))


@pytest.mark.parametrize("name", ["uct", pytest.param("puct", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("evaluator", "leaves"), [(Rollout, 1), (Uniform, 1), (Uniform, 4)])
def test_a_rule_of_the_users_own_is_followed_like_a_built_in(
    name: str, evaluator: type[Evaluator], leaves: int
) -> None:
    mine = searched(f"own_rules:{name}", evaluator, leaves=leaves)
    assert np.array_equal(mine.visits, searched(name, evaluator, leaves=leaves).visits)


@pytest.mark.slow
def test_a_rule_may_ask_for_the_sums_of_rave() -> None:
    """Without them every score stays infinite, and the first move has all the visits."""
    assert searched("own_rules:rave").visits[0, 0] == 60
    assert searched("own_rules:RAVE").visits[0, 0] < 60


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("own_rules:two", "takes 'move, node'; a rule takes 3 arguments: move, node, settings"),
        ("own_rules:text", "a score is a number"),
        ("own_rules:divides", "the rule own_rules:divides fails: division by zero"),
        ("own_rules:misspelt", "does not compile: Unknown attribute 'visitz'"),
        ("own_rules:nan", "gives no score: one is not a number"),
        ("own_rules:lowest", "gives no score: all are minus infinity"),
        ("own_rules:late", "gives no score: one is not a number"),
        ("own_rules:plain", "a rule is a function with @njit above it"),
        ("own_rules:BOTH", "is '3'; a rule is a function"),
        ("own_rules:missing", "own_rules has no missing"),
        ("no_such_file:rule", "cannot import 'no_such_file'"),
    ],
)
def test_what_is_wrong_with_a_rule_is_said_in_one_line(rule: str, words: str) -> None:
    with pytest.raises(SearchError) as error:
        searched(rule)
    assert words in str(error.value) and "\n" not in str(error.value)


def test_a_rule_that_nobody_has_named_is_not_imported() -> None:
    Path("stored_rules.py").write_text("raise SystemExit('bitten')\n")
    with pytest.raises(SearchError, match="add --trust stored_rules:rule"):
        make_rule("stored_rules:rule")


def test_a_rule_is_compiled_again_when_its_file_changes() -> None:
    before = searched("own_rules:uct").visits
    sys.modules.pop("own_rules")
    Path("own_rules.py").write_text(MODULE.replace("settings.c * math.sqrt", "9 * settings.c * math.sqrt"))
    assert not np.array_equal(searched("own_rules:uct").visits, before)


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ValidationError, match=r"unknown rule 'pucct' \(did you mean puct\?\); known: uct, puct"):
        SearchConfig(rule="pucct")
