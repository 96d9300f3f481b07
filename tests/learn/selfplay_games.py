"""Small settings and networks that the tests of self-play share."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from palaestra.games.registry import make_game
from palaestra.learn.config import RunConfig, SelfPlayConfig, WarmStartConfig
from palaestra.learn.selfplay import SelfPlay, play_games
from palaestra.nets.inference_speed import model_bytes
from palaestra.search.config import SearchConfig

PUCT = SearchConfig(simulations=12, dirichlet_fraction=0.25)
GUMBEL = SearchConfig(simulations=12, rule="gumbel", gumbel_root=True, gumbel_considered=4, reuse=False)


@lru_cache
def model(game_id: str) -> bytes:
    """A random network for a game."""
    made = model_bytes(make_game(game_id), "b1c8")
    assert isinstance(made, bytes)
    return made


def run_config(game_id: str, threads: int = 1, warm: WarmStartConfig | None = None, **selfplay: Any) -> RunConfig:
    settings = SelfPlayConfig(**{"games": 6, "search": PUCT, "temperature_moves": 4, "cache": 256, **selfplay})
    return RunConfig(
        game=game_id, net="b1c8", iterations=9, threads=threads, selfplay=settings, warm=warm or WarmStartConfig()
    )


def played(game_id: str, iteration: int = 1, **settings: Any) -> SelfPlay:
    return play_games(make_game(game_id), model(game_id), run_config(game_id, **settings), iteration)
