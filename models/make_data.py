#!/usr/bin/env python3
"""Writes the data of the models in this folder: drawn from the models themselves, or, for the eight schools, as published.

The same files every time: the seeds are here, and nothing but Python's own library is needed.
"""
import json
import math
import os
import random

folder = os.path.dirname(os.path.abspath(__file__))


def rounded(value, digits=4):
    if isinstance(value, list):
        return [rounded(item, digits) for item in value]
    return round(value, digits) if isinstance(value, float) else value


def write_json(name, **arrays):
    with open(os.path.join(folder, name), "w") as file:
        lines = ["  %s: %s" % (json.dumps(key), json.dumps(rounded(value))) for key, value in arrays.items()]
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


def write_csv(name, **columns):
    with open(os.path.join(folder, name), "w") as file:
        file.write(",".join(columns) + "\n")
        for row in zip(*columns.values()):
            file.write(",".join("NA" if item is None else "%.10g" % rounded(item) for item in row) + "\n")


def dump_text(value):
    def number(item):
        return "NA" if item is None else "%.10g" % rounded(item)

    if not isinstance(value, list):
        return number(value)
    if not isinstance(value[0], list):
        return "c(" + ", ".join(number(item) for item in value) + ")"
    columns = [number(row[j]) for j in range(len(value[0])) for row in value]
    return "structure(c(%s), .Dim = c(%d, %d))" % (", ".join(columns), len(value), len(value[0]))


def write_dump(name, **arrays):
    with open(os.path.join(folder, name), "w") as file:
        for key, value in arrays.items():
            file.write("%s <- %s\n" % (key, dump_text(value)))


def poisson(draw, mean):
    limit, count, product = math.exp(-mean), 0, draw.random()
    while product > limit:
        count += 1
        product *= draw.random()
    return count


def binomial(draw, n, p):
    return sum(draw.random() < p for _ in range(n))


def ilogit(x):
    return 1 / (1 + math.exp(-x))


def gaussian_grid():
    diagonal, edges = {}, []
    with open(os.path.join(folder, "grid.mtx")) as file:
        lines = [line.split() for line in file if not line.startswith("%")][1:]
    for row, column, value in lines:
        if row == column:
            diagonal[int(row)] = float(value)
        else:
            edges.append((int(column), int(row), float(value)))
    with open(os.path.join(folder, "grid_b.mtx")) as file:
        linear = [float(line) for line in [text for text in file if not text.startswith("%")][1:]]
    with open(os.path.join(folder, "gaussian_grid.json"), "w") as file:
        arrays = {"N": len(linear), "a": [diagonal[i + 1] for i in range(len(linear))], "b": linear,
                  "from": [e[0] for e in edges], "to": [e[1] for e in edges], "w": [e[2] for e in edges]}
        file.write("{\n" + ",\n".join("  %s: %s" % (json.dumps(k), json.dumps(v)) for k, v in arrays.items()) + "\n}\n")


def sensors():
    draw = random.Random(7)
    anchors = [(-2.0, -2.0), (2.0, -2.0), (-2.0, 2.0), (2.0, 2.0)]
    places = anchors + [(draw.uniform(-2, 2), draw.uniform(-2, 2)) for _ in range(12)]
    source, target, measured = [], [], []
    for i in range(len(places)):
        for j in range(i):
            distance = math.dist(places[i], places[j])
            if i >= 4 and distance < 2.6:
                source.append(i + 1)
                target.append(j + 1)
                measured.append(distance + draw.gauss(0, 0.1))
    known = [list(place) if i < 4 else [None, None] for i, place in enumerate(places)]
    write_json("sensors.json", S=len(places), sigma=0.1, x=known, r=measured, **{"from": source, "to": target})
    with open(os.path.join(folder, "sensors_truth.csv"), "w") as file:  # where they are, for svmp report --truth
        file.write("name,value\n")
        for i, place in enumerate(places):
            for k in range(2):
                file.write("x.%d.%d,%.10g\n" % (i + 1, k + 1, rounded(place[k])))


