from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from palaestra.ggp.dependence import components, dependence
from palaestra.ggp.terms import Literal, Rule


@settings(deadline=None)
@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6))))
def test_relations_on_one_cycle_have_one_number_and_bodies_none_below_their_heads(edges: set[tuple[int, int]]) -> None:
    number = components(dependence([Rule(str(head), (Literal(str(body)),)) for head, body in edges]))
    reached = set(edges)
    for middle in range(7):
        reached |= {(a, d) for a, b in reached for c, d in reached if b == c == middle}
    for first in number:
        for second in number:
            both = {(int(first), int(second)), (int(second), int(first))} <= reached
            assert (number[first] == number[second]) == (both or first == second)
    assert all(number[str(body)] >= number[str(head)] for head, body in edges)


def test_the_graph_keeps_the_first_rule_for_every_dependence() -> None:
    first, second = Rule("p", (Literal("q"),), (), 1), Rule("p", (Literal("q", False), Literal("r")), (), 2)
    assert dependence([first, second]) == {"p": {"q": first, "r": second}, "q": {}, "r": {}}
