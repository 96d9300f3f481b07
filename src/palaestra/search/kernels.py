"""The steps of a search over a batch of trees: select, attach, absorb (expand and back up), and moving the root.

Leaves are rows of int32 arrays: the tree, the node that was left, the edge that was followed. Between `select` and
`attach` the caller advances the game; between `attach` and `absorb` it asks the evaluator. Nothing here is recursive.

A value handed upwards is for the first player; every edge turns it to the side of the player who chose it.
"""

from __future__ import annotations

import numpy as np

from palaestra.jit import inlined, kernel
from palaestra.search.rules import GUMBEL, RAVE, UCT, choose_halving, choose_improved, choose_puct, choose_uct
from palaestra.search.tree import NO_NODE, NO_PARENT, PENDING, UNEXPANDED, Records
from palaestra.streams import next_word
from palaestra.types import Float32s, Float64s, Int8s, Int32s, Int64s, UInt64s


@inlined
def _side(node) -> float:  # type: ignore[no-untyped-def]  # a record has no Python type
    """+1 where the first player moves, -1 where the second does."""
    return 1.0 - 2.0 * node.mover


@inlined
def _over(node) -> bool:  # type: ignore[no-untyped-def]
    return node.count == 0


@kernel
def _add_pending(nodes: Records, edges: Records, node: int, edge: int, amount: int) -> None:
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
        side = _side(nodes[node])
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
def mark_playout(marks: Int64s, clock: int, moves: Int32s, movers: Int8s, length: int) -> None:
    """Note who played which action in a playout; `marks` [2, A] holds the clock of the last note."""
    for i in range(length):
        marks[movers[i], moves[i]] = clock


@kernel
def back_up_rave(nodes: Records, edges: Records, node: int, edge: int, value: float, marks: Int64s, clock: int) -> None:
    """All-moves-as-first update (FACTS §3, Alg. 11): at each node of the path, every move that the same player makes
    there or later in the simulation counts once, with that player's sign."""
    while True:
        mover = nodes[node].mover
        side = _side(nodes[node])
        marks[mover, edges[edge].action] = clock
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
def _follow(
    nodes: Records, edges: Records, node: int, settings: Records, noise: Float64s, wanted: int, scratch: Float64s
) -> int:
    """The edge to follow from a node that is neither over nor proven."""
    s = settings[0]
    if node == 0 and s.gumbel_root:
        edge = choose_halving(nodes[node], edges, settings, noise, wanted, scratch)
        if edge >= 0:
            return edge
    if s.rule == UCT:
        return choose_uct(nodes[node], edges, settings)
    if s.rule == GUMBEL:
        return choose_improved(nodes[node], edges, settings, scratch)
    return choose_puct(nodes[node], edges, node == 0, noise, settings)


@kernel
def _descend(
    nodes: Records, edges: Records, settings: Records, noise: Float64s, wanted: int, scratch: Float64s
) -> tuple[int, int]:
    """Follow the rule from the root to (node, edge): an edge without a child, or the last one before an exact node."""
    solver = settings[0].solver
    node = 0
    while True:
        edge = _follow(nodes, edges, node, settings, noise, wanted, scratch)
        child = edges[edge].child
        if child < 0 or _over(nodes[child]) or (solver and nodes[child].low == nodes[child].high):
            return node, edge
        node = child


@inlined
def _finished(tree, root, settings: Records) -> bool:  # type: ignore[no-untyped-def]
    s = settings[0]
    return tree.done + tree.waiting >= s.limit or (s.solver and root.low == root.high)


@inlined
def _is_full(tree, nodes: Records, edges: Records, max_legal: int) -> bool:  # type: ignore[no-untyped-def]
    """Whether a tree can hold no more than the nodes that its waiting leaves will take; once full, always full."""
    leaves = tree.waiting + 1
    if tree.nodes + leaves > nodes.shape[0] or tree.edges + leaves * max_legal > edges.shape[0]:
        tree.full = 1
    return tree.full != 0


