/* Models of the language: densities against closed forms, gradients against finite differences, natural scale and
 * draws. */
#include "lowered.h"

/* ---- facts ---------------------------------------------------------------------------------- */

static void test_scalar_normal(void **state) {
    (void)state;
    lowered_test test;
    lower(&test, "model { mu ~ dnorm(0, 0.25)\n for (i in 1:N) { y[i] ~ dnorm(mu, tau) } }",
          "N <- 3 y <- c(1, 2, 4) tau <- 2");
    assert_int_equal(test.model->node_count, 1);
    assert_int_equal(test.model->variables, 1);
    assert_int_equal(test.model->group_count, 2);
    assert_int_equal(test.model->observed, 3);
    assert_string_equal(test.model->names[0], "mu");
    double x[] = {0.7};
    double expected = normal(0.7, 0, 0.25) + normal(1, 0.7, 2) + normal(2, 0.7, 2) + normal(4, 0.7, 2);
    assert_near(log_density(&test, x), expected, 1e-13);
    assert_gradient(&test, x);
    end(&test);
}

/* The body of a loop that never runs is not checked. */
static void test_loop_that_never_runs(void **state) {
    (void)state;
    lowered_test test;
    lower(&test, "model { mu ~ dnorm(0, 1)\n for (i in 1:N) { for (j in 1:K) { y[i,j] ~ dnorm(mu, 1) } } }",
          "N <- 0 K <- 2.5");
    assert_int_equal(test.model->node_count, 1);
    assert_int_equal(test.model->group_count, 1);
    end(&test);
}

/* factor() models have the Gaussian closed form b'x - x'Ax/2. */
static void test_gaussian_field(void **state) {
    (void)state;
    lowered_test test;
    lower(&test,
          "model { for (i in 1:N) { x[i] ~ dflat()\n factor(b[i]*x[i] - 0.5*a[i]*x[i]^2) }\n"
          " for (e in 1:length(w)) { factor(-w[e]*x[from[e]]*x[to[e]]) } }",
          "N <- 3 a <- c(2, 3, 4) b <- c(1, -1, 0.5) w <- c(0.5, -0.25) from <- c(1, 2) to <- c(2, 3)");
    assert_int_equal(test.model->group_count, 2); /* dflat adds nothing */
    const double a[3][3] = {{2, 0.5, 0}, {0.5, 3, -0.25}, {0, -0.25, 4}}, b[3] = {1, -1, 0.5};
    double x[3] = {0.3, -1.2, 2.1}, expected = 0;
    for (int i = 0; i < 3; i++) {
        expected += b[i] * x[i];
        for (int j = 0; j < 3; j++) expected -= 0.5 * a[i][j] * x[i] * x[j];
    }
    assert_near(log_density(&test, x), expected, 1e-13);
    for (int i = 0; i < 3; i++) {
        double slope = b[i];
        for (int j = 0; j < 3; j++) slope -= a[i][j] * x[j];
        assert_near(test.gradient[i], slope, 1e-13);
    }
    end(&test);
}

/* Missing values by element, and rows that form one node: the anchors are given. */
static void test_sensors(void **state) {
    (void)state;
    lowered_test test;
    lower(&test,
          "model {\n  for (i in 1:S) { x[i,1:2] ~ dflat() }\n  for (e in 1:length(r)) {\n"
          "    dist[e] <- sqrt(pow(x[from[e],1] - x[to[e],1], 2) + pow(x[from[e],2] - x[to[e],2], 2))\n"
          "    r[e] ~ dnorm(dist[e], 1/pow(sigma, 2))\n  }\n}",
          "S <- 3 sigma <- 0.1 x <- structure(c(0, NA, NA, 0, NA, 5), .Dim=3:2) r <- c(1.5, 2.5) from <- c(1,2) to <- "
          "c(2,3)");
    assert_int_equal(test.model->node_count, 2);
    assert_int_equal(test.model->variables, 3);
    assert_string_equal(test.model->names[0], "x.2.1");
    assert_string_equal(test.model->names[1], "x.2.2");
    assert_string_equal(test.model->names[2], "x.3.1");
    assert_string_equal(test.model->nodes[0].name, "x[2,1:2]");
    double x[3] = {1, 2, 3};
    double expected = normal(1.5, sqrt(5), 100) + normal(2.5, sqrt(4 + 9), 100);
    assert_near(log_density(&test, x), expected, 1e-12);
    assert_gradient(&test, x);
    end(&test);
}

