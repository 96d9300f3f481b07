"""PUCT blended with RAVE, what a move was worth wherever it was made: (1 - β) U + β U_rave (Eq. 5.2 to 5.4)."""

from __future__ import annotations

import math
from typing import Any

from palaestra.base.jit import inlined
from palaestra.search.rules import puct
from palaestra.search.selection import Move, Node, Rule


@inlined
def score(move: Move, node: Node, settings: Any) -> float:
    beta = math.sqrt(settings.rave_k / (3.0 * node.visits + settings.rave_k))
    value = move.rave_sum / move.rave_visits if move.rave_visits > 0 else 0.0
    elsewhere = value + settings.c * move.prior * math.sqrt(node.rave_visits) / (1 + move.rave_visits)
    return (1.0 - beta) * puct.score(move, node, settings) + beta * elsewhere


RULE = Rule(score, rave=True)
