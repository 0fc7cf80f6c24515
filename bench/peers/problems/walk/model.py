def model(d):
    sigma_x, sigma_y = sample("sigma_x", HalfNormal(1)), sample("sigma_y", HalfNormal(1))
    x = sample("x", ImproperUniform(constraints.real, (), (d["T"],)))
    factor("walk", Normal(0, 10).log_prob(x[0]) + Normal(x[:-1], sigma_x).log_prob(x[1:]).sum())
    sample("y", Normal(x, sigma_y), obs=d["y"])
