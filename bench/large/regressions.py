"""Regressions of the size that people have: regressions.py DIRECTORY writes a model and its data, simulated with a fixed seed, for each of

    logistic   logistic regression, 20,000 rows and 10 columns
    crossed    logistic regression with 500 + 200 crossed effects, 20,000 rows
    items      item response with two parameters an item, 500 persons and 30 items
    poisson    Poisson regression, 5,000 rows and 5 columns

regressions.py DIRECTORY SCALE divides the rows by SCALE.
"""
import json
import math
import pathlib
import random
import sys

LOGISTIC = """model {
  for (i in 1:N) {
    y[i] ~ dbern(ilogit(alpha + inprod(X[i,], beta[])))
  }
  alpha ~ dnorm(0, 0.1)
  for (k in 1:K) {
    beta[k] ~ dnorm(0, 0.1)
  }
}
"""
CROSSED = """model {
  for (i in 1:N) {
    logit(p[i]) <- alpha + beta * x[i] + u[person[i]] + v[item[i]]
    y[i] ~ dbern(p[i])
  }
  for (j in 1:J) {
    u[j] ~ dnorm(0, tau.u)
  }
  for (k in 1:K) {
    v[k] ~ dnorm(0, tau.v)
  }
  alpha ~ dnorm(0, 0.1)
  beta ~ dnorm(0, 0.1)
  sigma.u ~ dnorm(0, 1) T(0,)
  sigma.v ~ dnorm(0, 1) T(0,)
  tau.u <- pow(sigma.u, -2)
  tau.v <- pow(sigma.v, -2)
}
"""
ITEMS = """model {
  for (i in 1:P) {
    for (j in 1:I) {
      logit(p[i,j]) <- a[j] * (theta[i] - b[j])
      y[i,j] ~ dbern(p[i,j])
    }
    theta[i] ~ dnorm(0, 1)
  }
  for (j in 1:I) {
    a[j] ~ dlnorm(0, 4)
    b[j] ~ dnorm(0, 0.25)
  }
}
"""
POISSON = """model {
  for (i in 1:N) {
    log(mu[i]) <- alpha + inprod(X[i,], beta[])
    y[i] ~ dpois(mu[i])
  }
  alpha ~ dnorm(0, 0.1)
  for (k in 1:K) {
    beta[k] ~ dnorm(0, 0.1)
  }
}
"""


def normal(draw, sd=1.0):
    return round(draw.gauss(0, sd), 6)


def coin(draw, eta):
    return int(draw.random() < 1 / (1 + math.exp(-eta)))


def counted(draw, mean):
    left, count, product = math.exp(-mean), 0, draw.random()
    while product > left:
        count += 1
        product *= draw.random()
    return count


def regression(draw, rows, columns, slope, answer):
    beta = [slope * (-1) ** k / (1 + k) for k in range(columns)]
    X = [[normal(draw) for _ in beta] for _ in range(rows)]
    y = [answer(draw, 0.5 + sum(x * b for x, b in zip(row, beta))) for row in X]
    return {"N": rows, "K": columns, "X": X, "y": y}


def crossed(draw, rows, persons, items):
    u, v = [draw.gauss(0, 0.8) for _ in range(persons)], [draw.gauss(0, 0.5) for _ in range(items)]
    person, item = [draw.randrange(persons) for _ in range(rows)], [draw.randrange(items) for _ in range(rows)]
    x = [normal(draw) for _ in range(rows)]
    y = [coin(draw, -0.3 + 0.7 * x[i] + u[person[i]] + v[item[i]]) for i in range(rows)]
    return {"N": rows, "J": persons, "K": items, "x": x, "person": [j + 1 for j in person], "item": [k + 1 for k in item], "y": y}


def answers(draw, persons, items):
    a, b = [math.exp(draw.gauss(0, 0.4)) for _ in range(items)], [draw.gauss(0, 1) for _ in range(items)]
    theta = [draw.gauss(0, 1) for _ in range(persons)]
    return {"P": persons, "I": items, "y": [[coin(draw, a[j] * (t - b[j])) for j in range(items)] for t in theta]}


folder = pathlib.Path(sys.argv[1])
scale = int(sys.argv[2]) if len(sys.argv) > 2 else 1
folder.mkdir(parents=True, exist_ok=True)
problems = {
    "logistic": (LOGISTIC, regression(random.Random(1), 20000 // scale, 10, 0.8, coin)),
    "crossed": (CROSSED, crossed(random.Random(2), 20000 // scale, 500 // scale, 200 // scale)),
    "items": (ITEMS, answers(random.Random(3), 500 // scale, 30)),
    "poisson": (POISSON, regression(random.Random(4), 5000 // scale, 5, 0.4, lambda draw, eta: counted(draw, math.exp(eta)))),
}
for name, (model, data) in problems.items():
    (folder / f"{name}.bug").write_text(model)
    (folder / f"{name}.json").write_text(json.dumps(data) + "\n")
