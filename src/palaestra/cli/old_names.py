"""Options that were called otherwise in version 0.1: still read, shown nowhere. The next version drops this file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

_FIGURES = [f"reproduce figure-2.{number}" for number in range(2, 8)]
_TRAINED = [f"reproduce {name}" for name in ("schmidt-fig3", "margins", "speed", "bonus", "solo")]
OLD_NAMES: Mapping[str, Mapping[str, str]] = {  # verb -> old option -> what it is called now
    "train": {"--run": "--out"},
    "export": {"--onnx": "--out"},
    "report": {"--html": "--out"},
    "qlearn": {"--opponent": "--against", "--matches": "--games", "--repeats": "--seeds"},
    "ggp manager": {"--matches": "--games"},
    "reproduce table-6.2": {"--runs": "--seeds", "--folder": "--out"},
    **{command: {"--repeats": "--seeds"} for command in _FIGURES},
    **{command: {"--folder": "--out"} for command in _TRAINED},
}


def with_new_names(arguments: Sequence[str], tell: Callable[[str], None]) -> list[str]:
    """The arguments with every old option by its name of today, each of which is told of."""
    old = OLD_NAMES.get(" ".join(arguments[:1])) or OLD_NAMES.get(" ".join(arguments[:2]), {})
    renamed: list[str] = []
    for at, argument in enumerate(arguments):
        if argument == "--":  # what follows are no options
            return [*renamed, *arguments[at:]]
        name, equals, value = argument.partition("=")
        if name in old:
            tell(f"note: {name} is called {old[name]} now; the old name goes with the next version")
        renamed.append(f"{old.get(name, name)}{equals}{value}")
    return renamed
