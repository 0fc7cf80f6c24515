"""Shared by the tests: models with known posteriors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import svmp

ROOT = Path(__file__).resolve().parents[3]

NORMAL = "model {\n  for (i in 1:length(y)) { y[i] ~ dnorm(mu, tau) }\n  mu ~ dnorm(0, 0.01)\n  tau ~ dgamma(2, 2)\n  sigma <- 1 / sqrt(tau)\n}\n"

EFFECTS = """model {
  for (i in 1:N) { y[i] ~ dnorm(alpha[group[i]] + beta * x[i], 4) }
  for (j in 1:J) { alpha[j] ~ dnorm(mu, tau) }
  mu ~ dnorm(0, 0.01)
  beta ~ dnorm(0, 0.01)
  tau ~ dgamma(2, 1)
}
"""


def effects_data(rows: int = 60, groups: int = 5) -> dict[str, object]:
    random = np.random.default_rng(7)
    group = np.arange(rows) % groups + 1
    x = random.normal(size=rows)
    y = random.normal(size=groups)[group - 1] + 0.5 * x + 0.5 * random.normal(size=rows)
    return {"N": rows, "J": groups, "group": group, "x": x, "y": y}


@pytest.fixture
def normal() -> svmp.Model:
    return svmp.Model(NORMAL, {"y": [1.0, 2.0, 4.0]})


@pytest.fixture
def effects() -> svmp.Model:
    return svmp.Model(EFFECTS, effects_data())