/* Each transform: the density of the unconstrained variable is that of the natural one times the Jacobian, so it
 * integrates to 1 over the real line. */
static void test_densities_integrate_to_one(void **state) {
    (void)state;
    static const char *const models[] = {
        "model { x ~ dgamma(2, 3) }",
        "model { x ~ dbeta(2, 3) }",
        "model { x ~ dunif(-1, 4) }",
        "model { x ~ dnorm(0, 1) T(0,) }",
        "model { x ~ dnorm(1, 2) T(,0.5) }",
        "model { x ~ dnorm(0, 1) T(-1,2) }",
        "model { x ~ dpar(3, 2) }",
        "model { x ~ dlnorm(0, 1) }",
        "model { x ~ dexp(2) T(1, 3) }",
        "model { x ~ dt(0, 1, 3) T(0,) }",
        "model { x ~ dgamma(2, 1) I(0.5, 2) }",
    };
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        lowered_test test;
        lower(&test, models[k], "");
        double total = 0, step = 0.01;
        for (double u = -60; u < 60; u += step) total += exp(log_density(&test, &u)) * step;
        assert_near(total, 1, 1e-6);
        double points[] = {-2, -0.3, 0.1, 1.7};
        for (int p = 0; p < 4; p++) assert_gradient(&test, &points[p]);
        end(&test);
    }
}

static void test_simplex_integrates_to_one(void **state) {
    (void)state;
    lowered_test test;
    lower(&test, "model { p[1:3] ~ ddirch(alpha[]) }", "alpha <- c(2, 3, 1.5)");
    assert_int_equal(test.model->variables, 2);
    assert_int_equal(test.model->outputs, 3);
    double total = 0, step = 0.1;
    for (double u = -20; u < 20; u += step)
        for (double v = -20; v < 20; v += step) total += exp(log_density(&test, (double[]){u, v})) * step * step;
    assert_near(total, 1, 1e-6);
    double x[2] = {0.4, -0.9};
    assert_gradient(&test, x);
    end(&test);
}

static void test_matrix_integrates_to_one(void **state) {
    (void)state;
    lowered_test test;
    lower(&test, "model { S[1:2,1:2] ~ dwish(R[,], 5) }", "R <- structure(c(1, 0.2, 0.2, 0.5), .Dim=c(2,2))");
    assert_int_equal(test.model->variables, 3);
    assert_int_equal(test.model->outputs, 4);
    double total = 0, step = 0.1;
    for (double u = -5; u < 4; u += step)
        for (double v = -12; v < 12; v += 2 * step)
            for (double w = -5; w < 4; w += step)
                total += exp(log_density(&test, (double[]){u, v, w})) * step * step * 2 * step;
    assert_near(total, 1, 1e-5);
    double x[3] = {0.4, -0.9, 0.2};
    assert_gradient(&test, x);
    end(&test);
}