def crowd():
    draw = random.Random(8)
    questions, workers = 20, 8
    truth = [draw.gauss(0, 5) for _ in range(questions)]
    bias = [draw.gauss(0, 2) for _ in range(workers)]
    noise = [1 / math.sqrt(draw.gammavariate(3, 1)) for _ in range(workers)]
    question, worker, answer = [], [], []
    for i in range(questions):
        for j in sorted(draw.sample(range(workers), draw.randint(2, 5))):
            question.append(i + 1)
            worker.append(j + 1)
            answer.append(truth[i] + bias[j] + noise[j] * draw.gauss(0, 1))
    write_csv("crowd.csv", question=question, worker=worker, answer=answer)
    write_json("crowd.json", questions=questions, workers=workers, x=[t if i < 4 else None for i, t in enumerate(truth)])


def lines():
    draw = random.Random(9)
    x = [draw.uniform(10, 20) for _ in range(25)]
    write_csv("linear.csv", x=x, y=[3 + 0.8 * (v - 15) + draw.gauss(0, 1.2) for v in x])
    x = [float(k) / 2 for k in range(30)]
    y = [1 + 2 * v + draw.gauss(0, 0.7) for v in x]
    for k in (4, 17, 26):
        y[k] += draw.choice([-1, 1]) * draw.uniform(10, 20)
    write_csv("robust.csv", x=x, y=y)


def counts():
    draw = random.Random(10)
    dose = [-2 + 0.5 * k for k in range(9)]
    n = [20] * len(dose)
    write_csv("logistic.csv", dose=dose, n=n, died=[binomial(draw, 20, ilogit(0.5 + 1.6 * d)) for d in dose])
    exposure = [draw.uniform(5, 20) for _ in range(20)]
    rate = [e * math.exp(-0.5 + 0.06 * (t + 1 - 10) + draw.gauss(0, 0.25)) for t, e in enumerate(exposure)]
    write_dump("poisson.R", T=20, exposure=exposure, count=[poisson(draw, r) for r in rate])


def hierarchical():
    draw = random.Random(11)
    counties = 12
    soil = [draw.gauss(0, 1) for _ in range(counties)]
    level = [1.5 + 0.7 * s + draw.gauss(0, 0.3) for s in soil]
    county, floor, y = [], [], []
    for j in range(counties):
        for _ in range(draw.randint(1, 9)):
            county.append(j + 1)
            floor.append(int(draw.random() < 0.3))
            y.append(level[j] - 0.6 * floor[-1] + draw.gauss(0, 0.7))
    write_csv("hierarchical.csv", county=county, floor=floor, y=y)
    write_json("hierarchical.json", J=counties, soil=soil)


def state_space():
    draw = random.Random(12)
    level, y = draw.gauss(0, 2), []
    for t in range(50):
        level = 0.9 * level + draw.gauss(0, 0.8)
        y.append(None if t % 11 == 7 else level + draw.gauss(0, 0.5))
    write_dump("state_space.R", T=50, y=y)


