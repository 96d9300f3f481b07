"""`palaestra export`: a run's network as one file that plays anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from palaestra.cli.options import Json, RunName


def export(
    run: RunName,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write; one that exists is replaced.")],
    network: Annotated[str, typer.Option(help="best, last, or an iteration.")] = "best",
    json: Json = False,
) -> None:
    """Write a run's network as an ONNX file, and its SHA-256."""
    import hashlib

    from palaestra.base.atomic import write_file
    from palaestra.base.text import format_value
    from palaestra.cli.output import command_name, print_json, stdout
    from palaestra.nets.graph import with_reward
    from palaestra.players.runs import open_run

    stored = open_run(run)
    iteration = stored.pick(network)
    content = with_reward(stored.network(iteration), stored.reward)
    write_file(out, content)
    digest = hashlib.sha256(content).hexdigest()
    if json:
        print_json(
            {
                "path": str(out),
                "sha256": digest,
                "game": stored.game,
                "network": iteration,
                "net": stored.net,
                "reward": stored.reward,
                "bytes": len(content),
            }
        )
        return
    console = stdout()
    console.print(
        f"{out}: network {iteration} of {stored.name}, reward {stored.reward}; {len(content):,} bytes, SHA-256"
        f" {digest}",
        markup=False,
        soft_wrap=True,
    )
    if stored.is_learned():
        console.print(
            f"What {stored.reward} has learned stays in the run: 'run:{stored.name}' searches under it, the file under"
            " the game's own reward.",
            markup=False,
            soft_wrap=True,
        )
        reward = ""
    else:
        reward = "" if stored.reward == "default" else f", reward={format_value(stored.reward)}"
    console.print(
        f"Play it: {command_name()} play {stored.game_text} --against"
        f" 'puct({format_value(str(out))}, simulations=100{reward})'",
        markup=False,
        soft_wrap=True,
    )