/* natural and inverse are inverse maps; a bound may depend on another unknown. */
static void test_natural_and_back(void **state) {
    (void)state;
    lowered_test test;
    lower(&test,
          "model { s ~ dgamma(1, 1)\n b ~ dunif(0, s)\n c ~ dnorm(0, 1) T(, b)\n p[1:4] ~ ddirch(alpha[1:4])\n"
          " S[1:3,1:3] ~ dwish(R[,], 4)\n z[1:2] ~ dmnorm(mu[], T[,])\n h ~ dbeta(1,1) }",
          "alpha <- c(1,1,1,1) R <- structure(c(1,0,0,0,1,0,0,0,1), .Dim=c(3,3)) mu <- c(0,0)\n"
          "T <- structure(c(1,0,0,1), .Dim=c(2,2))");
    enum { N = 5 };
    size_t variables = test.model->variables, outputs = test.model->outputs;
    assert_int_equal(variables, 1 + 1 + 1 + 3 + 6 + 2 + 1);
    assert_int_equal(outputs, 1 + 1 + 1 + 4 + 9 + 2 + 1);
    double x[20 * N], natural[20 * N], back[20 * N];
    for (size_t k = 0; k < variables * N; k++) x[k] = sin((double)(3 * k + 1));
    assert_ok(svmp_lowered_natural(test.model, N, x, natural));
    for (size_t l = 0; l < N; l++) {
        double s = natural[l], b = natural[N + l], c = natural[2 * N + l], sum = 0;
        assert_near(s, exp(x[l]), 1e-14);
        assert_true(b > 0 && b < s && c < b);
        for (size_t k = 3; k < 7; k++) sum += natural[k * N + l];
        assert_near(sum, 1, 1e-14);
    }
    assert_ok(svmp_lowered_inverse(test.model, N, natural, back));
    for (size_t k = 0; k < variables * N; k++) assert_near(back[k], x[k], 1e-9);
    double one[20];
    for (size_t k = 0; k < variables; k++) one[k] = x[k * N];
    assert_gradient(&test, one);
    end(&test);
}

/* Draws have the moments of the prior, level by level. */
static void test_draws(void **state) {
    (void)state;
    enum { N = 20000 };
    lowered_test test;
    lower(&test,
          "model { y ~ dnorm(x[1], 4)\n for (i in 1:2) { x[i] ~ dnorm(m, 1) T(m,) }\n m ~ dunif(1, 3)\n f ~ dflat()\n"
          " p[1:3] ~ ddirch(a[]) }",
          "a <- c(1, 2, 3)");
    size_t outputs = test.model->outputs, variables = test.model->variables;
    double *x = malloc(variables * N * sizeof *x), *natural = malloc(outputs * N * sizeof *natural);
    assert_ok(svmp_lowered_draw(test.model, 3, N, x));
    assert_ok(svmp_lowered_natural(test.model, N, x, natural));
    double half = sqrt(2 / acos(-1)); /* the mean of a standard half-normal */
    const double mean[] = {2 + half, 2 + half, 2 + half, 2, 0, 1.0 / 6, 2.0 / 6, 3.0 / 6}; /* y, x.1, x.2, m, f, p */
    for (size_t k = 0; k < outputs; k++) {
        double sum = 0, square = 0;
        for (size_t l = 0; l < N; l++) {
            sum += natural[k * N + l] / N;
            square += natural[k * N + l] * natural[k * N + l] / N;
        }
        double error = sqrt((square - sum * sum) / N);
        if (fabs(sum - mean[k]) > 4 * error) fail_msg("%s: %g is not %g", test.model->names[k], sum, mean[k]);
    }
    free(x);
    free(natural);
    end(&test);
}

