def model(d):
    P = sample("P", Dirichlet(d["weight"]).to_event(1))
    mu, sigma = sample("mu", ImproperUniform(constraints.ordered_vector, (), (3,))), sample("sigma", HalfNormal(1))
    factor("prior", Normal(d["centre"], 1).log_prob(mu).sum())
    emission = Normal(mu, sigma).log_prob(d["y"][:, None])
    step = lambda alpha, e: (logsumexp(alpha[:, None] + jnp.log(P), axis=0) + e, None)
    alpha, _ = scan(step, jnp.log(d["start"]) + emission[0], emission[1:])
    factor("y", logsumexp(alpha))
