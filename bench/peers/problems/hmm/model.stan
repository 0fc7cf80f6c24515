data { int T; vector[T] y; vector[3] start; vector[3] centre; array[3] vector[3] weight; }
parameters { array[3] simplex[3] P; ordered[3] mu; real<lower=0> sigma; } // ordered: random starts end in other labels
model {
  matrix[3, 3] step;
  vector[3] alpha = start;
  for (k in 1:3) {
    P[k] ~ dirichlet(weight[k]);
    step[, k] = P[k];
  }
  mu ~ normal(centre, 1);
  sigma ~ normal(0, 1);
  for (t in 1:T) {
    real total;
    if (t > 1) alpha = step * alpha;
    alpha = alpha .* exp(-0.5 * square((y[t] - mu) / sigma));
    total = sum(alpha);
    alpha /= total;
    target += log(total);
  }
  target += -T * log(sigma);
}