/* Every function of vectors: the equivalent model with scalars has the same density. */
static void test_vectors_are_their_elements(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"factor(-sum(x[1:3]^2))", "factor(-(x[1]^2 + x[2]^2 + x[3]^2))"},
        {"factor(inprod(x[], w[]))", "factor(x[1]*w[1] + x[2]*w[2] + x[3]*w[3])"},
        {"factor(mean(x[]) * prod(x[2:3]))", "factor((x[1]+x[2]+x[3])/3 * x[2]*x[3])"},
        {"factor(sd(x[]))", "factor(sqrt(((x[1]-mean(x))^2 + (x[2]-mean(x))^2 + (x[3]-mean(x))^2)/2))"},
        {"factor(sum(A[,] %*% x[1:3]))", "factor(sum(A[,1])*x[1] + sum(A[,2])*x[2] + sum(A[,3])*x[3])"},
        {"factor(x %*% A %*% x)", "factor(inprod(x, A %*% x))"},
        {"factor(x %*% inverse(A) %*% x + logdet(A))", "B[1:3,1:3] <- inverse(A)\n factor(x[1]*inprod(B[1,],x) + "
                                                       "x[2]*inprod(B[2,],x) + x[3]*inprod(B[3,],x) + logdet(A))"},
        {"d[1:2] <- dim(A)\n factor(max(x) - min(x) + length(x) * d[2])",
         "s[1:3] <- sort(x)\n factor(s[3] - s[1] + 9)"},
        {"factor(sum(t(A) %*% x))", "factor(sum(x %*% A))"},
        {"y[1:3] <- x[] * w[] + 1\n factor(sum(exp(y)))",
         "for (i in 1:3) { z[i] <- exp(x[i]*w[i] + 1) }\n factor(z[1]+z[2]+z[3])"},
        {"factor(sum(rep(x[1:2], 2)) + sum(c(x[3], 1)))", "factor(2*x[1] + 2*x[2] + x[3] + 1)"},
        {"factor(interp.lin(x[1], w, v))", "factor(ifelse(x[1] < 2, 5 + 2*(x[1]-1), 7 - (x[1]-2)))"},
        {"r[1:3] <- rank(w)\n o[1:3] <- order(w)\n factor(x[1] * (r[1] + o[2]))", "factor(3*x[1])"},
        {"factor(ifelse(x[1] > 0 && !(x[2] > 100), x[3], 7*x[2]))", "factor(x[3])"},
        {"factor(-0.5*x[1]^2^1 - -x[2] %/% 10)", "factor(-0.5*x[1]*x[1] + 1)"},
    };
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        double found[2];
        for (int which = 0; which < 2; which++) {
            char text[500];
            lowered_test test;
            snprintf(text, sizeof text, "model { for (i in 1:3) { x[i] ~ dflat() }\n %s }", pairs[k][which]);
            lower(&test, text, "w <- c(1, 2, 3) v <- c(5, 7, 6) A <- structure(c(4,1,0, 1,3,1, 0,1,5), .Dim=c(3,3))");
            double x[3] = {1.3, 2.4, 0.9};
            found[which] = log_density(&test, x);
            assert_gradient(&test, x);
            end(&test);
        }
        assert_near(found[0], found[1], 1e-12);
    }
}

static void test_links_and_data_block(void **state) {
    (void)state;
    lowered_test test;
    lower(&test,
          "data { for (i in 1:N) { z[i] <- (x[i] - mean(x)) / sd(x) }\n m <- max(y) }\n"
          "model { a ~ dnorm(0, 1)\n for (i in 1:N) { logit(p[i]) <- a + z[i]\n y[i] ~ dbin(p[i], m) }\n"
          "  log(lambda) <- a\n k ~ dpois(lambda) }",
          "N <- 3 x <- c(1, 2, 3) y <- c(0, 1, 4) k <- 2");
    double a = 0.3, expected = normal(a, 0, 1) + 2 * a - exp(a) - log(2);
    const double y[3] = {0, 1, 4}, choose[3] = {1, 4, 1};
    for (int i = 0; i < 3; i++) {
        double p = 1 / (1 + exp(-(a + i - 1)));
        expected += log(choose[i]) + y[i] * log(p) + (4 - y[i]) * log1p(-p);
    }
    assert_near(log_density(&test, &a), expected, 1e-12);
    assert_gradient(&test, &a);
    end(&test);
}

/* An instance with one variable in two slots has another structure; equal structures share a program. */
static void test_groups_by_structure(void **state) {
    (void)state;
    lowered_test test;
    lower(&test,
          "model { for (i in 1:4) { x[i] ~ dnorm(0, 1) }\n for (e in 1:4) { factor(w[e] * x[a[e]] * x[b[e]]) } }",
          "w <- c(1,2,3,4) a <- c(1,2,3,4) b <- c(2,2,4,4)");
    assert_int_equal(test.model->group_count, 3);
    assert_int_equal(test.model->groups[1].instances, 2);
    assert_int_equal(test.model->groups[1].slots, 2);
    assert_int_equal(test.model->groups[2].slots, 1);
    end(&test);
}

