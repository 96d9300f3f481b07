"""Options that were called otherwise in version 0.1: still read, shown nowhere. The next version drops this file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

OLD_NAMES: Mapping[str, Mapping[str, str]] = {  # verb -> old option -> what it is called now
    "train": {"--run": "--out"},
    "export": {"--onnx": "--out"},
    "report": {"--html": "--out"},
    "qlearn": {"--opponent": "--against", "--matches": "--games", "--repeats": "--seeds"},
    "ggp manager": {"--matches": "--games"},
    "reproduce": {"--repeats": "--seeds", "--runs": "--seeds", "--networks": "--seeds", "--folder": "--out"},
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
