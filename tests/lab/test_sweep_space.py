"""Spaces of sweeps: built-in ones, files, and what is wrong with them in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from palaestra.base.errors import ConfigError
from palaestra.lab.sweep_space import NAMES, load_space, parse_space
from palaestra.learn.settings import flatten

GAME = "othello-6x6"


def test_the_thesis_varies_twelve_settings_one_at_a_time() -> None:
    space = load_space("thesis-3.4")
    base = space.base(GAME, None, ())
    points = space.points(base)
    assert len(points) == 25
    assert points[0] == {parameter.name: parameter.choices[1] for parameter in space.parameters}
    for point in points[1:]:
        assert sum(point[name] != value for name, value in points[0].items()) == 1
    deep = space.config(base, {**points[0], "selfplay.search.simulations": 200})
    assert (deep.iterations, deep.selfplay.search.simulations, deep.gate.simulations) == (100, 200, 200)


def test_the_81_models_are_every_combination_and_have_no_gate() -> None:
    space = load_space("thesis-3.5")
    base = space.base(GAME, None, ())
    points = space.points(base)
    assert len({tuple(point.values()) for point in points}) == 81
    configs = [space.config(base, point) for point in points]
    assert {config.gate.kind for config in configs} == {"off"}
    assert {config.iterations for config in configs} == {25, 50, 75}


@pytest.mark.parametrize("name", NAMES)
def test_every_built_in_space_lies_around_its_preset(name: str) -> None:
    space = load_space(name)
    flat = flatten(space.base(GAME, None, ("iterations=50",) if name == "thesis-3.5" else ()))
    for parameter in space.parameters:
        value = flat[parameter.name]
        if name == "thesis-3.5" and parameter.name in ("selfplay.games", "selfplay.search.simulations"):
            continue  # Table 3.2 has smaller ones than the default
        assert value in parameter.choices or parameter.low <= value <= parameter.high


def test_what_the_user_gives_wins_over_the_space() -> None:
    space = parse_space("s", '[settings]\niterations = 9\nnet = "b1c8"\n[space]\n"learn.lr" = [0.1, 0.2]')
    assert space.base(GAME, "fast", ()).iterations == 9
    assert space.base(GAME, "fast", ()).minutes is None
    given = space.base(GAME, "fast", ("net=b2c16",), minutes=3.0)
    assert (given.net, given.minutes, given.iterations) == ("b2c16", 3.0, None)


def test_a_range_with_steps_is_a_grid_too() -> None:
    text = '[space]\n"selfplay.games" = { low = 4, high = 17, step = 4 }\n[space.learn]\nlr = [0.1, 0.2]'
    space = parse_space("s", text)
    assert [point["selfplay.games"] for point in space.grid()] == [4, 4, 8, 8, 12, 12, 16, 16]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[space]\nlr = [0.1, 0.2]", "did you mean learn.lr"),
        ('[space]\n"learn.lr" = [0.1, 20.0]', "learn.lr is 20"),
        ('[space]\n"learn.lr" = [0.1]', "2 to 1000 different choices"),
        ('[space]\n"learn.lr" = 0.1', "neither a list of choices nor a range"),
        ('[space]\n"learn.lr" = { low = 0.2, high = 0.1 }', "from a smaller number to a larger one"),
        ('[space]\n"learn.lr" = { low = 0.0, high = 0.1, log = true }', "begins above 0"),
        ('[space]\n"learn.lr" = { low = 0.1, high = 0.2, lag = true }', "neither a list of choices nor a range"),
        ('[space]\n"seed" = [1, 2]', "seed cannot be varied"),
        ('[space]\n"learn.lr" = [0.1, 0.2]\n"learn.momentum, learn.lr" = [0.1, 0.2]', "varied twice"),
        ('[spaces]\n"learn.lr" = [0.1, 0.2]', "unknown key .spaces."),
        ('design = "gird"\n[space]\n"learn.lr" = [0.1, 0.2]', "design is .gird."),
        ('[settings]\nlr = 1\n[space]\n"learn.lr" = [0.1, 0.2]', "unknown setting .lr."),
        ("[space", "is not TOML"),
        ("", "has no table"),
    ],
)
def test_what_is_wrong_with_a_space_is_said_in_one_line(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as error:
        parse_space("s", text)
    assert "\n" not in str(error.value)


def test_unknown_names_and_files_that_are_not_there() -> None:
    with pytest.raises(ConfigError, match=r"did you mean .*thesis-3\.5"):
        load_space("thesis-3.6")
    with pytest.raises(ConfigError, match="cannot read the space"):
        load_space(str(Path("nowhere") / "space.toml"))


def test_one_at_a_time_needs_the_usual_value_among_the_choices() -> None:
    space = load_space("thesis-3.4")
    with pytest.raises(ConfigError, match="iterations is 7 where the others vary"):
        space.points(space.base(GAME, None, (), iterations=7))
