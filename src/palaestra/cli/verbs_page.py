"""The page docs/verbs.md: every verb with its arguments, made from the command line itself.

`python -m palaestra.cli.verbs_page > docs/verbs.md`. It reads what verbs declare, and knows nothing of what they do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer

from palaestra.cli.main import READ_NO_CODE, build_app

HEAD = """\
# Verbs

Made by `python -m palaestra.cli.verbs_page > docs/verbs.md` (`make pages`); do not edit. It says what
`palaestra VERB --help` says.

For all verbs: exit code 0 is done, 1 failed, 2 bad usage or bad input, with one line that says what is accepted.
`--json` prints one JSON value on stdout and nothing else there; progress goes to stderr. `--trust MODULE:NAME` allows
[code of your own](extend/README.md#what-is-loaded) that a file names, and may be repeated; all verbs take it but
{without}.
"""
CODE = re.compile(r"(?<![\w`])(--[a-z][a-z-]*)")  # options that a sentence names


def markdown() -> str:
    """The whole page: a table of the verbs, then a section for each, in the order of `palaestra --help`."""
    group: Any = typer.main.get_command(build_app())
    found = list(_commands(group))
    lines = [HEAD.format(without=", ".join(f"`{verb}`" for verb in READ_NO_CODE)), "| verb | does |", "| --- | --- |"]
    lines += [f"| [`{name}`](#{name.replace(' ', '-')}) | {_about(verb)[0]} |" for name, verb in found]
    for name, verb in found:
        lines += ["", *_section(name, verb)]
    return "\n".join(lines) + "\n"


def _commands(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{prefix}{name} ")
        else:
            yield prefix + name, command


def _section(name: str, verb: Any) -> Iterator[str]:
    yield f"## {name}"
    for words in _about(verb):
        yield from ("", words)
    shown = [one for one in verb.params if not getattr(one, "hidden", False) and one.name not in ("trust", "help")]
    arguments = [one for one in shown if one.param_type_name == "argument"]
    usage = " ".join(["palaestra", name, *(_usage(one) for one in arguments)])
    yield from ("", "```", usage + (" [OPTIONS]" if len(shown) > len(arguments) else ""))
    if example := (verb.epilog or "").removeprefix("Example: "):
        yield example
    yield "```"
    if shown:
        yield from ("", "| | default | is |", "| --- | --- | --- |")
    for one in shown:
        yield f"| {_name(one)} | {_default(one)} | {_cell(one.help or '')} |"


def _about(verb: Any) -> list[str]:
    """The paragraphs of its help, each in one line."""
    paragraphs = (" ".join(part.split()) for part in (verb.help or "").split("\n\n"))
    return [_cell(part) for part in paragraphs if part]


def _usage(one: Any) -> str:
    word = one.metavar or one.name.upper()
    word += "…" if one.nargs == -1 and not word.endswith(("…", "...")) else ""
    return word if one.required else f"[{word.strip('[]')}]"


def _name(one: Any) -> str:
    if one.param_type_name == "argument":
        return f"`{one.metavar or one.name.upper()}`"
    names = ", ".join(f"`{name}`" for name in (*one.opts, *one.secondary_opts))
    return names if one.is_flag or not one.metavar else f"{names} `{one.metavar}`".replace("|", r"\|")


def _default(one: Any) -> str:
    """What stands in brackets in --help: words of its own, or the value; nothing for flags and what must be given."""
    if isinstance(one.show_default, str):
        return _cell(one.show_default)
    if one.required:
        return "must be given"
    value = one.default
    if not one.show_default or value is False or value in (None, (), [], ""):
        return ""
    return f"`{' '.join(map(str, value)) if isinstance(value, list | tuple) else value}`"


def _cell(words: str) -> str:
    return CODE.sub(r"`\1`", " ".join(words.split()).replace("|", r"\|").replace("*", r"\*"))


if __name__ == "__main__":
    print(markdown(), end="")
