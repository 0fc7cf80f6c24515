data { int T; vector[T] y; }
parameters { real<lower=0> sigma_x; real<lower=0> sigma_y; vector[T] x; }
model {
  sigma_x ~ normal(0, 1);
  sigma_y ~ normal(0, 1);
  x[1] ~ normal(0, 10);
  x[2:T] ~ normal(x[1:(T - 1)], sigma_x);
  y ~ normal(x, sigma_y);
}
