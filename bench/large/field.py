"""A latent field on a square grid with Poisson counts and an unknown precision: field.py SIDE writes field.bug and field.json.
"""
import math
import random
import sys

MODEL = """# Counts on a grid: neighbours have similar rates, and how similar is unknown.
model {
  for (i in 1:S) {
    for (j in 1:S) {
      u[i,j] ~ dflat()
      factor(-0.5 * 0.01 * tau * u[i,j]^2)
      y[i,j] ~ dpois(exp(alpha + u[i,j]))
    }
  }
  for (i in 1:(S-1)) {
    for (j in 1:S) {
      factor(-0.5 * tau * (u[i+1,j] - u[i,j])^2)
      factor(-0.5 * tau * (u[j,i+1] - u[j,i])^2)
    }
  }
  factor(0.5 * S * S * log(tau))
  alpha ~ dnorm(0, 0.1)
  tau ~ dgamma(2, 0.5)
}
"""


def smooth(field):
    side = len(field)
    near = lambda i, j: [field[a][b] for a, b in ((i, j), (i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)) if 0 <= a < side and 0 <= b < side]
    return [[sum(near(i, j)) / len(near(i, j)) for j in range(side)] for i in range(side)]


def poisson(mean):
    left, count, product = math.exp(-mean), 0, random.random()
    while product > left:
        count += 1
        product *= random.random()
    return count


side = int(sys.argv[1])
random.seed(1)
field = [[random.gauss(0, 1) for _ in range(side)] for _ in range(side)]
for _ in range(6):
    field = smooth(field)
sd = math.sqrt(sum(v * v for row in field for v in row) / side**2)
counts = [[poisson(math.exp(1 + 0.7 * v / sd)) for v in row] for row in field]
with open("field.json", "w") as file:
    file.write('{"S": %d, "y": [' % side + ",\n".join("[" + ",".join(map(str, row)) + "]" for row in counts) + "]}\n")
with open("field.bug", "w") as file:
    file.write(MODEL)
