"""docs/loss-question.md, made from what the experiments of chapter 4 have measured: which loss should one learn from?

    python -m palaestra.lab.loss_page docs/atlas > docs/loss-question.md

Every number and every answer is computed from data.csv; what was not measured is said to be missing. The text around
them asks, and says how it was measured, and answers nothing by itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np

from palaestra.base.types import Float64s
from palaestra.lab.atlas import command_of, read_outcomes
from palaestra.lab.data import Data
from palaestra.lab.experiment import Table
from palaestra.lab.experiments._losses import BOARDS, LOSSES, elo_of_losses
from palaestra.lab.experiments.chapter_4 import BEST, RATED
from palaestra.lab.experiments.loss_question import DEFECTS, FAST_BOARDS
from palaestra.lab.reproduce import Outcome, verdict_table
from palaestra.lab.statistics import best_chances, mean, paired_difference

LIKELY = 0.5  # a loss is called best where the chance that it is exceeds this
INTRO = """# Which loss to learn from?

A network that plays has two heads, and the usual loss is the sum of both: of the policy's and of the value's. The
thesis minimised four losses (the policy's, the value's, their sum, their product) and found that the value's alone
makes the strongest players on three of six boards
([ratings of chapter 4](sources/published.md#ratings-of-chapter-4)). Its public code has defects that bear on just this:
half of the policies at Connect Four were learned with a board that was not theirs
([L1](sources/defects.md#l1-a-mirror-without-its-policy)), and winners at Gobang were read as the wrong side
([L2](sources/defects.md#l2-the-colour-of-a-winner-at-gobang)). Is it a law, then, or made by the defects?

This page is made from data, by `python -m palaestra.lab.loss_page`. Elo is that of final networks in one tournament a
board, whose mean is 0; intervals are 95 % over seeds; chances are those of a bootstrap over seeds.
"""
SHIFTS = {"L1": ("value", "sum"), "L2": ("policy", "value")}  # the lead that a defect is suspected to enlarge


def make_page(outcomes: Iterable[Outcome], results: str = "") -> str:
    """The page; `results` is where the experiments' folders lie, seen from it, for pictures."""
    found = {outcome.plan.experiment.id: outcome for outcome in outcomes}
    sections: dict[str, tuple[str, Callable[[Data], Table] | None]] = {
        "Without defects": ("fig-4.8", lambda data: _boards(data, BOARDS)),
        "What the defects do": ("loss-defects", _defects),
        "Weights between the two": ("loss-weights", None),
        "With the preset fast, at equal time": ("loss-fast", lambda data: _boards(data, FAST_BOARDS)),
    }
    parts = [INTRO]
    for title, (id, table) in sections.items():
        parts.append(f"## {title}\n")
        if (outcome := found.get(id)) is None:
            parts.append(f"Not measured yet: `palaestra reproduce {id}`.\n")
            continue
        parts.append(outcome.table.markdown() if table is None else table(outcome.data).markdown())
        if results:
            parts.append(f"![{outcome.plan.experiment.identity.caption}]({results}/{id}/figure.svg)\n")
        parts.append(verdict_table(outcome.verdicts).markdown())
        parts.append(_how(outcome))
    parts += ["## What to choose\n", _choice({id: found[id].data for id in ("fig-4.8", "loss-fast") if id in found})]
    return "\n".join(parts)


def _boards(data: Data, boards: tuple[str, ...]) -> Table:
    """A row a board: the Elo of each loss and its chance to be the best, beside what was published."""
    rows = []
    for game in boards:
        if not (elos := elo_of_losses(data, game)):
            continue
        chances = best_chances(elos)
        cells = (f"{mean(elos[loss])}, {chances[loss]:.0%}" if loss in elos else "–" for loss in LOSSES)
        rows.append((game, *cells, _best(chances), _published(game)))
    heads = (*(f"{loss}: Elo (95 %), chance to be best" for loss in LOSSES), "best", "best, published")
    return Table(("board", *heads), tuple(rows))


def _best(chances: Mapping[str, float]) -> str:
    loss = max(chances, key=lambda name: chances[name])
    return loss if chances[loss] > LIKELY else "none stands out"


def _published(game: str) -> str:
    if game in BEST:
        return BEST[game]
    return "little difference" if game in RATED else "–"


def _defects(data: Data) -> Table:
    """A row a board: the lead that its defect is suspected to enlarge, without it, with it, and the difference."""
    rows = []
    for game, (defect, _) in DEFECTS.items():
        one, other = SHIFTS[defect]
        clean, wrong = (elo_of_losses(data, game, which) for which in ("", defect))
        if len(clean) < len(LOSSES) or len(wrong) < len(LOSSES):
            continue
        leads = [elos[one] - elos[other] for elos in (clean, wrong)]
        best = (_best(best_chances(elos)) for elos in (clean, wrong))
        change = str(paired_difference(leads[1], leads[0]))
        rows.append((game, defect, f"{one} over {other}", *(str(mean(lead)) for lead in leads), change, *best))
    heads = (
        "board", "defect", "lead, Elo", "without (95 %)", "with", "difference, seed by seed", "best without",
        "best with",
    )  # fmt: skip
    return Table(heads, tuple(rows))


def _choice(measured: Mapping[str, Data]) -> str:
    """How much each loss loses to the best of its board, as a mean over boards, and which loses least."""
    boards = {"fig-4.8": BOARDS, "loss-fast": FAST_BOARDS}
    words = {"fig-4.8": "the thesis's settings", "loss-fast": "the preset fast"}
    parts, rows = [], []
    for id, data in measured.items():
        found = [elos for game in boards[id] if len(elos := elo_of_losses(data, game)) == len(LOSSES)]
        if not found:
            continue
        behind = {loss: np.array([_behind(elos, loss) for elos in found]) for loss in LOSSES}
        for loss in LOSSES:
            first = sum(best_chances(elos)[loss] > LIKELY for elos in found)
            rows.append((words[id], loss, str(mean(behind[loss])), f"{first} of {len(found)}"))
        least = min(LOSSES, key=lambda loss: float(behind[loss].mean()))
        lead = {loss: paired_difference(behind[loss], behind[least]) for loss in LOSSES if loss != least}
        sure = [loss for loss, gap in lead.items() if gap.interval is not None and gap.interval[0] > 0]
        others = f"surely less than {', '.join(sure)}" if sure else "but not surely less than any other"
        parts.append(f"With {words[id]}, `learn.loss={least}` loses least to the best of each board, {others}.\n")
    if not rows:
        return "Not measured yet.\n"
    heads = ("settings", "minimised", "Elo behind the best of a board, mean over boards (95 %)", "best on boards")
    return "\n".join([Table(heads, tuple(rows)).markdown(), *parts])


def _behind(elos: Mapping[str, Float64s], loss: str) -> float:
    return max(float(one.mean()) for one in elos.values()) - float(elos[loss].mean())


def _how(outcome: Outcome) -> str:
    took = f"Runs and matches took {outcome.seconds / 60:.0f} minutes of one core."
    return f"`{command_of(outcome.plan)}`: {outcome.departs}. {took}\n"


def main(folder: str) -> None:
    """Print the page of a folder of results; one that holds none gives the page with nothing measured."""
    home = Path(folder)
    outcomes = read_outcomes(home) if home.is_dir() else []
    sys.stdout.write(make_page(outcomes, home.name))


if __name__ == "__main__":
    main(sys.argv[1])
