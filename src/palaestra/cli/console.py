"""The terminal as verbs write to it. Importing this loads Rich, which `palaestra.cli.output` does when it is needed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from palaestra.base.printable import printable


class PlainConsole(Console):
    """A console whose texts do nothing but be read, whoever wrote them: no control codes, no markup.

    Colours and the moves of a live view are Rich's own: they travel beside the texts, not in them.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Here the width of a text is measured, which is that of what will be shown."""
        return super().render_str(printable(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Every text that is shown passes here, the cells of a table before they are laid out."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text), style, control)
