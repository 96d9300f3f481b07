from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from palaestra.cli.main import run


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


Cli = Callable[..., Done]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run the command line in this process: `cli("perft", "hex-3x3", "2", stdin="")`."""

    def call(*arguments: str, stdin: str = "") -> Done:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            run(list(arguments))
        out, err = capsys.readouterr()
        return Done(int(left.value.code or 0), out, err)

    return call
