"""One tree and one leaf at a time: descending, hanging a new node in, backing values up, proving them.

`palaestra.search.kernels` loops these over batches of trees, `palaestra.search.fused_loops` over whole searches of one
tree. `nodes` and `edges` are one tree's; `tree` is its record.

A value handed upwards is for the first player; every edge turns it to the side of the player who chose it. Nothing here
is recursive.
"""

from __future__ import annotations

import numpy as np

from palaestra.base.jit import inlined, kernel
from palaestra.base.types import Float32s, Int8s, Int32s, Int64s
from palaestra.search.selection import Method
from palaestra.search.tree import NO_NODE, NO_PARENT, PENDING, UNEXPANDED, Records


@inlined
def side_of(node) -> float:  # type: ignore[no-untyped-def]  # a record has no Python type
    """+1 where the first player moves, -1 where the second does."""
    return 1.0 - 2.0 * node.mover


@kernel
def add_pending(nodes: Records, edges: Records, node: int, edge: int, amount: int) -> None:
    """Mark (or, with -1, unmark) the path to an edge as under way."""
    while True:
        edges[edge].pending += amount
        nodes[node].pending += amount
        if nodes[node].parent == NO_PARENT:
            return
        edge = nodes[node].edge
        node = nodes[node].parent


@inlined
def _tighten(nodes: Records, edges: Records, node: int) -> bool:
    """Recompute a node's proven bounds from its edges; whether they changed."""
    low, high = np.float32(-1.0), np.float32(-1.0)
    for e in range(nodes[node].first, nodes[node].first + nodes[node].count):
        low = max(low, edges[e].low)
        high = max(high, edges[e].high)
    changed = low != nodes[node].low or high != nodes[node].high
    nodes[node].low = low
    nodes[node].high = high
    return changed


@kernel
def back_up(nodes: Records, edges: Records, node: int, edge: int, child: int, value: float, solver: bool) -> None:
    """Add one visit worth `value` (first player's view) to every edge on the way up; spread what is proven.

    `child` is the node below the edge, or NO_NODE when there was no room for it.
    """
    proving = solver and child != NO_NODE and nodes[child].low == nodes[child].high
    while True:
        side = side_of(nodes[node])
        if proving:
            same = nodes[node].mover == nodes[child].mover
            edges[edge].low = nodes[child].low if same else -nodes[child].high
            edges[edge].high = nodes[child].high if same else -nodes[child].low
            proving = _tighten(nodes, edges, node)
            if edges[edge].low == edges[edge].high:  # what is proven wins over what was estimated
                value = side * edges[edge].low
        edges[edge].N += 1
        edges[edge].W += side * value
        nodes[node].visits += 1
        if nodes[node].parent == NO_PARENT:
            return
        child = node
        edge = nodes[node].edge
        node = nodes[node].parent


@kernel
def mark_playout(marks: Int64s, clock: int, moves: Int32s, movers: Int8s, length: int, cell: bool) -> None:
    """Note who played which action in a playout; `marks` [2, A] holds the clock of the last note.

    By cell, only the side that plays an action first is noted.
    """
    for i in range(length):
        if not cell or marks[1 - movers[i], moves[i]] != clock:
            marks[movers[i], moves[i]] = clock


@kernel
def back_up_rave(
    nodes: Records, edges: Records, node: int, edge: int, value: float, marks: Int64s, clock: int, cell: bool
) -> None:
    """All-moves-as-first update (sources: Alg. 11): at each node of the path, every move that the same player makes
    there or later in the simulation counts once, with that player's sign. By cell, a move that the other player makes
    before does not count: at Connect Four it would have filled the cell, and the column means another one."""
    while True:
        mover = nodes[node].mover
        side = side_of(nodes[node])
        marks[mover, edges[edge].action] = clock
        if cell:
            marks[1 - mover, edges[edge].action] = 0  # clocks begin at 1
        for e in range(nodes[node].first, nodes[node].first + nodes[node].count):
            if marks[mover, edges[e].action] == clock:
                edges[e].rave_W += side * value
                edges[e].rave_N += 1
                nodes[node].rave += 1
        if nodes[node].parent == NO_PARENT:
            return
        edge = nodes[node].edge
        node = nodes[node].parent


