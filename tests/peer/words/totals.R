"D" <- 8
"total" <- c(5, 3, 7, 4, 6, 2, 8, 5)
"early" <- c(2, 1, NA, NA, 3, NA, 4, NA)
"late" <- c(3, 2, NA, NA, 3, NA, 4, NA)
