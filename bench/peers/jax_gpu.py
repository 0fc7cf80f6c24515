"""Graphical SVGD in JAX, on the device that JAX finds: for comparison with bench_gpu.

    python3 bench/peers/jax_gpu.py [grid:SIDE:PARTICLES | sensors:FILE:PARTICLES | crowd:FILE:PARTICLES ...]

FILE has the data of models/sensors.bug or models/crowd.bug (bench_gpu --write). One iteration is: the score, squared
distances on every distinct closed neighbourhood, their exact median, the kernel, phi and an AdaGrad step; single
precision, jitted, iterations in lax.fori_loop, so that nothing but the device is timed. Scores are gathered, not
scattered; neighbourhoods are padded with rows of zeros to the size of the largest one, which costs the device less than
a launch for each size. Distances are computed in two ways, as sums of squared differences and from products (matrix
products in full single precision); the faster one counts.
"""
import json
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np


def pad(lists, filler, dtype=np.int32):
    """Lists of different lengths as one matrix."""
    padded = np.full((len(lists), max(map(len, lists))), filler, dtype=dtype)
    for k, each in enumerate(lists):
        padded[k, : len(each)] = each
    return padded


def units(neighbours, width):
    """Distinct closed neighbourhoods of nodes that have `width` variables each, variable width*v + c: the rows of each,
    its members, and where a variable is among all members."""
    found = {}
    for v, near in enumerate(neighbours):
        found.setdefault(tuple(sorted(set(near) | {v})), []).append(v)
    variables = lambda nodes: [width * u + c for u in nodes for c in range(width)]
    rows = [variables(domain) for domain in found]
    members = [variables(nodes) for nodes in found.values()]
    d = width * len(neighbours)
    padded = pad(members, d)
    position = np.zeros(d, dtype=np.int32)
    for u, m in np.argwhere(padded < d):
        position[padded[u, m]] = u * padded.shape[1] + m
    return pad(rows, d), padded, position


def grid(side):
    d = side * side
    neighbours = []
    for v in range(d):
        r, c = divmod(v, side)
        neighbours.append([u for ok, u in ((r > 0, v - side), (r + 1 < side, v + side), (c > 0, v - 1), (c + 1 < side, v + 1)) if ok])
    index = jnp.array(pad(neighbours, d))
    diagonal = jnp.array([1 + 0.5 * len(near) for near in neighbours], jnp.float32)[:, None]

    def score(x):
        return 0.5 * x_padded(x)[index].sum(1) - diagonal * x

    return neighbours, 1, score, 0.0


def x_padded(x):
    return jnp.concatenate([x, jnp.zeros((1, x.shape[1]), x.dtype)])


def sensors(path):
    data = json.load(open(path))
    known = np.array([[np.nan if c is None else c for c in p] for p in data["x"]])
    free = np.flatnonzero(np.isnan(known[:, 0]))
    number = {int(i): k for k, i in enumerate(free)}
    anchors = np.flatnonzero(~np.isnan(known[:, 0]))
    place = {int(i): len(free) + k for k, i in enumerate(anchors)} | number
    others, ranges, neighbours = ([[] for _ in free] for _ in range(3))
    for i, j, r in zip(data["from"], data["to"], data["r"]):
        for a, b in ((int(i) - 1, int(j) - 1), (int(j) - 1, int(i) - 1)):
            if a not in number:
                continue
            others[number[a]].append(place[b])
            ranges[number[a]].append(r)
            if b in number:
                neighbours[number[a]].append(number[b])
    other, length = jnp.array(pad(others, 0)), jnp.array(pad(ranges, -1, np.float32))[:, :, None]
    fixed = jnp.array(known[anchors], jnp.float32)[:, :, None]
    precision = 1 / data["sigma"] ** 2

    def score(x):
        n = x.shape[1]
        here = x.reshape(-1, 2, n)
        there = jnp.concatenate([here, jnp.broadcast_to(fixed, (len(anchors), 2, n))])[other]
        apart = here[:, None] - there
        distance = jnp.sqrt((apart**2).sum(2))
        pull = jnp.where(length >= 0, precision * (length / distance - 1), 0)
        return (pull[:, :, None] * apart).sum(1).reshape(-1, n)

    return neighbours, 2, score, 0.0


