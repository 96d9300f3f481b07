"""What a shell can complete beside verbs and options: games, players, presets, settings, runs.

Typer asks when the user presses Tab. Everything is imported then, so that verbs start no later for it. An answer may
never fail: with nothing to say, nothing is said.
"""

from __future__ import annotations


def games(incomplete: str) -> list[str]:
    """Families, ids of usual sizes, and rulesheets of the package."""
    from palaestra.games.registry import FAMILIES, example_ids
    from palaestra.ggp.rules import rulesheet_names

    return _beginning(incomplete, [*FAMILIES, *example_ids(), *(f"gdl:{name}" for name in rulesheet_names())])


def players(incomplete: str) -> list[str]:
    """Kinds of players; those that training made with the runs that are here."""
    from palaestra.players.registry import KINDS

    trained = [name for name, kind in KINDS.items() if kind.subject == "network"]
    others = [f"{name}:" if kind.subject else name for name, kind in KINDS.items() if name not in trained]
    return _beginning(incomplete, [*others, *(f"{name}:{run}" for name in trained for run in _run_names())])


def runs(incomplete: str) -> list[str]:
    """Names of the runs below ./runs."""
    return _beginning(incomplete, _run_names())


def presets(incomplete: str) -> list[str]:
    from palaestra.learn.presets import NAMES

    return _beginning(incomplete, NAMES)


def settings(incomplete: str) -> list[str]:
    """Settings as they stand before their value: learn.lr=."""
    from palaestra.learn.settings import every_setting

    return _beginning(incomplete, [f"{name}=" for name in every_setting()])


def _run_names() -> list[str]:
    from palaestra.players.runs import RUNS

    try:
        return sorted(path.parent.name for path in RUNS.glob("*/manifest.json"))
    except OSError:
        return []


def _beginning(incomplete: str, words: list[str] | tuple[str, ...]) -> list[str]:
    return [word for word in words if word.startswith(incomplete)]
