"""The page docs/rewards.md says what the code does."""

from __future__ import annotations

from pathlib import Path

from palaestra import make_game
from palaestra.base.text_model import read
from palaestra.rewards.base import Primitive, Reward
from palaestra.rewards.cdf import Cdf, CdfBonus
from palaestra.rewards.hand_tuned import HandTuned
from palaestra.rewards.outcomes import OutcomeSpace
from palaestra.rewards.registry import GRAMMAR, KINDS, make_reward
from tests.rewards.windows import int32

PAGE = (Path(__file__).parents[2] / "docs" / "rewards.md").read_text(encoding="utf-8")
LONGEST = 10


def rows(heading: str) -> list[list[str]]:
    """The cells of the table whose first line begins so."""
    lines = PAGE[PAGE.index(heading) :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def outcome_of(words: str) -> int:
    sign = {"loss": -1, "draw": 0, "win": 1}[words.split()[0]]
    return sign * (LONGEST + 1 - int(words.split()[-1])) if sign else 0


def test_the_table_of_values_is_what_the_rewards_give() -> None:
    table = rows("| outcome | in the window")
    window = int32([outcome_of(row[0]) for row in table for _ in range(int(row[1] or 0))])
    assert len(window) == 8
    space = OutcomeSpace("plies", LONGEST, -LONGEST, LONGEST)
    rewards: list[Reward] = [Primitive(), HandTuned(space, "hand_tuned"), Cdf(space), CdfBonus(space)]
    for reward in rewards:
        reward.observe(window)
    for row in table:
        values = [float(reward.value(int32([outcome_of(row[0])]))[0]) for reward in rewards]
        assert [f"{value + 0.0:.3f}" for value in values] == [f"{float(cell):.3f}" for cell in row[2:]], row[0]


def test_every_reward_is_on_the_page_with_its_defaults() -> None:
    texts = [row[0].strip("`") for row in rows("| text | value")]
    assert sorted(text.partition("(")[0] for text in texts) == sorted(KINDS)
    for text in texts[:-1]:
        kind = read(text, KINDS, GRAMMAR)
        assert str(kind) == kind.name


def test_the_nested_example_can_be_made() -> None:
    nested = 'switch(primitive, "cdf(generations=3)", at=20)'
    assert nested in PAGE and make_reward(nested, make_game("connect_four-4x4")).text == nested
