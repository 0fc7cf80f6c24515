"""NUTS of NumPyro on model.py, in double precision; see sampler.py."""
import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp
from numpyro import factor, sample
from numpyro.distributions import *
from numpyro.infer import NUTS

from sampler import arguments, draw, plain_name

jax.config.update("jax_enable_x64", True)
scan = jax.lax.scan
path, names, warmup, goal, seed, seconds, data = arguments()
with open(path) as file:
    exec(file.read())
data = {name: value if isinstance(value, int) else jnp.array(value) for name, value in data.items()}
kernel = NUTS(model)
state = kernel.init(jax.random.key(seed), warmup, None, (data,), {})
diverged = 0


@jax.jit
def step(state):
    state = kernel.sample(state, (data,), {})
    return state, kernel.postprocess_fn((data,), {})(state.z)


for _ in range(warmup):
    state, values = step(state)
places = {plain_name(site + "".join("[%d]" % (k + 1) for k in at)): (site, at)
          for site, value in values.items() for at in np.ndindex(value.shape)}


def block():
    global state, diverged
    rows = []
    for _ in range(50):
        state, values = step(state)
        diverged += int(state.diverging)
        rows.append([float(values[places[name][0]][places[name][1]]) for name in names])
    return np.array(rows)


draw(block, names, goal, seconds, lambda: "%d diverged" % diverged if diverged else "")