/* A recursion: deterministic nodes are expanded, each once in every factor. */
static void test_deterministic_chain(void **state) {
    (void)state;
    lowered_test test;
    lower(&test,
          "model { a ~ dnorm(0, 1)\n m[1] <- a\n for (t in 2:30) { m[t] <- m[t-1] * m[t-1] + 0.1 * m[t-1] }\n"
          " y ~ dnorm(m[30], 1) }",
          "y <- 0");
    double x = 0.5;
    assert_gradient(&test, &x);
    end(&test);
}

/* A statement is one group, for any number of instances. */
static void test_many_instances(void **state) {
    (void)state;
    enum { N = 100000 };
    char *dump = malloc(N * 24 + 200), *at = dump;
    at += sprintf(at, "N <- %d J <- 100 g <- c(", N);
    for (int i = 0; i < N; i++) at += sprintf(at, "%s%d", i ? "," : "", i % 100 + 1);
    at += sprintf(at, ") y <- c(");
    for (int i = 0; i < N; i++) at += sprintf(at, "%s%.3f", i ? "," : "", sin(i));
    sprintf(at, ") z <- 1:%d", N);
    lowered_test test;
    lower(&test,
          "model { for (i in 1:N) { mu[i] <- a[g[i]] + b * z[i]\n y[i] ~ dnorm(mu[i], tau) }\n"
          " for (j in 1:J) { a[j] ~ dnorm(0, t) }\n b ~ dnorm(0, 1)\n tau ~ dgamma(1, 1)\n t ~ dgamma(1, 1) }",
          dump);
    assert_int_equal(test.model->group_count, 5);
    end(&test);
    free(dump);
}

/* Chains of any length, written in any order: x_T = 0.5^T a + (1 - 0.5^T). */
static void test_long_chains(void **state) {
    (void)state;
    lowered_test test;
    lower(
        &test,
        "model { a ~ dnorm(0, 1)\n m[1] <- a\n for (t in 1:3000) { m[t+1] <- 0.5 * (m[t] + 1) }\n"
        " for (t in 1:50000) { c[t] <- c[t+1] + 1 }\n c[50001] <- 0\n y ~ dnorm(m[3001] - 1, 1)\n z ~ dnorm(a, c[1]) }",
        "y <- 0 z <- 0");
    double a = 0.5;
    assert_near(log_density(&test, &a), normal(a, 0, 1) + normal(0, pow(0.5, 3000) * a, 1) + normal(0, a, 50000),
                1e-12);
    assert_gradient(&test, &a);
    end(&test);
}

/* Without subscripts on the left an array has the dimensions of its definition, in any order of the statements. */
static void test_whole_arrays(void **state) {
    (void)state;
    lowered_test test;
    lower(&test,
          "data { centred <- v - mean(v)\n D <- dim(B) }\n"
          "model { P <- S %*% z\n S <- inverse(M * s)\n z ~ dmnorm(zero, M)\n s ~ dgamma(2, 1)\n m <- sum(P) * D[2]\n"
          " w <- rep(c(z, s), c(1, 0, 2))\n y ~ dnorm(P[1] + m + w[2] + centred[3], 1)\n k <- x[pick]\n pick <- 2\n"
          " for (i in 1:2) { x[i] ~ dnorm(k0[i], 1)\n factor(x[i]) }\n k0 <- v[1:2] }",
          "M <- structure(c(2,0,0,4),.Dim=c(2,2)) zero <- c(0,0) v <- c(1,2,6) B <- structure(c(1,2,3,4,5,6),.Dim=2:3) "
          "y <- 1");
    assert_int_equal(test.model->variables, 5);
    double x[5] = {0.3, -0.4, 0.2, 1.1, 0.6}, s = exp(x[2]);
    double first = x[0] / (2 * s), second = x[1] / (4 * s);
    double expected = normal(x[0], 0, 2) + normal(x[1], 0, 4) + 2 * x[2] - s +
                      normal(1, first + 3 * (first + second) + s + 3, 1) + normal(x[3], 1, 1) + normal(x[4], 2, 1) +
                      x[3] + x[4];
    assert_near(log_density(&test, x), expected, 1e-12);
    assert_gradient(&test, x);
    end(&test);
}

