data { int N; int M; vector[N] time; vector[M] running; matrix[N, 5] X; matrix[M, 5] Z; }
parameters { real<lower=0> shape; real b0; vector[5] b; }
model {
  shape ~ gamma(2, 1);
  b0 ~ normal(0, 2.5);
  b ~ normal(0, 2.5);
  time ~ weibull(shape, exp(-(b0 + X * b) / shape));
  target += -sum(exp(b0 + Z * b + shape * log(running)));
}
