#!/usr/bin/env python3
"""Writes particles to start from: start.py VARIABLES COUNT SEED > init.csv; N(0, 1), in Stan CSV."""
import random
import sys

variables, count, seed = (int(text) for text in sys.argv[1:])
draw = random.Random(seed)
print(",".join("x.%d" % (i + 1) for i in range(variables)))
for _ in range(count):
    print(",".join("%.17g" % draw.gauss(0, 1) for _ in range(variables)))
