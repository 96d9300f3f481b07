"""The laws that every game obeys, and a program that runs them: `palaestra check-game`, and the tests.

`check` plays random games (`palaestra.games.sample`) and then puts every law to the positions they met. A law is a
small function of a `Sample` that yields one readable line per violation, with the position and the action that show
it. Whatever a user's game does, `check` answers: a rule that raises or returns the wrong thing is a violation too.

The laws `start`, `legal` and `ends` are held while the games are played, because no other is safe without them; if
one breaks, it is the only one reported. Compiled rules are trusted code all the same: one that writes outside its
arrays can bring the interpreter down, as in any C program.

Nothing here knows any game's rules.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from palaestra.base.types import Int8s, Int32s
from palaestra.games.base import Game
from palaestra.games.laws_symmetry import exchange, faulty_maps, group, layout, symmetry
from palaestra.games.rows import ONGOING
from palaestra.games.sample import (
    Broken,
    Sample,
    differing,
    is_array,
    kind,
    listed_rows,
    play_games,
    raised,
    true_rows,
)

MOST_LINES = 3  # violations reported per law: the first tells the story
MOST_LEAVES = 200_000  # positions that the law of leaves may visit


@dataclass(frozen=True)
class Violation:
    """A law, and one line that says where it is broken."""

    law: str
    line: str

    def __str__(self) -> str:
        return f"{self.law}: {self.line}"


@dataclass(frozen=True)
class Report:
    """The laws that were run on a game, in order, and what broke."""

    game: str
    laws: list[str]
    violations: list[Violation]


Law = Callable[[Sample], Iterator[str]]
FOUNDATIONS = ("start", "legal", "ends")  # held by `play_games`


def check(game: Game, seed: int = 0, games: int = 20) -> Report:
    """Run every law over `games` random games from this seed. Never raises because of the game."""
    try:
        sample = play_games(game, seed, max(1, games))
    except Broken as broken:
        return Report(game.id, list(FOUNDATIONS), [Violation(broken.law, broken.line)])
    laws = {name: law for name, law in LAWS.items() if name != "exchange" or game.exchange is not None}
    violations = [Violation(name, line) for name, law in laws.items() for line in violations_of(law, sample)]
    return Report(game.id, [*FOUNDATIONS, *laws], violations)


def violations_of(law: Law, sample: Sample) -> list[str]:
    """The first few lines of one law; an exception is one of them."""
    lines: list[str] = []
    try:
        for line in islice(law(sample), MOST_LINES):
            lines.append(line)
    except Exception as error:  # the user's rules may fail in any way at all
        lines.append(raised(error))
    return lines


# The header.


def plies(sample: Sample) -> Iterator[str]:
    """`plies` counts the moves made."""
    counted = sample.game.plies(sample.after)
    for row in true_rows(counted != sample.ply + 1):
        yield f"{sample.where(row, sample.action[row])}: plies says {counted[row]} after {sample.ply[row] + 1} moves"


def turns(sample: Sample) -> Iterator[str]:
    """`to_play` is 0 or 1; one player is always 0."""
    movers = sample.game.to_play(sample.before)
    for row in true_rows((movers < 0) | (movers >= sample.game.players)):
        yield f"{sample.where(row)}: to_play is {movers[row]} in a game of {sample.game.players} player(s)"


def outcome(sample: Sample) -> Iterator[str]:
    """The size of an outcome is what the tiebreak says, at most `largest_outcome`; a single player cannot lose."""
    game, outcomes = sample.game, sample.game.outcome(sample.ends)
    sizes = {"plies": game.max_plies + 1 - game.plies(sample.ends), "none": np.ones(len(outcomes), dtype=np.int32)}
    wanted = sizes.get(game.tiebreak)
    for number, value in enumerate(outcomes):
        if game.players == 1 and value < 0:
            yield f"{sample.end_of(number)}: outcome {value}, but a single player scores 0 or more"
        elif wanted is not None and game.players == 2 and abs(value) not in (0, wanted[number]):
            yield (
                f"{sample.end_of(number)}: outcome {value}, but with tiebreak={game.tiebreak!r} "
                f"it is 0, {wanted[number]} or {-wanted[number]}"
            )
        elif abs(value) > game.largest_outcome:
            yield f"{sample.end_of(number)}: outcome {value}, but largest_outcome is {game.largest_outcome}"


# Batches.


def inputs(sample: Sample) -> Iterator[str]:
    """Nothing that a game does changes what it is given (streams excepted)."""
    game, states, actions = sample.game, sample.before.copy(), sample.action.copy()
    calls: dict[str, Callable[[], object]] = {
        "advance": lambda: game.advance(states, actions),
        "legal": lambda: game.legal(states),
        "step": lambda: game.step(states, actions),
        "observe": lambda: game.observe(states),
        "score": lambda: game.score(states),
        "rollout": lambda: game.rollout(states[: len(sample.starts)], sample.streams()),
    }
    if not faulty_maps(game):
        calls["permute"] = lambda: game.permute(states, game.symmetries[-1])
    for name, call in calls.items():
        call()
        changed = np.flatnonzero((states != sample.before).any(axis=1) | (actions != sample.action))
        for row in changed[:1]:
            yield f"{sample.where(row, sample.action[row])}: {name} changed the arrays it was given"
        states[:], actions[:] = sample.before, sample.action


def batch(sample: Sample) -> Iterator[str]:
    """A batch equals its rows one by one."""
    game, rows = sample.game, sample.some()
    states, actions = sample.before[rows], sample.action[rows]
    calls: dict[str, Callable[[Int8s, Int32s], object]] = {
        "advance": lambda s, a: game.advance(s.copy(), a.copy()),
        "legal": lambda s, a: listed_rows(*game.legal(s.copy())),
        "observe": lambda s, a: game.observe(s.copy()),
        "score": lambda s, a: game.score(s.copy()),
    }
    for name, call in calls.items():
        together = call(states, actions)
        for i, row in enumerate(rows):
            alone = call(states[i : i + 1], actions[i : i + 1])
            if not np.array_equal(np.asarray(alone[0]), np.asarray(together[i]), equal_nan=True):  # type: ignore[index]
                yield f"{sample.where(row, actions[i])}: {name} of this position alone differs from the same in a batch"
                break


def step(sample: Sample) -> Iterator[str]:
    """`step` is `advance` and then `legal`."""
    after, counts, actions = sample.game.step(sample.before.copy(), sample.action.copy())
    listed, wanted = listed_rows(counts, actions), listed_rows(*sample.game.legal(sample.after.copy()))
    for row in range(len(sample.before)):
        if not np.array_equal(after[row], sample.after[row]) or listed[row] != wanted[row]:
            yield f"{sample.where(row, sample.action[row])}: step differs from advance and then legal"


def rollout(sample: Sample) -> Iterator[str]:
    """`rollout` is lockstep play by the same streams, and its trace says what was played."""
    game = sample.game
    for trace in (False, True):
        played = game.rollout(sample.starts.copy(), sample.streams(), trace)
        elsewhere = {*differing(played.states, sample.ends), *differing(played.outcomes, game.outcome(sample.ends))}
        for number in sorted(elsewhere):
            yield f"{sample.end_of(number)}: rollout(trace={trace}) from the same stream ends elsewhere"
        if not trace:
            continue
        if played.lengths is None or played.moves is None or played.movers is None:
            yield "rollout(trace=True) gives no lengths, moves or movers"
            return
        movers = game.to_play(sample.before)
        for number, moves in enumerate(sample.moves):
            length = int(played.lengths[number])
            if played.moves[number, :length].tolist() != moves:
                yield f"{sample.end_of(number)}: the trace says {played.moves[number, :length].tolist()}"
            elif played.movers[number, :length].tolist() != movers[sample.owner == number].tolist():
                yield f"{sample.end_of(number)}: the trace names other movers"


def playouts(sample: Sample) -> Iterator[str]:
    """`playout_outcomes` of a stream is an outcome of the game, the same alone and in a batch, and moves the stream."""
    game, streams = sample.game, sample.streams()
    if type(game).playout_outcomes is Game.playout_outcomes:
        return  # those of `rollout`, which has a law of its own
    together = game.playout_outcomes(sample.starts.copy(), streams)
    if not is_array(together, (len(sample.starts),), np.int32):
        yield f"playout_outcomes gave {kind(together)}, not int32[{len(sample.starts)}]"
        return
    for number, outcome in enumerate(together):
        alone = game.playout_outcomes(sample.starts[number : number + 1].copy(), sample.streams()[number : number + 1])
        if alone[0] != outcome:
            yield f"playout_outcomes of game {number} gave {outcome} in a batch and {alone[0]} alone"
        elif abs(outcome) > game.largest_outcome or (game.players == 1 and outcome < 0):
            yield f"playout_outcomes gave {outcome}, but largest_outcome is {game.largest_outcome}"
    for number in true_rows(streams == sample.streams()):
        yield f"playout_outcomes of game {number} left its stream as it was: the next game would be the same"


def leaves(sample: Sample) -> Iterator[str]:
    """`count_leaves` two plies deep is the plain count, from the starts and from positions near the ends."""
    game = sample.game
    for row in {0, len(sample.before) // 2, len(sample.before) - 1}:
        if game.max_legal**2 > MOST_LEAVES:
            return
        state = sample.before[row]
        counted, wanted = game.count_leaves(state.copy(), 2), Game.count_leaves(game, state.copy(), 2)
        if counted != wanted:
            yield f"{sample.where(row)}: count_leaves says {counted} two plies deep, advance and legal say {wanted}"


def repeatable(sample: Sample) -> Iterator[str]:
    """Equal seeds give equal games, and initial positions are chosen by the generator alone."""
    again = play_games(sample.game, sample.seed, len(sample.starts))
    for number in range(len(sample.starts)):
        if again.moves[number] != sample.moves[number] or not np.array_equal(again.ends[number], sample.ends[number]):
            yield f"{sample.end_of(number)}: the same seed gave another game when played again"
    first, second = (sample.game.initial(8, np.random.default_rng(sample.seed)) for _ in range(2))
    if not is_array(first, (8, sample.game.state_size), np.int8):
        yield f"initial gave {kind(first)}, not int8{[8, sample.game.state_size]}"
    elif not np.array_equal(first, second):
        yield "initial: equal generators gave other initial positions"


# What networks and players see.


def observation(sample: Sample) -> Iterator[str]:
    """float32[B, C, H, W], finite."""
    planes = sample.game.observe(sample.before.copy())
    wanted = (len(sample.before), *sample.game.observation_shape)
    if not is_array(planes, wanted, np.float32):
        yield f"observe gave {kind(planes)}, not float32{list(wanted)}"
        return
    for row in differing(np.isfinite(planes), np.ones(wanted, dtype=np.bool_)):
        yield f"{sample.where(row)}: the observation holds numbers that are not finite"


def score(sample: Sample) -> Iterator[str]:
    """int32[B], and nearer to zero than ONGOING."""
    scores = sample.game.score(sample.before.copy())
    if not is_array(scores, (len(sample.before),), np.int32):
        yield f"score gave {kind(scores)}, not int32[{len(sample.before)}]"
        return
    for row in true_rows(scores == ONGOING):
        yield f"{sample.where(row)}: score is ONGOING, which is no estimate"


# Text.


def state_text(sample: Sample) -> Iterator[str]:
    """state → text → state, byte for byte, in one line."""
    game = sample.game
    for state in (*sample.before[sample.some()], *sample.ends):
        text = game.state_to_text(state.copy())
        if len(text.splitlines()) != 1:
            yield f"the text of a position is not one line: {text!r}"
        elif not np.array_equal(game.state_from_text(text), state):
            yield f"the text {text!r} gives back another position than {state.tobytes().hex()}"


def action_text(sample: Sample) -> Iterator[str]:
    """action → text → action for every legal action, the texts distinct and without spaces."""
    game, rows = sample.game, sample.some()
    for row, listed in zip(rows, listed_rows(*game.legal(sample.before[rows])), strict=True):
        state = sample.before[row]
        known: dict[str, int] = {}
        for action in listed:
            text = game.action_to_text(state.copy(), action)
            if game.split_moves(text) != [text]:
                yield f"{sample.where(row)}: action {action} is written {text!r}, which does not read as one move"
            if known.setdefault(text.lower(), action) != action:
                yield f"{sample.where(row)}: actions {known[text.lower()]} and {action} are both written {text!r}"
        taken = sample.action[row]
        text = game.action_to_text(state.copy(), int(taken))
        if known.get(text.lower()) == taken and game.text_to_action(state.copy(), text) != taken:
            yield f"{sample.where(row, taken)}: reading {text!r} gives another action"


def drawing(sample: Sample) -> Iterator[str]:
    """`render` is text and `svg` a well-formed SVG document, at the start and at the end."""
    for state in (sample.starts[0], sample.ends[0]):
        drawn = sample.game.render(state.copy())
        if not isinstance(drawn, str) or not drawn.strip():
            yield f"render gave {kind(drawn)} with nothing to see in it"
        try:
            root = ElementTree.fromstring(sample.game.svg(state.copy()))
        except ElementTree.ParseError as error:
            yield f"svg is not well-formed: {error}"
            continue
        if root.tag != "{http://www.w3.org/2000/svg}svg":
            yield f"svg gave an element {root.tag!r}"


LAWS: dict[str, Law] = {
    "plies": plies,
    "turns": turns,
    "outcome": outcome,
    "inputs": inputs,
    "batch": batch,
    "step": step,
    "rollout": rollout,
    "playouts": playouts,
    "leaves": leaves,
    "repeatable": repeatable,
    "observation": observation,
    "score": score,
    "group": group,
    "symmetry": symmetry,
    "layout": layout,
    "exchange": exchange,
    "state text": state_text,
    "action text": action_text,
    "drawing": drawing,
}
