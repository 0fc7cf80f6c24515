#!/usr/bin/env python3
"""NUTS on five models that once did not converge, or slowly: fewest effective draws and largest R-hat over all
variables, divergent trajectories, CPU seconds without the examination; the worst of some seeds.

    bench/nuts.py [--quick | SEEDS] [NAME ...]
"""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

import numpy as np

SVMP = os.path.abspath(os.path.join(os.environ.get("BUILD", "build/release"), "svmp"))
rng = np.random.default_rng(1)
MODELS = {}

x = np.round(rng.uniform(10, 40, 30), 2)
MODELS["line"] = dict(N=30, x=x, y=np.round(3 + 1.7 * x + 4 * rng.normal(size=30), 3)), """model {
  for (i in 1:N) { y[i] ~ dnorm(a + b*x[i], tau) }
  a ~ dunif(-1000, 1000)
  b ~ dunif(-1000, 1000)
  sigma ~ dunif(0, 1000)
  tau <- pow(sigma, -2)
}
"""

dose = np.array([0, 10, 33, 100, 333, 1000.0])
MODELS["dose"] = dict(x=dose, Y=rng.poisson(np.exp(2.2 + 0.31 * np.log(dose + 10) - 0.00097 * dose)[:, None] *
                                            np.exp(0.25 * rng.normal(size=(6, 3))))), """model {
  for (i in 1:6) { for (j in 1:3) {
    Y[i,j] ~ dpois(mu[i,j])
    log(mu[i,j]) <- alpha + beta*log(x[i]+10) + gamma*x[i] + lambda[i,j]
    lambda[i,j] ~ dnorm(0, tau)
  } }
  alpha ~ dnorm(0, 1.0E-6)
  beta ~ dnorm(0, 1.0E-6)
  gamma ~ dnorm(0, 1.0E-6)
  tau ~ dgamma(0.001, 0.001)
  sigma <- 1/sqrt(tau)
}
"""


def cells(share, se=(0.85, 0.9), sp=(0.95, 0.92)):
    """Both tests positive, the first, the second, none."""
    ill = np.array([se[0] * se[1], se[0] * (1 - se[1]), (1 - se[0]) * se[1], (1 - se[0]) * (1 - se[1])])
    well = np.array([(1 - sp[0]) * (1 - sp[1]), (1 - sp[0]) * sp[1], sp[0] * (1 - sp[1]), sp[0] * sp[1]])
    return share * ill + (1 - share) * well


MODELS["tests"] = dict(n=[300, 250], y=[rng.multinomial(300, cells(0.1)), rng.multinomial(250, cells(0.45))]), """model {
  for (k in 1:2) {
    y[k,1:4] ~ dmulti(q[k,1:4], n[k])
    q[k,1] <- pi[k]*Se[1]*Se[2] + (1-pi[k])*(1-Sp[1])*(1-Sp[2])
    q[k,2] <- pi[k]*Se[1]*(1-Se[2]) + (1-pi[k])*(1-Sp[1])*Sp[2]
    q[k,3] <- pi[k]*(1-Se[1])*Se[2] + (1-pi[k])*Sp[1]*(1-Sp[2])
    q[k,4] <- pi[k]*(1-Se[1])*(1-Se[2]) + (1-pi[k])*Sp[1]*Sp[2]
    pi[k] ~ dbeta(1, 1)
  }
  for (t in 1:2) { Se[t] ~ dbeta(10, 3)   Sp[t] ~ dbeta(10, 2) }
}
"""

T = 100
level = np.cumsum(np.r_[10, 0.3 * rng.normal(size=T - 1)] + np.cumsum(0.05 * rng.normal(size=T)))
MODELS["trend"] = dict(T=T, y=np.round(level + 0.8 * rng.normal(size=T), 3)), """model {
  level[1] ~ dnorm(0, 0.0001)
  slope[1] ~ dnorm(0, 0.01)
  for (t in 2:T) {
    level[t] ~ dnorm(level[t-1] + slope[t-1], tau_level)
    slope[t] ~ dnorm(slope[t-1], tau_slope)
  }
  for (t in 1:T) { y[t] ~ dnorm(level[t], tau_y) }
  s_level ~ dunif(0, 10)
  s_slope ~ dunif(0, 10)
  s_y ~ dunif(0, 10)
  tau_level <- pow(s_level, -2)
  tau_slope <- pow(s_slope, -2)
  tau_y <- pow(s_y, -2)
}
"""

T, h = 300, [-1.0]
for t in range(1, T):
    h.append(-1 + 0.95 * (h[-1] + 1) + 0.25 * rng.normal())
MODELS["volatility"] = dict(T=T, y=np.round(np.exp(np.array(h) / 2) * rng.normal(size=T), 4)), """model {
  h[1] ~ dnorm(mu, tau*(1-phi*phi))
  for (t in 2:T) { h[t] ~ dnorm(mu + phi*(h[t-1]-mu), tau) }
  for (t in 1:T) { y[t] ~ dnorm(0, exp(-h[t])) }
  mu ~ dnorm(0, 0.04)
  phi <- 2*phi0 - 1
  phi0 ~ dbeta(20, 1.5)
  tau ~ dgamma(2.5, 0.025)
  sigma <- 1/sqrt(tau)
}
"""


def run(name, seed, length):
    """Fewest effective draws, largest R-hat, divergent trajectories, CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    said = subprocess.run([SVMP, "run", "model.bug", "data.json", "-m", "nuts", "--seed", str(seed), "--threads", "1", "--quiet",
                           "--verify", "no", "--warmup", str(length), "--draws", str(length), "-o", "out.csv", "-f"],
                          capture_output=True, text=True, check=True).stdout
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    with open("out.csv") as file:
        header = next(line for line in file if not line.startswith("#")).strip().split(",")
    arrays = dict.fromkeys(re.sub(r"(\.\d+)+$", "", name) for name in header if not name.endswith("__"))
    table = subprocess.run([SVMP, "summary", "out.csv", "--variables", ",".join(arrays)], capture_output=True, text=True).stdout
    rows = [line.split() for line in table.splitlines() if re.match(r"^\S+( +-?[\d.e+-]+){9}$", line)]
    divergent = int(re.search(r"(\d+) divergent", said).group(1))
    return min(int(w) for row in rows for w in row[-2:] if w != "-"), max(float(row[-3]) for row in rows), divergent, spent


def main():
    words = sys.argv[1:]
    quick = words[:1] == ["--quick"]
    seeds = int(words[0]) if words and words[0].isdigit() else 1 if quick else 10
    names = [word for word in words if word in MODELS] or list(MODELS)
    print("%-12s %16s %8s %10s %6s" % ("model", "effective draws", "R-hat", "divergent", "CPU s"))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in names:
            data, text = MODELS[name]
            with open("model.bug", "w") as file:
                file.write(text)
            with open("data.json", "w") as file:
                json.dump(data, file, default=lambda a: a.tolist())
            found = [run(name, seed, 100 if quick else 1000) for seed in range(1, seeds + 1)]
            few, rhat, divergent, spent = zip(*found)
            print("%-12s %16d %8.3f %10d %6.2f" % (name, min(few), max(rhat), sum(divergent), np.mean(spent)), flush=True)


main()
