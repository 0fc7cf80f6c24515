"mother" <- c(NA, NA, NA, NA, 1, 1, 3, 6)
"father" <- c(NA, NA, NA, NA, 2, 2, 4, 7)
"trait" <- c(1, 0, 0, 0, 1, 1, 0, 1)
