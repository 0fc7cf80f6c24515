"""Shared by the samplers in Python: draws in blocks until the slowest hyperparameter has enough effective draws."""
import csv
import json
import re
import sys
import time

import numpy as np


def plain_name(name):
    """Maps beta[1], beta.1 and beta_1 to one name."""
    return re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")


def effective(x):
    """Effective draws of each column of one chain, by Geyer's initial monotone sequence."""
    n = len(x)
    x = x - x.mean(0)
    covariance = np.fft.irfft(np.abs(np.fft.rfft(x, 2 * n, axis=0)) ** 2, axis=0)[:n] / n
    correlation = covariance / np.maximum(covariance[0], 1e-300)
    pairs = correlation[0 : n - n % 2 : 2] + correlation[1:n:2]
    pairs = np.where(np.logical_and.accumulate(pairs > 0), np.minimum.accumulate(pairs), 0)
    return n / np.maximum(2 * pairs.sum(0) - 1, 1 / np.log10(n + 1))


def arguments():
    """MODEL HYPERPARAMETERS WARMUP DRAWS SEED SECONDS, SECONDS being CPU seconds."""
    model, names, *numbers = sys.argv[1:]
    warmup, goal, seed, seconds = map(int, numbers)
    with open("data.json") as file:
        return model, names.split(), warmup, goal, seed, seconds, json.load(file)


def draw(block, names, goal, seconds, note):
    """Calls block(), an array of draws, until `goal` effective draws or the seconds are reached; writes draws.csv and the times."""
    fixed, draws = time.process_time(), np.empty((0, len(names)))
    while len(draws) < 20 or effective(draws).min() < goal and time.process_time() < seconds:
        draws = np.vstack([draws, block()])
    sampling = time.process_time() - fixed
    with open("draws.csv", "w", newline="") as file:
        csv.writer(file).writerows([names, *draws.tolist()])
    print(json.dumps({"fixed": fixed, "sampling": sampling, "note": note()}))
