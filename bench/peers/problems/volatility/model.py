def model(d):
    mu, phi, sigma = sample("mu", Normal(0, 5)), sample("phi", Uniform(-1, 1)), sample("sigma", HalfNormal(1))
    z = sample("z", Normal(0, 1).expand([d["T"]]))
    first = z[0] / jnp.sqrt(1 - phi**2)
    _, later = scan(lambda h, z: (phi * h + z, phi * h + z), first, z[1:])
    h = mu + sigma * jnp.concatenate([first[None], later])
    sample("y", Normal(0, jnp.exp(h / 2)), obs=d["y"])
