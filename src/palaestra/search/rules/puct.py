"""PUCT: Q + c P √N(s) / (1 + N(s,a)) (Eq. 5.1; sources: search)."""

from __future__ import annotations

import math
from typing import Any

from palaestra.base.jit import inlined
from palaestra.search.selection import Move, Node, Rule


@inlined
def score(move: Move, node: Node, settings: Any) -> float:
    root = math.sqrt(node.visits + 1e-8)  # the constant lets priors decide the first visit (sources: search)
    return move.value + settings.c * move.prior * root / (1 + move.visits)


RULE = Rule(score)
