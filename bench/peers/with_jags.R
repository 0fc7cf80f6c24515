# JAGS on model.bug: MODEL HYPERPARAMETERS WARMUP DRAWS SEED SECONDS, as sampler.py.
arguments <- commandArgs(trailingOnly = TRUE)
suppressPackageStartupMessages(library(rjags))
numbers <- as.numeric(arguments[3:6])
wanted <- strsplit(arguments[2], " ")[[1]]
plain <- function(names) gsub("_$", "", gsub("[^A-Za-z0-9]+", "_", names))
spent <- function() sum(proc.time()[1:2])

data <- jsonlite::fromJSON("data.json")
data <- data[sapply(names(data), function(name) any(grepl(paste0("\\b", name, "\\b"), readLines(arguments[1]))))]
model <- jags.model(arguments[1], data, n.adapt = 0, quiet = TRUE,
                    inits = list(.RNG.name = "base::Mersenne-Twister", .RNG.seed = numbers[3]))
invisible(adapt(model, numbers[1] / 2, end.adaptation = TRUE, progress.bar = "none"))
update(model, numbers[1] / 2, progress.bar = "none")
nodes <- unique(sub("\\[.*", "", list.samplers(model) |> unlist()))
monitored <- nodes[sapply(plain(nodes), function(node) any(wanted == node | startsWith(wanted, paste0(node, "_"))))]
draws <- NULL
fixed <- spent()
repeat { # blocks that grow, so that starting one costs nothing
    block <- coda.samples(model, monitored, max(50, NROW(draws) %/% 4), progress.bar = "none")[[1]]
    colnames(block) <- plain(colnames(block))
    draws <- rbind(draws, block[, wanted, drop = FALSE])
    if (min(coda::effectiveSize(draws)) >= 1.1 * numbers[2] || spent() > numbers[4]) break
}
write.table(draws, "draws.csv", sep = ",", row.names = FALSE, quote = FALSE)
cat(sprintf('{"fixed": %g, "sampling": %g, "note": ""}\n', fixed, spent() - fixed))
