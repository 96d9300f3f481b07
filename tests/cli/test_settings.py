from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from palaestra.games.registry import make_game
from palaestra.learn.config import RunConfig
from palaestra.learn.presets import NAMES, configure, load_preset
from palaestra.learn.provenance import config_text
from palaestra.learn.settings import every_setting, flatten, make_config

PAGE = Path(__file__).resolve().parents[2] / "docs" / "settings.md"
ALL = list(every_setting())


@pytest.mark.parametrize("name", ALL)
def test_every_setting_says_what_it_is_for_in_a_line(name: str) -> None:
    words = every_setting()[name].description or ""
    assert 5 <= len(words) <= 115 and "\n" not in words and "|" not in words


def test_the_list_holds_every_setting_of_a_run_with_its_default(cli: Any) -> None:
    listed = {entry["name"]: entry for entry in json.loads(cli("settings", "--json").out)}
    defaults = flatten(RunConfig(game="hex-3x3", iterations=1)) | {"game": None, "iterations": "none"}
    assert {name: entry["default"] for name, entry in listed.items()} == defaults
    assert listed["learn.lr"]["group"] == "learn" and listed["game"]["group"] == "run"
    assert listed["learn.lr"]["accepted"] == "a number above 0 and at most 10"
    assert listed["learn.epochs"]["accepted"].endswith(", or none")


@pytest.mark.parametrize("preset", NAMES)
def test_a_presets_values_are_those_that_a_run_gets(cli: Any, preset: str) -> None:
    listed = json.loads(cli("settings", "--preset", preset, "--json").out)
    own = flatten(make_config({"game": "hex-3x3", **load_preset(preset).settings}))
    assert {entry["name"]: entry["value"] for entry in listed if entry["name"] != "game"} == {
        name: value for name, value in own.items() if name != "game"
    }
    for entry in listed:
        assert (preset in entry["presets"]) == (entry["value"] != entry["default"])


def test_a_pattern_is_looked_for_in_names_and_in_descriptions(cli: Any) -> None:
    names = [entry["name"] for entry in json.loads(cli("settings", "LEARNING", "--json").out)]
    assert names == ["learn.lr"]  # by its description alone
    shown = cli("settings", "learn.lr").out
    assert "learn.lr = 0.005" in shown and "fast: 0.04" in shown and "gate." not in shown
    shown = cli("settings", "learn.lr", "--preset", "fast").out
    assert "learn.lr = 0.04  (fast; default 0.005)" in shown


def test_the_page_of_settings_is_up_to_date(cli: Any) -> None:
    assert PAGE.read_text(encoding="utf-8") == cli("settings", "--markdown").out, (
        "make it again: palaestra settings --markdown > docs/settings.md"
    )


def test_config_toml_explains_every_setting_and_reads_back_as_the_same_run() -> None:
    config = configure("connect_four-6x7", "fast", ["learn.clip=1.5", 'evaluation.anchors=["random"]'])
    text = config_text(config, make_game(config.game), ())
    for name, field in every_setting().items():
        assert text.count(f"# {field.description}\n") >= 1, name
    read = tomllib.loads(text)
    assert make_config({key: value for key, value in read.items() if key != "about"}) == config
    assert config_text(config, make_game(config.game), ()) == text  # the same settings give the same bytes


def test_config_toml_of_the_version_before_is_read() -> None:
    config = configure("connect_four-6x7", "fast")
    old = tomllib.loads(config_text(config, make_game(config.game), ()))
    del old["about"]
    search = old["selfplay"]["search"]
    search["num_simulations"], search["milliseconds"] = search.pop("simulations"), search.pop("ms")
    assert make_config(old) == config
    assert (
        RunConfig.model_validate(
            {**config.model_dump(), "selfplay": {**config.selfplay.model_dump(), "search": {"num_simulations": 7}}}
        ).selfplay.search.simulations
        == 7
    )


def test_the_old_name_of_a_setting_sets_it_over_a_preset() -> None:
    config = configure("connect_four-6x7", "fast", ["selfplay.search.num_simulations=7"])
    assert config.selfplay.search.simulations == 7
