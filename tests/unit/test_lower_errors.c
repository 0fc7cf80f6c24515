/* All errors of a model: message, place and caret. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "unit/compile_text.h"

/* Collects the errors passed to the callback, separated by line breaks. */
static const struct {
    const char *model, *data, *errors;
} wrong[] = {
    {"model { x ~ dnorm(0, sigm)\n sigma ~ dgamma(1,1) }", "",
     "m.bug:1:22: error: 'sigm' is not defined; did you mean 'sigma'?\n    model { x ~ dnorm(0, sigm)\n"
     "                         ^"},
    {"model { x ~ dnrom(0, 1) }", "",
     "m.bug:1:13: error: unknown distribution 'dnrom'; did you mean 'dnorm'?\n"
     "    model { x ~ dnrom(0, 1) }\n                ^"},
    {"model { x ~ dnorm(0, 1, 2) }", "",
     "m.bug:1:13: error: 'dnorm' takes 2 arguments, not 3\n    model { x ~ dnorm(0, 1, 2) }\n                ^"},
    {"model { x <- sqrtt(1)\n y ~ dnorm(pow(x), 1) }", "",
     "m.bug:1:14: error: unknown function 'sqrtt'; did you mean 'sqrt'?\n    model { x <- sqrtt(1)\n"
     "                 ^\nm.bug:2:12: error: 'pow' takes 2 arguments, not 1\n     y ~ dnorm(pow(x), 1) }\n"
     "               ^"},
    {"model { x <- dnorm(0,1) }", "",
     "m.bug:1:14: error: 'dnorm' is a distribution: write '~' before it, not '<-' or '='\n"
     "    model { x <- dnorm(0,1) }\n                 ^"},
    {"model { x ~ dnorm(pnorm(1, 2), qgamma(0.5, 1, 1)) }", "",
     "m.bug:1:19: error: 'pnorm' takes 3 arguments, not 2: the value, then the arguments of the distribution\n"
     "    model { x ~ dnorm(pnorm(1, 2), qgamma(0.5, 1, 1)) }\n                      ^"},
    {"model { x ~ dnorm(0, qpois(p, 2))\n p ~ dbeta(1, 1)\n y ~ dnorm(x, 1) }", "y <- 1",
     "m.bug:1:22: error: 'qpois' needs known arguments: write x ~ dpois(...) for its values\n"
     "    model { x ~ dnorm(0, qpois(p, 2))\n                         ^"},
    {"model { x ~ dnorm(0, qhalfcauchy(0.5, 1)) }", "",
     "m.bug:1:22: error: unknown function 'qhalfcauchy': there are no quantiles of dhalfcauchy\n"
     "    model { x ~ dnorm(0, qhalfcauchy(0.5, 1)) }\n                         ^"},
    /* likely mistakes of JAGS users */
    {"model { for (i in 1:2) { y[i] ~ dnorm(0, t) }\n m[i] <- 1\n t ~ dgamma(1,1) }", "y <- c(1,2)",
     "m.bug:2:4: error: 'i' is a loop counter, used outside its loop\n     m[i] <- 1\n       ^"},
    {"model { for (i in 1:2) { t <- 1 / s\n y[i] ~ dnorm(0, t) }\n s ~ dgamma(1,1) }", "y <- c(1,2)",
     "m.bug:1:26: error: 't' is defined in every iteration of the loop: use the counter as a subscript, or move it out "
     "of the loop (i = 2)\n"
     "    model { for (i in 1:2) { t <- 1 / s\n                             ^"},
    {"model { x ~ normal(0, 1) }", "",
     "m.bug:1:13: error: unknown distribution 'normal'; did you mean 'dnorm'?\n"
     "    model { x ~ normal(0, 1) }\n                ^"},
    {"model { x ~ dnorm(0, sd = 2) }", "",
     "m.bug:1:25: error: arguments cannot be named; write them in order\n"
     "    model { x ~ dnorm(0, sd = 2) }\n                            ^"},
    {"model { if (N > 2) { x ~ dnorm(0, 1) } }", "N <- 3",
     "m.bug:1:9: error: 'if' is not supported; use ifelse(condition, a, b) to choose between values\n"
     "    model { if (N > 2) { x ~ dnorm(0, 1) } }\n            ^"},
    {"model { for (i in 1:2) { r[i] ~ dbin(p, n[i]) }\n p ~ dbeta(1, 1) }", "r <- c(2, 7) n <- c(5, 5)",
     "m.bug:1:26: error: 'r[2]' (d.R:1) is outside the support of dbin: 7 is not between 0 and 5 (i = 2)\n"
     "    model { for (i in 1:2) { r[i] ~ dbin(p, n[i]) }\n                             ^"},
    {"model { I <- inverse(M)\n x ~ dnorm(I[1,2], 1) }", "M <- structure(c(1,2,3,4),.Dim=c(2,2))",
     "m.bug:1:22: error: 'inverse' needs a symmetric matrix; [1,2] is 3 and [2,1] is 2\n    model { I <- inverse(M)\n"
     "                         ^"},
    {"model { x ~ dnorm(0,1)\n x ~ dnorm(1,1) }", "",
     "m.bug:2:2: error: 'x' is already defined on line 1\n     x ~ dnorm(1,1) }\n     ^"},
    {"model { x <- y; x ~ dnorm(m, 1); m ~ dnorm(0, 1) }", "y <- 2",
     "m.bug:1:17: error: 'x' is already defined on line 1; if the definition with '<-' is a transformation of data, "
     "move it to a data { } block before the model\n    model { x <- y; x ~ dnorm(m, 1); m ~ dnorm(0, 1) }\n"
     "                    ^"},
    {"model { x ~ dnorm(sum(y[1:n-1]), 1) }", "y <- c(1,2,3); n <- 3",
     "m.bug:1:28: error: index 0 of 'y' is out of range 1 to 3; ':' binds more tightly than '+' and '-': put the end "
     "in "
     "parentheses\n"
     "    model { x ~ dnorm(sum(y[1:n-1]), 1) }\n                               ^"},
    {"model { x ~ dnorm(sum(y[2:n+1]), 1) }", "y <- c(1,2,3); n <- 3",
     "m.bug:1:28: error: index 4 of 'y' is out of range 1 to 3; ':' binds more tightly than '+' and '-': put the end "
     "in "
     "parentheses\n    model { x ~ dnorm(sum(y[2:n+1]), 1) }\n                               ^"},
    {"model { x ~ dnorm(rank(y, y), 1) }", "y <- c(1,2,3)",
     "m.bug:1:19: error: the second argument of 'rank' must be a known whole number from 1 to 3\n"
     "    model { x ~ dnorm(rank(y, y), 1) }\n                      ^"},
    {"model { x ~ dnorm(rank(y, none), 1) }", "y <- c(1,2,3); none <- numeric(0)",
     "m.bug:1:19: error: the second argument of 'rank' must be a known whole number from 1 to 3\n"
     "    model { x ~ dnorm(rank(y, none), 1) }\n                      ^"},
    {"model { x ~ dnorm(logdensity.cat(y, y), 1) }", "y <- c(1,2,3)",
     "m.bug:1:34: error: argument 1 of 'logdensity.cat' must be one number, not 3\n"
     "    model { x ~ dnorm(logdensity.cat(y, y), 1) }\n                                     ^"},
    {"model { x ~ dnorm(logdensity.dirch(y, y[1:2]), 1) }", "y <- c(1,2,3)",
     "m.bug:1:39: error: argument 2 of 'logdensity.dirch' does not have the size of the first, 3\n"
     "    model { x ~ dnorm(logdensity.dirch(y, y[1:2]), 1) }\n                                          ^"},
    {"model { x ~ dnorm(rank(y, 4), 1) }", "y <- c(1,2,3)",
     "m.bug:1:19: error: the second argument of 'rank' must be a known whole number from 1 to 3\n"
     "    model { x ~ dnorm(rank(y, 4), 1) }\n                      ^"},
    {"model { for (i in 1:3) { x[i] ~ dnorm(y[i+1], 1) } }", "y <- c(1,2,3)",
     "m.bug:1:42: error: index 4 of 'y' is out of range 1 to 3 (i = 3)\n"
     "    model { for (i in 1:3) { x[i] ~ dnorm(y[i+1], 1) } }\n"
     "                                             ^"},
    {"model { for (i in 1:2) { for (j in 1:3) { x[i,j] ~ dnorm(y[i,j,1], 1) } } }", "y <- structure(1:6,.Dim=2:3)",
     "m.bug:1:58: error: 'y' has 2 dimensions, not 3 (i = 1, j = 1)\n    model { for (i in 1:2) { for (j in 1:3) { "
     "x[i,j] ~ dnorm(y[i,j,1], 1) } } }\n                                                             ^"},
    {"model { x ~ dnorm(y, 1)\n y ~ dnorm(x, 1) }", "",
     "m.bug:1:9: error: the model has a directed cycle: x -> y -> x\n    model { x ~ dnorm(y, 1)\n            ^"},
    {"model { x[1] <- y + 1\n y <- x[1]\n z ~ dnorm(y, 1) }", "",
     "m.bug:2:7: error: 'x' depends on itself: the model has a directed cycle\n     y <- x[1]\n          ^"},
    {"model { for (t in 1:5000) { m[t] <- m[t+1] + 1 }\n m[5001] <- m[7]\n z ~ dnorm(m[1], 1) }", "",
     "m.bug:1:37: error: 'm[152]' depends on itself: the model has a directed cycle (t = 151)\n"
     "    model { for (t in 1:5000) { m[t] <- m[t+1] + 1 }\n                                        ^"},
    {"model { x <- log(0 - 1)\n y ~ dnorm(x, 1)\n factor(0/0 * z) z ~ dnorm(sqrt(a), 1) }", "a <- -4",
     "m.bug:2:12: error: the value is not a number\n     y ~ dnorm(x, 1)\n               ^\n"
     "m.bug:3:28: error: the value is not a number\n     factor(0/0 * z) z ~ dnorm(sqrt(a), 1) }\n"
     "                               ^"},
    {"model { l <- lgamma(3)\n x ~ dnorm(0, 1) }", "",
     "m.bug:1:14: error: unknown function 'lgamma'; write loggam()\n    model { l <- lgamma(3)\n                 ^"},
    {"model { x ~ dnchisqr(3, 1) T(1,) }", "",
     "m.bug:1:28: error: 'dnchisqr' cannot be truncated\n"
     "    model { x ~ dnchisqr(3, 1) T(1,) }\n                               ^"},
    {"model { z ~ dnorm(sqrt(a), 1) }", "a <- -4",
     "m.bug:1:19: error: the value is not a number\n    model { z ~ dnorm(sqrt(a), 1) }\n                      ^"},
    {"model { for (i in 1:2) { y[i] ~ dnorm(z, 1) } z ~ dnorm(0, 1) }", "y <- c(1, Inf)",
     "m.bug:1:26: error: 'y[2]' (d.R:1) is outside the support of dnorm: it is infinite (i = 2)\n"
     "    model { for (i in 1:2) { y[i] ~ dnorm(z, 1) } z ~ dnorm(0, 1) }\n                             ^"},
    {"model { x ~ dunif(0, y)\n y ~ dunif(0, x) }", "",
     "m.bug:2:2: error: 'y' depends on itself: the model has a directed cycle\n     y ~ dunif(0, x) }\n     ^"},
    {"model { x ~ dnorm(x, 1) }", "",
     "m.bug:1:9: error: the model has a directed cycle: x -> x\n    model { x ~ dnorm(x, 1) }\n            ^"},
    {"model { for (i in 1:N) { z[i] ~ dpois(l) }\n y ~ dnorm(z[2], 1)\n l ~ dgamma(1, 1) }",
     "N <- 3 z <- c(1,NA,2) y <- 1e6",
     "m.bug:1:26: error: 'z[2]' ~ dpois is discrete, not observed, and cannot be summed out: it has too many values; "
     "truncate it with T(,), or approximate it by a normal distribution: dnorm(mean, 1 / variance) T(0,) (i = 2)\n"
     "    model { for (i in 1:N) { z[i] ~ dpois(l) }\n                             ^"},
    {"model { n ~ dbin(p, a + b)\n a ~ dpois(p)\n b ~ dpois(p)\n y ~ dnorm(n, 1)\n p ~ dunif(0, 1) }", "y <- 9",
     "m.bug:1:9: error: this depends on the discrete unknowns a, b, n, which have 2.09e+06 combinations of values; at "
     "most 65536 can be summed; provide some of them in the data, or split the statement; or approximate large counts "
     "by normal distributions: dnorm(mean, 1 / variance) T(0,)\n    model { n ~ dbin(p, a + b)\n            ^"},
    {"model { x ~ dround(t, 1)\n t ~ dnorm(0, 1)\n y ~ dnorm(x, 1) }", "y <- 1",
     "m.bug:1:9: error: 'x' ~ dround is not observed: write 'x <- round(t * 10^digits) / 10^digits'\n"
     "    model { x ~ dround(t, 1)\n            ^"},
    {"model { y ~ dbin(p, n)\n n <- y + x\n p ~ dunif(0, 1) }", "y <- 2 x <- 3",
     "m.bug:1:9: error: the model has a directed cycle: y -> n -> y; if 'n' depends on data alone, compute it in a "
     "data "
     "{ } block\n    model { y ~ dbin(p, n)\n            ^"},
    {"model { y ~ dnorm(0, t * (z + 1))\n z ~ dbern(0.5) }", "y <- 1 t <- -1",
     "m.bug:1:24: error: dnorm: tau = -2 is not positive\n    model { y ~ dnorm(0, t * (z + 1))\n"
     "                           ^"},
    {"model { for (i in 1:20) { z[i] ~ dbern(p) }\n y ~ dnorm(sum(z[]), 1)\n p ~ dunif(0, 1) }", "y <- 1",
     "m.bug:2:2: error: this depends on the discrete unknowns z[1], z[2], z[3], z[4] ..., which have 1.05e+06 "
     "combinations of values; at most 65536 can be summed; provide some of them in the data, or split the statement\n  "
     "   y ~ dnorm(sum(z[]), 1)\n     ^"},
    {"model { for (i in 1:20) { z[i] ~ dbern(p)\n for (j in (i+1):20) { y[i,j] ~ dnorm(z[i] + z[j], 1) } }\n"
     " p ~ dunif(0, 1) }",
     "y <- structure(rep(1, 400), .Dim = c(20, 20))",
     "m.bug:1:27: error: summing out the discrete unknown 'z[1]' couples z[2], z[3], z[4], z[5], z[6] and 14 more and "
     "needs a table of 1.05e+06 entries; the maximum is 65536; provide some of the discrete unknowns in the data (i = "
     "1)\n    model { for (i in 1:20) { z[i] ~ dbern(p)\n                              ^"},
    {"model { z ~ dbern(0.5)\n x ~ dunif(0, 1 + z)\n y ~ dnorm(x, 1) }", "y <- 1",
     "m.bug:2:2: error: the bounds of this unknown depend on a discrete one: write it as low + (high - low) * u with u "
     "~ dunif(0, 1), or add the remaining terms of its density with factor()\n     x ~ dunif(0, 1 + z)\n     ^"},
    {"model { z ~ dbern(0.5)\n y ~ dbin(p, z)\n p ~ dunif(0, 1) }", "y <- 2",
     "m.bug:2:2: error: 'y' (d.R:1) is outside the support of dbin: 2 is not between 0 and 1\n"
     "     y ~ dbin(p, z)\n     ^"},
    {"model { for (i in 1:3) { z[i] ~ dbern(p)\n y[i] ~ dpois(a[1 + z[i]]) }\n p ~ dunif(0, 1)\n a[1] ~ dexp(1)\n"
     " a[2] ~ dexp(2) }",
     "y <- c(3, -1, 1.5)",
     "m.bug:2:2: error: 'y[2]' (d.R:1) is outside the support of dpois: -1 is negative (i = 2)\n"
     "     y[i] ~ dpois(a[1 + z[i]]) }\n     ^"},
    {"model { for (i in 1:3) { z[i] ~ dbern(p)\n y[i] ~ dbin(q, 2 * z[i]) }\n w ~ dbin(q, 1 - z[2])\n"
     " p ~ dunif(0, 1)\n q ~ dunif(0, 1) }",
     "y <- c(0, 1, 2) w <- 1",
     "m.bug:1:26: error: no value of the discrete unknown 'z[2]' is possible with these data; check its distribution "
     "and the observed nodes that depend on it (i = 2)\n    model { for (i in 1:3) { z[i] ~ dbern(p)\n                 "
     "            ^"},
    {"model { z ~ dbern(0.5)\n factor(log(z - z)) }", "",
     "m.bug:2:2: error: this has probability 0 for all values of the discrete unknowns that it depends on; check the "
     "data\n     factor(log(z - z)) }\n     ^"},
    {"model { y[1:2] ~ dinterval(t[1:2], c)\n t[1:2] ~ dnorm(0, 1) }", "y <- c(0, 1) c <- 2",
     "m.bug:1:9: error: dinterval applies to one element: write a loop with y[i] on the left-hand side\n"
     "    model { y[1:2] ~ dinterval(t[1:2], c)\n            ^"},
    {"model { y ~ dinterval(t, c)\n z ~ dnorm(t, 1) }", "y <- 1 t <- 1 c <- 2",
     "m.bug:1:9: error: 'y' (d.R:1) is outside the support of dinterval: 0 cut points are below t = 1, not 1\n"
     "    model { y ~ dinterval(t, c)\n            ^"},
    {"model { y ~ dinterval(t, t + 1)\n t ~ dnorm(0, 1) }", "y <- 0",
     "m.bug:2:2: error: 't' depends on itself: the model has a directed cycle\n     t ~ dnorm(0, 1) }\n     ^"},
    {"model { x ~ dnorm(0,1) T(3, 1) }", "",
     "m.bug:1:24: error: the lower bound 3 must be below the upper bound 1\n"
     "    model { x ~ dnorm(0,1) T(3, 1) }\n                           ^"},
    {"model { x ~ dunif(4, 1) }", "",
     "m.bug:1:13: error: there is no value between the bounds 4 and 1 of 'x'\n    model { x ~ dunif(4, 1) }\n          "
     "      ^"},
    {"model { x ~ dpois(l)\n l ~ dgamma(1,1) }", "x <- c(-2)",
     "m.bug:1:9: error: 'x' (d.R:1) is outside the support of dpois: -2 is negative\n"
     "    model { x ~ dpois(l)\n            ^"},
    {"model { for (i in 1:3) { x[i] ~ dgamma(1, l) }\n l ~ dgamma(1,1) }", "x <- c(1,-2,3)",
     "m.bug:1:26: error: 'x[2]' (d.R:1) is outside the support of dgamma: -2 is negative (i = 2)\n"
     "    model { for (i in 1:3) { x[i] ~ dgamma(1, l) }\n                             ^"},
    {"model { x ~ dnorm(0, tau) }", "tau <- -1",
     "m.bug:1:22: error: dnorm: tau = -1 is not positive\n    model { x ~ dnorm(0, tau) }\n                         ^"},
    {"model { for (i in 1:1000000000000) { x[i] ~ dnorm(0,1) } }", "",
     "m.bug:1:20: error: the loop from 1 to 1000000000000 runs 1000000000000 times; at most 5000000 are allowed\n    "
     "model { for (i in 1:1000000000000) { x[i] ~ dnorm(0,1) } }\n                       ^"},
    {"model { for (i in 1:100000) { for (j in 1:100000) { x[i,j] ~ dnorm(0,1) } } }", "",
     "m.bug:1:9: error: the loops run more than 5000000 times in all\n    model { for (i in 1:100000) { "
     "for (j in 1:100000) { x[i,j] ~ dnorm(0,1) } } }\n            ^"},
    {"model { for (i in 1:4000) { for (j in i:4000) { x[i,j] ~ dnorm(0,1) } } }", "",
     "m.bug:1:29: error: the loops run more than 5000000 times in all (i = 1550)\n    model { for (i in 1:4000) { "
     "for (j in i:4000) { x[i,j] ~ dnorm(0,1) } } }\n                                ^"},
    {"model { for (i in (1/0):(1/0)) { x[i] ~ dnorm(0,1) } }", "",
     "m.bug:1:24: error: the loop bounds inf and inf are not whole numbers\n"
     "    model { for (i in (1/0):(1/0)) { x[i] ~ dnorm(0,1) } }\n                           ^"},
    {"model { for (i in 1:2) { y[i] ~ dnorm(m, 1) }\n m <- mean(y[])\n z ~ dnorm(m, 1) }", "y <- c(1,2)",
     "m.bug:1:26: error: the model has a directed cycle: y[1] -> m -> y[1]; if 'm' depends on data alone, "
     "compute it in a data { } block\n"
     "    model { for (i in 1:2) { y[i] ~ dnorm(m, 1) }\n                             ^"},
    {"model { A[1:2,1:3] <- B\n x ~ dnorm(A[1,1], 1) }", "B <- structure(1:6,.Dim=3:2)",
     "m.bug:1:9: error: the left-hand side has dimensions 2 x 3, but the right-hand side has 3 x 2\n"
     "    model { A[1:2,1:3] <- B\n            ^"},
    {"model { S[1:3,1:3] ~ dwish(R[,], 2) }", "R <- structure(c(1,0,0,0,1,0,0,0,1),.Dim=c(3,3))",
     "m.bug:1:22: error: dwish: k = 2 must be above 2, the number of rows minus 1\n"
     "    model { S[1:3,1:3] ~ dwish(R[,], 2) }\n                         ^"},
    {"model { y ~ dhyper(100000000, 5, 3, psi)\n psi ~ dgamma(1, 1) }", "y <- 1",
     "m.bug:1:13: error: dhyper: n1 = 1e+08 and n2 = 5 must be below 6.71089e+07\n"
     "    model { y ~ dhyper(100000000, 5, 3, psi)\n                ^"},
    {"model { y ~ dunif(3, 1)\n z ~ dnorm(y, 1) }", "y <- 2",
     "m.bug:1:13: error: dunif: a = 3 must be below b = 1\n    model { y ~ dunif(3, 1)\n                ^"},
    {"model { y ~ dnorm(0, tau) }", "tau <- Inf",
     "m.bug:1:22: error: dnorm: tau = inf is not finite\n    model { y ~ dnorm(0, tau) }\n"
     "                         ^"},
    {"model { y ~ dnorm(0, 1e999) }", "",
     "m.bug:1:22: error: the number is too large\n    model { y ~ dnorm(0, 1e999) }\n                         ^"},
    {"model { y ~ dnorm(logdensity.gamma(z, -1, 2), 1)\n z ~ dnorm(0, 1) }", "",
     "m.bug:1:39: error: logdensity.gamma: r = -1 is not positive\n"
     "    model { y ~ dnorm(logdensity.gamma(z, -1, 2), 1)\n                                          ^"},
    {"model { x[1:3] ~ dmnorm(mu[1:2], O[,]) }", "mu <- c(1,2,3) O <- structure(c(1,0,0,1),.Dim=c(2,2))",
     "m.bug:1:18: error: the argument mu of dmnorm has 2 rows, but the value has 3\n"
     "    model { x[1:3] ~ dmnorm(mu[1:2], O[,]) }\n                     ^"},
    {"model { x[1000000000] ~ dnorm(0,1) }", "",
     "m.bug:1:11: error: index 1000000000 of 'x' is out of range 1 to 5000000\n"
     "    model { x[1000000000] ~ dnorm(0,1) }\n              ^"},
    {"model { x[1:2] <- c(1,2,3)\n y ~ dnorm(x[1], 1) }", "",
     "m.bug:1:9: error: the left-hand side has dimensions 2, but the right-hand side has 3\n"
     "    model { x[1:2] <- c(1,2,3)\n            ^"},
    {"model { y ~ dnorm(a[1:2] + a[1:3], 1) }", "a <- c(1,2,3)",
     "m.bug:1:26: error: the operands of '+' have dimensions 2 and 3\n    model { y ~ dnorm(a[1:2] + a[1:3], 1) }\n    "
     "                         ^"},
    {"model { y ~ dnorm(a[k], 1)\n k ~ dnorm(0,1) }", "a <- c(1,2,3)",
     "m.bug:1:21: error: an index of 'a' depends on an unknown that is not a whole number: use round(), trunc() or "
     "step()\n"
     "    model { y ~ dnorm(a[k], 1)\n                        ^"},
    {"model { for (i in 1:n) { y[i] ~ dnorm(0, 1) }\n n ~ dnorm(0,1) }", "",
     "m.bug:1:21: error: 'n' is not data, but loop bounds and left-hand subscripts must be data; compute it in data { "
     "}\n    model { for (i in 1:n) { y[i] ~ dnorm(0, 1) }\n                        ^"},
    {"model { y ~ dnorm(x[2], 1)\n x[1] ~ dnorm(0,1)\n x[3] ~ dnorm(0,1) }", "",
     "m.bug:1:19: error: 'x[2]' is not defined\n    model { y ~ dnorm(x[2], 1)\n                      ^"},
    {"model { y ~ dnorm(x[2], 1) }", "x <- c(1,NA)",
     "m.bug:1:19: error: 'x[2]' is missing in the data (d.R:1), and the model does not define it; give it a "
     "distribution, such as x[i] ~ dnorm(mu.x, tau.x), or remove the rows without it\n    model { y ~ dnorm(x[2], 1) "
     "}\n                      ^"},
    {"model { x <- 3\n y ~ dnorm(x,1) }", "x <- 2",
     "m.bug:1:9: error: 'x' is computed here and given in the data (d.R:1)\n    model { x <- 3\n            ^"},
    {"data { a ~ dflat() }\nmodel { y ~ dnorm(a, 1) }", "",
     "m.bug:1:12: error: cannot draw a value of dflat for 'a'\n    data { a ~ dflat() }\n               ^"},
    {"data { a ~ dlnorm(1000, 1) }\nmodel { y ~ dnorm(1/a, 1) }", "",
     "m.bug:1:12: error: cannot draw a value of dlnorm for 'a'\n    data { a ~ dlnorm(1000, 1) }\n"
     "               ^"},
    {"data { a ~ dnorm(0, 1) T(50,) }\nmodel { y ~ dnorm(a, 1) }", "",
     "m.bug:1:12: error: cannot draw a value of dnorm for 'a' between its bounds\n"
     "    data { a ~ dnorm(0, 1) T(50,) }\n               ^"},
    {"data { a ~ dnorm(b, 1)\n b ~ dnorm(a, 1) }\nmodel { y ~ dnorm(a, 1) }", "",
     "m.bug:2:12: error: 'a' depends on itself: the model has a directed cycle\n     b ~ dnorm(a, 1) }\n"
     "               ^"},
    {"data { a[1:2] ~ dmnorm(m[], O[,]) }\nmodel { y ~ dnorm(a[1], 1) }",
     "a <- c(1, NA) m <- c(0, 0) O <- structure(c(1,0,0,1),.Dim=c(2,2))",
     "m.bug:1:8: error: 'a[1:2]' ~ dmnorm is partly given: provide all of it or none\n"
     "    data { a[1:2] ~ dmnorm(m[], O[,]) }\n           ^"},
    {"data { factor(1) }\nmodel { y ~ dnorm(0, 1) }", "",
     "m.bug:1:8: error: factors are not allowed in data { }\n    data { factor(1) }\n           ^"},
    {"model { y ~ dnorm(0, 1) }", "z <- 2 y <- 1",
     "m.bug: error: the model has no unknowns, so there is nothing to infer."},
    {"model { foo(y) <- 1\n z ~ dnorm(y, 1) }", "",
     "m.bug:1:9: error: unknown link 'foo': expected log, logit, probit or cloglog\n"
     "    model { foo(y) <- 1\n            ^"},
    {"model { p[1:2] ~ ddirch(a[]) }", "p <- c(0.5, NA) a <- c(1,1)",
     "m.bug:1:9: error: 'p[1:2]' ~ ddirch is partly observed: provide all of it or none\n"
     "    model { p[1:2] ~ ddirch(a[]) }\n            ^"},
    {"var y[3]; model { y[4] ~ dnorm(0, 1) }", "",
     "m.bug:1:21: error: index 4 of 'y' is out of range 1 to 3\n"
     "    var y[3]; model { y[4] ~ dnorm(0, 1) }\n                        ^"},
    {"var y[3]; model { y[1] ~ dnorm(0, 1) }", "y <- c(1,2)",
     "m.bug:1:5: error: 'y' has dimensions 2 in the data and 3 here\n    var y[3]; model { y[1] ~ dnorm(0, 1) }\n      "
     "  ^"},
    {"model { x[1.5] ~ dnorm(0, 1) }", "",
     "m.bug:1:11: error: index 1.5 of 'x' is not a whole number\n    model { x[1.5] ~ dnorm(0, 1) }\n              ^"},
    {"model { x ~ dgamma(a,1) I(0,)\n a ~ dgamma(1,1) }", "",
     "m.bug:1:25: error: the arguments of a distribution with I(,) must be computable from the data; use T(,) to "
     "truncate, dinterval to censor\n"
     "    model { x ~ dgamma(a,1) I(0,)\n                            ^"},
    {"model { x[] ~ dnorm(0,1) }", "",
     "m.bug:1:11: error: the extent of 'x' is not known here: write the range, or declare it with 'var'\n    model { "
     "x[] ~ dnorm(0,1) }\n              ^"},
    {"model { x[1] ~ dnorm(0,1)\n x[1,2] ~ dnorm(0,1) }", "",
     "m.bug:2:2: error: 'x' has 1 dimension elsewhere, not 2\n     x[1,2] ~ dnorm(0,1) }\n     ^"},
    {"model { i ~ dnorm(0,1)\n for (i in 1:2) { i ~ dnorm(0,1) } }", "",
     "m.bug:2:19: error: 'i' is a loop counter and cannot be defined\n"
     "     for (i in 1:2) { i ~ dnorm(0,1) } }\n                      ^"},
    {"model { x ~ dflat()\n factor(c(x, 2)) }", "",
     "m.bug:2:9: error: expected one number, not an array of 2\n     factor(c(x, 2)) }\n            ^"},
    {"model { x ~ dmnorm(0,1) T(0,) }", "",
     "m.bug:1:25: error: 'dmnorm' cannot be truncated\n    model { x ~ dmnorm(0,1) T(0,) }\n                           "
     " ^"},
    {"model { y ~ dbin(0.5, 3)\n a ~ dnorm(0,1) }", "y <- 4",
     "m.bug:1:9: error: 'y' (d.R:1) is outside the support of dbin: 4 is not between 0 and 3\n"
     "    model { y ~ dbin(0.5, 3)\n            ^"},
    {"model { a ~ dnorm(0,1)\n b ~ dnorm(a[2], 1)\n c ~ dnorm(d.e, f)\n g ~ dnorm(A, B) }", "",
     "m.bug:3:12: error: 'd.e' is not defined, and not in d.R\n     c ~ dnorm(d.e, f)\n               ^\n"
     "m.bug:3:17: error: 'f' is not defined, and not in d.R\n     c ~ dnorm(d.e, f)\n                    ^\n"
     "m.bug:4:12: error: 'A' is not defined; did you mean 'a'?\n     g ~ dnorm(A, B) }\n               ^\n"
     "m.bug:4:15: error: 'B' is not defined; did you mean 'b'?\n     g ~ dnorm(A, B) }\n                  ^"},
};

