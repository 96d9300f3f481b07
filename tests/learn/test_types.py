"""What crosses from one stage of learning to the next, and what a run's folder says of it, has a type of its own."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import ModuleType

import pytest

from palaestra.learn import (
    catalogue,
    divergence,
    due_evaluations,
    events,
    iteration,
    learner,
    loop,
    metrics_line,
    presets,
    provenance,
    running_elo,
    session,
    settings,
    solo,
    solo_iteration,
    stages,
    toml,
)
from palaestra.runs import folder, game_record, manifest, metrics, overview

MODULES = (
    catalogue, divergence, due_evaluations, events, folder, game_record, iteration, learner, loop, manifest, metrics,
    metrics_line, overview, presets, provenance, running_elo, session, settings, solo, solo_iteration, stages, toml,
)  # fmt: skip


def annotations(module: ModuleType) -> Iterator[tuple[str, str]]:
    """(where, annotation) of every function, method and field that a module defines."""
    for name, thing in vars(module).items():
        if getattr(thing, "__module__", None) != module.__name__:
            continue
        members = vars(thing).items() if inspect.isclass(thing) else ()
        for owner, holder in ((name, thing), *((f"{name}.{member}", value) for member, value in members)):
            function = holder.fget if isinstance(holder, property) else getattr(holder, "__func__", holder)
            for text in getattr(function, "__annotations__", {}).values():
                yield f"{module.__name__}.{owner}", str(text)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_no_signature_says_any(module: ModuleType) -> None:
    found = list(annotations(module))
    assert found
    assert [where for where, text in found if "Any" in text] == []
