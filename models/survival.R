running <- c(2.5, 2.5, 2.5, 2.5)
running.load <- c(0.5, 0, 0, 0)
