"""A program of JAX with its default preallocation of 0.75 of the device: products of matrices in steps that it reports.

Prints one JSON object a line: ``tick`` when the device is found, when the step is compiled and after each step, and at the end
``done`` with the seconds from its start, those of its steps, and a digest of its result. ``JAX_STEPS`` says how many steps (60).
"""

import hashlib
import json
import os
import time

BEGUN_S = time.monotonic()
WIDTH = 4096
#: Products in a step: some 45 ms of an H200.
PRODUCTS = 16


def say(event, **fields):
    """Writes one line."""
    print(json.dumps({"event": event, **fields}), flush=True)


def main():
    """Runs the steps one after the other, each waited for."""
    # Kernels are not chosen by their times, which differ beside another program: the results are to be equal.
    os.environ["XLA_FLAGS"] = "--xla_gpu_autotune_level=0"
    import jax
    import jax.numpy as jnp

    def step(matrix, factor):
        def one(_, state):
            product = jnp.dot(state, factor, precision="highest")
            return product / jnp.max(jnp.abs(product))

        return jax.lax.fori_loop(0, PRODUCTS, one, matrix)

    key = jax.random.key(20240229)
    matrix, factor = (jax.random.normal(one, (WIDTH, WIDTH), jnp.float32) for one in jax.random.split(key))
    run = jax.jit(step)
    say("tick", device=jax.devices()[0].platform)
    run = run.lower(matrix, factor).compile()
    say("tick")
    busy_s = 0.0
    for _ in range(int(os.environ.get("JAX_STEPS", "60"))):
        begun_s = time.monotonic()
        matrix = run(matrix, factor).block_until_ready()
        busy_s += time.monotonic() - begun_s
        say("tick")
    digest = hashlib.sha256(jax.device_get(matrix).tobytes()).hexdigest()
    say("done", seconds=time.monotonic() - BEGUN_S, busy_s=busy_s, digest=digest)


if __name__ == "__main__":
    main()