@kernel
def select(
    rows: Int64s,
    trees: Records,
    nodes: Records,
    edges: Records,
    states: Int8s,
    streams: UInt64s,
    noise: Float64s,
    settings: Records,
    schedule: Int32s,
    marks: Int64s,
    clock: Int64s,
    leaf_row: Int64s,
    leaf_node: Int32s,
    leaf_edge: Int32s,
    leaf_stream: UInt64s,
    leaf_state: Int8s,
    leaf_action: Int32s,
) -> int:
    """Choose leaves in the trees `rows`, up to `settings.leaves` waiting ones in each; return how many were written.

    A simulation that ends in a node whose value is exact is finished here and now. A tree stops for this step when
    it has enough leaves, is finished, or meets a leaf that waits already.
    """
    s = settings[0]
    scratch = np.empty(noise.shape[1], dtype=np.float64)
    found = 0
    for r in range(rows.shape[0]):
        b = rows[r]
        tree, N, E = trees[b], nodes[b], edges[b]
        while tree.waiting < s.leaves and not _finished(tree, N[0], settings):
            wanted = 0
            if s.gumbel_root:
                wanted = schedule[min(N[0].count, schedule.shape[0] - 1), tree.done + tree.waiting]
            node, edge = _descend(N, E, settings, noise[b], wanted, scratch)
            child = E[edge].child
            if child == PENDING:
                break
            if child >= 0:
                value = _side(N[child]) * N[child].low
                back_up(N, E, node, edge, child, value, s.solver != 0)
                if s.rule == RAVE:
                    clock[0] += 1
                    back_up_rave(N, E, node, edge, value, marks, clock[0])
                tree.done += 1
                continue
            # In a full tree leaves are not kept, so one may be asked about several times at once.
            if not _is_full(tree, N, E, noise.shape[1]):
                E[edge].child = PENDING
            tree.waiting += 1
            if s.leaves > 1:
                _add_pending(N, E, node, edge, 1)
            leaf_row[found] = b
            leaf_node[found] = node
            leaf_edge[found] = edge
            leaf_stream[found] = next_word(streams, b)
            leaf_action[found] = E[edge].action
            for i in range(leaf_state.shape[1]):
                leaf_state[found, i] = states[b, node, i]
            found += 1
    return found


