"""Tours improved by 2-opt: as long as turning round a part of the way makes it shorter, that is done.

Knows a table of lengths and no game (sources: travelling salesman).

A way is an order of places with both ends fixed: of a whole tour both are the city where it begins.
"""

from __future__ import annotations

import numpy as np

from palaestra.base.jit import allocating, kernel
from palaestra.base.streams import below
from palaestra.base.types import Int32s, Int64s, UInt64s


@allocating
def nearest_way(ways: Int32s) -> Int64s:
    """int64[n]: from place 0 always to the nearest that is left, of equals the first, and to place n-1 at last."""
    count = ways.shape[0]
    order = np.arange(count)
    for at in range(1, count - 1):
        best = at
        for other in range(at + 1, count - 1):
            nearer = ways[order[at - 1], order[other]] - ways[order[at - 1], order[best]]
            if nearer < 0 or (nearer == 0 and order[other] < order[best]):
                best = other
        order[at], order[best] = order[best], order[at]
    return order


@allocating
def random_way(count: int, streams: UInt64s) -> Int64s:
    """int64[n]: all but the ends in a random order, from streams[0]."""
    order = np.arange(count)
    for at in range(count - 2, 1, -1):
        other = 1 + below(streams, 0, at)
        order[at], order[other] = order[other], order[at]
    return order


@kernel
def improve(order: Int64s, ways: Int32s) -> np.int64:
    """Turn round the part that saves most, in place, until none saves anything; the length of the way then."""
    count = order.shape[0]
    while True:
        saved, first, last = np.int64(0), 0, 0
        for i in range(1, count - 1):
            before = order[i - 1]
            for j in range(i + 1, count - 1):
                old = np.int64(ways[before, order[i]]) + ways[order[j], order[j + 1]]
                new = np.int64(ways[before, order[j]]) + ways[order[i], order[j + 1]]
                if old - new > saved:
                    saved, first, last = old - new, i, j
        if saved == 0:
            break
        while first < last:
            order[first], order[last] = order[last], order[first]
            first, last = first + 1, last - 1
    length = np.int64(0)
    for i in range(count - 1):
        length += ways[order[i], order[i + 1]]
    return length
