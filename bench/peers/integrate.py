"""References by importance sampling, for problems whose latent variables can be integrated out: the density of the
hyperparameters in numpy, for many draws at once, from t distributions with 7 degrees of freedom that are fitted to their
own weighted draws three times. No program of the comparison takes part.

Each density is a function of the data and of an array (draws, hyperparameters) on the unconstrained scale: logarithms of
what is positive, atanh of what is in (-1, 1). Its constants are left out.
"""
import numpy as np
from scipy.optimize import minimize

logarithm, inside, line = (np.exp, lambda u: u), (np.tanh, lambda u: -2 * np.log(np.cosh(u))), (lambda u: u, lambda u: 0 * u)


def normal(x, mean, sd):
    return -np.log(sd) - 0.5 * ((x - mean) / sd) ** 2


def gamma(x, a, b):
    return (a - 1) * np.log(x) - b * x


def arma(d, mu, phi, theta, sigma):
    y, nu = np.array(d["y"]), mu + phi * mu
    total = normal(mu, 0, 10) + normal(sigma, 0, 2.5) + normal(y[0], nu, sigma)
    for t in range(1, len(y)):
        nu = mu + phi * y[t - 1] + theta * (y[t - 1] - nu)
        total += normal(y[t], nu, sigma)
    return total


def walk(d, sigma_x, sigma_y):
    """A Kalman filter."""
    m, v, total = 0, 100 + 0 * sigma_x, normal(sigma_x, 0, 1) + normal(sigma_y, 0, 1)
    for y in d["y"]:
        s = v + sigma_y**2
        total += normal(y, m, np.sqrt(s))
        m, v = m + v / s * (y - m), v * sigma_y**2 / s + sigma_x**2
    return total


def gamma_poisson(d, a, b):
    """Counts are negative binomial; the ratio of gamma functions of a count y is a product of y factors."""
    total = gamma(a, 2, 1) + gamma(b, 2, 1)
    for y, exposure in zip(d["y"], d["exposure"]):
        total += a * np.log(b / (b + exposure)) - y * np.log(b + exposure) + sum(np.log(a + k) for k in range(y))
    return total


def gp(d, rho, alpha, sigma):
    x, y = np.array(d["x"]), np.array(d["y"])
    distance, total = (x[:, None] - x) ** 2, gamma(rho, 5, 5) + normal(alpha, 0, 1) + normal(sigma, 0, 1)
    for k in range(len(rho)):
        L = np.linalg.cholesky(alpha[k] ** 2 * np.exp(-distance / (2 * rho[k] ** 2)) + sigma[k] ** 2 * np.eye(len(x)))
        total[k] -= np.log(L.diagonal()).sum() + 0.5 * (np.linalg.solve(L, y) ** 2).sum()
    return total


