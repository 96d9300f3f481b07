"""The line of metrics that an iteration leaves: from what its stages gave to what `palaestra.runs.metrics` keeps.

All but the fields named in TIMES there is a function of the configuration: a resumed run repeats it exactly. Where
minutes end a run, `progress`, and with it the learning rate, is a function of the `elapsed` of the line before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

import numpy as np

from palaestra.learn.config import RunConfig
from palaestra.learn.due_evaluations import Judged
from palaestra.learn.gate import GateResult
from palaestra.learn.learner import Losses, TrainReport
from palaestra.learn.played import Played
from palaestra.learn.running_elo import latest_elo, playing
from palaestra.learn.solo import SoloPart
from palaestra.rewards.base import Reward
from palaestra.runs.game_record import GameRecord
from palaestra.runs.manifest import Manifest
from palaestra.runs.metrics import (
    AgentScore,
    CourseState,
    Gate,
    LearnedReward,
    Lines,
    LossMeans,
    MetricsLine,
    Score,
    StageSeconds,
)


def measure(
    config: RunConfig,
    manifest: Manifest,
    played: Played,
    report: TrainReport,
    judged: Judged,
    reward: Reward,
    *,
    seconds: Mapping[str, float],
    buffer: int,
    earlier: Lines,
    progress: float,
    diverged: str | None,
    course: CourseState | None = None,
    solo: SoloPart | None = None,
) -> MetricsLine:
    """The line of the manifest's iteration; `seconds` are those of its stages (Eq. 3.2), `earlier` the lines before.

    `reward` has learned from the iteration's games; `progress` is where the run was for its schedules, `diverged` why
    training ran away, if it did. `course` is what a run of several games has, `solo` what a game for one player has.
    """
    results = judged.results
    line = MetricsLine(
        iteration=manifest.iteration,
        games=len(played.records),
        positions=played.positions,
        seconds=stage_seconds(seconds, solo is not None),
        elapsed=manifest.seconds,
        losses=loss_means(report.losses),
        losses_by_epoch=tuple(loss_means(losses) for losses in report.epochs),
        loss_minimised=config.learn.loss,
        progress=progress,
        lr=report.lr,
        steps=report.steps,
        diverged=diverged,
        mean_plies=played.mean_plies,
        results=played.results if solo is None else None,
        reward=reward.text,
        learned=learned_reward(reward, played.records) if solo is None else None,
        gate=None if judged.gate is None else gate_of(judged.gate, manifest.iteration, playing(earlier)),
        elo=None if results is None else {result.anchor: result.elo for result in results},
        against=results,
        history=judged.history,
        demerits=judged.demerits,
        score=None if judged.scores is None else agent_score([scored.score for scored in judged.scores]),
        scores=None if solo is None else solo.scores,
        ranked=None if solo is None else solo.ranked,
        exploration=None if solo is None else solo.exploration,
        network_share=played.network_share,
        simulations=played.simulations,
        simulations_per_second=played.simulations_per_second,
        workers=played.speeds or None,
        ages=played.ages,
        warm=played.warm,
        course=course,
        buffer=buffer,
    )
    return replace(line, running_elo=latest_elo([*earlier, line]))


def stage_seconds(spent: Mapping[str, float], solo: bool) -> StageSeconds:
    """Seconds by stage; a stage that was not due took none."""
    known = {stage: spent.get(stage, 0.0) for stage in ("selfplay", "training", "gate", "evaluation")}
    return StageSeconds(**known, deep=spent.get("deep", 0.0) if solo else None)


def loss_means(losses: Losses) -> LossMeans:
    """The losses as JSON can hold them: one that overflowed is None."""
    return LossMeans(*(float(mean) if math.isfinite(mean) else None for mean in asdict(losses).values()))


def gate_of(result: GateResult, network: int, against: int) -> Gate:
    """The gate's result with the iterations of the candidate and of the network that it met."""
    return Gate(**asdict(result), network=network, against=against)


def learned_reward(reward: Reward, records: Sequence[GameRecord]) -> LearnedReward | None:
    """What a reward that learns says now, of these games' median win, too; None for a reward that learns nothing."""
    if not reward.learns:
        return None
    wins = sorted(record.final_outcome for record in records if record.final_outcome > 0)
    ends = np.array([0, *wins[len(wins) // 2 : len(wins) // 2 + 1]], dtype=np.int32)
    draw, *median_win = reward.value(ends).tolist()
    window = max((array.size for array in reward.state().values()), default=0)
    return LearnedReward(window, draw, median_win[0] if median_win else None)


def agent_score(scores: Sequence[Score]) -> AgentScore:
    """The agent's score, which is the first of these, with those of the anchors."""
    agent, *anchors = scores
    return AgentScore(**asdict(agent), anchors=tuple(anchors))