/* dnorm(x, ...) and other densities are also functions of numbers and of unknowns. */
static void test_functions_of_distributions(void **state) {
    (void)state;
    lowered_test test;
    lower(&test,
          "model { a ~ dnorm(0, 1)\n factor(logdensity.norm(a, 1, 4))\n factor(pnorm(a, 0.5, 4) + dexp(a, 2))\n"
          " factor(a * (qexp(0.5, 2) + pexp(-1, 2) + ppois(2.5, 1) + punif(3, 0, 1)))\n factor(qlogis(ilogit(a), 1, "
          "2)) }",
          "");
    double a = 0.3, e = exp(1);
    double expected = normal(a, 0, 1) + normal(a, 1, 4) + 0.5 * erfc(0.4 / sqrt(2)) + 2 * exp(-0.6) +
                      a * (log(2) / 2 + 2.5 / e + 1) + 1 + a / 2;
    assert_near(log_density(&test, &a), expected, 1e-13);
    assert_gradient(&test, &a);
    end(&test);
}

/* An infinite bound in the data: the probability is 0 or 1 for all arguments, and its derivative is 0; also in a
 * formula of an unknown, and for a count whose probability is 0 or 1. Finite bounds come first. */
static void test_probabilities_at_infinity(void **state) {
    (void)state;
    static const char *const functions[] = {"pnorm(%s, m, 1)", "plogis(%s, m, 1)", "pt(%s, m, 1, 4)",
                                            "pdexp(%s, m, 1)"};
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
        for (int moved = 0; moved < 2; moved++) {
            char text[500], high[60], low[60];
            snprintf(high, sizeof high, functions[k], moved ? "hi[i] - 2 * m" : "hi[i]");
            snprintf(low, sizeof low, functions[k], moved ? "lo[i] - 2 * m" : "lo[i]");
            snprintf(text, sizeof text,
                     "model { m ~ dnorm(0, 1)\n for (i in 1:3) { y[i] ~ dbern(%s - %s)\n z[i] ~ dbin(%s, n[i]) } }",
                     high, low, low);
            lowered_test test, finite;
            lower(&test, text,
                  "lo <- c(0, 1, -Inf) hi <- c(1, Inf, 0) y <- c(1, 1, 1) z <- c(2, 1, 0) n <- c(3, 3, 3)");
            lower(&finite, text,
                  "lo <- c(0, 1, -1e9) hi <- c(1, 1e9, 0) y <- c(1, 1, 1) z <- c(2, 1, 0) n <- c(3, 3, 3)");
            for (double m = -1.5; m < 2; m++) {
                /* the tail of t with 4 degrees of freedom beyond 1e9 is 1e-36 */
                const double value = log_density(&test, &m), slope = test.gradient[0];
                assert_near(value, log_density(&finite, &m), 1e-12);
                assert_near(slope, finite.gradient[0], 1e-12);
                assert_gradient(&test, &m);
            }
            end(&test);
            end(&finite);
        }
}

/* Quantile functions invert distribution functions for all arguments, and so do their derivatives. */
static void test_quantiles(void **state) {
    (void)state;
    lowered_test test;
    lower(
        &test,
        "model { a ~ dgamma(2, 1)\n k ~ dgamma(3, 1)\n u ~ dunif(0, 1)\n m ~ dnorm(0, 1)\n"
        " factor(pgamma(qgamma(u, a, k), a, k) + pbeta(qbeta(u, a, k), a, k) + pt(qt(u, m, a, k), m, a, k))\n"
        " factor(pchisqr(qchisqr(u, k), k) + pf(qf(u, a, k), a, k) + pgen.gamma(qgen.gamma(u, a, k, 1.5), a, k, 1.5))\n"
        " factor(-6 * u)\n factor(a * (qpois(0.3, 4.5) + qbin(0.3, 0.4, 20) + qnegbin(0.3, 0.4, 3))) }",
        "");
    for (uint64_t turn = 0; turn < 8; turn++) {
        double x[4], natural[4];
        svmp_random_normals((random_stream){.seed = turn, .purpose = RANDOM_TEST}, 4, x);
        for (int i = 0; i < 4; i++)
            x[i] *= 0.5; /* pf and pt lose digits in the heavy tails of few degrees of freedom */
        assert_ok(svmp_lowered_natural(test.model, 1, x, natural));
        const double a = natural[0], k = natural[1], u = natural[2];
        const double expected = log(a) - a + x[0] + 2 * log(k) - k - log(2) + x[1] + log(u * (1 - u)) +
                                normal(natural[3], 0, 1) + a * (3 + 7 + 2); /* the counts given by R */
        assert_near(log_density(&test, x), expected, 1e-11);
        assert_gradient(&test, x);
    }
    end(&test);
}

