"""Writing TOML, which the standard library only reads: tables of scalars, lists and further tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def dump_toml(data: Mapping[str, Any]) -> str:
    """A document that `tomllib.loads` reads back as `data`: str, bool, int, finite float, lists and tables of these."""
    lines: list[str] = []
    waiting: list[tuple[tuple[str, ...], Mapping[str, Any], bool]] = [((), data, False)]
    while waiting:
        path, table, listed = waiting.pop()
        if path:
            name = ".".join(_key(part) for part in path)
            lines += ["", f"[[{name}]]" if listed else f"[{name}]"]
        deeper: list[tuple[tuple[str, ...], Mapping[str, Any], bool]] = []
        for key, value in table.items():
            if isinstance(value, Mapping):
                deeper.append(((*path, key), value, False))
            elif isinstance(value, list | tuple) and value and all(isinstance(item, Mapping) for item in value):
                deeper += [((*path, key), item, True) for item in value]
            else:
                lines.append(f"{_key(key)} = {_value(value)}")
        waiting += reversed(deeper)  # depth first, in the order given
    return "\n".join(lines).lstrip("\n") + "\n"


def _key(key: str) -> str:
    bare = key and all(c.isascii() and (c.isalnum() or c in "-_") for c in key)
    return key if bare else _text(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item) for item in value)}]"
    raise TypeError(f"TOML has no {type(value).__name__}")


def _text(text: str) -> str:
    # TOML's basic strings are JSON's, but for one control character that JSON lets through.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
