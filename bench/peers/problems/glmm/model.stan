data {
  int N; int J; int K;
  array[N] int y; vector[N] x; array[N] int person; array[N] int item;
}
parameters { real a; real b; real<lower=0> sigma_u; real<lower=0> sigma_v; vector[J] u; vector[K] v; }
model {
  a ~ normal(0, 2.5);
  b ~ normal(0, 2.5);
  sigma_u ~ normal(0, 1);
  sigma_v ~ normal(0, 1);
  u ~ normal(0, sigma_u);
  v ~ normal(0, sigma_v);
  y ~ bernoulli_logit(a + b * x + u[person] + v[item]);
}