@inlined
def new_node(  # type: ignore[no-untyped-def]
    tree,
    nodes: Records,
    edges: Records,
    states: Int8s,
    state: Int8s,
    parent: int,
    edge: int,
    count: int,
    actions: Int32s,
) -> int:
    """Append a node and its edges; there is room."""
    node, first = tree.nodes, tree.edges
    for i in range(state.shape[0]):
        states[node, i] = state[i]
    new = nodes[node]
    new.parent, new.edge = parent, edge
    new.first, new.count = first, count
    new.visits, new.pending, new.rave = 0, 0, 0
    new.mover = state[0]
    new.value, new.low, new.high = 0.0, -1.0, 1.0
    for i in range(count):
        e = edges[first + i]
        e.action, e.child = actions[i], UNEXPANDED
        e.W, e.rave_W = 0.0, 0.0
        e.N, e.pending, e.rave_N = 0, 0, 0
        e.prior, e.low, e.high = 0.0, -1.0, 1.0
    tree.nodes = node + 1
    tree.edges = first + count
    return node


@inlined
def _finish(  # type: ignore[no-untyped-def]
    tree, nodes: Records, edges: Records, node: int, edge: int, child: int, value: float, settings: Records
) -> None:
    """A leaf's value is known: hang it in, take back the virtual loss and back up."""
    edges[edge].child = child  # NO_NODE equals UNEXPANDED: a tree that is full forgets the leaf
    if settings[0].leaves > 1:
        add_pending(nodes, edges, node, edge, -1)
    back_up(nodes, edges, node, edge, child, value, settings[0].solver != 0)
    tree.waiting -= 1
    tree.done += 1


@kernel
def set_priors(node, edges: Records, logits: Float32s) -> None:  # type: ignore[no-untyped-def]
    """P(a): softmax of the logits [A] over the legal moves, or alike for all when there are none."""
    if logits.shape[0] == 0:
        for e in range(node.first, node.first + node.count):
            edges[e].prior = 1.0 / node.count
        return
    top = -np.inf
    for e in range(node.first, node.first + node.count):
        top = max(top, np.float64(logits[edges[e].action]))
    total = 0.0
    for e in range(node.first, node.first + node.count):
        edges[e].W = np.exp(np.float64(logits[edges[e].action]) - top)  # W is free: nobody has been here yet
        total += edges[e].W
    for e in range(node.first, node.first + node.count):
        edges[e].prior = edges[e].W / total
        edges[e].W = 0.0


@inlined
def attach_leaf(  # type: ignore[no-untyped-def]
    tree,
    nodes: Records,
    edges: Records,
    states: Int8s,
    node: int,
    edge: int,
    after: Int8s,
    count: int,
    actions: Int32s,
    value: float,
    method: Method,
) -> int:
    """Give a leaf its node, NO_NODE in a full tree. Where play is over (`count` is 0), finish the simulation with
    `value`, the first player's."""
    settings, _, marks, clock = method
    child = NO_NODE
    if edges[edge].child == PENDING:
        child = new_node(tree, nodes, edges, states, after, node, edge, count, actions)
    if count > 0:
        return child
    if child != NO_NODE:
        exact = side_of(nodes[child]) * value
        nodes[child].value, nodes[child].low, nodes[child].high = exact, exact, exact
    _finish(tree, nodes, edges, node, edge, child, value, settings)
    if settings[0].rave:
        clock[0] += 1
        back_up_rave(nodes, edges, node, edge, value, marks, clock[0], settings[0].rave_cell != 0)
    return child


@inlined
def absorb_leaf(  # type: ignore[no-untyped-def]
    tree,
    nodes: Records,
    edges: Records,
    node: int,
    edge: int,
    child: int,
    mover: int,
    logits: Float32s,
    own_value: float,
    length: int,
    moves: Int32s,
    movers: Int8s,
    method: Method,
) -> None:
    """Expand an evaluated leaf and back its value up; `own_value` is for `mover`, the player to move there."""
    settings, _, marks, clock = method
    if child != NO_NODE:
        nodes[child].value = own_value
        set_priors(nodes[child], edges, logits)
    value = np.float64(own_value) * (1.0 - 2.0 * mover)
    _finish(tree, nodes, edges, node, edge, child, value, settings)
    if settings[0].rave:
        clock[0] += 1
        mark_playout(marks, clock[0], moves, movers, length, settings[0].rave_cell != 0)
        back_up_rave(nodes, edges, node, edge, value, marks, clock[0], settings[0].rave_cell != 0)
