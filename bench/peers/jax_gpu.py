"""Graphical SVGD on a grid in JAX, on the device that JAX finds: the figures beside those of bench_gpu.

    python3 bench/peers/jax_gpu.py [SIDE:PARTICLES ...]

One iteration is: score of the Gaussian grid from its five coefficients a node, squared distances on every closed
neighbourhood, their exact median, the kernel, phi and an AdaGrad step; single precision, jitted, iterations in
lax.fori_loop, so that nothing but the device is timed.
"""
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np


def grid(side):
    """Closed neighbourhoods padded with a row of zeros (number side*side), and their coefficients."""
    d = side * side
    index = np.full((d, 5), d, dtype=np.int32)
    weight = np.zeros((d, 5), dtype=np.float32)
    for v in range(d):
        r, c = divmod(v, side)
        near = [u for ok, u in ((r > 0, v - side), (r + 1 < side, v + side), (c > 0, v - 1), (c + 1 < side, v + 1)) if ok]
        index[v, 0], weight[v, 0] = v, 1 + 0.5 * len(near)
        for k, u in enumerate(near):
            index[v, k + 1], weight[v, k + 1] = u, -0.5
    return jnp.array(index), jnp.array(weight)


def measure(side, n):
    index, weight = grid(side)
    upper = np.triu_indices(n, 1)
    pairs = n * (n - 1) // 2
    low, high = (pairs - 1) // 2, pairs // 2

    def velocity(near, coefficients):
        x = near[0]
        s = -coefficients @ near
        distance = jnp.sum((near[:, :, None] - near[:, None, :]) ** 2, axis=0)
        ordered = jnp.sort(distance[upper])
        h = ((jnp.sqrt(ordered[low]) + jnp.sqrt(ordered[high])) / 2) ** 2
        k = jnp.exp(-distance / h)
        return (s @ k + (2 / h) * (x * k.sum(0) - x @ k)) / n

    def iterate(_, state):
        x, squares = state
        padded = jnp.concatenate([x, jnp.zeros((1, n), x.dtype)])
        phi = jax.lax.map(lambda one: velocity(padded[one[0]], one[1]), (index, weight), batch_size=4096)
        squares = squares + phi**2
        return x + 0.01 * phi / (1e-8 + jnp.sqrt(squares)), squares

    x = jax.random.uniform(jax.random.key(1), (side * side, n), jnp.float32)
    state = (x, jnp.zeros_like(x))
    run = jax.jit(lambda state, times: jax.lax.fori_loop(0, times, iterate, state))
    jax.block_until_ready(run(state, 2))
    times, spent = 4, []
    for _ in range(5):
        started = time.perf_counter()
        state = jax.block_until_ready(run(state, times))
        spent.append((time.perf_counter() - started) / times)
    took = sorted(spent)[2]
    print(f"jax {jax.__version__} {jax.devices()[0].device_kind}: {side} x {side}, n = {n}: {1e6 * took:.2f} us an "
          f"iteration, {1e9 * took / side**2 / pairs:.5f} ns a node and pair", flush=True)


for case in sys.argv[1:] or ["10:50", "100:50", "100:200"]:
    measure(*map(int, case.split(":")))
