"""What all tests share: no test asserts times, and so Hypothesis has no deadline."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
