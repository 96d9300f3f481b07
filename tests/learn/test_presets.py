from __future__ import annotations

import re
import tomllib
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palaestra.base.errors import ConfigError
from palaestra.cli.train import train
from palaestra.games.registry import make_game
from palaestra.learn.config import RunConfig
from palaestra.learn.config_check import trainable
from palaestra.learn.presets import DEFAULT, LONG_MINUTES, NAMES, configure, default_preset, load_preset
from palaestra.learn.provenance import config_text
from palaestra.learn.settings import as_settings, flatten, make_config
from palaestra.learn.toml import dump_toml

GAME = "connect_four-5x5"


@pytest.mark.parametrize("name", NAMES)
def test_every_preset_is_a_whole_configuration_with_an_end_and_two_lines_for_people(name: str) -> None:
    preset, config = load_preset(name), configure(GAME, name)
    assert config.iterations is not None or config.minutes is not None
    for line in (preset.about, preset.expect):
        assert line and "\n" not in line
    assert "minutes" in preset.expect or "hours" in preset.expect


@pytest.mark.parametrize("name", NAMES)
def test_config_toml_reads_back_as_the_same_configuration(name: str) -> None:
    config = configure(GAME, name, seed=7)
    history = [{"after_iteration": 1, "changed": ["a: 1 -> 2"]}]
    table = tomllib.loads(config_text(config, make_game(GAME), history))
    assert table.pop("about")["game_version"] == make_game(GAME).version
    assert table.pop("history") == history
    assert make_config(table) == config
    assert set(flatten(config)) == set(flatten(configure(GAME))), "every setting is written out"


def test_the_thesis_preset_is_table_4_1() -> None:
    """The column Ch4 (sources: settings)."""
    config = configure("othello-6x6", "thesis")
    play, learn, gate = config.selfplay, config.learn, config.gate
    assert (config.iterations, play.games, play.temperature_moves + 1) == (200, 50, 15)
    assert (play.search.simulations, play.search.c_puct, play.search.dirichlet_fraction) == (100, 1.0, 0.0)
    assert (learn.window, learn.epochs, learn.batch, learn.lr, learn.dropout) == (20, 10, 64, 0.005, 0.3)
    assert (learn.optimizer, learn.loss, learn.value_weight) == ("adam", "sum", 1.0)
    assert (gate.kind, gate.games, gate.threshold) == ("threshold", 40, 0.6)
    assert config.net == "thesis256"


def test_the_schmidt_preset_is_that_of_the_paper() -> None:
    """As printed, but for what the preset says (sources: Schmidt training)."""
    config = configure("opposition-3x9-absolute", "schmidt")
    assert (config.net, config.reward) == ("schmidt-outcome", "cdf(generations=5)")
    assert (config.selfplay.games, config.selfplay.search.simulations) == (25, 20 * 9)
    assert config.selfplay.search.dirichlet_alpha == 0.5 and config.gate.kind == "off" and config.threads == 1
    learn = config.learn
    assert (learn.window, learn.epochs, learn.optimizer, learn.momentum, learn.lr) == (5, 5, "sgd", 0.9, 0.005)
    assert (learn.policy_weight, learn.value_weight) == (100 / 8, 1.0)
    assert config.evaluation.demerits and config.evaluation.simulations == 20 * 9


@pytest.mark.parametrize("name", ["schmidt", "opposition-fast"])
def test_the_presets_of_opposition_measure_demerits_and_nothing_else(name: str) -> None:
    settings = configure("opposition-3x9", name).evaluation
    assert settings.demerits and settings.anchors == () and settings.history == 0
    with pytest.raises(ConfigError, match="demerits need a game that is solved beforehand"):
        trainable(configure("connect_four-5x5", name), make_game("connect_four-5x5"))


def test_the_preset_of_chapter_7_is_table_7_1() -> None:
    """The column Ch7 (sources: settings)."""
    config = configure("morpion-5d-22x22", "thesis-ranked")
    play, learn, solo = config.selfplay, config.learn, config.solo
    assert (config.iterations, play.games, play.temperature_moves + 1) == (100, 50, 41)
    assert (play.sampling, play.sampled_policy, config.gate.kind) == (True, "network", "off")
    assert (solo.every, solo.games, solo.simulations, play.search.c_puct) == (10, 1, 20_000, 1.0)
    assert (learn.window, learn.epochs, learn.batch, learn.lr, learn.dropout) == (10, 5, 64, 0.005, 0.3)
    assert config.reward == "ranked(tau=0.75, window=200, first=store)"
    trainable(config, make_game(config.game))


