"""What changes in self-play with the share of a run that is behind it: simulations, and whether there is a search.

A function of the settings and of that share alone, so that an iteration that is done again is done in the same way.
"""

from __future__ import annotations

from palaestra.learn.config import RunConfig, WarmStartConfig


def scheduled(config: RunConfig, progress: float) -> RunConfig:
    """The configuration of an iteration with `progress` in [0, 1] of the run behind it; as it is without a schedule.

    Without a search moves are drawn from the network, nothing is searched quickly, and a warm start is over.
    """
    selfplay = config.selfplay
    if selfplay.search_until < 1 and progress >= selfplay.search_until:
        changed = {"sampling": True, "quick_fraction": 0.0, "value_target": "z"}
        return config.model_copy(update={"selfplay": selfplay.model_copy(update=changed), "warm": WarmStartConfig()})
    if selfplay.first_simulations is None:
        return config
    last = selfplay.search.simulation_limit
    now = round(selfplay.first_simulations + progress * (last - selfplay.first_simulations))
    search = selfplay.search.model_copy(update={"simulations": now})
    return config.model_copy(update={"selfplay": selfplay.model_copy(update={"search": search})})
