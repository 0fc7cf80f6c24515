def model(d):
    mu, phi, theta = sample("mu", Normal(0, 10)), sample("phi", Uniform(-1, 1)), sample("theta", Uniform(-1, 1))
    sigma, y = sample("sigma", HalfNormal(2.5)), d["y"]

    def step(nu, last):
        nu = mu + phi * last + theta * (last - nu)
        return nu, nu

    first = mu + phi * mu
    _, later = scan(step, first, y[:-1])
    sample("y", Normal(jnp.concatenate([first[None], later]), sigma), obs=y)
