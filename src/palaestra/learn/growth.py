"""A run whose network grows on the way: when, and into which.

Nothing is remembered here: the manifest says which network a run has now, and progress when the next one begins.
"""

from __future__ import annotations

from palaestra.base.errors import RunError
from palaestra.learn.config import RunConfig


def with_net(config: RunConfig, net: str) -> RunConfig:
    """The configuration of a run that has this network now; RunError if it never has."""
    if net not in sizes(config):
        raise RunError(f"the run has {net} now, which growth.nets must keep: {', '.join(sizes(config))} lack it")
    return config.model_copy(update={"net": net})


def sizes(config: RunConfig) -> tuple[str, ...]:
    """All networks of a run, each grown out of the one before it."""
    return (config.net, *config.growth.nets)


def due(config: RunConfig, now: str, progress: float) -> str:
    """The network of the next iteration. It never shrinks: a run that is extended is suddenly less far."""
    begun = sum(progress >= share for share in config.growth.after)
    return sizes(config)[max(sizes(config).index(now), begun)]
