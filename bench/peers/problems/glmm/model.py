def model(d):
    a, b = sample("a", Normal(0, 2.5)), sample("b", Normal(0, 2.5))
    sigma_u, sigma_v = sample("sigma_u", HalfNormal(1)), sample("sigma_v", HalfNormal(1))
    u = sample("u", Normal(0, sigma_u).expand([d["J"]]))
    v = sample("v", Normal(0, sigma_v).expand([d["K"]]))
    sample("y", Bernoulli(logits=a + b * d["x"] + u[d["person"] - 1] + v[d["item"] - 1]), obs=d["y"])
