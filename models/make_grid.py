#!/usr/bin/env python3
"""Writes grid.mtx and grid_b.mtx: the Gaussian grid of the paper (Wang, Zeng, Liu, ICML 2018, figure 2).

p(x) proportional to exp(b'x - x'Ax/2) on the points of a square grid, neighbours left, right, above and below:
b ~ N(0, 1), A_ij ~ U(-0.1, 0.1) made symmetric by (A + A')/2, A_ii = 0.1 + sum_j |A_ij|.
The same files every time: the seed is here, and nothing but Python's own library is needed.
"""
import os
import random

SIDE = 10
SEED = 2018

draw = random.Random(SEED)
points = SIDE * SIDE
edges = []  # (row, column), row > column: the lower triangle
for i in range(points):
    if i % SIDE < SIDE - 1:
        edges.append((i + 1, i))
    if i + SIDE < points:
        edges.append((i + SIDE, i))

precision = {}
for i, j in edges:
    precision[i, j] = (draw.uniform(-0.1, 0.1) + draw.uniform(-0.1, 0.1)) / 2
for i in range(points):
    precision[i, i] = 0.1 + sum(abs(a) for (row, column), a in precision.items() if row != column and i in (row, column))
linear = [draw.gauss(0, 1) for _ in range(points)]

folder = os.path.dirname(os.path.abspath(__file__))
about = "%% %s of a %d by %d Gaussian grid, node i at row (i-1)/%d and column (i-1)%%%d; made by make_grid.py, seed %d\n"

with open(os.path.join(folder, "grid.mtx"), "w") as file:
    file.write("%%MatrixMarket matrix coordinate real symmetric\n")
    file.write(about % ("The precision A", SIDE, SIDE, SIDE, SIDE, SEED))
    file.write("%d %d %d\n" % (points, points, len(precision)))
    for i, j in sorted(precision, key=lambda place: (place[1], place[0])):  # column by column, as files of this kind are
        file.write("%d %d %.17g\n" % (i + 1, j + 1, precision[i, j]))

with open(os.path.join(folder, "grid_b.mtx"), "w") as file:
    file.write("%%MatrixMarket matrix array real general\n")
    file.write(about % ("The vector b", SIDE, SIDE, SIDE, SIDE, SEED))
    file.write("%d 1\n" % points)
    for b in linear:
        file.write("%.17g\n" % b)
