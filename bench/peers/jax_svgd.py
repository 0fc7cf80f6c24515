"""Graphical SVGD in JAX and svmp: the same grid, the same formula, taking turns in one process.

    bench/peers/jax_svgd     makes a virtual environment with jax and runs this

One iteration is: score of the Gaussian grid, distances on every closed neighbourhood, their median, the kernel, phi and
an AdaGrad step; double precision, jitted. svmp is called through its shared library. Both start from the same particles
and their results are compared, so that what is timed is the same work: it ends where they differ.

With --quick in place of the particles' numbers, a few iterations of a few particles, in numpy where there is no jax.
"""
import ctypes
import os
import sys
import time

import numpy as np

PRECISION, LINEAR, LIBRARY = sys.argv[1:4]
QUICK = sys.argv[4:] == ["--quick"]
PARTICLES = [5] if QUICK else [int(n) for n in sys.argv[4:]] or [50, 200]
ROUNDS = 1 if QUICK else 5

try:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    jit, vmap, finished, PEER = jax.jit, jax.vmap, jax.block_until_ready, f"jax {jax.__version__}"
except ImportError:
    if not QUICK:
        raise
    jnp, PEER = np, f"numpy {np.__version__}"
    jit = finished = lambda it: it

    def vmap(function):
        return lambda *rows: np.array([function(*row) for row in zip(*rows)])


def read_market(path):
    lines = [line for line in open(path) if not line.startswith("%")]
    if len(lines[0].split()) == 3:
        size = int(lines[0].split()[0])
        matrix = np.zeros((size, size))
        for line in lines[1:]:
            i, j, value = line.split()
            matrix[int(i) - 1, int(j) - 1] = matrix[int(j) - 1, int(i) - 1] = float(value)
        return matrix
    return np.array([float(line) for line in lines[1:]])


def jax_step(matrix, b):
    """The jitted iteration (x, G) -> (x, G), x of shape (n, d)."""
    closed = [np.flatnonzero(row) for row in matrix]
    widest = max(map(len, closed))
    index = jnp.array([np.pad(c, (0, widest - len(c))) for c in closed])
    mask = jnp.array([[1.0] * len(c) + [0.0] * (widest - len(c)) for c in closed])
    matrix, b = jnp.array(matrix), jnp.array(b)

    @jit
    def iterate(x, squares):
        n = x.shape[0]
        score = b - x @ matrix
        pairs = jnp.triu_indices(n, 1)

        def node(own, neighbours, used):
            local = x[:, neighbours] * used
            distance = ((local[:, None, :] - local[None, :, :]) ** 2).sum(-1)
            h = jnp.median(jnp.sqrt(distance[pairs])) ** 2
            kernel = jnp.exp(-distance / h)
            weight = score[:, own] - 2 / h * x[:, own]
            return (kernel @ weight + 2 / h * x[:, own] * kernel.sum(0)) / n

        phi = vmap(node)(jnp.arange(x.shape[1]), index, mask).T
        squares = squares + phi**2
        return x + 0.1 * phi / (1e-8 + jnp.sqrt(squares)), squares

    return iterate


class Svmp:
    """A run of svmp, iteration by iteration, through the public header."""

    def __init__(self, particles, iterations, start):
        self.lib = ctypes.CDLL(LIBRARY)
        self.context, model, self.run = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        options = ctypes.c_void_p()
        self.lib.svmp_context_error.restype = ctypes.c_char_p
        self.must(self.lib.svmp_context_create(None, ctypes.byref(self.context)))
        self.must(self.lib.svmp_options_create(self.context, ctypes.byref(options)))
        settings = {"method": "graphical", "step": "adagrad:0.1", "particles": particles, "iterations": iterations}
        for name, value in settings.items():
            self.must(self.lib.svmp_options_set(options, name.encode(), str(value).encode()))
        paths = (ctypes.c_char_p * 2)(PRECISION.encode(), LINEAR.encode())
        self.must(self.lib.svmp_model_read(self.context, ctypes.c_size_t(2), paths, None, ctypes.byref(model)))
        self.must(self.lib.svmp_run_create(model, options, ctypes.byref(self.run)))
        values = np.ascontiguousarray(start.T)
        given = ctypes.c_void_p()
        self.must(self.lib.svmp_particles_create(self.context, ctypes.c_size_t(values.shape[0]),
                                                 ctypes.c_size_t(particles), values.ctypes.data_as(ctypes.c_void_p),
                                                 ctypes.byref(given)))
        self.must(self.lib.svmp_run_start_from(self.run, given))
        self.shape = values.shape

    def must(self, status):
        if status:
            sys.exit(self.lib.svmp_context_error(self.context).decode())

    def go(self):
        outcome = ctypes.c_int()
        self.must(self.lib.svmp_run_go(self.run, ctypes.byref(outcome)))

    def particles(self):
        held = ctypes.c_void_p()
        self.must(self.lib.svmp_run_particles(self.run, ctypes.byref(held)))
        self.lib.svmp_particles_values.restype = ctypes.POINTER(ctypes.c_double)
        return np.ctypeslib.as_array(self.lib.svmp_particles_values(held), self.shape).T.copy()


def main():
    matrix, b = read_market(PRECISION), read_market(LINEAR)
    iterate = jax_step(matrix, b)
    print(f"{os.cpu_count()} cores, {PEER}; grid of {len(b)} nodes, ms an iteration, the least of {ROUNDS} rounds")
    print(f"{'n':>6} {PEER.split()[0]:>10} {'svmp':>10} {'ratio':>8} {'difference':>12}")
    for n in PARTICLES:
        iterations, best = 5 if QUICK else max(5, 1000 // n), [1e9, 1e9]
        start = np.random.default_rng(1).normal(size=(n, len(b)))
        for _ in range(ROUNDS):
            x, squares = jnp.array(start), jnp.zeros_like(jnp.array(start))
            finished(iterate(x, squares))  # compiled
            began = time.perf_counter()
            for _ in range(iterations):
                x, squares = iterate(x, squares)
            finished(x)
            best[0] = min(best[0], (time.perf_counter() - began) / iterations)
            run = Svmp(n, iterations, start)
            began = time.perf_counter()
            run.go()
            best[1] = min(best[1], (time.perf_counter() - began) / iterations)
        difference = float(np.abs(run.particles() - np.array(x)).max())
        print(f"{n:>6} {1e3 * best[0]:>10.3f} {1e3 * best[1]:>10.3f} {best[0] / best[1]:>8.1f} {difference:>12.1e}")
        if not difference < 1e-6:
            sys.exit("The two have moved the particles to different places.")


main()