def test_the_presets_for_one_player_are_alg_7_and_the_original_with_search() -> None:
    """The column Ch7 (sources: settings; ranked reward); what departs is said in the presets."""
    search, drawn = (configure("morpion-5d", name) for name in ("ranked", "record"))
    assert search.reward == "ranked(tau=0.75, window=200)" and not search.selfplay.sampling
    assert drawn.reward.startswith("ranked(") and drawn.selfplay.sampling
    # Positions without a policy dilute the mean over a batch by as much.
    assert drawn.selfplay.failures is not None and drawn.learn.policy_weight == 1 + drawn.selfplay.failures
    for config in (search, drawn):
        assert (config.gate.kind, config.selfplay.value_target, config.selfplay.search.c_puct) == ("off", "z", 1.0)
        assert config.solo.every == 10 and config.learn.legal_only
    for game, default in (("morpion-5d", "record"), ("morpion-5t", "record"), ("bin_packing-2d", "ranked")):
        for name in ("ranked", "record"):
            assert default_preset(trainable(configure(game, name), make_game(game))) == default
    assert default_preset(make_game(GAME)) == "strong"
    with pytest.raises(ConfigError, match="one player"):
        trainable(configure(GAME, "ranked"), make_game(GAME))


def test_settings_go_over_the_default() -> None:
    assert configure(GAME, minutes=2) == configure(GAME, "fast", minutes=2) and DEFAULT == "fast"
    config = configure(
        GAME,
        minutes=2,
        sets=["learn.lr=0.01", "net=b2c16", 'evaluation.anchors=["random"]', "selfplay.search.fpu=none"],
        seed=4,
    )
    assert (config.learn.lr, config.net, config.seed) == (0.01, "b2c16", 4)
    assert config.evaluation.anchors == ("random",) and config.selfplay.search.fpu is None
    assert config.learn.batch == configure(GAME).learn.batch


def test_the_help_of_train_names_every_preset_and_the_time_from_which_on_strong_is_taken() -> None:
    option = get_type_hints(train, include_extras=True)["preset"].__metadata__[0]
    named = re.split(r", | or |;", option.help)
    assert tuple(named[: len(NAMES)]) == NAMES and f"less than {LONG_MINUTES:.0f} minutes" in option.show_default


def test_a_given_end_replaces_both_ends_of_the_preset() -> None:
    assert (configure(GAME, iterations=3).iterations, configure(GAME, iterations=3).minutes) == (3, None)
    assert (configure(GAME, "thesis", minutes=5).iterations, configure(GAME, "thesis", minutes=5).minutes) == (None, 5)
    both = configure(GAME, iterations=3, minutes=5)
    assert (both.iterations, both.minutes) == (3, 5)


def test_half_an_hour_and_more_takes_strong_whose_network_grows() -> None:
    assert configure(GAME, minutes=30) == configure(GAME, "strong", minutes=30) == configure(GAME)
    assert configure(GAME, minutes=29) == configure(GAME, "fast", minutes=29)
    assert configure(GAME, iterations=900) == configure(GAME, "fast", iterations=900), "whatever time that takes"
    assert configure(GAME, iterations=9, minutes=30) == configure(GAME, "strong", iterations=9, minutes=30)
    assert default_preset(make_game("morpion-4d"), 120) == default_preset(make_game("morpion-4d"))
    strong, fast = configure(GAME, "strong"), configure(GAME, "fast")
    assert strong.growth.nets == ("b4c48",) and strong.net == fast.net
    assert (strong.selfplay.first_simulations, strong.selfplay.search.simulations) == (16, 128)
    changed = {"growth", "selfplay", "learn", "evaluation"}
    assert strong.model_dump(exclude=changed) == fast.model_dump(exclude=changed)


