"""One iteration of a game for one player, as far as it differs: deep search, exploration, solutions (`solo`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from palaestra.games.base import Game
from palaestra.learn import solo
from palaestra.learn.best_solutions import BestSolutions
from palaestra.learn.config import RunConfig
from palaestra.learn.due_evaluations import Judged
from palaestra.learn.events import Stage
from palaestra.learn.selfplay import SelfPlay
from palaestra.rewards.base import Reward
from palaestra.runs.metrics import Lines

Play = Callable[[Stage, RunConfig], SelfPlay]  # (stage, how) -> the games of a stage


class SoloIteration:
    """Made anew for every iteration, from the lines of those before it."""

    def __init__(
        self, game: Game, config: RunConfig, reward: Reward, folder: Path, lines: Lines, play_games: Play
    ) -> None:
        self.game, self.config, self.reward, self.play_games = game, config, reward, play_games
        self.factor = solo.exploration(config.solo, lines)
        notes = f"palaestra train, {config.net}, {reward.text}, seed {config.seed}"
        self.solutions = BestSolutions(folder, game, notes, solo.best_score(lines))
        self.deep = 0  # games of a deep search

    def play(self, iteration: int) -> SelfPlay:
        """The games of self-play, and after them those of a deep search where one is due."""
        played = self.play_games("selfplay", solo.exploring(self.config, self.factor))
        self.solutions.see(played.records, iteration)
        if solo.is_deep(self.config.solo, iteration):
            found = self.play_games("deep", solo.deep_config(self.config))
            self.deep = len(found.records)
            played = played.with_games(found, solo.DEEP)
            self.solutions.see(played.records[-self.deep :], iteration)
        return played

    def see(self, judged: Judged, iteration: int) -> None:
        """Keep the best solution of an evaluation, if it is better than all before."""
        if judged.scores is not None:
            self.solutions.see(judged.scores[0].records, iteration)

    def part(self, played: SelfPlay) -> solo.SoloPart:
        """What the iteration's line of metrics says of it; to be asked last."""
        assert self.solutions.best is not None, "games have been played"
        scores = solo.selfplay_scores(played.records, self.deep, self.solutions.best)
        return solo.SoloPart(scores, solo.ranked_reward(self.reward, self.game), self.factor)
