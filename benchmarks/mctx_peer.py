"""mctx and pgx playing Connect Four with the same network in plain JAX, all of it one compiled function a move.

Written to be as fast for them as we know how: images lie as [N, H, W, C] and kernels as [k, k, in, out] (with channels
first, XLA's CPU backend ran the same search four to eight times slower), the whole move is one `jit`, and the caller
tries several batch sizes and both of mctx's policies and keeps the best.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import mctx  # type: ignore[import-untyped]
import pgx  # type: ignore[import-untyped]

from palaestra.base.types import Float32s
from palaestra.nets.architecture import Weights

ILLEGAL = -1e30  # a logit that no softmax notices, and finite as mctx wants it
POLICIES = {"gumbel": mctx.gumbel_muzero_policy, "muzero": mctx.muzero_policy}


def network(weights: Weights) -> Any:
    """The network of `palaestra.nets.architecture` with a dense policy head, from [N, H, W, C] to (logits, values)."""
    constant = {name: _laid_out(array) for name, array in weights.items()}
    blocks = sum(name.endswith("conv1.weight") for name in weights)

    def conv(x: Any, layer: str) -> Any:
        kernel = constant[f"{layer}.weight"]
        y = jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return y + constant[f"{layer}.bias"]

    def dense(x: Any, layer: str) -> Any:
        return x @ constant[f"{layer}.weight"] + constant[f"{layer}.bias"]

    def flat(x: Any) -> Any:
        return x.transpose(0, 3, 1, 2).reshape(x.shape[0], -1)  # the dense layers count channels first, as in ONNX

    def forward(planes: Any) -> tuple[Any, Any]:
        relu = jax.nn.relu
        trunk = relu(conv(planes.astype(jnp.float32), "stem"))
        for block in range(blocks):
            inner = relu(conv(trunk, f"blocks.{block}.conv1"))
            trunk = relu(trunk + conv(inner, f"blocks.{block}.conv2"))
        logits = dense(flat(relu(conv(trunk, "policy.conv"))), "policy.dense")
        hidden = relu(dense(flat(relu(conv(trunk, "value.conv"))), "value.hidden"))
        return logits, jnp.tanh(dense(hidden, "value.out")[:, 0])

    return forward


def _laid_out(array: Float32s) -> Any:
    """Convolutions [out, in, k, k] as [k, k, in, out], dense layers [out, in] as [in, out]."""
    order = {4: (2, 3, 1, 0), 2: (1, 0), 1: (0,)}[array.ndim]
    return jnp.asarray(array.transpose(order))


class SelfPlay:
    """`batch` games that play on for ever: a game that ends begins again."""

    def __init__(self, weights: Weights, policy: str, batch: int, simulations: int) -> None:
        self.policy, self.batch, self.simulations = policy, batch, simulations
        env = pgx.make("connect_four")
        begin, step, forward = jax.vmap(env.init), jax.vmap(env.step), network(weights)

        def reply(params: Any, key: Any, action: Any, state: Any) -> tuple[Any, Any]:
            mover = state.current_player
            state = step(state, action)
            logits, values = forward(state.observation)
            logits = jnp.where(state.legal_action_mask, logits, ILLEGAL)
            output = mctx.RecurrentFnOutput(
                reward=state.rewards[jnp.arange(batch), mover],
                discount=jnp.where(state.terminated, 0.0, -1.0),  # -1: the other side moves next
                prior_logits=logits,
                value=jnp.where(state.terminated, 0.0, values),
            )
            return output, state

        def move(state: Any, key: Any) -> tuple[Any, Any]:
            key, search_key, begin_key = jax.random.split(key, 3)
            logits, values = forward(state.observation)
            found = POLICIES[policy](
                params=(),
                rng_key=search_key,
                root=mctx.RootFnOutput(prior_logits=logits, value=values, embedding=state),
                recurrent_fn=reply,
                num_simulations=simulations,
                invalid_actions=~state.legal_action_mask,
            )
            state = step(state, found.action)
            fresh = begin(jax.random.split(begin_key, batch))

            def replace(old: Any, new: Any) -> Any:
                return jnp.where(state.terminated.reshape((batch,) + (1,) * (old.ndim - 1)), new, old)

            return jax.tree.map(replace, state, fresh), key

        self._move = jax.jit(move)
        key = jax.random.PRNGKey(0)
        self._state, self._key = begin(jax.random.split(key, batch)), key

    def move(self) -> int:
        """One move in every game; the simulations it took."""
        self._state, self._key = self._move(self._state, self._key)
        self._key.block_until_ready()
        return self.batch * self.simulations