def logistic(d, *theta):
    X = np.column_stack([np.ones(d["N"]), d["X"]])
    total = sum(normal(each, 0, 2.5) for each in theta)
    for part in np.array_split(np.arange(d["N"]), max(1, d["N"] // 200)):
        eta = X[part] @ np.array(theta)
        total += np.array(d["y"])[part] @ eta - np.logaddexp(0, eta).sum(0)
    return total


def survival(d, shape, b0, *b):
    total = gamma(shape, 2, 1) + normal(b0, 0, 2.5) + sum(normal(each, 0, 2.5) for each in b)
    for X, times, died in (d["X"], d["time"], 1), (d["Z"], d["running"], 0):
        for part in np.array_split(np.arange(len(times)), max(1, len(times) // 200)):
            eta, log_time = b0 + np.array(X)[part] @ np.array(b), np.log(times)[part][:, None]
            total += (died * (np.log(shape) + eta + (shape - 1) * log_time) - np.exp(eta + shape * log_time)).sum(0)
    return total


def hmm(d, mu1, mu2, mu3, sigma, *odds):
    """The forward algorithm; odds: logarithms of the ratios of the second and third entry of a row of P to the first."""
    mu, odds = np.array([mu1, mu2, mu3]), np.array(odds).reshape(3, 2, -1)
    P = np.concatenate([np.ones_like(odds[:, :1]), np.exp(odds)], 1)
    P /= P.sum(1, keepdims=True)
    total = normal(sigma, 0, 1) + normal(mu, np.array(d["centre"])[:, None], 1).sum(0)
    total += (np.array(d["weight"])[:, :, None] * np.log(P)).sum((0, 1))
    alpha = np.repeat(np.array(d["start"])[:, None], len(sigma), 1)
    for t, y in enumerate(d["y"]):
        alpha = (alpha if t == 0 else np.einsum("in,ijn->jn", alpha, P)) * np.exp(-0.5 * ((y - mu) / sigma) ** 2)
        scale = alpha.sum(0)
        alpha, total = alpha / scale, total + np.log(scale) - np.log(sigma)
    return total


def hmm_stay(x):
    """The probabilities of staying, from the odds in the last nine columns."""
    P = np.concatenate([np.ones((len(x), 3, 1)), np.exp(x[:, 4:].reshape(-1, 3, 2))], 2)
    P /= P.sum(2, keepdims=True)
    return np.column_stack([x[:, :4], P[:, 0, 0], P[:, 1, 1], P[:, 2, 2]])


# the density, the scales of its arguments, the start of the search for the mode, draws
arma_like = (arma, [line, inside, inside, logarithm], [0, 1, 0.3, -0.7], 20000)
CASES = {
    "arma": arma_like, "arma_100": arma_like, "arma_200": arma_like, "arma_400": arma_like,
    "walk": (walk, [logarithm] * 2, [-1, 0], 40000),
    "gamma_poisson": (gamma_poisson, [logarithm] * 2, [0, 0], 40000),
    "gp": (gp, [logarithm] * 3, [0, 0, -1], 3000),
    "logistic": (logistic, [line] * 11, [0] * 11, 8000),
    "survival": (survival, [logarithm] + [line] * 6, [0] * 7, 20000),
    "hmm": (hmm, [line] * 3 + [logarithm] + [line] * 6, [-2, 0, 2, 0, -2, -2, 2, 0, 0, 2], 20000),
}


def curvature(log_density, mode):
    """The inverse of minus the second derivatives, by central differences."""
    k, step = len(mode), 1e-4
    at = lambda i, j, a, b: mode + step * (a * np.eye(k)[i] + b * np.eye(k)[j])
    corners = [log_density(np.array([at(i, j, a, b) for i in range(k) for j in range(k)])) for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
    return np.linalg.inv(-((corners[0] - corners[1] - corners[2] + corners[3]) / (4 * step**2)).reshape(k, k))


def reference(name, data, names):
    density, scales, start, count = CASES[name]
    natural = lambda u: np.column_stack([scale[0](u[:, k]) for k, scale in enumerate(scales)])

    def log_density(u):
        return density(data, *natural(u).T.copy()) + sum(scale[1](u[:, k]) for k, scale in enumerate(scales))

    found = minimize(lambda u: -log_density(u[None, :])[0], np.array(start, float), method="BFGS")
    mean, covariance, rng = found.x, curvature(log_density, found.x), np.random.default_rng(1)
    for n in (count // 4, count // 4, count):
        L = np.linalg.cholesky(covariance)
        z = rng.normal(size=(n, len(mean))) / np.sqrt(rng.chisquare(7, (n, 1)) / 7)
        u = mean + z @ L.T
        log_weight = log_density(u) + 0.5 * (7 + len(mean)) * np.log1p((z**2).sum(1) / 7)
        weight = np.exp(log_weight - log_weight.max())
        weight /= weight.sum()
        mean = weight @ u
        covariance = (u - mean).T @ ((u - mean) * weight[:, None])
    x = hmm_stay(natural(u)) if name == "hmm" else natural(u)
    mean = weight @ x
    sd = np.sqrt(weight @ (x - mean) ** 2)
    error = np.sqrt(weight**2 @ (x - mean) ** 2)
    error_sd = np.sqrt(weight**2 @ ((x - mean) ** 2 - sd**2) ** 2) / (2 * sd)
    rounded = lambda values: [float("%.6g" % value) for value in values]
    return {"how": "importance sampling (integrate.py), %d draws worth %.0f" % (count, 1 / (weight**2).sum()), "names": names,
            "mean": rounded(mean), "sd": rounded(sd), "mcse of mean": rounded(error), "mcse of sd": rounded(error_sd)}
