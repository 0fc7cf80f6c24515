#!/usr/bin/env python3
"""The time of a gradient: svmp beside stanli, on the problems that both have; one thread, CPU time.

    bench/peers/gradients [--quick]

Both evaluate log density and gradient at a point near 0 on the unconstrained scale; the best of several rounds counts.
stanli is called without the Python around it.
"""
import ctypes
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

import problems

try:
    import stanli
except ImportError:
    print("skipped: stanli is not here; bench/peers/setup installs it")
    sys.exit()

BENCH = os.path.join(os.environ.get("BUILD", "build/release"), "bench", "bench_gradient")


def svmp(name):
    """Microseconds of a particle alone, and of one of 64 together."""
    run = subprocess.run([BENCH, problems.model(name, "model.bug"), "data.json"], capture_output=True, text=True)
    words = run.stdout.split()
    return (int(words[0]), float(words[2]), float(words[5])) if run.returncode == 0 else (0, np.nan, np.nan)


def stan(name, data, least):
    model = stanli.Model(stan_file=problems.model(name, "model.stan"), data=data)
    size = model.n_unconstrained
    x, gradient, value = 0.1 * np.random.default_rng(1).normal(size=size), np.empty(size), ctypes.c_double()
    pointers = [a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for a in (x, gradient)]
    call, best, until = stanli._lib.stanli_grad, np.inf, time.process_time() + least
    while time.process_time() < until:
        count, start = 0, time.process_time()
        while time.process_time() < start + least / 10:
            call(model._m, pointers[0], ctypes.byref(value), pointers[1])
            count += 1
        best = min(best, (time.process_time() - start) / count)
    return size, 1e6 * best


def main():
    global BENCH
    quick = "--quick" in sys.argv
    BENCH = os.path.abspath(BENCH)
    print("%-22s %9s %12s %12s %12s %8s" % ("problem", "variables", "svmp, us", "of 64, us", "stanli, us", "ratio"))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in problems.PROBLEMS:
            if None in (problems.model(name, "model.bug"), problems.model(name, "model.stan")) or name == "field":
                continue
            data = problems.write(name, quick)
            variables, alone, together = svmp(name)
            try:
                other, us = stan(name, data, 0.01 if quick else 1)
            except RuntimeError as error:
                print("%-22s %s" % (name, error), flush=True)
                continue
            note = "" if variables == other else "  (stanli has %d variables)" % other
            print("%-22s %9d %12.2f %12.2f %12.2f %8.2f%s" % (name, variables, alone, together, us, alone / us, note), flush=True)


main()
