data { int N; array[N] int y; vector[N] exposure; }
parameters { real<lower=0> a; real<lower=0> b; vector<lower=0>[N] lambda; }
model {
  a ~ gamma(2, 1);
  b ~ gamma(2, 1);
  lambda ~ gamma(a, b);
  y ~ poisson(lambda .* exposure);
}
