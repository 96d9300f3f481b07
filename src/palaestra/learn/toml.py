"""Writing TOML, which the standard library only reads: nested tables, with comments behind the values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tomlkit.container import Container
    from tomlkit.items import Table

    from palaestra.base.types import JsonLike

WIDEST = 36  # a comment stands no further right than this, but for values that are longer themselves


def dump_toml(data: Mapping[str, JsonLike], comments: Mapping[str, str] | None = None, header: str = "") -> str:
    """A document that `tomllib.loads` reads back as `data`: str, bool, int, finite float, lists and tables of these.

    `comments` are by dotted name; `header` stands above all. The same arguments give the same text.
    """
    import tomlkit

    document = tomlkit.document()
    for line in header.splitlines():
        document.add(tomlkit.comment(line))
    if header:
        document.add(tomlkit.nl())
    _fill(document, data, "", comments or {})
    return tomlkit.dumps(document)


def _fill(table: Table | Container, data: Mapping[str, JsonLike], prefix: str, comments: Mapping[str, str]) -> None:
    """Values first, as TOML demands, then the tables below; no deeper than the settings are."""
    import tomlkit
    from tomlkit.items import AoT

    values = {key: tomlkit.item(value) for key, value in data.items() if not _is_table(value)}
    written = {key: len(tomlkit.key(key).as_string()) + len(item.as_string()) for key, item in values.items()}
    width = max((length for length in written.values() if length <= WIDEST), default=0)
    for key, item in values.items():
        if comment := comments.get(prefix + key):
            item.comment(comment)
            item.trivia.comment_ws = " " * (max(0, width - written[key]) + 2)
        table.add(key, item)
    for key, value in data.items():
        if _is_table(value):
            many = value if isinstance(value, list | tuple) else [value]
            tables = [tomlkit.table() for _ in many]
            for one, inner in zip(tables, many, strict=True):
                _fill(one, inner, f"{prefix}{key}.", comments)
            table.add(key, tables[0] if isinstance(value, Mapping) else AoT(tables))


def _is_table(value: JsonLike) -> bool:
    many = value if isinstance(value, list | tuple) and value else [value]
    return all(isinstance(item, Mapping) for item in many)
