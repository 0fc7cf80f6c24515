#!/usr/bin/env Rscript
# svmp's NUTS beside Stan's: evaluations of the score per effective draw, on the same Gaussians, with the same settings.
#
#     Rscript bench/stan.R COMMAND MODELS [SEEDS]     such as build/release/svmp models 5
#
# Both draw 4 chains of 1000 after a warm-up of 1000, from U(-2, 2); the effective sizes of both are rstan's ess_bulk of
# x and of (x - mean)^2, the median over variables. No verdict but numbers: svmp / Stan near 1 says the samplers
# are alike.
arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) < 2) stop("usage: Rscript bench/stan.R COMMAND MODELS [SEEDS]")
command <- normalizePath(arguments[1])
seeds <- if (length(arguments) > 2) as.integer(arguments[3]) else 5
if (!requireNamespace("rstan", quietly = TRUE)) {
    cat("rstan is not here (Debian: r-cran-rstan): nothing was compared.\n")
    quit(status = 0)
}
if (file.exists("/usr/include/boost")) rstan::rstan_options(boost_lib = "/usr/include") # Debian's own, not the package BH
Sys.setenv(OMP_WAIT_POLICY = "passive")

# ---- the models: precisions as Matrix Market files ---------------------------------------------------------------

write_precision <- function(A, path) {
    at <- which(A != 0 & lower.tri(A, diag = TRUE), arr.ind = TRUE)
    writeLines(c("%%MatrixMarket matrix coordinate real symmetric", paste(nrow(A), ncol(A), nrow(at)),
                 sprintf("%d %d %.17g", at[, 1], at[, 2], A[at])), path)
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

models <- list(
    grid = read_precision(file.path(arguments[2], "grid.mtx")), # the paper's
    normal = diag(50),
    scales = diag(10^seq(-2, 2, length.out = 30)),              # standard deviations from 0.1 to 10
    chain = chain_of(50, 0.95)
)

# ---- the two samplers ----------------------------------------------------------------------------------------------

program <- rstan::stan_model(model_code = "
data { int d; matrix[d, d] A; }
parameters { vector[d] x; }
model { target += -0.5 * dot_product(x, A * x); }")

by_stan <- function(A, seed) {
    fit <- rstan::sampling(program, data = list(d = nrow(A), A = A), chains = 4, warmup = 1000, iter = 2000, seed = seed, cores = 1,
                           refresh = 0, show_messages = FALSE)
    parameters <- rstan::get_sampler_params(fit, inc_warmup = FALSE)
    draws <- as.array(fit)
    list(draws = draws[, , seq_len(nrow(A)), drop = FALSE],
         leapfrogs = sum(sapply(parameters, function(p) sum(p[, "n_leapfrog__"]))),
         acceptance = mean(sapply(parameters, function(p) mean(p[, "accept_stat__"]))))
}

by_svmp <- function(A, seed) {
    model <- tempfile(fileext = ".mtx")
    output <- tempfile(fileext = ".csv")
    write_precision(A, model)
    status <- system2(command, c("run", model, "-m", "nuts", "--chains", 4, "--warmup", 1000, "--draws", 1000, "--init",
                                 "uniform:-2,2", "--seed", seed, "--quiet", "-o", output), stdout = FALSE)
    if (status != 0) stop("svmp failed")
    table <- read.csv(output, comment.char = "#", check.names = FALSE)
    values <- as.matrix(table[, !endsWith(names(table), "__")])
    list(draws = array(values, c(1000, 4, nrow(A))), leapfrogs = sum(table$n_leapfrog__),
         acceptance = mean(table$accept_stat__))
}

# ---- evaluations per effective draw ------------------------------------------------------------------------------

measure <- function(result) {
    size <- function(f) median(apply(f(result$draws), 3, rstan::ess_bulk))
    c(x = result$leapfrogs / size(identity), square = result$leapfrogs / size(function(x) x^2),
      leapfrogs = result$leapfrogs / 4000, acceptance = result$acceptance)
}

mean_and_error <- function(runs) c(rowMeans(runs), apply(runs, 1, sd) / sqrt(ncol(runs)))

cat(sprintf("%-8s %-6s %10s %8s %10s %8s %10s %10s\n", "model", "by", "E[x]", "+-", "E[x^2]", "+-", "leapfrogs",
            "acceptance"))
for (name in names(models)) {
    found <- sapply(list(svmp = by_svmp, Stan = by_stan), function(sampler)
        mean_and_error(sapply(seq_len(seeds), function(seed) measure(sampler(models[[name]], seed)))))
    for (by in colnames(found))
        cat(sprintf("%-8s %-6s %10.3f %8.3f %10.3f %8.3f %10.2f %10.3f\n", name, by, found[1, by], found[5, by],
                    found[2, by], found[6, by], found[3, by], found[4, by]))
    ratio <- found[, "svmp"] / found[, "Stan"]
    cat(sprintf("%-8s %-6s %10.3f %8s %10.3f %8s %10.3f\n", name, "ratio", ratio[1], "", ratio[2], "", ratio[3]))
}
