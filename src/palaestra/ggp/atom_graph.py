"""Compiled walks over the graph of atoms that instances of rules make: what is needed, and what needs each other.

Atom a reads literals[bounds[a]:bounds[a + 1]], each 2·atom + negated. Knows no terms and no gates.
"""

from __future__ import annotations

import numpy as np

from palaestra.base.jit import allocating
from palaestra.base.types import Bools, Int64s


@allocating
def reached(bounds: Int64s, literals: Int64s, roots: Int64s) -> Bools:
    """bool[atoms]: what the roots need, themselves included."""
    seen = np.zeros(bounds.shape[0] - 1, dtype=np.bool_)
    waiting = np.empty(bounds.shape[0], dtype=np.int64)
    size = 0
    for root in roots:
        if not seen[root]:
            seen[root] = True
            waiting[size] = root
            size += 1
    while size:
        size -= 1
        atom = waiting[size]
        for place in range(bounds[atom], bounds[atom + 1]):
            needed = literals[place] >> 1
            if not seen[needed]:
                seen[needed] = True
                waiting[size] = needed
                size += 1
    return seen


@allocating
def components(bounds: Int64s, literals: Int64s) -> Int64s:
    """A number for each atom, equal for atoms that need each other, lower for what others need (Tarjan, 1972)."""
    count = bounds.shape[0] - 1
    index, low = np.full(count, -1, dtype=np.int64), np.zeros(count, dtype=np.int64)
    number, position = np.full(count, -1, dtype=np.int64), bounds[:-1].copy()
    path, stack = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    seen, depth, height, found = 0, 0, 0, 0
    for root in range(count):
        if index[root] >= 0:
            continue
        path[0], depth = root, 1
        while depth:
            atom = path[depth - 1]
            if index[atom] < 0:
                index[atom] = low[atom] = seen
                seen += 1
                stack[height] = atom
                height += 1
            descended = False
            while position[atom] < bounds[atom + 1]:
                needed = literals[position[atom]] >> 1
                if index[needed] < 0:
                    path[depth] = needed
                    depth += 1
                    descended = True
                    break
                if number[needed] < 0:
                    low[atom] = min(low[atom], low[needed])
                position[atom] += 1
            if descended:
                continue
            depth -= 1
            if low[atom] == index[atom]:
                while True:
                    height -= 1
                    number[stack[height]] = found
                    if stack[height] == atom:
                        break
                found += 1
    return number
