from __future__ import annotations

from palaestra.games.registry import make_game
from palaestra.lab.strength_curves import elo_curve, spread, strength_figure
from palaestra.players.registry import make_player

GAME = make_game("tic_tac_toe-3x3")
AGENTS = {1: make_player("uct(simulations=2)", GAME), 4: make_player("uct(simulations=200)", GAME)}


def test_networks_and_anchors_are_rated_in_one_tournament_and_the_last_anchor_is_the_origin() -> None:
    anchors = ("uct(simulations=4)", "random")
    rated = elo_curve(GAME, AGENTS, {1: 0.5, 4: 2.0}, anchors, 40, seed=1, threads=1)
    assert [(one.player, one.iteration, one.minutes) for one in rated] == [
        (AGENTS[1].text, 1, 0.5), (AGENTS[4].text, 4, 2.0), (anchors[0], None, None), (anchors[1], None, None),
    ]  # fmt: skip
    early, late, _, random = rated
    assert (random.elo, random.low, random.high) == (0.0, 0.0, 0.0)
    assert late.low > max(early.high, 0.0)
    again = elo_curve(GAME, AGENTS, {1: 0.5, 4: 2.0}, anchors, 40, seed=1, threads=2)
    assert again == rated
    (axes,) = strength_figure(rated).axes
    curve, *across = axes.lines
    assert list(curve.get_xdata()) == [0.5, 2.0] and list(curve.get_ydata()) == [early.elo, late.elo]
    assert sorted(next(iter(line.get_ydata())) for line in across) == sorted(one.elo for one in rated[2:])


def test_names_of_anchors_as_strong_as_each_other_do_not_lie_on_one_another() -> None:
    assert spread([900.0, 500.0, 495.0, 480.0, 0.0], 50.0) == [900.0, 500.0, 450.0, 400.0, 0.0]
    assert spread([], 50.0) == []