def car():
    draw = random.Random(13)
    side = 6
    source, target = [], []
    for i in range(side * side):
        for j in ([i + 1] if i % side < side - 1 else []) + ([i + side] if i + side < side * side else []):
            source.append(i + 1)
            target.append(j + 1)
    risk = [0.5 * math.sin(i % side) + 0.4 * math.cos(i // side) for i in range(side * side)]
    expected = [draw.uniform(5, 30) for _ in risk]
    cases = [poisson(draw, e * math.exp(u)) for e, u in zip(expected, risk)]
    write_json("car.json", N=side * side, expected=expected, cases=cases, **{"from": source, "to": target})


def network():
    draw = random.Random(14)
    people = 12
    places = [(-1.5, 0.0), (1.5, 0.0), (0.0, 1.5)] + [(draw.gauss(0, 1), draw.gauss(0, 1)) for _ in range(people - 3)]
    a, b, tie = [], [], []
    for i in range(people):
        for j in range(i):
            a.append(i + 1)
            b.append(j + 1)
            tie.append(int(draw.random() < ilogit(2 - math.dist(places[i], places[j]))))
    z = [list(place) if i < 3 else [None, None] for i, place in enumerate(places)]
    write_json("network.json", N=people, z=z, origin=[0, 0], unit=[[1, 0], [0, 1]])
    write_csv("network.csv", a=a, b=b, tie=tie)


def schools():
    write_dump("schools.R", J=8, y=[28, 8, -3, 7, -1, 1, 18, 12], sigma=[15, 10, 16, 11, 9, 11, 10, 18])


def growth():
    draw = random.Random(15)
    age = [1, 2, 3, 4, 5]
    y = []
    for _ in range(10):
        intercept, slope = draw.gauss(2.4, 0.4), draw.gauss(0.5, 0.2)
        y.append([intercept + slope * (t - 3) + draw.gauss(0, 0.2) for t in age])
    y[3][4] = None
    write_json("growth.json", N=10, T=5, age=age, y=y, R=[[0.3, 0.0], [0.0, 0.1]],
               **{"prior.mean": [0, 0], "prior.precision": [[0.01, 0], [0, 0.01]]})


def mixture():
    draw = random.Random(16)
    write_csv("mixture.csv", y=[draw.gauss(-2, 0.8) if draw.random() < 0.4 else draw.gauss(1.5, 0.8) for _ in range(60)])


def survival():
    draw = random.Random(17)
    time, load, running, running_load = [], [], [], []
    for _ in range(40):
        stress = draw.choice([0, 0.5, 1])
        lasted = (draw.expovariate(1) / math.exp(-1 + 1.2 * stress)) ** (1 / 1.5)
        if lasted < 2.5:
            time.append(lasted)
            load.append(stress)
        else:
            running.append(2.5)
            running_load.append(stress)
    write_csv("survival.csv", time=time, load=load)
    write_dump("survival.R", running=running, **{"running.load": running_load})


def votes():
    draw = random.Random(18)
    table = []
    for _ in range(8):
        weights = [draw.gammavariate(alpha, 1) for alpha in (6, 4, 2)]
        picks = [draw.choices(range(3), weights)[0] for _ in range(draw.randint(50, 150))]
        table.append([picks.count(k) for k in range(3)])
    write_json("votes.json", D=8, votes=table)


def radios():
    """Two networks: ranges with a common bias, and ranges from signal strengths, whose noise multiplies."""
    draw = random.Random(19)
    anchors = [(0.0, 0.0), (8.0, 0.0), (0.0, 6.0), (8.0, 6.0)]
    places = anchors + [(draw.uniform(0, 8), draw.uniform(0, 6)) for _ in range(5)]
    pairs = [(i, j) for i in range(len(places)) for j in range(i) if i >= 4]
    distances = [math.dist(places[i], places[j]) for i, j in pairs]
    known = [list(place) if i < 4 else [None, None] for i, place in enumerate(places)]
    common = {"S": len(places), "x": known, "from": [i + 1 for i, _ in pairs], "to": [j + 1 for _, j in pairs]}
    write_dump("ranges.R", r=[d - 0.3 + draw.gauss(0, 0.1) for d in distances], **common)
    write_dump("rss.R", logr=[math.log(d) + 0.1 + draw.gauss(0, 0.4) for d in distances], centre=[4.0, 3.0],
               precision=[[0.01, 0.0], [0.0, 0.01]], **common)
    write_dump("normal.R", d=10)


for make in (gaussian_grid, sensors, crowd, lines, counts, hierarchical, state_space, car, network, schools, growth,
             mixture, survival, votes, radios):
    make()
