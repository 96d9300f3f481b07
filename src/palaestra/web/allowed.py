"""What a browser may name: games, players and runs. Nothing that it sends becomes a path, an import or a command.

A player's text may name code, files or programs. Those are the user's to name, on the command line; from a page come
only kinds of players that need none of them, and runs of the runs folder by their names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from palaestra.base.errors import GameError, PlayerError, RunError
from palaestra.base.text import clip, refuse_long
from palaestra.base.user_code import code_names
from palaestra.games.base import RULES, Game
from palaestra.games.registry import FAMILIES, full_id, make_game
from palaestra.players.registry import KINDS, read_player
from palaestra.players.text import parse_player
from palaestra.runs.folder import CONFIG, MANIFEST
from palaestra.runs.places import RUNS

# Kinds whose texts need name no file.
KINDS_OF_PAGES = (
    "random", "greedy", "alphabeta", "perfect", "mcs", "uct", "rave", "puct", "gumbel", "rhea", "nmcs", "nrpa",
    "two_opt", "run", "net", "agent",
)  # fmt: skip
# Arguments that are texts and name neither a file nor a program; a run's name is looked for in the runs folder.
TEXTS_OF_PAGES = ("reward", "rule", "amaf", "sequences", "network", "run", "of", "level")
_NAME = re.compile(r"[\w.+-]{1,200}", re.UNICODE)


@dataclass(frozen=True)
class Allowed:
    """The runs folder, and the games of one's own that the command named."""

    runs: Path
    own_games: Sequence[str] = field(default=())  # texts: my_game:GAME, gdl:FILE.kif

    # Games.

    @cached_property
    def sheets(self) -> list[str]:
        """Rules in GDL that come with the package, as ids."""
        from palaestra.ggp.rules import rulesheet_names

        return [f"{RULES}{name}" for name in rulesheet_names()]

    def game(self, text: str) -> Game:
        """The game that a browser names; GameError if it is none that it may."""
        refuse_long(text, "the name of a game", GameError, 200)
        if text in self.own_games or text in self.sheets or full_id(text).partition("-")[0] in FAMILIES:
            return make_game(text)
        raise GameError(f"{clip(text)} is not a game of this page; start it with palaestra serve --game {clip(text)}")

    # Players.

    def player(self, text: str) -> str:
        """A player's text as it may be used; PlayerError if it names what only the command line may name.

        `run:NAME` is a run of the runs folder, wherever that is.
        """
        refuse_long(text, "a player", PlayerError, 500)
        parts = parse_player(text)
        if parts.name not in KINDS_OF_PAGES or code_names([text]):
            known = ", ".join(KINDS_OF_PAGES)
            raise PlayerError(f"a page cannot name {clip(text)}; it may name {known}; try uct(simulations=200)")
        if parts.subject is not None and KINDS[parts.name].subject == "network":
            parts = replace(parts, subject=self._network(parts.subject))
        made = read_player(str(parts))
        for name in made.model_fields_set:
            if isinstance(getattr(made, name), str) and name not in TEXTS_OF_PAGES:
                raise PlayerError(f"{clip(text)} names a file, which only the command line may do; try run:NAME")
        if isinstance(run := getattr(made, "run", None), str):
            made = made.model_copy(update={"run": self._network(run)})
        return str(made)

    def _network(self, text: str) -> str:
        """NAME@12, with the folder before it where runs are not where they usually are."""
        name, at, which = text.partition("@")
        folder = self.run(name)
        return f"{name if self.runs == RUNS else folder}{at}{which}"

    # Runs.

    def run(self, name: str) -> Path:
        """The folder of a run by its name in the runs folder; RunError if there is none."""
        folder = self.runs / name
        if not _NAME.fullmatch(name) or name in (".", "..") or not folder.is_dir() or folder.is_symlink():
            raise RunError(f"{clip(name)} is not a run of this page; its runs are those of {self.runs}")
        if not (folder / MANIFEST).is_file() and not (folder / CONFIG).is_file():
            raise RunError(f"{clip(name)} is not a run: it has no {MANIFEST}")
        return folder