def crowd(path):
    data = json.load(open(path))
    questions, workers = data["questions"], data["workers"]
    question, worker = np.array(data["question"], int) - 1, np.array(data["worker"], int) - 1
    answer = np.array(data["answer"])
    by_question = [np.flatnonzero(question == i) for i in range(questions)]
    by_worker = [np.flatnonzero(worker == j) for j in range(workers)]
    their, questions_of = jnp.array(pad([worker[k] for k in by_question], workers)), jnp.array(pad([question[k] for k in by_worker], questions))
    to_question = jnp.array(pad([answer[k] for k in by_question], 0, np.float32))[:, :, None]
    by_each = jnp.array(pad([answer[k] for k in by_worker], 0, np.float32))[:, :, None]
    has_question, has_worker = (their < workers)[:, :, None], (questions_of < questions)[:, :, None]
    neighbours = [[questions + j for j in worker[k]] + [questions + workers + j for j in worker[k]] for k in by_question]
    for shift in (workers, 0):  # of biases and noises
        for j, k in enumerate(by_worker):
            neighbours.append(list(question[k]) + [questions + shift + j])

    def score(x):
        value, bias, noise = x[:questions], x[questions : questions + workers], x[questions + workers :]
        precision = jnp.exp(-noise)
        error = to_question - value[:, None] - x_padded(bias)[their]
        of_value = jnp.where(has_question, error * x_padded(precision)[their], 0).sum(1) - value / 25
        mine = by_each - x_padded(value)[questions_of] - bias[:, None]
        of_bias = jnp.where(has_worker, mine * precision[:, None], 0).sum(1) - bias / 25
        of_noise = jnp.where(has_worker, 0.5 * mine**2 * precision[:, None] - 0.5, 0).sum(1) - 3 + precision
        return jnp.concatenate([of_value, of_bias, of_noise])

    return neighbours, 1, score, 0.0


def measure(name, model, n, by_products):
    neighbours, width, score, _ = model
    rows, members, position = (jnp.array(a) for a in units(neighbours, width))
    d, count = width * len(neighbours), rows.shape[0]
    upper = np.triu_indices(n, 1)
    pairs = n * (n - 1) // 2
    low, high = (pairs - 1) // 2, pairs // 2

    def velocities(row, member, x, s):
        near, mine, scores = x[row], x[member], s[member]
        if by_products:
            near = near - near.mean(-1, keepdims=True)
            product = jnp.einsum("ucl,ucm->ulm", near, near, precision=jax.lax.Precision.HIGHEST)
            square = jnp.einsum("ull->ul", product)
            distance = jnp.maximum(square[:, :, None] + square[:, None, :] - 2 * product, 0)
        else:
            distance = jnp.sum((near[:, :, :, None] - near[:, :, None, :]) ** 2, axis=1)
        ordered = jnp.sort(distance[:, upper[0], upper[1]], axis=-1)
        h = (((jnp.sqrt(ordered[:, low]) + jnp.sqrt(ordered[:, high])) / 2) ** 2)[:, None, None]
        k = jnp.exp(-distance / h)
        dot = lambda a: jnp.einsum("uml,ulk->umk", a, k, precision=jax.lax.Precision.HIGHEST)
        return (dot(scores) + (2 / h) * (mine * k.sum(1)[:, None] - dot(mine))) / n

    batch = max(1, min(count, int(2e9 // (n * n * 4 * (1 if by_products else 2)))))

    def iterate(_, state):
        x, squares = state
        s, padded = x_padded(score(x)), x_padded(x)
        if batch >= count:
            phi = velocities(rows, members, padded, s)
        else:
            phi = jax.lax.map(lambda one: velocities(one[0][None], one[1][None], padded, s)[0], (rows, members),
                              batch_size=4096)
        phi = phi.reshape(-1, n)[position]
        squares = squares + phi**2
        return x + 0.01 * phi / (1e-8 + jnp.sqrt(squares)), squares

    x = jax.random.uniform(jax.random.key(1), (d, n), jnp.float32)
    state = (x, jnp.zeros_like(x))
    run = jax.jit(lambda state, times: jax.lax.fori_loop(0, times, iterate, state))
    jax.block_until_ready(run(state, 2))
    started = time.perf_counter()
    state = jax.block_until_ready(run(state, 4))
    times, spent = max(4, int(0.05 * 4 / (time.perf_counter() - started))), []
    for _ in range(5):
        started = time.perf_counter()
        state = jax.block_until_ready(run(state, times))
        spent.append((time.perf_counter() - started) / times)
    if not bool(jnp.isfinite(state[0]).all()):
        print(f"{name}: not finite", flush=True)
    return sorted(spent)[2], len(neighbours), rows.shape[1]


def report(case):
    kind, of, n = case.split(":")
    n = int(n)
    model = {"grid": lambda: grid(int(of)), "sensors": lambda: sensors(of), "crowd": lambda: crowd(of)}[kind]()
    found = []
    for by_products in (False, True):
        try:
            found.append(measure(kind, model, n, by_products))
        except Exception as error:  # out of memory: only the other form is measured
            print(f"{kind} by {'products' if by_products else 'differences'}: {str(error)[:100]}", flush=True)
    if not found:
        return
    took, nodes, most = min(found)
    ways = ", ".join(f"{1e6 * each[0]:.1f}" for each in found)
    name = f"{of} x {of}" if kind == "grid" else f"{kind} of {nodes} nodes, up to {most} rows"
    print(f"jax {jax.__version__} {jax.devices()[0].device_kind}: {name}, n = {n}: {1e6 * took:.2f} us an iteration, "
          f"{1e9 * took / nodes / (n * (n - 1) / 2):.5f} ns a node and pair ({ways} us by differences, by products)",
          flush=True)


for case in sys.argv[1:] or ["grid:10:50", "grid:100:50", "grid:100:200"]:
    report(case)
