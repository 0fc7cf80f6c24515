"""The problems of bench/peers/run: for each its data, drawn from its model, its hyperparameters, and the start of TMB.

problems/NAME has the models: model.bug for svmp and JAGS, model.stan, model.py for NumPyro, model.cpp for TMB.
"""
import json
import os
import subprocess
import sys
from collections import namedtuple

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
# make(rng, size), full and quick sizes, hyperparameters, parameters of TMB, the names of those it integrates out, and
# the problem with the same models if there is one
Problem = namedtuple("Problem", "make full quick hyper tmb latent models", defaults=("", None))


def logistic(rng, eta):
    return (rng.random(np.shape(eta)) < 1 / (1 + np.exp(-np.asarray(eta)))).astype(int)


def glmm(rng, N):
    J, K = N // 40, N // 100
    person, item, x = rng.integers(J, size=N), rng.integers(K, size=N), rng.normal(size=N)
    eta = -0.5 + 0.8 * x + rng.normal(0, 1, J)[person] + rng.normal(0, 0.7, K)[item]
    return {"N": N, "J": J, "K": K, "y": logistic(rng, eta), "x": x, "person": person + 1, "item": item + 1}


def irt(rng, I):
    J = 30
    theta, a, b = rng.normal(size=(I, 1)), rng.lognormal(0, 0.4, J), rng.normal(0.3, 1, J)
    return {"I": I, "J": J, "y": logistic(rng, a * (theta - b))}


def regression(rng, N):
    K = 10
    X = rng.normal(size=(N, K))
    return {"N": N, "K": K, "X": X, "y": logistic(rng, 0.3 + X @ rng.normal(0, 0.5, K))}


def volatility(rng, T):
    mu, phi, sigma = -1.0, 0.95, 0.25
    h, y = rng.normal(mu, sigma / np.sqrt(1 - phi**2)), []
    for _ in range(T):
        y.append(rng.normal(0, np.exp(h / 2)))
        h = mu + phi * (h - mu) + rng.normal(0, sigma)
    return {"T": T, "y": y}


def arma(rng, T):
    y, last, error = [], 0.5, 0.0
    for _ in range(T):
        new = rng.normal(0, 0.5)
        last, error = 0.1 + 0.8 * last + 0.3 * error + new, new
        y.append(last)
    return {"T": T, "y": y}


def field(rng, S):
    """The field of bench/large, which writes its files into the folder."""
    subprocess.run([sys.executable, os.path.join(HERE, "../large/field.py"), str(S)], check=True)
    with open("field.json") as file:
        return json.load(file)


def gamma_poisson(rng, N):
    exposure = rng.uniform(0.5, 5, N)
    return {"N": N, "exposure": exposure, "y": rng.poisson(rng.gamma(1.5, 1 / 0.8, N) * exposure)}


def hmm(rng, T):
    P = np.array([[0.9, 0.07, 0.03], [0.06, 0.88, 0.06], [0.02, 0.1, 0.88]])
    z, y = 0, []
    for _ in range(T):
        y.append(rng.normal([-1.5, 0.2, 2][z], 0.8))
        z = rng.choice(3, p=P[z])
    return {"T": T, "y": y, "start": np.full(3, 1 / 3), "centre": [-2.0, 0.0, 2.0], "weight": 1 + 3 * np.eye(3)}


def gp(rng, N):
    x = np.sort(rng.uniform(0, 10, N))
    V = np.exp(-((x[:, None] - x) ** 2) / (2 * 0.8**2)) + 0.3**2 * np.eye(N)
    return {"N": N, "x": x, "y": np.linalg.cholesky(V) @ rng.normal(size=N)}


def survival(rng, rows):
    X, shape = rng.normal(size=(rows, 5)), 1.4
    rate = np.exp(-0.5 + X @ np.array([0.5, -0.3, 0.2, 0.0, 0.1]))
    time, end = (rng.exponential(1, rows) / rate) ** (1 / shape), rng.uniform(1, 4, rows)
    died = time < end
    return {"N": died.sum(), "M": (~died).sum(), "time": time[died], "running": end[~died], "X": X[died], "Z": X[~died],
            "lasted": np.ones((~died).sum(), dtype=int)}


