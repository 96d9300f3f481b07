"""Whether rules that go in a circle through a negation are sound all the same, because no single atom does.

In (<= (odd ?y) (succ ?x ?y) (not (odd ?x))) the relation negates itself, but 3 is odd because 2 is not, and so on down
to 0. The rules are grounded, which costs time, so that only rules are looked at here that nothing simpler clears.
"""

from __future__ import annotations

import numpy as np

from palaestra.ggp.atom_graph import components
from palaestra.ggp.budget import Budget, BudgetError
from palaestra.ggp.ground import Grounding, ground
from palaestra.ggp.terms import Rules

SECONDS, INSTANCES = 10.0, 200_000  # what it may take; larger rules stay refused


def is_sound(rules: Rules) -> bool:
    """Whether no atom depends on its own absence, in whatever state; False also where that is too much to find out."""
    try:
        return not _negates_itself(ground(rules, Budget(SECONDS, INSTANCES)))
    except BudgetError:
        return False


def _negates_itself(grounding: Grounding) -> bool:
    bounds = grounding.starts[np.searchsorted(grounding.heads, np.arange(grounding.atoms + 1))]
    number = components(bounds, grounding.literals)
    heads = np.repeat(grounding.heads, np.diff(grounding.starts))
    same = number[heads] == number[grounding.literals >> 1]
    return bool((same & (grounding.literals & 1 == 1)).any())
