"""Range-only SLAM: simulate.py POSES [LANDMARKS [OUTLIERS [SEED [SD_MOVE [SD_TURN [SD_RANGE]]]]]]

A robot drives loops through a field of landmarks. Writes odometry.csv and ranges.csv, from which svmp localise finds a start,
slam.json, the data of slam.bug, and truth.csv.
"""
import json
import math
import random
import sys


def argument(k, default):
    return type(default)(sys.argv[k]) if len(sys.argv) > k else default


poses, landmarks, outliers, seed = argument(1, 2000), argument(2, 30), argument(3, 0.05), argument(4, 1)
sd_move, sd_turn, sd_range = argument(5, 0.05), argument(6, 0.01), argument(7, 0.2)
side, reach, speed = 60.0, 20.0, 1.0
random.seed(seed)
marks = [(random.uniform(0, side), random.uniform(0, side)) for _ in range(landmarks)]

# The robot drives from point to point, and turns at most 0.3 in a step.
x, y, heading = side / 2, side / 2, 0.0
path, odometry, goal = [(x, y, heading)], [], (side / 2 + 10, side / 2)
while len(path) < poses:
    if math.hypot(goal[0] - x, goal[1] - y) < 3:
        goal = (random.uniform(0.1, 0.9) * side, random.uniform(0.1, 0.9) * side)
    off = (math.atan2(goal[1] - y, goal[0] - x) - heading + math.pi) % (2 * math.pi) - math.pi
    turn = max(-0.3, min(0.3, off))
    x, y = x + speed * math.cos(heading), y + speed * math.sin(heading)
    odometry.append((speed + random.gauss(0, sd_move), random.gauss(0, sd_move), turn + random.gauss(0, sd_turn)))
    heading += turn
    path.append((x, y, heading))

ranges = []
for t, (x, y, _) in enumerate(path):
    near = [(math.hypot(x - a, y - b), k) for k, (a, b) in enumerate(marks)]
    for distance, k in sorted(near):
        if distance > reach or random.random() < 0.5:
            continue
        echo = random.expovariate(1 / 5) if random.random() < outliers else 0
        ranges.append((t + 1, k + 1, abs(distance + random.gauss(0, sd_range) + echo)))
seen = sorted({k for _, k, _ in ranges})
number = {k: j + 1 for j, k in enumerate(seen)}
ranges = [(t, number[k], r) for t, k, r in ranges]

with open("odometry.csv", "w") as file:
    file.write("ahead,left,turn\n" + "".join("%.6f,%.6f,%.6f\n" % step for step in odometry))
with open("ranges.csv", "w") as file:
    file.write("pose,landmark,r\n" + "".join("%d,%d,%.6f\n" % row for row in ranges))
with open("truth.csv", "w") as file:
    file.write("name,value\n")
    for t, place in enumerate(path):
        file.write("x.%d.1,%.9f\nx.%d.2,%.9f\nheading.%d,%.9f\n" % (t + 1, place[0], t + 1, place[1], t + 1, place[2]))
    for j, k in enumerate(seen):
        file.write("mark.%d.1,%.9f\nmark.%d.2,%.9f\n" % (j + 1, marks[k - 1][0], j + 1, marks[k - 1][1]))
unknown = [None, None]
with open("slam.json", "w") as file:
    json.dump({
        "T": poses, "K": len(seen), "sd_move": sd_move, "sd_turn": sd_turn,
        "ahead": [round(step[0], 6) for step in odometry], "left": [round(step[1], 6) for step in odometry],
        "turn": [round(step[2], 6) for step in odometry],
        "pose": [row[0] for row in ranges], "landmark": [row[1] for row in ranges], "r": [round(row[2], 6) for row in ranges],
        "x": [list(path[0][:2])] + [unknown] * (poses - 1), "heading": [path[0][2]] + [None] * (poses - 1),
        "mark": [unknown] * len(seen),
    }, file)
