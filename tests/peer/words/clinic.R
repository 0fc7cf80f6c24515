"pi" <- c(0.02, 0.1)
"pc" <- c(0.02, 0.15)
"pb" <- c(0.25, 0.5)
"pf" <- c(0.1, 0.9)
"pd" <- structure(c(0.1, 0.6, 0.7, 0.9), .Dim = c(2L, 2L))
"film" <- 1
"complaint" <- 1
"reported" <- 63.0
