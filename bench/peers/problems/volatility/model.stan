data { int T; vector[T] y; }
parameters { real mu; real<lower=-1, upper=1> phi; real<lower=0> sigma; vector[T] z; }
model {
  vector[T] h = z * sigma;
  h[1] /= sqrt(1 - phi^2);
  h += mu;
  for (t in 2:T) h[t] += phi * (h[t - 1] - mu);
  mu ~ normal(0, 5);
  sigma ~ normal(0, 1);
  z ~ std_normal();
  y ~ normal(0, exp(h / 2));
}
