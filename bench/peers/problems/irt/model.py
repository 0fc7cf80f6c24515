def model(d):
    mu_b, sigma_a, sigma_b = sample("mu_b", Normal(0, 2)), sample("sigma_a", HalfNormal(1)), sample("sigma_b", HalfNormal(1))
    theta = sample("theta", Normal(0, 1).expand([d["I"]]))
    a = sample("a", LogNormal(0, sigma_a).expand([d["J"]]))
    b = sample("b", Normal(mu_b, sigma_b).expand([d["J"]]))
    sample("y", Bernoulli(logits=a * (theta[:, None] - b)), obs=d["y"])
