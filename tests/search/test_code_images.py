"""Which actions share a code, against a slow search through the images of each."""

from __future__ import annotations

import numpy as np

from palaestra.base.streams import keyed_seeds
from palaestra.games.registry import make_game
from palaestra.games.symmetry import Symmetry, identity
from palaestra.search.code_images import own_codes, shared_codes, shared_logits, symmetries_of
from palaestra.search.nested import Found, nrpa
from tests.search.test_nested import Textbook

MORPION = make_game("morpion-4d")
START = MORPION.initial(1)[0]


def test_all_eight_symmetries_leave_the_cross_as_it_is_and_none_a_move() -> None:
    assert len(symmetries_of(MORPION, START)) == 8
    after = MORPION.from_moves("m15e")
    assert [one.name for one in symmetries_of(MORPION, after)] == ["identity"]


def test_actions_share_a_code_exactly_if_they_are_images_of_each_other() -> None:
    table = shared_codes(symmetries_of(MORPION, START))
    for action in range(MORPION.num_actions):
        images = sorted({int(one.actions[action]) for one in MORPION.symmetries})
        assert table[action].tolist() == images + [-1] * (8 - len(images))


def test_symmetries_that_are_no_group_join_images_of_images() -> None:
    actions = np.array([1, 2, 0, 4, 3, 5], dtype=np.int32)
    turn = Symmetry("turn", np.zeros(1, dtype=np.int32), actions)
    assert shared_codes([identity(1, 6), turn]).tolist() == [
        [0, 1, 2], [0, 1, 2], [0, 1, 2], [3, 4, -1], [3, 4, -1], [5, -1, -1]
    ]  # fmt: skip


def test_alone_every_action_is_its_own_code() -> None:
    assert shared_codes([identity(1, MORPION.num_actions)]).tolist() == own_codes(MORPION).tolist()


def test_logits_that_share_a_code_have_their_mean() -> None:
    images = np.array([[0, 2], [1, -1], [0, 2]], dtype=np.int32)
    assert shared_logits(np.array([1.0, 5.0, 4.0]), images).tolist() == [2.5, 5.0, 2.5]


def test_symmetric_codes_on_morpion_equal_the_textbook_draw_for_draw() -> None:
    codes = {
        action: min(int(one.actions[action]) for one in MORPION.symmetries) for action in range(MORPION.num_actions)
    }
    images = shared_codes(symmetries_of(MORPION, START))
    streams = keyed_seeds(3, 1)
    book = Textbook(MORPION, int(streams[0]), codes)
    outcome, line = book.nrpa(START, 2, {}, 5, 1.0)
    plain = nrpa(MORPION, START, streams.copy(), 2, 5)
    found = nrpa(MORPION, START, streams, 2, 5, images=images)
    assert found == Found(outcome, tuple(line), 25) != plain
    assert int(streams[0]) == book.stream.word
