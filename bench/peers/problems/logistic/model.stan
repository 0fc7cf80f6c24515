data { int N; int K; array[N] int y; matrix[N, K] X; }
parameters { real alpha; vector[K] beta; }
model {
  alpha ~ normal(0, 2.5);
  beta ~ normal(0, 2.5);
  y ~ bernoulli_logit_glm(X, alpha, beta);
}
