# TMB on a compiled model: LIBRARY HYPERPARAMETERS, writes the mode and the delta method's sds from sdreport() to
# summary.csv.
arguments <- commandArgs(trailingOnly = TRUE)
suppressPackageStartupMessages(library(TMB))
data <- jsonlite::fromJSON("data.json")
start <- jsonlite::fromJSON("tmb.json")
for (name in c("person", "item")) if (!is.null(data[[name]])) data[[name]] <- as.integer(data[[name]])
dyn.load(arguments[1])
name <- sub("\\.so$", "", basename(arguments[1]))
made <- MakeADFun(data, start$parameters, random = if (length(start$latent)) start$latent, DLL = name, silent = TRUE)
found <- nlminb(made$par, made$fn, made$gr, control = list(eval.max = 1000, iter.max = 500))
report <- summary(sdreport(made), "report")
wanted <- strsplit(arguments[2], " ")[[1]]
stopifnot(nrow(report) == length(wanted))
write.table(cbind(mean = report[, 1], sd = report[, 2]), "summary.csv", sep = ",", row.names = FALSE, quote = FALSE)
cat(sprintf('{"note": "%s"}\n', if (found$convergence != 0) "not converged" else if (anyNA(report)) "no sds" else ""))