def walk(rng, T):
    x = np.cumsum(rng.normal(0, 0.4, T))
    return {"T": T, "y": x + rng.normal(0, 1, T)}


def arma_parameters(d):
    return {"mu": 0, "logit_phi": 0, "logit_theta": 0, "log_sigma": 0}


def volatility_parameters(d):
    return {"mu": 0, "logit_phi": 2, "log_sigma": -1, "h": [0] * d["T"]}


PROBLEMS = {
    "glmm": Problem(glmm, 20000, 400, "a b sigma_u sigma_v",
                    lambda d: {"a": 0, "b": 0, "log_sigma_u": 0, "log_sigma_v": 0, "u": [0] * d["J"], "v": [0] * d["K"]}, "u v"),
    "irt": Problem(irt, 500, 20, "mu_b sigma_a sigma_b",
                   lambda d: {"mu_b": 0, "log_sigma_a": 0, "log_sigma_b": 0, "theta": [0] * d["I"], "log_a": [0] * d["J"], "b": [0] * d["J"]},
                   "theta log_a b"),
    "logistic": Problem(regression, 20000, 200, "alpha " + " ".join("beta_%d" % k for k in range(1, 11)),
                        lambda d: {"alpha": 0, "beta": [0] * d["K"]}),
    "volatility": Problem(volatility, 1000, 60, "mu phi sigma", volatility_parameters, "h"),
    "volatility_recursion": Problem(volatility, 300, 30, "mu phi sigma", volatility_parameters, "h", "volatility"),
    "arma": Problem(arma, 5000, 50, "mu phi theta sigma", arma_parameters),
    "field": Problem(field, 100, 6, "alpha tau", lambda d: {"alpha": 0, "log_tau": 0, "u": np.zeros((d["S"], d["S"]))}, "u"),
    "gamma_poisson": Problem(gamma_poisson, 500, 50, "a b", lambda d: {"log_a": 0, "log_b": 0, "log_lambda": [0] * d["N"]}, "log_lambda"),
    "hmm": Problem(hmm, 2000, 60, "mu_1 mu_2 mu_3 sigma P_1_1 P_2_2 P_3_3",
                   lambda d: {"log_odds": np.full((3, 2), -2), "mu": d["centre"], "log_sigma": 0}),
    "gp": Problem(gp, 200, 20, "rho alpha sigma", lambda d: {"log_rho": 0, "log_alpha": 0, "log_sigma": -1}),
    "survival": Problem(survival, 5000, 200, "shape b0 b_1 b_2 b_3 b_4 b_5", lambda d: {"log_shape": 0, "b0": 0, "b": [0] * 5}),
    "walk": Problem(walk, 5000, 100, "sigma_x sigma_y", lambda d: {"log_sigma_x": 0, "log_sigma_y": 0, "x": d["y"]}, "x"),
}
LENGTHS = {"arma_%d" % length: PROBLEMS["arma"]._replace(full=length, models="arma") for length in (100, 200, 400)}
PROBLEMS.update(LENGTHS)


def plain(value):
    """The data as JSON with five digits, as all programs read them."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(each) for each in value]
    if isinstance(value, (float, np.floating)):
        return float("%.5g" % value)
    return int(value)


def write(name, quick):
    """Writes data.json and the files for TMB to the current folder; returns the data."""
    problem = PROBLEMS[name]
    data = plain(problem.make(np.random.default_rng(1), problem.quick if quick else problem.full))
    with open("data.json", "w") as file:
        json.dump(data, file)
    with open("tmb.json", "w") as file:
        json.dump({"parameters": plain(problem.tmb(data)), "latent": problem.latent.split()}, file)
    return data


def model(name, file):
    """The path of a model, or None for the field, which is in bench/large."""
    if name == "field" and file == "model.bug":
        return "field.bug"
    path = os.path.join(HERE, "problems", PROBLEMS[name].models or name, file)
    own = os.path.join(HERE, "problems", name, file)
    return next((p for p in (own, path) if os.path.exists(p)), None)
