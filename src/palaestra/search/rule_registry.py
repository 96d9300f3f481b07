"""Selection rules by name: those of the package, and `module:attribute` for one of the user's own.

A rule of the package is one file in `palaestra.search.rules` and one line here. A rule of the user's own is tried on a
small node when it is loaded, so that what is wrong with it is said in one line before a search begins.
"""

from __future__ import annotations

import inspect
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from palaestra.base.errors import SearchError
from palaestra.base.suggest import did_you_mean
from palaestra.base.text import clip
from palaestra.base.user_code import is_code, load

if TYPE_CHECKING:
    from palaestra.search.selection import Rule

RULES = ("uct", "puct", "rave", "gumbel")
EXAMPLE = "a rule of your own is module:attribute, for example my_rule:rule"


def known_rule(text: str) -> str:
    """The text itself; ValueError if it can name no rule. Nothing is imported."""
    if text not in RULES and not is_code(text):
        raise ValueError(f"unknown rule {clip(text)}{did_you_mean(text, RULES)}; known: {', '.join(RULES)}; {EXAMPLE}")
    return text


def make_rule(text: str) -> Rule:
    """The selection rule that a text names; code of the user's own is loaded with the user's consent alone."""
    if is_code(text):
        return _own_rule(text, load(text, SearchError, "a selection rule"))
    rule: Rule = import_module(f"palaestra.search.rules.{text}").RULE
    return rule


@lru_cache(maxsize=64)
def _own_rule(text: str, found: Any) -> Rule:
    """The user's object as a rule: a compiled function scores one move, a Rule says itself what it does."""
    from numba.core.dispatcher import Dispatcher

    from palaestra.search.selection import Rule

    if not isinstance(found, Rule | Dispatcher):
        raise SearchError(
            f"{text} is {clip(repr(found))}; a rule is a function with @njit above it, rule(move, node, settings)"
        )
    rule = found if isinstance(found, Rule) else Rule(found)
    wanted = ("node", "edges", "settings", "scores") if rule.at_once else ("move", "node", "settings")
    given = list(inspect.signature(rule.function.py_func).parameters.values())
    if len(given) != len(wanted):
        names = clip(", ".join(map(str, given)))
        raise SearchError(f"{text} takes {names}; a rule takes {len(wanted)} arguments: {', '.join(wanted)}")
    _try_out(rule, text)
    return rule


def _try_out(rule: Rule, text: str) -> None:
    """SearchError if a rule cannot choose among three moves, before or after their first visits."""
    import numpy as np
    from numba import types
    from numba.core.errors import NumbaError

    from palaestra.search.selection import DESCENT, SETTINGS, refusing
    from palaestra.search.tree import EDGE, NODE, UNEXPANDED

    nodes, edges = np.zeros(1, NODE), np.zeros(3, EDGE)
    settings, noise, scratch = np.zeros(1, SETTINGS), np.zeros(3), np.zeros(3)
    settings["c"] = settings["rave_k"] = settings["gumbel_scale"] = 1.0
    nodes["count"], nodes["low"], nodes["high"] = 3, -1.0, 1.0
    edges["child"] = UNEXPANDED
    edges["prior"], edges["low"], edges["high"] = 1 / 3, -1.0, 1.0
    with refusing(text):
        for visits in (0, 1, 2):
            edges["N"], edges["W"] = visits, visits * np.array([0.5, -0.5, 0.0])
            edges["rave_N"], edges["rave_W"] = edges["N"], edges["W"]
            nodes["visits"] = nodes["rave"] = 3 * visits
            try:
                rule.bind(DESCENT).descend(nodes, edges, settings, noise, 0, scratch)
            except NumbaError:
                for signature in rule.score.nopython_signatures:
                    if not isinstance(signature.return_type, types.Number | types.Boolean):
                        raise SearchError(f"{text} gives {signature.return_type}; a score is a number") from None
                raise
