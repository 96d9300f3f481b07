"""What a shell can complete beside verbs and options: games, players, presets, settings, runs.

Typer asks when the user presses Tab. Everything is imported then, so that verbs start no later for it. An answer may
never fail: with nothing to say, nothing is said.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import MutableMapping, Sequence

ASKED = "_PALAESTRA_COMPLETE"  # set by the shell when the user presses Tab
BEFORE = "_PALAESTRA_BEFORE_COLON"


def join_colons(environment: MutableMapping[str, str]) -> None:
    """Make one word of the three that bash takes `run:NAME` for, where bash asks.

    bash keeps what stands up to the colon and wants to hear only the rest: that becomes the word, and BEFORE the other.
    """
    if environment.get(ASKED) != "complete_bash" or ":" not in environment.get("COMP_WORDS", ""):
        return
    separator = "\n" if "\n" in environment["COMP_WORDS"] else " "
    given = environment["COMP_WORDS"].split(separator)[: int(environment["COMP_CWORD"]) + 1]
    words: list[str] = []
    for word in given:
        if words and (word == ":" or words[-1].endswith(":")):
            words[-1] += word
        else:
            words.append(word)
    before, colon, words[-1] = words[-1].rpartition(":")
    environment.update({BEFORE: before + colon, "COMP_WORDS": separator.join(words), "COMP_CWORD": str(len(words) - 1)})


def games(incomplete: str) -> list[str]:
    """Families, ids of usual sizes, rulesheets of the package, and once a library is named, its games."""
    from palaestra.games.registry import FAMILIES, example_ids
    from palaestra.ggp.rules import rulesheet_names

    sheets = [f"gdl:{name}" for name in rulesheet_names()]
    return _beginning(incomplete, [*FAMILIES, *example_ids(), *sheets, *_of_libraries(incomplete)])


def _of_libraries(incomplete: str) -> list[str]:
    """Games of OpenSpiel and PGX; OpenSpiel is only loaded when its name is typed."""
    from palaestra.adapters.pgx_names import GAMES
    from palaestra.base.errors import GameError

    found = [f"pgx:{name}" for name in GAMES]
    if incomplete.startswith("openspiel:"):
        from palaestra.adapters.openspiel_catalogue import names

        with contextlib.suppress(GameError):
            return [f"openspiel:{name}" for name in names()]
    return [*found, "openspiel:"] if incomplete[:1] in ("o", "p") else []


def players(incomplete: str) -> list[str]:
    """Kinds of players; those that training made with the runs that are here."""
    from palaestra.players.registry import KINDS

    trained = [name for name, kind in KINDS.items() if kind.subject == "network"]
    others = [f"{name}:" if kind.subject else name for name, kind in KINDS.items() if name not in trained]
    return _beginning(incomplete, [*others, *(f"{name}:{run}" for name in trained for run in _run_names())])


def runs(incomplete: str) -> list[str]:
    """Names of the runs below ./runs."""
    return _beginning(incomplete, _run_names())


def experiments(incomplete: str) -> list[str]:
    """Experiments that are declared, chapters, and all."""
    from palaestra.lab.catalogue import ALL, declared

    chapters = dict.fromkeys(one.identity.chapter for one in declared().values() if one.identity.chapter)
    return _beginning(incomplete, [*declared(), *chapters, ALL])


def presets(incomplete: str) -> list[str]:
    from palaestra.learn.presets import NAMES

    return _beginning(incomplete, NAMES)


def settings(incomplete: str) -> list[str]:
    """Settings as they stand before their value: learn.lr=."""
    from palaestra.learn.settings import every_setting

    return _beginning(incomplete, [f"{name}=" for name in every_setting()])


def _run_names() -> list[str]:
    from palaestra.runs.places import RUNS

    try:
        return sorted(path.parent.name for path in RUNS.glob("*/manifest.json"))
    except OSError:
        return []


def _beginning(incomplete: str, words: Sequence[str]) -> list[str]:
    before = os.environ.get(BEFORE, "")
    return [word.removeprefix(before) for word in words if word.startswith(before + incomplete)]
