"""Selection rules by name: those of the package, and `module:attribute` for one of the user's own.

A rule of the package is one file in `palaestra.search.rules` and one line here. A rule of the user's own is tried on a
small node when it is loaded, so that what is wrong with it is said in one line before a search begins.
"""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from palaestra.base.errors import SearchError
from palaestra.base.suggest import did_you_mean
from palaestra.base.text import clip
from palaestra.base.user_code import is_code, load

if TYPE_CHECKING:
    from palaestra.search.selection import Rule

RULES = ("uct", "puct", "rave", "gumbel")
EXAMPLE = "a rule of your own is module:attribute, for example my_rule:rule"


def check_rule_name(text: str) -> None:
    """SearchError if a text can name no rule; nothing is imported."""
    if text not in RULES and not is_code(text):
        raise SearchError(f"unknown rule {clip(text)}{did_you_mean(text, RULES)}; known: {', '.join(RULES)}; {EXAMPLE}")


@lru_cache(maxsize=64)
def make_rule(text: str) -> Rule:
    """The selection rule that a text names."""
    check_rule_name(text)
    if is_code(text):
        return _tried(_own_rule(text, load(text, SearchError, "a selection rule")), text)
    from importlib import import_module

    rule: Rule = import_module(f"palaestra.search.rules.{text}").RULE
    return rule


def _own_rule(text: str, found: Any) -> Rule:
    """The user's object as a rule: a compiled function scores one move, a Rule says itself what it does."""
    from numba.core.dispatcher import Dispatcher

    from palaestra.search.selection import Rule

    if not isinstance(found, Rule | Dispatcher):
        what = "nothing" if found is None else f"{type(found).__name__} {found!r}"
        raise SearchError(f"{text} is {clip(what)}; a rule is a function with @njit above it, rule(move, node, settings)")
    rule = found if isinstance(found, Rule) else Rule(found)
    wanted = ("node", "edges", "settings", "scores") if rule.at_once else ("move", "node", "settings")
    given = list(inspect.signature(rule.function.py_func).parameters.values())
    if len(given) != len(wanted):
        names = ", ".join(map(str, given))
        raise SearchError(f"{text} takes ({clip(names)}); a rule takes {len(wanted)} arguments, ({', '.join(wanted)})")
    return rule


def _tried(rule: Rule, text: str) -> Rule:
    """The rule, if it can choose among three moves, before and after their first visits; SearchError if not."""
    import numpy as np

    from palaestra.search.selection import DESCENT, SETTINGS, refusing
    from palaestra.search.tree import EDGE, NODE

    nodes, edges = np.zeros(1, NODE), np.zeros(3, EDGE)
    settings, noise, scratch = np.zeros(1, SETTINGS), np.zeros(3), np.zeros(3)
    settings["c"] = settings["rave_k"] = settings["gumbel_scale"] = 1.0
    nodes["count"], nodes["low"], nodes["high"] = 3, -1.0, 1.0
    edges["prior"], edges["low"], edges["high"] = 1 / 3, -1.0, 1.0
    with refusing(text):
        for visits in (0, 1, 2):
            edges["N"], edges["W"] = visits, visits * np.array([0.5, -0.5, 0.0])
            edges["rave_N"], edges["rave_W"] = edges["N"], edges["W"]
            nodes["visits"] = nodes["rave"] = 3 * visits
            rule.bind(DESCENT).choose(nodes, edges, 0, settings, noise, scratch)
    return rule
