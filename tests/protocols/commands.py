"""Commands that start the programs of these tests."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from palaestra.base.user_code import trust_commands

HERE = Path(__file__).resolve().parent


def fake(protocol: str, *words: str, **arguments: object) -> str:
    """The text of a player that is a fake program: fake("gtp", "hang", wait=0.2). The user has typed it."""
    command = shlex.join([sys.executable, "-S", str(HERE / f"fake_{protocol}.py"), *words])
    given = "".join(f", {name}={value}" for name, value in arguments.items())
    text = f'{protocol}(command="{command}"{given})'
    trust_commands(text)
    return text
