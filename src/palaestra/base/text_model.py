"""Texts with a meaning: a frozen model says what a name takes and between which bounds, and `read` fills it in.

Unknown names and arguments, wrong types and values out of range become one line that says what was given, what is
accepted, and an example. This module knows no player and no reward: their registries bring the models.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from palaestra.base.fields import accepted
from palaestra.base.suggest import did_you_mean
from palaestra.base.text import Grammar, Parts, Value, can_be_subject, clip, format_value

LONGEST_SHOWN = 80  # characters of a wrong value in a message

# What arguments are called elsewhere.
OTHER_NAMES = {"num_simulations": "simulations", "sims": "simulations", "visits": "simulations", "milliseconds": "ms"}


class TextModel(BaseModel):
    """What one name stands for. Subclasses give `name`, `example` and fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    name: ClassVar[str]
    example: ClassVar[str]
    positional: ClassVar[tuple[str, ...]] = ()  # the fields that may be given without their names, in order
    subject: ClassVar[str | None] = None  # the field that stands after the colon: `run:NAME`
    always: ClassVar[tuple[str, ...]] = ()  # fields that the text shows even at their default

    def __str__(self) -> str:
        """The canonical text: two models are equal exactly if their texts are."""
        shown: dict[str, Value] = {}
        for key, field in type(self).model_fields.items():
            value = getattr(self, key)
            if value is not None and (value != field.default or key in self.always):
                shown[key] = int(value) if isinstance(value, float) and value.is_integer() else value
        subject = None
        if self.subject and can_be_subject(str(shown[self.subject])):
            subject = str(shown.pop(self.subject))
        positional = []
        for key in self.positional:
            if key not in shown:
                break  # what follows a field at its default needs its name
            positional.append(shown.pop(key))
        return str(Parts(self.name, subject, tuple(positional), shown))


Model = TypeVar("Model", bound=TextModel)


def read(text: str, models: Mapping[str, type[Model]], grammar: Grammar) -> Model:
    """The model that a text describes; `grammar.error` says in one line why there is none."""
    parts = grammar.parse(text)
    if parts.name not in models:
        known = ", ".join(models)
        hint = did_you_mean(parts.name, models)
        raise grammar.error(
            f"unknown {grammar.noun} {clip(parts.name)}{hint}; known: {known}; for example {grammar.example}"
        )
    return fill(models[parts.name], parts, grammar)


def fill(model: type[Model], parts: Parts, grammar: Grammar) -> Model:
    """The model with the arguments of a text; `grammar.error` says in one line what does not fit."""
    try:
        return model(**_arguments(model, parts, grammar))
    except ValidationError as error:
        raise grammar.error(f"{_complaint(model, error)}; for example {model.example}") from None


def _arguments(model: type[TextModel], parts: Parts, grammar: Grammar) -> dict[str, Any]:
    """Keyword arguments for the model: the subject and the positional arguments get their names."""
    arguments: dict[str, Any] = dict(parts.keywords)
    example = f"for example {model.example}"
    if parts.subject is not None:
        if model.subject is None:
            raise grammar.error(f"{model.name} takes nothing after a colon; {example}")
        arguments[model.subject] = parts.subject
    if len(parts.positional) > len(model.positional):
        extra = clip(str(parts.positional[-1]))
        what = f"only its {' and '.join(model.positional)}" if model.positional else "nothing"
        raise grammar.error(f"{model.name} takes {what} without a name, not {extra}; {example}")
    for key, value in zip(model.positional, parts.positional, strict=False):
        if key in arguments:
            raise grammar.error(f"{model.name}: {key} is given twice; {example}")
        arguments[key] = value
    return arguments


def _complaint(model: type[TextModel], error: ValidationError) -> str:
    """What is wrong with the first argument that does not fit."""
    first = error.errors(include_url=False)[0]
    if not first["loc"] or first["type"] == "value_error":  # already in words
        return f"{model.name}: {first['msg'].removeprefix('Value error, ')}"
    key = str(first["loc"][0])
    if first["type"] == "extra_forbidden":
        takes = f"it takes {', '.join(model.model_fields)}" if model.model_fields else "it takes none"
        other_names = {other: name for other, name in OTHER_NAMES.items() if name in model.model_fields}
        hint = did_you_mean(key, model.model_fields, other_names)
        return f"{model.name} has no argument {clip(key)}{hint}: {takes}"
    words = accepted(model.model_fields[key])
    if first["type"] == "missing":
        return f"{model.name} needs {key}, {words}"
    given = format_value(first["input"])
    shown = given if len(given) <= LONGEST_SHOWN else f"{given[:LONGEST_SHOWN]}…"
    return f"{model.name}: {key} is {shown}; it must be {words}"
