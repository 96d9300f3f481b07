"""`palaestra settings`: every setting of a training run, with what it accepts and what the presets make of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from palaestra.cli import complete
from palaestra.cli.options import Json

if TYPE_CHECKING:
    from palaestra.learn.catalogue import Setting


def settings(
    pattern: Annotated[
        str, typer.Argument(metavar="PATTERN", help="Only settings with this in name or description.")
    ] = "",
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="PRESET",
            help="Show this preset's values.",
            show_default=False,
            autocompletion=complete.presets,
        ),
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the page docs/settings.md.")] = False,
    json: Json = False,
) -> None:
    """List the settings of training: default, what is accepted, what each is for, and the presets that change it."""
    from palaestra.cli.output import print_json, say
    from palaestra.learn import catalogue
    from palaestra.learn.presets import load_preset

    if preset is not None:
        load_preset(preset)  # refuses one that there is not
    found = catalogue.catalogue(pattern)
    if json:
        print_json([setting.to_json(preset) for setting in found])
    elif markdown:
        say(catalogue.markdown(found).rstrip("\n"))
    else:
        _print(found, preset)


def _print(found: list[Setting], preset: str | None) -> None:
    """A line with name and value for each, and below it what it is: descriptions are too long for a column."""
    from rich.padding import Padding
    from rich.text import Text

    from palaestra.cli.output import stdout
    from palaestra.learn.catalogue import shown

    console = stdout()
    for setting in found:
        value = setting.value(preset)
        head = Text.assemble((setting.name, "bold"), " = ", "(must be given)" if value is None else shown(value))
        if preset is not None and preset in setting.presets:
            head.append(f"  ({preset}; default {shown(setting.default)})", "yellow")
        console.print(head, soft_wrap=True)
        about = f"{setting.description} [{setting.accepted}]"
        if preset is None and setting.presets:
            about += "; " + ", ".join(f"{name}: {shown(other)}" for name, other in setting.presets.items())
        console.print(Padding(Text(about, style="dim"), (0, 0, 0, 4), expand=False))
    console.print(Text(f"{len(found)} settings; change one: --set learn.lr=0.01, or config.toml of a run", style="dim"))
