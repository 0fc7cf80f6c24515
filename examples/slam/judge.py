"""judge.py OUT.csv: errors of the particles of slam.bug (the truth is truth.csv), compared with dead reckoning (odometry.csv) and the
start (start.json); how often the truth lies between the 5 % and the 95 % quantiles, and within 1 and 2 sd of the mean (90, 68 and 95 % on
average over many data sets); and the root mean square of (mean - truth)/sd."""
import csv
import json
import math
import sys

truth = {row["name"]: float(row["value"]) for row in csv.DictReader(open("truth.csv"))}
with open(sys.argv[1]) as file:
    rows = list(csv.reader(line for line in file if not line.startswith("#")))
columns = dict(zip(rows[0], zip(*[[float(cell) for cell in row] for row in rows[1:]])))


def error(estimate, kind):
    """Root mean square distance of the positions of poses (x) or landmarks (mark)."""
    squares = [sum((estimate[name + axis] - truth[name + axis]) ** 2 for axis in (".1", ".2"))
               for name in {key[:-2] for key in estimate if key.startswith(kind + ".")}]
    return math.sqrt(sum(squares) / len(squares)) if squares else math.nan


def dead_reckoning():
    x, y, h = truth["x.1.1"], truth["x.1.2"], truth["heading.1"]
    found = {}
    for t, row in enumerate(csv.DictReader(open("odometry.csv"))):
        ahead, left = float(row["ahead"]), float(row["left"])
        x, y = x + math.cos(h) * ahead - math.sin(h) * left, y + math.sin(h) * ahead + math.cos(h) * left
        h += float(row["turn"])
        found["x.%d.1" % (t + 2)], found["x.%d.2" % (t + 2)] = x, y
    return found


def start():
    made = json.load(open("start.json"))
    return {"%s.%d.%d" % (name, k + 1, axis + 1): pair[axis]
            for name in ("x", "mark") for k, pair in enumerate(made[name]) if pair[0] is not None for axis in (0, 1)}


def quantile(ordered, share):
    place = share * (len(ordered) - 1)
    low = int(place)
    return ordered[low] + (place - low) * (ordered[min(low + 1, len(ordered) - 1)] - ordered[low])


moving = {name: column for name, column in columns.items() if name in truth and min(column) < max(column)}
mean = {name: sum(column) / len(column) for name, column in moving.items()}
sd = {name: math.sqrt(sum((v - mean[name]) ** 2 for v in column) / (len(column) - 1)) for name, column in moving.items()}
print("%-28s %10s %10s" % ("root mean square error of", "poses", "landmarks"))
for label, estimate in (("dead reckoning", dead_reckoning()), ("start (svmp localise)", start()), ("posterior mean", mean)):
    print("%-28s %10.3f %10.3f" % (label, error(estimate, "x"), error(estimate, "mark")))
print("%-28s %10s %10s %10s %10s %10s" % ("", "mean sd", "in 90 %", "in 1 sd", "in 2 sd", "rms z"))
for label, kind in (("positions", "x."), ("headings", "heading."), ("landmarks", "mark.")):
    names = [name for name in moving if name.startswith(kind)]
    inside = 0
    for name in names:
        ordered = sorted(moving[name])
        inside += quantile(ordered, 0.05) <= truth[name] <= quantile(ordered, 0.95)
    z = [(mean[name] - truth[name]) / sd[name] for name in names]
    within = [100 * sum(abs(v) <= width for v in z) / len(z) for width in (1, 2)]
    print("%-28s %10.3f %9.0f%% %9.0f%% %9.0f%% %10.2f" % (label, sum(sd[name] for name in names) / len(names), 100 * inside / len(names),
                                                           *within, math.sqrt(sum(v * v for v in z) / len(z))))
