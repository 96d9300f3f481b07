"""The players that never change and that agents are measured against where nobody names others. Imports nothing."""

from __future__ import annotations

ANCHORS = ("random", "uct(simulations=200)")
SOLO_ANCHORS = (*ANCHORS, "nrpa(level=2)")  # with one player