typedef struct listener {
    char text[8192];
} listener;

static void collect(svmp_status status, const char *message, void *user_data) {
    listener *collected = user_data;
    assert_int_equal(status, SVMP_BAD_INPUT);
    if (collected->text[0]) strcat(collected->text, "\n");
    strcat(collected->text, message);
}

static void collect_log(svmp_log_level level, const char *message, void *user_data) {
    listener *collected = user_data;
    assert_int_equal(level, SVMP_LOG_WARNING);
    strcat(collected->text, message);
}

static svmp_status lower(svmp_context *context, const char *model, const char *dump) {
    data_set *data = NULL;
    lowered_model *lowered = NULL;
    assert_ok(svmp_data_create(context, &data));
    assert_ok(svmp_data_read_text(data, "d.R", dump, strlen(dump)));
    svmp_status status = compile_text(context, model, data, NULL, &(choices){.centring = 1}, &lowered);
    svmp_lowered_free(lowered);
    svmp_data_free(data);
    return status;
}

static svmp_context *listening(listener *collected) {
    svmp_context *context = NULL;
    assert_ok(svmp_context_create(NULL, &context));
    assert_ok(svmp_context_set_error(context, collect, collected));
    assert_ok(svmp_context_set_log(context, collect_log, collected));
    return context;
}

