"""UCT: every move once, then Q + c √(ln N(s) / N(s,a)) (sources: search)."""

from __future__ import annotations

import math
from typing import Any

from palaestra.base.jit import inlined
from palaestra.search.selection import Move, Node, Rule


@inlined
def score(move: Move, node: Node, settings: Any) -> float:
    if move.visits == 0:
        return math.inf
    return move.value + settings.c * math.sqrt(math.log(node.visits) / move.visits)


RULE = Rule(score)
