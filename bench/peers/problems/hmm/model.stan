data { int T; vector[T] y; vector[3] start; vector[3] centre; array[3] vector[3] weight; }
parameters { array[3] simplex[3] P; vector[3] mu; real<lower=0> sigma; }
model {
  matrix[3, 3] Gamma;
  matrix[3, T] emission;
  for (k in 1:3) {
    P[k] ~ dirichlet(weight[k]);
    Gamma[k] = P[k]';
  }
  mu ~ normal(centre, 1);
  sigma ~ normal(0, 1);
  for (k in 1:3) emission[k] = (-0.5 * square((y - mu[k]) / sigma) - log(sigma))';
  target += hmm_marginal(emission, Gamma, start);
}