static void test_errors(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        listener collected = {{0}};
        svmp_context *context = listening(&collected);
        assert_int_equal(lower(context, wrong[k].model, wrong[k].data), SVMP_BAD_INPUT);
        assert_string_equal(collected.text, wrong[k].errors);
        const char *first = svmp_context_error(context);
        assert_memory_equal(first, wrong[k].errors, strlen(first)); /* the first of them stays */
        svmp_context_free(context);
    }
}

static void test_unread_data_is_a_warning(void **state) {
    (void)state;
    listener collected = {{0}};
    svmp_context *context = listening(&collected);
    assert_ok(lower(context, "model { y ~ dnorm(m, 1); m ~ dnorm(0, 1) }", "zed <- 2; y <- 1"));
    assert_string_equal(collected.text,
                        "d.R:1:1: warning: 'zed' is not used by the model\n    zed <- 2; y <- 1\n    ^");
    collected = (listener){{0}};
    assert_ok(lower(context, "model { y ~ dnorm(m, 1); m ~ dnorm(0, 1) }", "Y <- 2"));
    assert_string_equal(collected.text,
                        "d.R:1:1: warning: 'Y' is not used by the model; did you mean 'y', which has no data?\n"
                        "    Y <- 2\n    ^m.bug: warning: nothing is observed: no node of the model has a value in "
                        "the data, so the result is the prior");
    svmp_context_free(context);
}

