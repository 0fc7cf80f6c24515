#!/usr/bin/env Rscript
# svmp's NUTS beside Stan's: evaluations of the score per effective draw, on the same models, with the same settings.
#
#     Rscript bench/stan.R COMMAND MODELS [--quick | SEEDS [NAME,...]]     such as build/release/svmp models 5 schools,logistic
#
# --quick: a few draws by svmp alone, whose files are then read and measured; nothing is compared.
# Both draw 4 chains of 1000 after a warm-up of 1000, from U(-2, 2); the effective sizes of both are rstan's ess_bulk of
# x and of (x - mean)^2, the median over variables. No verdict but numbers: svmp / Stan near 1 says the samplers
# are alike. Stan compiles a program for each of four models, a minute each.
arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) < 2) stop("usage: Rscript bench/stan.R COMMAND MODELS [--quick | SEEDS [NAME,...]]")
command <- normalizePath(arguments[1])
folder <- arguments[2]
quick <- length(arguments) > 2 && arguments[3] == "--quick"
seeds <- if (quick) 1 else if (length(arguments) > 2) as.integer(arguments[3]) else 5
draws <- if (quick) 20 else 1000 # of a chain, after as many of its warm-up
if (!requireNamespace("rstan", quietly = TRUE)) {
    cat("rstan is not here (Debian: r-cran-rstan): nothing was compared.\n")
    quit(status = 0)
}
if (file.exists("/usr/include/boost")) rstan::rstan_options(boost_lib = "/usr/include") # Debian's own, not the package BH
Sys.setenv(OMP_WAIT_POLICY = "passive")

# ---- Gaussians: precisions as Matrix Market files ------------------------------------------------------------------

write_precision <- function(A) {
    path <- tempfile(fileext = ".mtx")
    at <- which(A != 0 & lower.tri(A, diag = TRUE), arr.ind = TRUE)
    writeLines(c("%%MatrixMarket matrix coordinate real symmetric", paste(nrow(A), ncol(A), nrow(at)),
                 sprintf("%d %d %.17g", at[, 1], at[, 2], A[at])), path)
    path
}

read_precision <- function(path) {
    lines <- readLines(path)
    lines <- lines[!startsWith(lines, "%")]
    numbers <- read.table(text = lines[-1])
    size <- as.integer(strsplit(lines[1], " +")[[1]][1])
    A <- matrix(0, size, size)
    A[cbind(numbers$V1, numbers$V2)] <- numbers$V3
    A[cbind(numbers$V2, numbers$V1)] <- numbers$V3
    A
}

chain_of <- function(size, correlation) { # the precision of an autoregression with unit variances
    A <- diag(c(1, rep(1 + correlation^2, size - 2), 1))
    A[cbind(1:(size - 1), 2:size)] <- -correlation
    A[cbind(2:size, 1:(size - 1))] <- -correlation
    A / (1 - correlation^2)
}

gaussian <- "
data { int d; matrix[d, d] A; }
parameters { vector[d] x; }
model { target += -0.5 * dot_product(x, A * x); }"

gaussian_problem <- function(A) list(files = write_precision(A), program = gaussian, data = list(d = nrow(A), A = A))

# ---- models of the language: the same statements in Stan, parameters in the order of svmp's columns ------------------

in_folder <- function(...) file.path(folder, c(...))

schools <- "
data { int J; vector[J] y; vector[J] sigma; }
parameters { vector[J] eta; real mu; real<lower=0> tau; }
model {
  eta ~ normal(0, 1);
  y ~ normal(mu + tau * eta, sigma);
  mu ~ normal(0, 5);
  tau ~ cauchy(0, 5);
}"

schools_data <- function() {
    found <- new.env()
    sys.source(in_folder("schools.R"), found)
    as.list(found)
}

logistic <- "
data { int N; vector[N] dose; int n[N]; int died[N]; }
parameters { real alpha; real beta; }
model {
  died ~ binomial_logit(n, alpha + beta * dose);
  alpha ~ normal(0, 10);
  beta ~ normal(0, 10);
}"

logistic_data <- function() {
    table <- read.csv(in_folder("logistic.csv"))
    c(list(N = nrow(table)), as.list(table))
}

hierarchical <- "
data { int N; int J; int county[N]; vector[N] on_floor; vector[N] y; vector[J] soil; }
parameters { vector[J] a; real b; real g0; real g1; real<lower=0> tau_y; real<lower=0> tau_a; }
model {
  y ~ normal(a[county] + b * on_floor, inv_sqrt(tau_y));
  a ~ normal(g0 + g1 * soil, inv_sqrt(tau_a));
  b ~ normal(0, 10);
  g0 ~ normal(0, 10);
  g1 ~ normal(0, 10);
  tau_y ~ gamma(1, 0.1);
  tau_a ~ gamma(1, 0.1);
}"

