"""A PGN file that grows by whole games: complete up to the last finished one, whenever the process is killed.

A game is handed to the operating system in one call, so that a kill leaves at most one torn game, at the end. Going
on with the file cuts that one off. A game is whole if its result and the empty line after it are there, as
`palaestra.runs.pgn_games.write_game` leaves them. Knows no rules and nothing of who plays.
"""

from __future__ import annotations

import io
import os
import re
import stat
from pathlib import Path
from types import TracebackType

from palaestra.base.errors import RecordError
from palaestra.base.locks import lock
from palaestra.runs.pgn_games import PgnGame, stream_games

_END_OF_GAME = re.compile(rb"(?<=[\s}])(?:1-0|0-1|1/2-1/2|\*)\n\n")
_BEGINNING = b'[Event "'  # of every game that we write
_READ_AND_APPEND = os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)  # and no waiting


class PgnFile:
    """`games` are those that were there when the file was opened; `write` appends one. Closed by `with` or `close`."""

    def __init__(self, path: Path, handle: int, games: list[PgnGame], end: int, new: bool) -> None:
        self.path, self.games = path, games
        self._handle = handle
        self._end: int | None = end  # of the whole games; None once what lies behind has been cut off
        self._new = new  # and nothing written yet

    @classmethod
    def open(cls, path: Path | str, resume: bool = False) -> PgnFile:
        """A new file, or with `resume` the one that is there, without its torn last game if it has one.

        Without `resume` a file that exists is refused; with it, one that does not is begun. A file that holds anything
        but whole games and at most the beginning of another is refused. Nothing is changed before the first `write`,
        so that whoever resumes can still find that the games are not its own.
        """
        path = Path(path)
        try:
            new = not (resume and path.exists())
            handle = os.open(path, _READ_AND_APPEND | (os.O_CREAT | os.O_EXCL if new else 0), 0o644)
        except FileExistsError:
            raise RecordError(f"{path} exists; give another name, or resume what wrote it") from None
        except OSError as error:
            raise _disk_error("write", path, error) from None
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise RecordError(f"cannot read {path}: it is not a regular file")
            lock(handle, path, RecordError)
            games, end = _whole_games(path, handle)
            return cls(path, handle, games, end, new)
        except BaseException as error:
            os.close(handle)
            if isinstance(error, OSError):
                raise _disk_error("read", path, error) from None
            raise

    def write(self, text: str) -> None:
        """Append one game or several; characters that no file can hold become question marks."""
        rest = memoryview(text.encode("utf-8", "replace"))
        try:
            if self._end is not None:
                os.ftruncate(self._handle, self._end)
                self._end, self._new = None, False
            while rest:  # a full disk takes a part first and then complains
                rest = rest[os.write(self._handle, rest) :]
        except OSError as error:
            raise _disk_error("write", self.path, error) from None

    def sync(self) -> None:
        """Make what was written survive a power cut too."""
        try:
            os.fsync(self._handle)
        except OSError as error:
            raise _disk_error("write", self.path, error) from None

    def close(self) -> None:
        """Make what was written survive a power cut too, and leave no empty file where there was none."""
        if self._handle < 0:
            return
        handle, self._handle = self._handle, -1
        try:
            try:
                os.fsync(handle)
                if self._new and os.name != "nt":  # while no one else can have opened it
                    self.path.unlink(missing_ok=True)
            finally:
                os.close(handle)
            if self._new and os.name == "nt":  # where a file that is open cannot be removed
                self.path.unlink(missing_ok=True)
        except OSError as error:
            raise _disk_error("write", self.path, error) from None

    def __enter__(self) -> PgnFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def length_of_whole_games(data: bytes) -> int:
    """How many of these bytes are whole games; what follows is one that is being written, or was torn."""
    return max((match.end() for match in _END_OF_GAME.finditer(data)), default=0)


def _whole_games(path: Path, handle: int) -> tuple[list[PgnGame], int]:
    """The whole games of an open file, and where they end; RecordError if what follows is not one that was torn."""
    with os.fdopen(os.dup(handle), "rb") as file:
        data = file.read()
    end = length_of_whole_games(data)
    games = list(stream_games(io.BytesIO(data[:end]), str(path)))
    torn = data[end:]
    if torn[: len(_BEGINNING)] != _BEGINNING[: len(torn)] or b"\n" + _BEGINNING in torn:
        line = data.count(b"\n", 0, end) + 1
        raise RecordError(f"{path}, line {line}: these are not games that Palaestra wrote; give another file")
    return games, end


def _disk_error(verb: str, path: Path, error: OSError) -> RecordError:
    return RecordError(f"cannot {verb} {path}: {(error.strerror or str(error)).lower()}")
