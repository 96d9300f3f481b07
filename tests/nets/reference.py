"""What the network tests share: the forward pass written as plainly as possible, and positions from random play."""

from __future__ import annotations

import numpy as np

from palaestra.base.streams import keyed_seeds
from palaestra.base.types import Float64s, Int8s
from palaestra.games.base import Game, pick_rows
from palaestra.games.rows import ONGOING
from palaestra.nets.architecture import GameFacts, ResidualNet, Weights, parse_net, random_weights
from palaestra.nets.graph import build_model
from palaestra.search.evaluator import Leaves


def conv(planes: Float64s, weight: Float64s, bias: Float64s) -> Float64s:
    """One board [C, H, W] through one convolution that keeps its size: a sum for every output number."""
    (channels, _, size, _), (_, rows, cols) = weight.shape, planes.shape
    reach = size // 2
    out = np.empty((channels, rows, cols))
    for channel in range(channels):
        for row in range(rows):
            for col in range(cols):
                total = bias[channel]
                for d_row in range(-reach, reach + 1):
                    for d_col in range(-reach, reach + 1):
                        if 0 <= row + d_row < rows and 0 <= col + d_col < cols:
                            taps = weight[channel, :, d_row + reach, d_col + reach]
                            total += taps @ planes[:, row + d_row, col + d_col]
                out[channel, row, col] = total
    return out


def forward(net: ResidualNet, facts: GameFacts, weights: Weights, planes: Float64s) -> tuple[Float64s, float]:
    """logits [A] and value of one observation [C, H, W], in float64."""
    w = {name: array.astype(np.float64) for name, array in weights.items()}

    def layer(name: str, x: Float64s) -> Float64s:
        weight, bias = w[f"{name}.weight"], w[f"{name}.bias"]
        return conv(x, weight, bias) if weight.ndim == 4 else weight @ x.reshape(-1) + bias

    def relu(x: Float64s) -> Float64s:
        return np.maximum(x, 0.0)

    trunk = relu(layer("stem", planes))
    for block in range(net.blocks):
        inner = relu(layer(f"blocks.{block}.conv1", trunk))
        trunk = relu(layer(f"blocks.{block}.conv2", inner) + trunk)
    features = relu(layer("policy.conv", trunk))
    if facts.num_actions % facts.cells == 0:
        logits = layer("policy.planes", features).reshape(-1)
    elif facts.num_actions % facts.cells == 1:
        logits = np.append(layer("policy.planes", features), layer("policy.pass", features.mean(axis=(1, 2))))
    else:
        logits = layer("policy.dense", features)
    hidden = relu(layer("value.hidden", relu(layer("value.conv", trunk))))
    return logits, float(np.tanh(layer("value.out", hidden))[0])


def random_model(game: Game, name: str = "b2c16", seed: int = 1) -> bytes:
    net, facts = parse_net(name), GameFacts.of(game)
    return build_model(net, facts, random_weights(net, facts, np.random.default_rng(seed)))


def random_positions(game: Game, count: int, seed: int = 1) -> Int8s:
    """States that are not over, from random games stopped after 0, 1, 2, … plies."""
    streams = keyed_seeds(seed, np.arange(count))
    states = game.start(np.arange(count) % game.num_starts)
    deepest = min(game.max_plies, 12)
    for ply in range(deepest):
        moving = np.flatnonzero(np.arange(count) % deepest > ply)
        counts, actions = game.legal(states[moving])
        after = game.advance(states[moving], pick_rows(counts, actions, streams, moving))
        ongoing = game.outcome(after) == ONGOING
        states[moving[ongoing]] = after[ongoing]
    return states


def leaves_of(game: Game, states: Int8s) -> Leaves:
    return Leaves(states, *game.legal(states), keyed_seeds(0, np.arange(len(states))))
