data { int T; vector[T] y; }
parameters { real mu; real<lower=-1, upper=1> phi; real<lower=-1, upper=1> theta; real<lower=0> sigma; }
model {
  vector[T] nu;
  nu[1] = mu + phi * mu;
  for (t in 2:T) nu[t] = mu + phi * y[t - 1] + theta * (y[t - 1] - nu[t - 1]);
  mu ~ normal(0, 10);
  sigma ~ normal(0, 2.5);
  y ~ normal(nu, sigma);
}
