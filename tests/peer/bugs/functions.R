"S" <- structure(c(2, 0.5, 0.5, 1), .Dim = c(2L, 2L))
"B" <- structure(c(1, 2, 3, 4, 5, 6), .Dim = c(2L, 3L))
