"""From a table to an ArviZ plot of a random-effects model, in five lines."""

import arviz as az, pandas as pd, svmp

rows = pd.DataFrame({"school": [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4], "y": [2.1, 2.5, 2.9, 3.8, 4.4, 4.1, 1.0, 1.7, 1.2, 2.8, 3.1, 2.2]})
model = svmp.Model("model { for (i in 1:12) { y[i] ~ dnorm(a[school[i]], 4) }  for (j in 1:4) { a[j] ~ dnorm(mu, tau) }  mu ~ dnorm(0, 0.01)  tau ~ dgamma(2, 2) }", rows)
fit = model.sample()
print(az.summary(fit.idata), az.loo(fit.idata), fit.verdict, sep="\n")
az.plot_trace(fit.idata)