/* ---- memory: every allocation may fail, from the texts to natural values ------------------------- */

static svmp_status lower_and_draw(svmp_context *context, const char *model, const char *dump) {
    enum { N = 2, MOST = 100 };
    double variables[MOST * N] = {0}, outputs[MOST * N], monitored[500 * N];
    const choices first = {.centring = 1, .short_sums = true}, second = {.centring = 1};
    model_files files = {.name = "m.bug", .text = model, .monitors = "mu,tau"};
    parsed_model *parsed = NULL;
    data_set *data = NULL;
    lowered_model *lowered = NULL;
    svmp_status status;
    SVMP_CHECK(svmp_data_create(context, &data));
    SVMP_CHECK(svmp_data_read_text(data, "d.R", dump, strlen(dump)));
    SVMP_CHECK(svmp_data_read_text(data, "d.csv", "g\n1\n2\n1\n", 8));
    files.data = data;
    SVMP_CHECK(svmp_parse(context, &files, &parsed));
    SVMP_CHECK(svmp_compile_text(parsed, &first, NULL, NULL, &lowered));
    svmp_lowered_free(lowered);
    lowered = NULL;
    SVMP_CHECK(svmp_compile_text(parsed, &second, NULL, NULL, &lowered));
    SVMP_CHECK(svmp_lowered_monitor(lowered, N, variables, monitored));
    SVMP_CHECK(svmp_lowered_draw(lowered, 1, N, variables));
    SVMP_CHECK(svmp_lowered_natural(lowered, N, variables, outputs));
    SVMP_CHECK(svmp_lowered_inverse(lowered, N, outputs, variables));
done:
    svmp_lowered_free(lowered);
    svmp_parsed_free(parsed);
    svmp_data_free(data);
    return status;
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    static const char model[] =
        "data { for (i in 1:N) { z[i] <- y[i] - mean(y) } }\n"
        "model { for (i in 1:N) { mu[i] <- a * z[i] + p[g[i]]\n y[i] ~ dnorm(mu[i], tau) }\n a ~ dunif(0, tau)\n"
        " tau ~ dgamma(1, 1)\n p[1:3] ~ ddirch(alpha[])\n S[1:2,1:2] ~ dwish(R[,], 3)\n x[1:2] ~ dmnorm(y[1:2], S[,])\n"
        " factor(logdet(S) - sum(sort(x)))\n m[1] <- a\n for (t in 1:400) { m[t+1] <- 0.5 * m[t] }\n"
        " o ~ dinterval(w, 0.5)\n w ~ dnorm(m[401], 1) }";
    static const char dump[] = "N <- 3 y <- c(1,2,4) alpha <- c(1,1,1) R <- structure(c(1,0,0,1), .Dim=c(2,2)) o <- 1";
    svmp_status status = SVMP_NO_MEMORY;
    for (long count = 0; status != SVMP_OK; count++) {
        scarce_memory memory = {.left = 1};
        svmp_context *context = scarce_context(&memory);
        memory.left = count;
        status = lower_and_draw(context, model, dump);
        assert_true(status == SVMP_OK || status == SVMP_NO_MEMORY);
        svmp_context_free(context);
        assert_true(count < 100000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_unread_data_is_a_warning),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
