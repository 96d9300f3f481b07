"""Beyond Schmidt et al.: α of the CDF reward with bonus, from 0 (only who wins) to 1 (plain CDF), on opposition."""

from __future__ import annotations

from palaestra.lab.data import Data
from palaestra.lab.experiment import NO_DEPARTURE, OURS, Arm, Claim, Experiment, Identity, Scale, Scales, Verdict
from palaestra.lab.experiments.schmidt import SMOKE, demerits_of, demerits_table, draw_demerits, read_demerits
from palaestra.lab.measures import Curves
from palaestra.lab.statistics import paired_difference

ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)


def _matters(data: Data) -> Verdict:
    """Mean demerits of the last fifth of the generations: α = 0, which ignores lengths, minus α = 1."""
    ends = [demerits_of(data, f"α = {alpha:g}") for alpha in (0.0, 1.0)]
    means = [curve[:, -max(1, curve.shape[1] // 5) :].mean(axis=1) for curve in ends]
    return Verdict.above(paired_difference(*means), 0.0, "demerits of the last generations, α = 0 minus α = 1")


EXPERIMENT = Experiment(
    identity=Identity("bonus", OURS, "Bonus", "α of the CDF reward with bonus: demerits on opposition"),
    arms=tuple(
        Arm(f"α = {alpha:g}", "opposition-3x9", (f"reward=cdf_bonus(alpha={alpha}, generations=5)",))
        for alpha in ALPHAS
    ),
    scales=Scales(
        smoke=Scale("one seed, 2 generations, a tiny network", 1, {"iterations": 2}, SMOKE),
        laptop=Scale(NO_DEPARTURE, 5, {"iterations": 50}),
        paper=Scale(NO_DEPARTURE, 5, {"iterations": 50}),
    ),
    measures=(Curves("opposition-fast", read_demerits),),
    claims=(Claim("a reward that ignores lengths ends with more demerits", _matters, ours=True),),
    table=demerits_table,
    draw=draw_demerits,
)
