def model(d):
    shape, b0, b = sample("shape", Gamma(2, 1)), sample("b0", Normal(0, 2.5)), sample("b", Normal(0, 2.5).expand([5]))
    sample("time", Weibull(jnp.exp(-(b0 + d["X"] @ b) / shape), shape), obs=d["time"])
    factor("running", -jnp.exp(b0 + d["Z"] @ b + shape * jnp.log(d["running"])).sum())
