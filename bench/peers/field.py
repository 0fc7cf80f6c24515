"""A Poisson field with unknown precision, for svmp and for NUTS.

    python3 bench/peers/field.py write SIDE FOLDER            field.bug and field.json
    python3 bench/peers/field.py nuts FOLDER SECONDS          NumPyro's NUTS on them, within SECONDS
    python3 bench/peers/field.py compare FOLDER FILE          compares a result of svmp with that of NUTS

Counts are drawn from the model with tau = 4. NUTS runs in single precision on the device that JAX finds, the density and
its gradient one jitted function of whole arrays, with the default tree depth of 10; first 300 iterations of warm-up.
What it reports of itself: draws, gradients and effective draws a second.
"""
import csv
import json
import sys
import time

import numpy as np

MODEL = """model {{
  tau ~ dgamma(8, 2)
  u[1,1] ~ dnorm(0, 1)
  for (j in 2:{0}) {{
    u[1,j] ~ dnorm(u[1,j-1], tau)
    u[j,1] ~ dnorm(u[j-1,1], tau)
  }}
  for (i in 2:{0}) {{
    for (j in 2:{0}) {{ u[i,j] ~ dnorm(0.5 * u[i-1,j] + 0.5 * u[i,j-1], tau) }}
  }}
  for (i in 1:{0}) {{
    for (j in 1:{0}) {{ y[i,j] ~ dpois(exp(1 + u[i,j])) }}
  }}
}}
"""


def write(side, folder):
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(side, side)) / 2
    u = np.zeros((side, side))
    u[0, 0] = 2 * noise[0, 0]
    for k in range(1, side):
        u[0, k], u[k, 0] = u[0, k - 1] + noise[0, k], u[k - 1, 0] + noise[k, 0]
    for i in range(1, side):
        for j in range(1, side):
            u[i, j] = 0.5 * (u[i - 1, j] + u[i, j - 1]) + noise[i, j]
    with open(f"{folder}/field.bug", "w") as file:
        file.write(MODEL.format(side))
    with open(f"{folder}/field.json", "w") as file:
        json.dump({"y": rng.poisson(np.exp(np.minimum(1 + u, 8))).tolist()}, file)


def nuts(folder, seconds):
    import jax
    import jax.numpy as jnp
    from numpyro.diagnostics import effective_sample_size
    from numpyro.infer import NUTS

    y = jnp.array(json.load(open(f"{folder}/field.json"))["y"], jnp.float32)
    side = y.shape[0]

    def potential(z):
        u, log_tau = z["u"], z["log_tau"]
        tau = jnp.exp(log_tau)
        steps = jnp.concatenate([u[0, 1:] - u[0, :-1], u[1:, 0] - u[:-1, 0],
                                 (u[1:, 1:] - 0.5 * u[:-1, 1:] - 0.5 * u[1:, :-1]).ravel()])
        prior = 0.5 * steps.size * log_tau - 0.5 * tau * (steps**2).sum() - 0.5 * u[0, 0] ** 2 + 8 * log_tau - 2 * tau
        return -(prior + (y * (1 + u) - jnp.exp(1 + u)).sum())

    started = time.perf_counter()
    kernel = NUTS(potential_fn=potential)
    warmup, start = 300, {"u": jnp.zeros_like(y), "log_tau": jnp.array(1.0)}
    state = kernel.init(jax.random.key(0), warmup, start, (), {})
    one = jax.jit(lambda state: kernel.sample(state, (), {}))
    watched = [(0, 0), (side // 2, side // 2), (side - 1, side - 1), (side // 3, side // 4)]
    state = jax.block_until_ready(one(state))
    compiled = time.perf_counter() - started
    iterations, gradients, kept, first = 1, 0, [], 0.0
    total, squares = jnp.zeros_like(y), jnp.zeros_like(y)
    while time.perf_counter() - started < seconds:
        state = one(state)
        iterations += 1
        gradients += int(state.num_steps)
        if iterations == warmup:
            first, before = time.perf_counter(), gradients
        if iterations > warmup:
            u = state.z["u"]
            kept.append([float(state.z["log_tau"])] + [float(u[at]) for at in watched])
            total, squares = total + u, squares + u**2
    print(f"nuts {jax.devices()[0].device_kind}: compiled after {compiled:.1f} s, {iterations} iterations and {gradients} "
          f"gradients in {seconds:.0f} s", flush=True)
    if len(kept) < 10:
        print(f"nuts: {len(kept)} draws after the warm-up of {warmup}: no answer within {seconds:.0f} s")
        return
    spent = time.perf_counter() - first
    draws = np.array(kept)
    effective = [float(effective_sample_size(draws[None, :, k])) for k in range(draws.shape[1])]
    print(f"nuts: {len(draws)} draws in {spent:.1f} s after the warm-up ({first - started:.1f} s), "
          f"{(gradients - before) / len(draws):.0f} gradients each; effective draws a second: tau {effective[0] / spent:.2f}, "
          f"places {min(effective[1:]) / spent:.2f} - {max(effective[1:]) / spent:.2f}")
    mean = np.array(total) / len(draws)
    np.savez(f"{folder}/nuts.npz", mean=mean, sd=np.sqrt(np.maximum(np.array(squares) / len(draws) - mean**2, 0)),
             tau=np.exp(draws[:, 0]), effective=effective)


def compare(folder, path):
    reference = np.load(f"{folder}/nuts.npz")
    with open(path) as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    names, values = rows[0], np.array([[float(v) for v in row] for row in rows[1:]])
    side = reference["mean"].shape[0]
    column = {name: k for k, name in enumerate(names)}
    pick = np.array([[column[f"u.{i}.{j}"] for j in range(1, side + 1)] for i in range(1, side + 1)])
    u, tau = values[:, pick], values[:, column["tau"]]
    sd = reference["sd"]
    print(f"{path.split('/')[-1]}: tau {tau.mean():.4f} +- {tau.std():.4f} (NUTS {reference['tau'].mean():.4f} +- "
          f"{reference['tau'].std():.4f}, {reference['effective'][0]:.0f} effective draws); means of places differ by "
          f"{np.sqrt((((u.mean(0) - reference['mean']) / sd) ** 2).mean()):.3f} sd (root mean square), sd are "
          f"{np.median(u.std(0) / sd):.3f} of those of NUTS (median)")


{"write": lambda: write(int(sys.argv[2]), sys.argv[3]), "nuts": lambda: nuts(sys.argv[2], float(sys.argv[3])),
 "compare": lambda: compare(sys.argv[2], sys.argv[3])}[sys.argv[1]]()
