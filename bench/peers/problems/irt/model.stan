data { int I; int J; array[I, J] int y; }
transformed data {
  array[I * J] int rows; array[I * J] int items; array[I * J] int answers;
  for (i in 1:I) for (j in 1:J) {
    rows[(i - 1) * J + j] = i;
    items[(i - 1) * J + j] = j;
    answers[(i - 1) * J + j] = y[i, j];
  }
}
parameters { real mu_b; real<lower=0> sigma_a; real<lower=0> sigma_b; vector[I] theta; vector<lower=0>[J] a; vector[J] b; }
model {
  mu_b ~ normal(0, 2);
  sigma_a ~ normal(0, 1);
  sigma_b ~ normal(0, 1);
  theta ~ normal(0, 1);
  a ~ lognormal(0, sigma_a);
  b ~ normal(mu_b, sigma_b);
  answers ~ bernoulli_logit(a[items] .* (theta[rows] - b[items]));
}
