#!/usr/bin/env python3
"""Writes the data of the models in models/, simulated with numpy from models of the same kind. Each maker has a fixed
seed, so the files are always the same. Called with names, it writes only those."""
import json
import os
import sys

import numpy as np

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models")
makers = {}


def maker(seed):
    def keep(function):
        makers[function.__name__] = (seed, function)
        return function
    return keep


def plain(value, digits=6):
    """Numbers for JSON: six digits, whole numbers as such, nan as null."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item, digits) for item in value]
    if isinstance(value, (bool, np.bool_, int, np.integer)):
        return int(value)
    return None if np.isnan(value) else float("%.*g" % (digits, value))


def write(name, data):
    with open(os.path.join(folder, name + ".json"), "w") as file:
        lines = ["  %s: %s" % (json.dumps(key), json.dumps(plain(value))) for key, value in data.items()]
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


def ilogit(x):
    return 1 / (1 + np.exp(-x))


def hidden(values, where):
    values = np.array(values, dtype=float)
    values[where] = np.nan
    return values


# Regressions with random effects

@maker(101)
def wards(draw):
    groups, size = 18, 8
    ward = np.repeat(np.arange(groups), size)
    age = draw.normal(0, 1, groups * size)
    effect = draw.normal(0, 0.8, groups)
    ill = draw.random(groups * size) < ilogit(-0.6 + 0.7 * age + effect[ward])
    return {"J": groups, "ward": ward + 1, "age": age, "ill": ill}


@maker(102)
def raters(draw):
    essays, judges = 25, 10
    essay, judge = [a.ravel() for a in np.meshgrid(np.arange(essays), np.arange(judges), indexing="ij")]
    kept = draw.random(len(essay)) < 0.6
    essay, judge = essay[kept], judge[kept]
    quality, strict = draw.normal(0, 1.0, essays), draw.normal(0, 0.5, judges)
    passed = draw.random(len(essay)) < ilogit(0.4 + quality[essay] - strict[judge])
    return {"E": essays, "R": judges, "essay": essay + 1, "rater": judge + 1, "passed": passed}


@maker(103)
def classes(draw):
    schools, per, pupils = 12, 3, 6
    school = np.repeat(np.arange(schools), per)
    level = draw.normal(0, 4, schools)
    room = level[school] + draw.normal(0, 2.5, len(school))
    index = np.repeat(np.arange(len(school)), pupils)
    hours = draw.uniform(0, 10, len(index))
    score = 50 + 1.5 * (hours - 5) + room[index] + draw.normal(0, 6, len(index))
    return {"S": schools, "C": len(school), "school": school + 1, "class": index + 1, "hours": hours, "score": score}


@maker(104)
def visits(draw):
    patients, times = 40, 4
    treated = draw.random(patients) < 0.5
    effect = draw.normal(0, 0.6, patients)
    extra = draw.normal(0, 0.35, (patients, times))
    base = draw.lognormal(2, 0.5, patients)
    rate = np.exp(1.2 + 0.5 * (np.log(base) - 2) - 0.5 * treated + effect)[:, None] * np.exp(extra)
    return {"N": patients, "T": times, "treated": treated, "base": np.round(base, 1), "count": draw.poisson(rate)}


# Growth curves, and the same in bad coordinates

def calf_weights(draw):
    calves, days = 30, np.array([8.0, 15, 22, 29, 36])
    level, slope = draw.normal(243, 14, calves), draw.normal(6.2, 0.5, calves)
    return days, level[:, None] + slope[:, None] * (days - 22) + draw.normal(0, 6, (calves, len(days)))


@maker(105)
def calves(draw):
    days, weight = calf_weights(draw)
    return {"N": len(weight), "T": len(days), "day": days, "weight": weight}


@maker(105)
def calves_uncentred(draw):
    days, weight = calf_weights(draw)
    return {"N": len(weight), "T": len(days), "day": days, "weight": weight}


@maker(105)
def calves_units(draw):
    days, weight = calf_weights(draw)  # micrograms and megadays
    return {"N": len(weight), "T": len(days), "time": days * 1e-6, "weight": weight * 1e6}


# Meta-analysis

@maker(106)
def trials(draw):
    studies = 20
    n0, n1 = draw.integers(30, 300, studies), draw.integers(30, 300, studies)
    base, effect = draw.normal(-1.8, 0.5, studies), draw.normal(-0.35, 0.25, studies)
    return {"N": studies, "n0": n0, "n1": n1, "r0": draw.binomial(n0, ilogit(base)),
            "r1": draw.binomial(n1, ilogit(base + effect))}


@maker(107)
def studies(draw):
    sigma = draw.uniform(0.15, 0.5, 9)
    return {"J": 9, "estimate": draw.normal(0.3, 0.15, 9) + sigma * draw.normal(0, 1, 9), "error": sigma}


# Item response

@maker(108)
def quiz(draw):
    persons, items = 30, 10
    ability, difficulty = draw.normal(0, 1, persons), draw.normal(0, 1, items)
    right = draw.random((persons, items)) < ilogit(ability[:, None] - difficulty)
    return {"N": persons, "K": items, "right": right}


@maker(109)
def exam(draw):
    persons, items = 500, 12
    ability, difficulty = draw.normal(0, 1, persons), np.linspace(-1.5, 1.5, items)
    sharp = draw.uniform(0.7, 1.8, items)
    right = draw.random((persons, items)) < ilogit(sharp * (ability[:, None] - difficulty))
    return {"N": persons, "K": items, "right": right}


# Counts

@maker(110)
def seedlings(draw):
    plates = 22
    variety, extract = np.arange(plates) % 2, (np.arange(plates) // 2) % 2
    n = draw.integers(10, 80, plates)
    p = ilogit(-0.5 + 0.2 * variety + 1.2 * extract - 0.7 * variety * extract + draw.normal(0, 0.3, plates))
    return {"N": plates, "n": n, "r": draw.binomial(n, p), "variety": variety, "extract": extract}


@maker(111)
def moths(draw):
    traps = 35
    temperature = draw.normal(18, 4, traps)
    nights = draw.integers(1, 6, traps)
    rate = nights * np.exp(1 + 0.12 * (temperature - 18) + draw.normal(0, 0.5, traps))
    return {"N": traps, "temperature": temperature, "nights": nights, "caught": draw.poisson(rate)}


@maker(112)
def absences(draw):
    pupils = 90
    girl, mark = draw.random(pupils) < 0.5, draw.normal(0, 1, pupils)
    mean = np.exp(1.5 - 0.3 * girl - 0.4 * mark)
    size = 1.4
    return {"N": pupils, "girl": girl, "mark": mark, "days": draw.negative_binomial(size, size / (size + mean))}


@maker(113)
def breakdowns(draw):
    machines = 12
    hours = draw.lognormal(2.5, 1.2, machines)
    return {"N": machines, "hours": hours, "failures": draw.poisson(draw.gamma(0.9, 1 / 1.5, machines) * hours)}


@maker(114)
def anglers(draw):
    parties = 120
    size, bait = draw.integers(1, 5, parties), draw.random(parties) < 0.5
    fishing = draw.random(parties) < 0.6
    return {"N": parties, "size": size, "bait": bait,
            "fish": draw.poisson(np.exp(-0.2 + 0.35 * size + 0.6 * bait)) * fishing}


# Survival

@maker(115)
def remission(draw):
    patients = 45
    treated = np.arange(patients) % 2
    shape = 1.4
    time = draw.weibull(shape, patients) * np.exp(-(-3.0 - 1.1 * treated) / shape)
    end = draw.uniform(6, 30, patients)
    return {"N": patients, "treated": treated, "end": end, "censored": time > end,
            "t": np.where(time > end, np.nan, time)}


@maker(116)
def bearings(draw):
    tested = 40
    stress = np.linspace(0, 2, tested)
    logtime = 3 - 0.8 * stress + draw.normal(0, 0.6, tested)
    failed = logtime < 3.0
    return {"N": int(failed.sum()), "logtime": logtime[failed], "stress": stress[failed],
            "M": int((~failed).sum()), "running": stress[~failed], "stop": 3.0}


# Nonlinear regression

@maker(117)
def enzyme(draw):
    c = np.tile([0.02, 0.06, 0.11, 0.22, 0.56, 1.1], 2)
    return {"c": c, "rate": 210 * c / (0.065 + c) + draw.normal(0, 9, len(c))}


@maker(117)
def enzyme_units(draw):
    c = np.tile([0.02, 0.06, 0.11, 0.22, 0.56, 1.1], 2)  # in mol, not micromol; per 11.6 days, not a second
    return {"c": c * 1e-6, "rate": (210 * c / (0.065 + c) + draw.normal(0, 9, len(c))) * 1e6}


@maker(118)
def culture(draw):
    hours = np.arange(0, 24, 1.5)
    return {"hour": hours, "density": 1.8 / (1 + np.exp(-0.55 * (hours - 9))) + draw.normal(0, 0.05, len(hours))}


@maker(119)
def trees(draw):
    number, age = 8, np.array([118.0, 484, 664, 1004, 1231, 1372, 1582])
    size = draw.normal(190, 30, number)
    girth = size[:, None] / (1 + np.exp(-(age - 720) / 350)) + draw.normal(0, 7, (number, len(age)))
    return {"N": number, "T": len(age), "age": age, "girth": girth}


# Regressions

@maker(120)
def outliers(draw):
    n = 60
    x = draw.normal(0, 1, (n, 4))
    return {"N": n, "x": x, "y": 2 + x @ [1, -0.5, 0, 0.8] + 0.6 * draw.standard_t(2.5, n)}


@maker(121)
def houses(draw):
    n = 50
    area, year = draw.uniform(60, 180, n), np.floor(draw.uniform(1960, 2020, n))
    rooms = np.round(area / 25 + draw.normal(0, 0.7, n))
    price = 40 + 2.1 * area + 8 * rooms + 1.2 * (year - 1990) + draw.normal(0, 25, n)
    return {"N": n, "area": area, "year": year, "rooms": rooms, "price": price}


@maker(122)
def shares(draw):
    n = 50
    x = draw.normal(0, 1, n)
    mean, size = ilogit(-0.8 + 0.6 * x), 15
    return {"N": n, "x": x, "share": draw.beta(mean * size, (1 - mean) * size)}


@maker(123)
def ratings(draw):
    n = 120
    price, taste = draw.normal(0, 1, n), draw.normal(0, 1, n)
    z = -0.5 * price + 1.1 * taste + draw.logistic(0, 1, n)
    return {"N": n, "price": price, "taste": taste, "rating": 1 + np.searchsorted([-1.5, -0.2, 1.4], z)}


@maker(124)
def sparse(draw):
    n, p = 60, 12
    x = draw.normal(0, 1, (n, p))
    beta = np.zeros(p)
    beta[[1, 4, 8]] = [2.0, -1.2, 0.6]
    return {"N": n, "P": p, "x": x, "y": 1 + x @ beta + draw.normal(0, 1, n)}


@maker(125)
def choices(draw):
    n = 100
    income = draw.normal(0, 1, n)
    utility = np.stack([np.zeros(n), 0.4 + 0.9 * income, -0.3 - 0.5 * income], axis=1) + draw.gumbel(0, 1, (n, 3))
    return {"N": n, "income": income, "chosen": 1 + utility.argmax(axis=1)}


@maker(126)
def waiting(draw):
    n = 60
    load = draw.uniform(0, 1, n)
    return {"N": n, "load": load, "wait": draw.gamma(2.2, np.exp(0.5 + 1.4 * load) / 2.2)}


# Errors in variables, missing values

@maker(127)
def exposure(draw):
    n = 40
    x = draw.normal(5, 1.5, n)
    return {"N": n, "z": x + draw.normal(0, 0.8, n), "y": 2 + 1.3 * x + draw.normal(0, 1, n)}


@maker(128)
def missing(draw):
    n = 40
    x = draw.normal(0, 1, n)
    w = 0.6 * x + draw.normal(0, 0.8, n)
    y = 1 + 0.8 * x - 0.5 * w + draw.normal(0, 0.5, n)
    return {"N": n, "x": x, "w": hidden(w, [3, 9, 17, 28]), "y": hidden(y, [5, 9, 21, 33, 36, 37, 38, 39])}


# Time series

@maker(129)
def river(draw):
    level = 5 + np.cumsum(draw.normal(0, 0.4, 60))
    return {"T": 60, "y": hidden(level + draw.normal(0, 0.7, 60), list(range(12, 60, 13)) + [30, 31, 32])}


@maker(130)
def trend(draw):
    level, slope, y = 10.0, 0.2, []
    for _ in range(50):
        slope += draw.normal(0, 0.15)
        level += slope + draw.normal(0, 0.3)
        y.append(level + draw.normal(0, 1.0))
    return {"T": 50, "y": y}


@maker(131)
def volatility(draw):
    h, y = draw.normal(-0.5, 0.6), []
    for _ in range(150):
        h = -0.5 + 0.93 * (h + 0.5) + draw.normal(0, 0.25)
        y.append(np.exp(h / 2) * draw.normal())
    return {"T": 150, "y": y}


@maker(132)
def sales(draw):
    t = np.arange(1, 61)
    error, noise = 0.0, []
    for _ in t:
        error = 0.6 * error + draw.normal(0, 1)
        noise.append(error)
    return {"T": 60, "advert": draw.uniform(0, 3, 60), "y": 20 + 0.15 * t + np.array(noise)}


# Several dimensions

@maker(133)
def limbs(draw):
    mix = np.array([[2.0, 0, 0], [1.2, 1.0, 0], [0.8, 0.5, 0.9]])
    true = np.array([20, 24, 18]) + draw.normal(0, 1, (25, 3)) @ mix.T
    return {"N": 25, "R": np.diag([2.0, 2.0, 2.0]), "origin": [20, 20, 20], "vague": np.diag([0.01] * 3),
            "y": true[:, None, :] + draw.normal(0, 0.7, (25, 2, 3))}


@maker(134)
def districts(draw):
    groups, size = 15, 8
    group = np.repeat(np.arange(groups), size)
    both = draw.multivariate_normal([2, -0.5], [[0.8, 0.3], [0.3, 0.4]], groups)
    x = draw.normal(0, 1, len(group))
    return {"J": groups, "district": group + 1, "x": x, "R": np.eye(2), "zero": [0, 0],
            "y": both[group, 0] + both[group, 1] * x + draw.normal(0, 0.8, len(group))}


@maker(135)
def traits(draw):
    persons, loading = 60, np.array([1.0, 0.8, 1.2, 0.5, -0.7, 0.9])
    factor = draw.normal(0, 1, persons)
    y = factor[:, None] * loading + draw.normal(0, 0.7, (persons, 6)) + draw.normal(0, 1, 6)
    return {"N": persons, "K": 6, "y": y}


# Fields

@maker(136)
def smooth(draw):
    x = np.sort(draw.uniform(0, 10, 50))
    return {"N": 50, "x": x, "y": np.sin(x) + 0.3 * x + draw.normal(0, 0.3, 50), "zero": np.zeros(50)}


@maker(137)
def transect(draw):
    x = np.linspace(0, 10, 50)
    return {"N": 50, "x": x, "count": draw.poisson(np.exp(1 + np.sin(x) + 0.3 * np.cos(2.5 * x))), "one": np.ones(50)}


@maker(138)
def forest(draw):
    side = 30
    at = np.arange(side * side).reshape(side, side)
    pairs = np.concatenate([np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], 1),
                            np.stack([at[:-1].ravel(), at[1:].ravel()], 1)])
    precision = np.zeros((side * side, side * side))
    for i, j in pairs:
        precision[i, i] += 1
        precision[j, j] += 1
        precision[i, j] -= 1
        precision[j, i] -= 1
    precision = 4 * (precision + 0.05 * np.eye(side * side))
    u = np.linalg.solve(np.linalg.cholesky(precision).T, draw.normal(0, 1, side * side))
    return {"N": side * side, "from": pairs[:, 0] + 1, "to": pairs[:, 1] + 1, "count": draw.poisson(np.exp(1 + u))}


@maker(139)
def beacons(draw):
    anchors = np.array([[0, 0], [10, 0], [0, 10], [10, 10], [5, 5.0]])
    places = np.concatenate([anchors, draw.uniform(0, 10, (15, 2))])
    distance = np.linalg.norm(places[:, None] - places[None], axis=2)
    pairs = [(i, j) for i in range(5, 20) for j in range(i) if distance[i, j] < 7]
    return {"S": 20, "x": hidden(places, slice(5, 20)),
            "from": [i + 1 for i, _ in pairs], "to": [j + 1 for _, j in pairs],
            "range": [abs(distance[pair] + draw.normal(0, 0.4)) for pair in pairs]}


# Mixtures, several modes, funnels

@maker(140)
def species(draw):
    kind = draw.choice(3, 80, p=[0.5, 0.3, 0.2])
    return {"N": 80, "centre": [-2, 0.5, 3], "spread": [0.8, 0.6, 1.0],
            "y": np.array([-2, 0.5, 3])[kind] + np.array([0.8, 0.6, 1.0])[kind] * draw.normal(0, 1, 80)}


@maker(141)
def twosigns(draw):
    return {"N": 3, "y": [1.9, 2.6, 1.5]}


@maker(142)
def funnel(draw):
    return {"K": 9}


@maker(143)
def funnel_mild(draw):
    return {"K": 20}


# Many variables around a few hubs

@maker(144)
def plots(draw):
    groups = 1000
    plot = np.repeat(np.arange(groups), draw.integers(1, 6, groups))
    rain = draw.normal(0, 1, len(plot))
    soil = draw.normal(0, 1, groups)
    level = 2 + 0.5 * soil + draw.normal(0, 0.7, groups)
    return {"J": groups, "plot": plot + 1, "rain": rain, "soil": soil,
            "y": level[plot] + 0.4 * rain + draw.normal(0, 0.9, len(plot))}


@maker(145)
def parishes(draw):
    groups, regions = 1200, 8
    region = np.arange(groups) % regions
    expected = draw.lognormal(1.5, 0.6, groups)
    rate = np.exp(draw.normal(0, 0.4, regions)[region] + draw.normal(0, 0.5, groups))
    return {"N": groups, "G": regions, "region": region + 1, "expected": expected,
            "cases": draw.poisson(expected * rate)}


if __name__ == "__main__":
    for name in sys.argv[1:] or makers:
        seed, function = makers[name]
        write(name, function(np.random.default_rng(seed)))