/* If the density does not exist, value and gradient are NaN: bounds of a varying support in the wrong order, an
 * observed value outside, a matrix with too few degrees of freedom. */
static void test_undefined_densities(void **state) {
    (void)state;
    static const struct {
        const char *text, *dump;
        double inside[2], outside[2]; /* of the last variable; the first one is alike */
    } models[] = {
        {"model { x ~ dunif(a, 1)\n a ~ dnorm(0, 1) }", "", {0.3, 0.5}, {0.3, 1.5}},
        {"model { x ~ dnorm(0, 1) T(a, 1)\n a ~ dnorm(0, 1) }", "", {0.3, 0.5}, {0.3, 1.5}},
        {"model { x ~ dgamma(2, 1) T(, a)\n a ~ dnorm(0, 1) }", "", {0.3, 0.5}, {0.3, -0.5}},
        {"model { b ~ dflat()\n a ~ dnorm(b, 1)\n y ~ dunif(0, a) }", "y <- 2", {0.3, 2.5}, {0.3, 1.5}},
        {"model { b ~ dflat()\n a ~ dnorm(b, 1)\n y ~ dnorm(b, 1) T(a,) }", "y <- 2", {0.3, 1.5}, {0.3, 2.5}},
        {"model { b ~ dflat()\n a ~ dnorm(b, 1)\n y ~ dpar(2, a) }", "y <- 2", {0.3, 1.5}, {0.3, 2.5}},
        {"model { b ~ dflat()\n k ~ dnorm(b, 1)\n S[1:2,1:2] ~ dwish(R[,], k) }",
         "R <- structure(c(1,0,0,1),.Dim=c(2,2)) S <- structure(c(1,0,0,1),.Dim=c(2,2))",
         {0.3, 1.2},
         {0.3, 0.9}},
    };
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        lowered_test test;
        lower(&test, models[k].text, models[k].dump);
        assert_true(isfinite(log_density(&test, models[k].inside)) && isfinite(test.gradient[1]));
        if (!isnan(log_density(&test, models[k].outside)) || !isnan(test.gradient[1]))
            fail_msg("'%s' has a value where the density is undefined", models[k].text);
        end(&test);
    }
}

/* Draws in data { } are data of the model, the same each time; given values stay. With y ~ dnorm(m, 1) and a flat m the
 * gradient at m = 0 is the sum of the y, which has a known distribution. */
static void test_data_block_draws(void **state) {
    (void)state;
    enum { N = 2000 };
    static const char text[] =
        "data { for (i in 1:2000) { mu[i] <- a + k[i] - 4\n y[i] ~ dnorm(mu[i], 0.25)\n"
        " k[i] ~ dpois(4) }\n a ~ dunif(2, 3)\n given[1:2] ~ dnorm(100, 1)\n"
        " S[1:2,1:2] ~ dwish(R[,], 40) }\n"
        "model { for (i in 1:2000) { y[i] ~ dnorm(m, 1) }\n m ~ dflat()\n b ~ dnorm(given[1], 1)\n"
        " c ~ dnorm(a, 1)\n d ~ dnorm(S[1,1], 1)\n e ~ dnorm(given[2], 1)\n factor(1e-300 * (b + c + d + e)) }";
    double first[5], x[5] = {0};
    for (int round = 0; round < 2; round++) {
        lowered_test test;
        lower(&test, text, "given <- c(7, NA) R <- structure(c(1,0,0,1),.Dim=c(2,2))");
        assert_int_equal(test.model->variables, 5);
        log_density(&test, x);
        if (round == 0) memcpy(first, test.gradient, sizeof first);
        assert_memory_equal(first, test.gradient, sizeof first);
        end(&test);
    }
    double a = first[2];
    assert_true(a > 2 && a < 3);
    assert_near(first[1], 7, 1e-15);
    assert_true(fabs(first[4] - 100) < 5);
    assert_true(fabs(first[0] / N - a) < 4.5 * sqrt((4.0 + 4.0) / N)); /* var y = 1/0.25, and var k = 4 */
    assert_true(fabs(first[3] - 40) < 4.5 * sqrt(2 * 40.0));           /* S[1,1] is chi-squared of 40 */
}

