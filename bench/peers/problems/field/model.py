def model(d):
    alpha, tau = sample("alpha", Normal(0, 10**0.5)), sample("tau", Gamma(2, 0.5))
    u = sample("u", ImproperUniform(constraints.real, (), (d["S"], d["S"])))
    squares = 0.01 * (u**2).sum() + ((u[1:] - u[:-1]) ** 2).sum() + ((u[:, 1:] - u[:, :-1]) ** 2).sum()
    factor("prior", 0.5 * d["S"] ** 2 * jnp.log(tau) - 0.5 * tau * squares)
    sample("y", Poisson(jnp.exp(alpha + u)), obs=d["y"])
