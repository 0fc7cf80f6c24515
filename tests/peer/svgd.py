#!/usr/bin/env python3
"""A second implementation of the method, to hold the first one against: numpy, plain, slow.

    svgd.py PRECISION [LINEAR] --init FILE -o FILE [--method M] [--iterations T] [--step S] [--bandwidth B]

It was written from the text of the method alone. It shares no code with svmp and none of its ways of being fast: every
node computes its own kernel matrix from its own differences, in the order of the formulas. It knows Gaussian models of
Matrix Market files, one scalar variable a node, and particles in Stan CSV.
"""
import argparse
import math

import numpy as np

DELTA = 1e-8  # keeps a step from dividing by zero


def read_matrix(path):
    """A Matrix Market file, coordinate or array, symmetric or general: a dense matrix."""
    with open(path) as file:
        head = file.readline().lower().split()
        lines = [line.split() for line in file if line.strip() and not line.startswith("%")]
    assert head[:2] == ["%%matrixmarket", "matrix"] and head[3] in ("real", "integer"), path
    layout, symmetric = head[2], head[4] == "symmetric"
    rows, columns = int(lines[0][0]), int(lines[0][1])
    matrix = np.zeros((rows, columns))
    if layout == "coordinate":
        for i, j, value in lines[1:]:
            matrix[int(i) - 1, int(j) - 1] = float(value)
            if symmetric:
                matrix[int(j) - 1, int(i) - 1] = float(value)
    else:
        values = iter(lines[1:])
        for j in range(columns):
            for i in range(j if symmetric else 0, rows):
                matrix[i, j] = float(next(values)[0])
                if symmetric:
                    matrix[j, i] = matrix[i, j]
    return matrix


def read_particles(path, variables):
    """Stan CSV, the columns x.1 ... x.d in any order: x[i][l], variable i of particle l."""
    with open(path) as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    column = {name: place for place, name in enumerate(lines[0].split(","))}
    rows = [line.split(",") for line in lines[1:]]
    return np.array([[float(row[column["x.%d" % (i + 1)]]) for row in rows] for i in range(variables)])


def write_particles(path, x):
    with open(path, "w") as file:
        file.write(",".join("x.%d" % (i + 1) for i in range(len(x))) + "\n")
        for particle in x.T:
            file.write(",".join("%.17g" % value for value in particle) + "\n")


def bandwidth(rule, squares):
    """h from the squared distances between particles; None where every distance is zero."""
    n = len(squares)
    pairs = squares[np.triu_indices(n, 1)]
    if n == 1 or not pairs.any():
        return None
    if rule == "median":
        return np.median(np.sqrt(pairs)) ** 2
    if rule == "median-log":
        return np.median(np.sqrt(pairs)) ** 2 / math.log(n)
    if rule == "median-zeros":
        return np.median(squares)
    return float(rule)


def phi_of(x, score, i, domain, rule):
    """phi_i[m] = 1/n sum_l K[l][m] (s_i[l] - (2/h) (x[i][l] - x[i][m])), the kernel on the variables of `domain`."""
    n = x.shape[1]
    squares = np.zeros((n, n))
    for j in domain:
        squares += (x[j][:, None] - x[j][None, :]) ** 2
    h = bandwidth(rule, squares)
    if h is None:
        return np.full(n, score[i].sum() / n)
    kernel = np.exp(-squares / h)
    difference = x[i][:, None] - x[i][None, :]
    return (kernel * (score[i][:, None] - (2 / h) * difference)).sum(axis=0) / n


class Step:
    """rule:rate, or rule:from..to: a rate that falls geometrically from the first iteration to the last."""

    def __init__(self, text, iterations, shape):
        self.rule, rate = text.split(":")
        self.first, self.last = (float(r) for r in (rate.split("..") if ".." in rate else (rate, rate)))
        self.iterations, self.t = iterations, 0
        self.m, self.v = np.zeros(shape), np.zeros(shape)

    def __call__(self, phi):
        part = self.t / (self.iterations - 1) if self.iterations > 1 else 0
        rate = self.first * (self.last / self.first) ** part
        self.t += 1
        if self.rule == "fixed":
            return rate * phi
        if self.rule == "adagrad":
            self.v += phi**2
            return rate * phi / (DELTA + np.sqrt(self.v))
        if self.rule == "rmsprop":
            self.v = 0.9 * self.v + 0.1 * phi**2
            return rate * phi / (DELTA + np.sqrt(self.v))
        if self.rule == "adam":
            self.m = 0.9 * self.m + 0.1 * phi
            self.v = 0.999 * self.v + 0.001 * phi**2
            m, v = self.m / (1 - 0.9**self.t), self.v / (1 - 0.999**self.t)
            return rate * m / (DELTA + np.sqrt(v))
        raise SystemExit("no step rule " + self.rule)


def svgd(precision, linear, x, method, iterations, step, rule):
    variables = len(precision)
    everything = range(variables)
    neighbourhood = [[j for j in everything if j == i or precision[i, j] != 0] for i in everything]
    domains = {"graphical": neighbourhood, "vanilla": [everything] * variables, "independent": [[i] for i in everything]}
    step = Step(step, iterations, x.shape)
    for _ in range(iterations):
        score = linear - precision @ x
        phi = np.array([phi_of(x, score, i, domains[method][i], rule) for i in everything])
        x = x + step(phi)
    return x


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("precision")
    parser.add_argument("linear", nargs="?")
    parser.add_argument("--init", required=True)
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("-m", "--method", default="graphical", choices=("graphical", "vanilla", "independent"))
    parser.add_argument("-t", "--iterations", type=int, default=1000)
    parser.add_argument("--step", default="adagrad:1")
    parser.add_argument("--bandwidth", default="median")
    given = parser.parse_args()
    precision = read_matrix(given.precision)
    linear = read_matrix(given.linear) if given.linear else np.zeros((len(precision), 1))
    x = read_particles(given.init, len(precision))
    write_particles(given.output, svgd(precision, linear, x, given.method, given.iterations, given.step, given.bandwidth))


if __name__ == "__main__":
    main()
