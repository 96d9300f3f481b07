"""`palaestra train GAME --estimate`: how long a run would take here, by stage."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from palaestra.learn.config import RunConfig

NAMES = {
    "start_up": "start",
    "selfplay": "self-play",
    "training": "training",
    "gate": "gate",
    "evaluation": "evaluation",
    "saving": "saving",
}


def say_estimate(config: RunConfig, json: bool, games: str | None = None) -> None:
    """Measure what is not remembered, and print the estimate; `games` are those that the run would be given."""
    from palaestra.cli.output import print_json, say, stderr, stdout
    from palaestra.games.registry import make_game
    from palaestra.learn.calibration import calibrate
    from palaestra.learn.given_games import read_given
    from palaestra.learn.growth import sizes, with_net
    from palaestra.learn.speed_memory import memory_file
    from palaestra.learn.time_model import estimate
    from palaestra.live.words import clock

    given = 0 if games is None else read_given(games, make_game(config.game)).steps(config.learn)
    with stderr().status("Measuring this machine …") as status:
        speeds, *grown = (
            calibrate(with_net(config, net), lambda what: status.update(f"Measuring {what} …")) for net in sizes(config)
        )
    told = estimate(config, speeds, given, grown=grown)
    remembered = memory_file()
    if json:
        print_json(
            {
                "game": config.game,
                "net": config.net,
                "threads": config.threads,
                "iterations": told.iterations,
                "games": told.games,
                "positions": told.positions,
                "seconds": {"start_up": told.start_up, **told.seconds},
                "total_seconds": told.total,
                "mean_plies": told.mean_plies,
                "measurements": str(remembered),
            }
        )
        return
    stdout().print(
        f"{config.game}, {', then '.join(sizes(config))}, {config.threads} threads: about {clock(told.total)} for"
        f" {told.iterations} iterations, {told.games:,} games",
        style="bold",
        markup=False,
        highlight=False,
    )
    for stage, seconds in {"start_up": told.start_up, **told.seconds}.items():
        if seconds:
            say(f"  {NAMES[stage]:<11}{clock(seconds):>9}  {100 * seconds / told.total:3.0f} %")
    if config.course.games:
        say(f"Games of the course ({', '.join(config.course.games)}) are counted as if they were of {config.game}.")
    say(
        f"Games of an untrained network have {told.mean_plies:.0f} plies here; how they change was seen in a short run,"
        " and is a guess\nabout late iterations. Compiling comes on top, once, where a game is new to this machine."
        f"\nTo measure again: rm {remembered}"
    )
