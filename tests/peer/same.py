#!/usr/bin/env python3
"""Whether two particle files agree: same.py FILE FILE TOLERANCE; the error is relative to max(1, |x|)."""
import sys


def read(path):
    with open(path) as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    return lines[0].split(","), [[float(value) for value in line.split(",")] for line in lines[1:]]


(names, ours), (peer_names, peers) = read(sys.argv[1]), read(sys.argv[2])
assert sorted(peer_names) == sorted(n for n in names if not n.endswith("__")), "the columns differ"
assert len(ours) == len(peers) > 0, "%d and %d particles" % (len(ours), len(peers))
place = {name: column for column, name in enumerate(names)}
worst = (0, None)
for row, (our, peer) in enumerate(zip(ours, peers)):
    for name, value in zip(peer_names, peer):
        error = abs(our[place[name]] - value) / max(1, abs(value))
        if not error <= worst[0]:  # NaN counts as the largest difference
            worst = (error, "%s of particle %d: %.17g and %.17g" % (name, row + 1, our[place[name]], value))
print("largest difference %.1e" % worst[0])
if not worst[0] <= float(sys.argv[3]):
    sys.exit(worst[1])
