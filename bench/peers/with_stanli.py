"""NUTS of stanli on model.stan; see sampler.py."""
import numpy as np
import stanli

from sampler import arguments, draw, plain_name

path, names, warmup, goal, seed, seconds, data = arguments()
model = stanli.Model(stan_file=path, data=data)
fit = model.sample(chains=1, seed=seed, warmup=warmup, samples=1, refresh=0)
columns, diverged = [[plain_name(each) for each in fit.names].index(name) for name in names], 0


def block():
    """Continues the chain with the step and metric of its warm-up."""
    global fit, seed, diverged
    last, seed = {name: fit.draws(name)[0, -1].tolist() for name in fit.variables}, seed + 1000
    fit = model.sample(chains=1, seed=seed, warmup=0, samples=50, adapt_engaged=False, refresh=0, inits=model.unconstrain(last),
                       inv_metric=fit.inv_metric, step_size=float(fit.step_size[0]))
    diverged += int(fit.divergences.sum())
    return np.asarray(fit.draws()[0][:, columns])


draw(block, names, goal, seconds, lambda: "%d diverged" % diverged if diverged else "")