hierarchical_data <- function() {
    table <- read.csv(in_folder("hierarchical.csv"))
    sizes <- paste(readLines(in_folder("hierarchical.json")), collapse = "")
    soil <- as.numeric(strsplit(sub(".*\"soil\": *\\[([^]]*)\\].*", "\\1", sizes), ",")[[1]])
    list(N = nrow(table), J = length(soil), county = table$county, on_floor = table$floor, y = table$y, soil = soil)
}

problems <- list(
    grid = gaussian_problem(read_precision(in_folder("grid.mtx"))), # the paper's
    normal = gaussian_problem(diag(50)),
    scales = gaussian_problem(diag(10^seq(-2, 2, length.out = 30))), # standard deviations from 0.1 to 10
    chain = gaussian_problem(chain_of(50, 0.95)),
    schools = list(files = in_folder("schools.bug", "schools.R"), program = schools, data = schools_data()),
    logistic = list(files = in_folder("logistic.bug", "logistic.csv"), program = logistic, data = logistic_data()),
    hierarchical = list(files = in_folder("hierarchical.bug", "hierarchical.csv", "hierarchical.json"),
                        program = hierarchical, data = hierarchical_data())
)

if (length(arguments) > 3) problems <- problems[strsplit(arguments[4], ",")[[1]]]

# ---- the two samplers ----------------------------------------------------------------------------------------------

compiled <- new.env() # program text -> its model: each is compiled once
program_of <- function(text) {
    key <- substr(text, 1, 200)
    if (is.null(compiled[[key]])) compiled[[key]] <- rstan::stan_model(model_code = text)
    compiled[[key]]
}

by_stan <- function(problem, seed) {
    fit <- rstan::sampling(program_of(problem$program), data = problem$data, chains = 4, warmup = draws, iter = 2 * draws,
                           seed = seed, cores = 1, refresh = 0, show_messages = FALSE)
    parameters <- rstan::get_sampler_params(fit, inc_warmup = FALSE)
    draws <- as.array(fit)
    list(draws = draws[, , dimnames(draws)[[3]] != "lp__", drop = FALSE],
         leapfrogs = sum(sapply(parameters, function(p) sum(p[, "n_leapfrog__"]))),
         acceptance = mean(sapply(parameters, function(p) mean(p[, "accept_stat__"]))))
}

by_svmp <- function(problem, seed) {
    output <- tempfile(fileext = ".csv")
    status <- system2(command, c("run", problem$files, "-m", "nuts", "--chains", 4, "--warmup", draws, "--draws", draws,
                                 "--init", "uniform:-2,2", "--seed", seed, "--quiet", "-o", output), stdout = FALSE)
    if (status != 0) stop("svmp failed")
    table <- read.csv(output, comment.char = "#", check.names = FALSE)
    values <- as.matrix(table[, !endsWith(names(table), "__")])
    list(draws = array(values, c(draws, 4, ncol(values))), leapfrogs = sum(table$n_leapfrog__),
         acceptance = mean(table$accept_stat__))
}

# ---- evaluations per effective draw ------------------------------------------------------------------------------

measure <- function(result) {
    size <- function(f) median(apply(result$draws, 3, function(x) rstan::ess_bulk(f(x))))
    c(x = result$leapfrogs / size(identity), square = result$leapfrogs / size(function(x) (x - mean(x))^2),
      leapfrogs = result$leapfrogs / (4 * draws), acceptance = result$acceptance)
}

# The largest difference of the posterior means, in units of its standard error: the two models must be the same one.
largest_z <- function(a, b) {
    one <- function(i) {
        error <- function(x) var(as.vector(x)) / rstan::ess_bulk(x)
        x <- a$draws[, , i]
        y <- b$draws[, , i]
        abs(mean(x) - mean(y)) / sqrt(error(x) + error(y))
    }
    if (dim(a$draws)[3] != dim(b$draws)[3]) stop("the two programs have other parameters")
    max(sapply(seq_len(dim(a$draws)[3]), one))
}

mean_and_error <- function(runs) c(rowMeans(runs), apply(runs, 1, sd) / sqrt(ncol(runs)))

cat(sprintf("%-12s %-6s %10s %8s %10s %8s %10s %10s %10s\n", "model", "by", "E[x]", "+-", "var", "+-", "leapfrogs",
            "acceptance", "largest z"))
for (name in names(problems)) {
    results <- lapply(c(svmp = by_svmp, if (!quick) c(Stan = by_stan)),
                      function(sampler) lapply(seq_len(seeds), function(seed) sampler(problems[[name]], seed)))
    found <- sapply(results, function(of) mean_and_error(sapply(of, measure)))
    for (by in colnames(found))
        cat(sprintf("%-12s %-6s %10.3f %8.3f %10.3f %8.3f %10.2f %10.3f\n", name, by, found[1, by], found[5, by],
                    found[2, by], found[6, by], found[3, by], found[4, by]))
    if (quick) next
    ratio <- found[, "svmp"] / found[, "Stan"]
    cat(sprintf("%-12s %-6s %10.3f %8s %10.3f %8s %10.3f %10s %10.2f\n", name, "ratio", ratio[1], "", ratio[2], "",
                ratio[3], "", largest_z(results$svmp[[1]], results$Stan[[1]])))
}