/* Deterministic nodes on the natural scale, by element: functions of unknowns, constants, matrices, the end of a long
 * chain, and the computed part of a partly unknown array. */
static void test_monitors(void **state) {
    (void)state;
    lowered_test test;
    lower_monitoring(&test,
                     "model { tau ~ dgamma(1, 1)\n sigma <- 1 / sqrt(tau)\n b[1] <- 0.5\n b[2] ~ dnorm(0, tau)\n"
                     " for (i in 1:3) { mu[i] <- b[1] + b[2] * x[i] }\n A[1,1] <- 2 + tau\n A[1,2] <- 1\n A[2,1] <- 1\n"
                     " A[2,2] <- 2\n S <- inverse(A)\n c[1] <- b[2]\n for (t in 1:1000) { c[t+1] <- c[t] + 1 }\n"
                     " d <- c[1001] }",
                     "x <- c(1, 2, 4)", "sigma,mu,b,sigma,S,d,tau");
    static const char *const names[] = {"sigma", "mu.1",  "mu.2",  "mu.3",  "b.1",
                                        "S.1.1", "S.2.1", "S.1.2", "S.2.2", "d"};
    assert_int_equal(test.model->outputs, 2);
    assert_int_equal(test.model->monitor_count, 10);
    for (size_t k = 0; k < 10; k++) assert_string_equal(test.model->monitors[k].name, names[k]);
    const double x[4] = {log(4), log(0.25), -1, 2}; /* two particles: tau = 4 and 1/4, b[2] = -1 and 2 */
    double value[20];
    assert_ok(svmp_lowered_monitor(test.model, 2, x, value));
    for (int l = 0; l < 2; l++) {
        double tau = l ? 0.25 : 4, b = l ? 2 : -1, determinant = 2 * (2 + tau) - 1;
        const double expected[10] = {1 / sqrt(tau),
                                     0.5 + b,
                                     0.5 + 2 * b,
                                     0.5 + 4 * b,
                                     0.5,
                                     2 / determinant,
                                     -1 / determinant,
                                     -1 / determinant,
                                     (2 + tau) / determinant,
                                     b + 1000};
        for (int k = 0; k < 10; k++) assert_near(value[2 * k + l], expected[k], 1e-14);
    }
    end(&test);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_arrays),
        cmocka_unit_test(test_functions_of_distributions),
        cmocka_unit_test(test_probabilities_at_infinity),
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_scalar_normal),
        cmocka_unit_test(test_loop_that_never_runs),
        cmocka_unit_test(test_gaussian_field),
        cmocka_unit_test(test_sensors),
        cmocka_unit_test(test_densities_integrate_to_one),
        cmocka_unit_test(test_simplex_integrates_to_one),
        cmocka_unit_test(test_matrix_integrates_to_one),
        cmocka_unit_test(test_natural_and_back),
        cmocka_unit_test(test_draws),
        cmocka_unit_test(test_vectors_are_their_elements),
        cmocka_unit_test(test_links_and_data_block),
        cmocka_unit_test(test_groups_by_structure),
        cmocka_unit_test(test_deterministic_chain),
        cmocka_unit_test(test_long_chains),
        cmocka_unit_test(test_undefined_densities),
        cmocka_unit_test(test_monitors),
        cmocka_unit_test(test_data_block_draws),
        cmocka_unit_test(test_many_instances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