@inlined
def _new_node(  # type: ignore[no-untyped-def]
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


@kernel
def attach(
    found: int,
    leaf_row: Int64s,
    leaf_node: Int32s,
    leaf_edge: Int32s,
    after: Int8s,
    counts: Int32s,
    actions: Int32s,
    values: Float32s,
    trees: Records,
    nodes: Records,
    edges: Records,
    states: Int8s,
    settings: Records,
    marks: Int64s,
    clock: Int64s,
    leaf_child: Int32s,
) -> int:
    """Give every leaf its node; finish the simulations that ended the game. Returns how many are left to evaluate.

    `after` [n, S] are the positions reached, with their legal moves; where there are none, play is over and
    `values` [n] holds the first player's value. `leaf_child` receives the new nodes.
    """
    s = settings[0]
    waiting = 0
    for i in range(found):
        b, node, edge = leaf_row[i], leaf_node[i], leaf_edge[i]
        tree, N, E = trees[b], nodes[b], edges[b]
        child = NO_NODE
        if E[edge].child == PENDING:
            child = _new_node(tree, N, E, states[b], after[i], node, edge, counts[i], actions[i])
        leaf_child[i] = child
        if counts[i] > 0:
            waiting += 1
            continue
        if child != NO_NODE:
            exact = _side(N[child]) * values[i]
            N[child].value, N[child].low, N[child].high = exact, exact, exact
        _finish(tree, N, E, node, edge, child, values[i], settings)
        if s.rule == RAVE:
            clock[0] += 1
            back_up_rave(N, E, node, edge, values[i], marks, clock[0])
    return waiting


@inlined
def _finish(  # type: ignore[no-untyped-def]
    tree, nodes: Records, edges: Records, node: int, edge: int, child: int, value: float, settings: Records
) -> None:
    """A leaf's value is known: hang it in, take back the virtual loss and back up."""
    edges[edge].child = child  # NO_NODE equals UNEXPANDED: a tree that is full forgets the leaf
    if settings[0].leaves > 1:
        _add_pending(nodes, edges, node, edge, -1)
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
        total += np.exp(np.float64(logits[edges[e].action]) - top)
    for e in range(node.first, node.first + node.count):
        edges[e].prior = np.exp(np.float64(logits[edges[e].action]) - top) / total


@kernel
def absorb(
    leaf_row: Int64s,
    leaf_node: Int32s,
    leaf_edge: Int32s,
    leaf_child: Int32s,
    movers: Int8s,
    logits: Float32s,
    values: Float32s,
    lengths: Int32s,
    moves: Int32s,
    move_movers: Int8s,
    trees: Records,
    nodes: Records,
    edges: Records,
    settings: Records,
    marks: Int64s,
    clock: Int64s,
) -> None:
    """Expand evaluated leaves and back their values up.

    `logits` is [n, A] or [n, 0] for none; `values` [n] is for `movers` [n], the players to move at the leaves;
    playouts are [n, max_plies] with `lengths` [n], or [n, 0] when they do not count.
    """
    s = settings[0]
    for i in range(leaf_row.shape[0]):
        b, node, edge, child = leaf_row[i], leaf_node[i], leaf_edge[i], leaf_child[i]
        N, E = nodes[b], edges[b]
        if child != NO_NODE:
            N[child].value = values[i]
            set_priors(N[child], E, logits[i])
        value = np.float64(values[i]) * (1.0 - 2.0 * movers[i])
        _finish(trees[b], N, E, node, edge, child, value, settings)
        if s.rule == RAVE:
            clock[0] += 1
            mark_playout(marks, clock[0], moves[i], move_movers[i], lengths[i])
            back_up_rave(N, E, node, edge, value, marks, clock[0])


@kernel
def plant(
    rows: Int64s,
    roots: Int8s,
    counts: Int32s,
    actions: Int32s,
    trees: Records,
    nodes: Records,
    edges: Records,
    states: Int8s,
) -> None:
    """Start empty trees: node 0 is the root, its priors are still to come."""
    for i in range(rows.shape[0]):
        b = rows[i]
        trees[b].nodes, trees[b].edges, trees[b].full = 0, 0, 0
        _new_node(trees[b], nodes[b], edges[b], states[b], roots[i], NO_PARENT, -1, counts[i], actions[i])


@kernel
def expand_roots(rows: Int64s, logits: Float32s, values: Float32s, nodes: Records, edges: Records) -> None:
    """Give freshly planted roots their value and priors."""
    for i in range(rows.shape[0]):
        b = rows[i]
        nodes[b, 0].value = values[i]
        set_priors(nodes[b, 0], edges[b], logits[i])


@kernel
def find_state(nodes: Records, states: Int8s, used: int, state: Int8s) -> int:
    """The most visited node with this state among the first `used`, or NO_NODE."""
    best, visits = NO_NODE, -1
    for n in range(used):
        same = True
        for i in range(state.shape[0]):
            if states[n, i] != state[i]:
                same = False
                break
        if same and nodes[n].count > 0 and nodes[n].visits > visits:
            best, visits = n, nodes[n].visits
    return best


@kernel
def move_root(b: int, root: int, trees: Records, nodes: Records, edges: Records, states: Int8s) -> None:
    """Keep only the subtree of `root`, moved to the front of the tree's arrays in one pass."""
    tree, N, E, S = trees[b], nodes[b], edges[b], states[b]
    place = np.full(tree.nodes, NO_NODE, dtype=np.int32)  # old node -> new node
    shift = np.zeros(tree.nodes, dtype=np.int32)  # by how much its edges moved
    used_nodes, used_edges = 0, 0
    for n in range(root, tree.nodes):
        parent, edge, first = N[n].parent, N[n].edge, N[n].first
        if n != root and (parent < root or place[parent] == NO_NODE):
            continue
        place[n] = used_nodes
        shift[n] = first - used_edges
        N[used_nodes] = N[n]
        new = N[used_nodes]
        new.first = used_edges
        if n == root:
            new.parent, new.edge = NO_PARENT, -1
        else:
            new.parent, new.edge = place[parent], edge - shift[parent]
            E[new.edge].child = used_nodes
        for i in range(new.count):
            E[used_edges + i] = E[first + i]
        for i in range(S.shape[1]):
            S[used_nodes, i] = S[n, i]
        used_nodes += 1
        used_edges += new.count
    tree.nodes, tree.edges, tree.full = used_nodes, used_edges, 0
