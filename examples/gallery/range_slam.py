"""A robot finds its path and a map from ranges alone: range_slam.py [PICTURE.svg]"""

import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import picture
import svmp
from svmp._library import find_command

slam = picture.HERE.parent / "slam"
POSES, LANDMARKS = 60, 8
with tempfile.TemporaryDirectory() as folder:
    here = os.getcwd()
    os.chdir(folder)
    subprocess.run([sys.executable, slam / "simulate.py", str(POSES), str(LANDMARKS)], check=True, capture_output=True)
    truth = {row["name"]: float(row["value"]) for row in csv.DictReader(open("truth.csv"))}
    first = ",".join(str(value) for value in list(truth.values())[:3])
    subprocess.run([find_command(), "localise", "ranges.csv", "--odometry", "odometry.csv", "--noise", "0.2,0.05,0.01", "--first", first,
                    "-o", "start.json"], check=True, capture_output=True)
    fit = svmp.Model(slam / "slam.bug", "slam.json").fit(init="gaussian:start.json", progressbar=False)
    os.chdir(here)

path, marks = fit["x"], fit["mark"]


def true(name, count):
    return np.array([[truth.get(f"{name}.{i + 1}.{k + 1}", np.nan) for k in range(2)] for i in range(count)])


true_path, true_marks = true("x", POSES), true("mark", marks.shape[1])
print(fit.verdict)
for what, found, truth_of in (("path", path[:, 1:], true_path[1:]), ("landmarks", marks, true_marks)):
    off = np.hypot(*np.moveaxis(found.mean(axis=0) - truth_of, -1, 0))
    low, high = np.quantile(found, [0.05, 0.95], axis=0)
    print(f"{what}: median error {np.median(off):.2f}, {np.mean((low < truth_of) & (truth_of < high)):.0%} of the coordinates in their 90 % interval")

if drawing := picture.axes(width=5, height=4):
    figure, axes = drawing
    axes.plot(*true_path.T, color=picture.RED, lw=1, label="true path")
    axes.plot(*path.mean(axis=0).T, color=picture.BLUE, lw=1, label="path found")
    for k in range(marks.shape[1]):
        axes.plot(*marks[::5, k].T, ".", color=picture.GREY, ms=2, rasterized=True)
    axes.plot(*true_marks.T, "k+", label="landmarks")
    axes.set_aspect("equal")
    axes.legend()
    picture.save(figure)
