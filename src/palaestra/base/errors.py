"""The one family of errors that a user can cause.

Every message is a single line that says what was given, what is accepted and, where it helps, an example.
The command line turns any of them into its exit code; nothing else in the project prints or exits.
"""

from __future__ import annotations

from typing import ClassVar


class PalaestraError(Exception):
    """Something the user gave cannot be used. The text is for the user, not for a debugger."""

    exit_code: ClassVar[int] = 2


class GameError(PalaestraError):
    """An unknown game, an impossible size, or a user's game that does not fit the interface."""


class MoveError(PalaestraError):
    """A move that is illegal here, or text that is not a move."""


class PlayerError(PalaestraError):
    """A player's text that names no player, or arguments that the player does not take."""


class EngineError(PalaestraError):
    """A program that plays died, hung, gave up or answered nonsense: that costs it the game, and nothing else."""

    exit_code = 1


class SearchError(PalaestraError):
    """A selection rule that is unknown, does not fit, or gives no score."""


class ModelError(PalaestraError):
    """A network file that cannot be read, or that does not fit the game."""


class ConfigError(PalaestraError):
    """A setting that does not exist or is out of range."""


class RecordError(PalaestraError):
    """A file of games or of positions that cannot be read."""


class RunError(PalaestraError):
    """A folder that is no run, files of it that are damaged, or a disk that does not take what is saved."""


class DamagedRunError(RunError):
    """A file of a run that is not as it was saved: an earlier generation of the run may still be whole."""


class DivergedError(RunError):
    """A run whose training ran away again and again: the settings were accepted, but nothing is learned."""

    exit_code = 1


class GdlError(PalaestraError):
    """Rules in GDL, or a message in KIF, that cannot be read or break a law of the language."""


class WorkError(PalaestraError):
    """A job that could not be done although it was asked for rightly: its process died again and again."""

    exit_code = 1


class ClusterError(PalaestraError):
    """A cluster that cannot be reached, or machines of it that cannot do the work as it would be done here."""
