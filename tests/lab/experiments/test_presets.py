from __future__ import annotations

import math

from palaestra.lab.data import Data
from palaestra.lab.experiments.presets import ARMS, FLOAT32, QUIET, lead
from palaestra.lab.plan import ALIKE
from palaestra.learn.presets import configure

GAME = "othello-6x6"


def test_the_arms_are_the_presets_that_their_names_say() -> None:
    for preset in ("fast", "strong"):
        named = configure(GAME, preset, QUIET, minutes=6.0)
        assert configure(GAME, "fast", (*ALIKE[1:], *QUIET, *ARMS[preset]), minutes=6.0) == named
    exact = configure(GAME, "fast", (*ALIKE, *ARMS[FLOAT32]))
    assert (exact.clock, exact.selfplay.precision, exact.learn.precision) == ("processor", "float32", "float32")


def test_the_lead_over_fast_is_taken_from_one_tournament_a_game() -> None:
    rows = [
        {"game": GAME, "arm": "fast", "seed": seed, "opponent": "strong", "opponent_seed": seed, "wins": 20}
        | {"draws": 0, "losses": 80}
        for seed in (1, 2)
    ]
    assert 200.0 < lead(Data.of(rows), GAME, "strong", "fast").value < 300.0, "80 of 100 games"
    assert math.isnan(lead(Data.of(rows), "hex-7x7", "strong", "fast").value), "nobody played it"
