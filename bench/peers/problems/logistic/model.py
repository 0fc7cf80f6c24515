def model(d):
    alpha = sample("alpha", Normal(0, 2.5))
    beta = sample("beta", Normal(0, 2.5).expand([d["K"]]))
    sample("y", Bernoulli(logits=alpha + d["X"] @ beta), obs=d["y"])
