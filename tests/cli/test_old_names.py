from __future__ import annotations

from typing import Any

import pytest
import typer.main

from palaestra.cli.main import build_app
from palaestra.cli.old_names import OLD_NAMES, with_new_names

PAIRS = [(command, old, new) for command, names in OLD_NAMES.items() for old, new in names.items()]


@pytest.mark.parametrize(("command", "old", "new"), PAIRS)
def test_an_old_option_becomes_one_that_its_verb_has_and_help_shows_only_that(
    cli: Any, command: str, old: str, new: str
) -> None:
    words = command.split()
    told: list[str] = []
    assert with_new_names([*words, old, "1", f"{old}=2"], told.append) == [*words, new, "1", f"{new}=2"]
    assert f"note: {old} is called {new} now" in told[0]
    group: Any = typer.main.get_command(build_app())
    for word in words:
        group = group.commands[word]
    known = {name for parameter in group.params for name in parameter.opts}
    assert new in known and old not in known
    assert f" {old} " not in cli(*words, "--help").out


def test_other_verbs_values_and_what_follows_two_dashes_stay_as_they_are() -> None:
    for given in (
        [],
        ["match", "hex-3x3", "--matches", "2"],
        ["train", "hex-3x3", "--preset", "--", "--run", "x"],
        ["match", "table-5.1", "--repeats", "3"],
        ["train", "--set", "a=--run"],
    ):
        assert with_new_names(given, print) == given


def test_a_verb_does_what_it_did_when_it_is_given_by_its_old_names(cli: Any, tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    new = cli("qlearn", "tic_tac_toe", "--games", "20", "--seeds", "1", "--against", "greedy")
    old = cli("qlearn", "tic_tac_toe-3x3", "--matches", "20", "--repeats", "1", "--opponent", "greedy")
    assert old.code == new.code == 0
    assert old.out.splitlines()[:3] == new.out.splitlines()[:3]
    assert len(old.err.splitlines()) == 3 and new.err == ""


WORDS = {  # option -> what else it was called, over all verbs: one name for one thing
    "--against": {"--opponent", "--anchor-player"},
    "--games": {"--matches"},
    "--seeds": {"--repeats", "--runs"},
    "--out": {"--folder", "--run", "--html", "--onnx"},
}


def test_no_verb_brings_a_second_name_for_the_same_thing() -> None:
    waiting: list[Any] = [typer.main.get_command(build_app())]
    while waiting:
        command = waiting.pop()
        waiting += getattr(command, "commands", {}).values()
        known = {name for parameter in command.params for name in parameter.opts}
        if command.name == "serve":
            known -= {"--runs"}  # a folder there, and no number
        for other in WORDS.values():
            assert not known & other, command.name
