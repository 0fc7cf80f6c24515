def model(d):
    rho, alpha, sigma = sample("rho", Gamma(5, 5)), sample("alpha", HalfNormal(1)), sample("sigma", HalfNormal(1))
    distance = (d["x"][:, None] - d["x"]) / rho
    V = alpha**2 * jnp.exp(-(distance**2) / 2) + sigma**2 * jnp.eye(d["N"])
    sample("y", MultivariateNormal(jnp.zeros(d["N"]), covariance_matrix=V), obs=d["y"])