def test_a_network_that_is_not_the_presets_does_not_grow_unless_it_is_told_to() -> None:
    trainable(configure(GAME, minutes=120, sets=["net=r3c32"]), make_game(GAME))
    assert configure(GAME, minutes=120, sets=["net=r3c32"]).growth.nets == ()
    told = ["net=b1c8", 'growth.nets=["b1c16"]', "growth.after=[0.5]"]
    assert configure(GAME, minutes=120, sets=told).growth.nets == ("b1c16",)
    assert configure(GAME, minutes=120, sets=["net=b3c32"]).growth.nets == ("b4c48",)


@pytest.mark.parametrize(
    ("sets", "pieces"),
    [
        ("learn.lrr=1", ["unknown setting 'learn.lrr'", "did you mean learn.lr?", "weight_decay"]),
        ("speed=1", ["unknown setting 'speed'", "selfplay"]),
        ("selfplay.search.sims=1", ["selfplay.search has: rule"]),
        ("learn=1", ["learn is a group", "learn.window"]),
        ("learn.lr.x=1", ["learn.lr is a single setting"]),
        ("learn.lr=-1", ["learn.lr is -1", "above 0 and at most 10"]),
        ("learn.lr=fast", ["learn.lr is 'fast'", "a number"]),
        ("learn.batch=true", ["learn.batch is true", "a whole number"]),
        ("learn.batch=2.5", ["learn.batch is 2.5", "a whole number"]),
        ("learn.loss=produkt", ["'produkt' is no loss (did you mean product?)", "module:attribute"]),
        ("learn.epochs=3", ["exactly one of learn.epochs"]),
        ("gate.games=7", ["even number"]),
        ("selfplay.sampling=true", ["sampling searches nothing", "value_target=z"]),
        ("selfplay.failures=1", ["failures is for selfplay.sampling=true"]),
        ("solo.widening=1", ["solo.widening is 1", "above 1"]),
        ("device=tpu", ["cpu, mps, cuda"]),
        ("evaluation.anchors=random", ["a list of texts"]),
        ("minutes=0", ["minutes is 0", "or none"]),
        ("minutes=none", ["needs an end"]),
        ("learn.lr", ["key=value"]),
        ("=3", ["key=value"]),
    ],
)
def test_a_bad_setting_is_one_line_that_says_what_is_accepted(sets: str, pieces: list[str]) -> None:
    with pytest.raises(ConfigError) as error:
        configure(GAME, "fast", [sets])
    assert "\n" not in str(error.value)
    for piece in pieces:
        assert piece in str(error.value)


def test_an_unknown_preset_lists_the_known_ones() -> None:
    known = "fast, strong, thesis, thesis-small, schmidt, opposition-fast, ranked, record, thesis-ranked, curriculum"
    with pytest.raises(ConfigError, match=f"unknown preset 'slow'; known: {known}"):
        load_preset("slow")


def test_settings_round_trip_where_everything_that_may_be_absent_is_absent() -> None:
    config = RunConfig(game=GAME, iterations=1)
    assert as_settings(config)["minutes"] == "none"
    assert make_config(as_settings(config)) == config


VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)
TABLES: Any = st.recursive(
    st.dictionaries(st.text(), VALUES, max_size=3),
    lambda inner: st.dictionaries(st.text(), VALUES | inner | st.lists(inner, min_size=1, max_size=3), max_size=3),
    max_leaves=6,
)


@given(TABLES)
def test_toml_reads_back_whatever_is_written(table: dict[str, Any]) -> None:
    assert tomllib.loads(dump_toml(table)) == table


def test_a_network_of_outcomes_needs_no_further_setting_and_keeps_an_explicit_one() -> None:
    """Its head does not read the preset's TD targets; config.toml says what holds."""
    assert configure(GAME, "fast").selfplay.value_target == "td"
    for config in (configure(GAME, "fast", ["net=b1c8-outcome"]), configure(GAME, "fast", net="b1c8-categorical")):
        assert config.selfplay.value_target == "z"
        assert config == configure(GAME, "fast", [f"net={config.net}", "selfplay.value_target=z"])
    explicit = configure(GAME, "fast", ["net=b1c8-outcome", "selfplay.value_target=mixed"])
    assert explicit.selfplay.value_target == "mixed", "which the trainer refuses"
    with pytest.raises(ConfigError, match="unknown network 'b3'"):
        configure(GAME, "fast", ["net=b3"])
