"""Two fits at once, and constant memory."""

import gc
import os
import threading

import numpy as np
import pytest

import svmp

from conftest import EFFECTS, NORMAL, effects_data


def together(*calls):
    results = [None] * len(calls)

    def run(k):
        results[k] = calls[k]()

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.mark.parametrize("shared", [True, False])
def test_two_fits_at_once(shared):
    """One model in two threads, or one model for each: the bits are those of sequential fits."""
    models = [svmp.Model(EFFECTS, effects_data(), threads=1) for _ in range(2)]
    options = {"particles": 20, "iterations": 50, "progressbar": False}
    alone = [models[0].fit(seed=seed, **options) for seed in (1, 2)]
    fits = together(*(lambda k=k: models[0 if shared else k].fit(seed=k + 1, **options) for k in range(2)))
    for fit, expected in zip(fits, alone):
        np.testing.assert_array_equal(fit.values, expected.values)


def test_other_threads_run_meanwhile():
    """A run waits for another thread: this ends only if Python's lock is free during the run."""
    woken, m = threading.Event(), svmp.Model(NORMAL, {"y": [1.0, 2.0]})
    threading.Timer(0.1, woken.set).start()
    fit = m.fit("graphical", 20, iterations=10**8, progressbar=False, callback=lambda p: woken.is_set())
    assert fit.outcome == "stopped"


def test_functions_in_two_threads():
    def one():
        g = svmp.Graph()
        g.node("x")
        g.factor("x", lambda x: (-0.5 * x**2, -x))
        return g.fit(particles=20, iterations=20, progressbar=False).values

    first, second = together(one, one)
    np.testing.assert_array_equal(first, second)


def test_cycles_are_freed_in_any_order():
    """The collector may finalise a context before its objects."""
    from svmp._context import Context
    from svmp._sample import Particles, Sample

    for _ in range(50):
        context = Context()
        knot = [context, Particles(context, Sample(["x"], np.zeros((1, 1000))))]
        knot.append(knot)
        context.knot = knot
        m = svmp.Model("model { y ~ dnorm(x, 1)  x ~ dnorm(0, 1) }", {"y": 1.0})
        m.itself = [m, m._idle]
        del context, knot, m
    gc.collect()


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="/proc is not here")
def test_memory_stays_constant():
    """SVMP_LEAK_FITS=10000 for the long test. A leak of only the particles would be 80 kB per fit."""
    fits = int(os.environ.get("SVMP_LEAK_FITS", "300"))
    m = svmp.Model(NORMAL, {"y": [1.0, 2.0, 4.0]}, threads=1)

    def once(k):
        m.fit("graphical", 1000, iterations=1, seed=k + 1, progressbar=False, measure=False, bandwidth=1)
        if k % 10 == 0:
            svmp.Model(NORMAL, {"y": np.ones(1000)}).log_prob([0.0, 0.0])
            g = svmp.Graph()
            g.node("x", 1000)
            g.factor("x", lambda x: (np.zeros(len(x)), np.zeros_like(x)))
            g.model().log_prob(np.zeros(1000))
            with pytest.raises(svmp.ModelError):
                svmp.Model("model {")

    for k in range(30):
        once(k)
    gc.collect()
    before = resident()
    for k in range(fits):
        once(k)
    gc.collect()
    assert resident() - before < 8e6 + 100 * fits  # fluctuation of the allocator, and a hundred bytes per fit
