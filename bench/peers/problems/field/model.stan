data { int S; array[S, S] int y; }
transformed data { array[S * S] int counts = to_array_1d(y); }
parameters { real alpha; real<lower=0> tau; matrix[S, S] u; }
model {
  alpha ~ normal(0, sqrt(10));
  tau ~ gamma(2, 0.5);
  target += 0.5 * S * S * log(tau) - 0.5 * tau * (0.01 * sum(square(u)) + sum(square(u[2:S, ] - u[1:(S - 1), ])) +
                                                  sum(square(u[, 2:S] - u[, 1:(S - 1)])));
  counts ~ poisson_log(alpha + to_vector(u'));
}
