def model(d):
    a, b = sample("a", Gamma(2, 1)), sample("b", Gamma(2, 1))
    rate = sample("lambda", Gamma(a, b).expand([d["N"]]))
    sample("y", Poisson(rate * d["exposure"]), obs=d["y"])
