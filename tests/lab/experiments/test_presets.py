from __future__ import annotations

from itertools import product

from palaestra.lab.data import Data
from palaestra.lab.experiments import presets
from palaestra.lab.experiments.presets import ARMS, EXPERIMENT, QUIET
from palaestra.lab.plan import ALIKE, FLOAT32
from palaestra.learn.presets import configure

GAME = "othello-6x6"


def test_the_arms_are_the_presets_that_their_names_say() -> None:
    for preset in ("fast", "strong"):
        named = configure(GAME, preset, QUIET, minutes=6.0)
        assert configure(GAME, "fast", (*FLOAT32, *QUIET, *ARMS[preset]), minutes=6.0) == named
    exact = configure(GAME, "fast", (*ALIKE, *ARMS[presets.FLOAT32]))
    assert (exact.clock, exact.selfplay.precision, exact.learn.precision) == ("processor", "float32", "float32")


def test_claims_are_judged_by_one_tournament_a_game() -> None:
    rows = [
        {
            "game": GAME,
            "arm": "fast",
            "seed": seed,
            "opponent": other,
            "opponent_seed": theirs,
            "wins": 80 - score - seed,
        }
        | {"draws": 20, "losses": score + seed}
        for seed, theirs in product((1, 2, 3), repeat=2)
        for other, score in (("strong", 60), (presets.FLOAT32, 10))
    ]
    answers = {claim.text: claim.check(Data.of(rows)).answer for claim in EXPERIMENT.claims}
    found = {text: answer for text, answer in answers.items() if GAME in text}
    assert set(found.values()) == {"holds"} and len(found) == 2
    assert {answer for text, answer in answers.items() if GAME not in text} == {"open"}, "nobody played them"
