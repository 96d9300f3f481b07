"""What a field of a settings model accepts, in words, for messages that say what would have been right."""

from __future__ import annotations

from typing import Literal, get_args, get_origin

from pydantic.fields import FieldInfo

_NOUNS = {"bool": "true or false", "int": "a whole number", "float": "a number", "str": "a text"}


def accepted(field: FieldInfo) -> str:
    """For example "a whole number from 1 to 1000", "one of z, mixed, td"."""
    annotation = field.annotation
    if get_origin(annotation) is Literal:
        return "one of " + ", ".join(str(choice) for choice in get_args(annotation))
    if isinstance(field.json_schema_extra, dict) and (names := field.json_schema_extra.get("names")):
        return f"one of {', '.join(map(str, names))}, or module:attribute"  # type: ignore[arg-type]
    if get_origin(annotation) is tuple:
        return "a list of texts"
    words = next((noun for name, noun in _NOUNS.items() if name in str(annotation)), str(annotation))
    limits = {
        name: getattr(item, name) for item in field.metadata for name in ("ge", "gt", "le", "lt") if hasattr(item, name)
    }
    phrases = {"ge": "from", "gt": "above", "le": "to" if "ge" in limits else "and at most", "lt": "and below"}
    return " ".join([words, *(f"{phrases[name]} {limits[name]}" for name in phrases if name in limits)])
