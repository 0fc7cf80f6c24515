`phBrian` <- 0
`phGene` <- 0
`phHenry` <- 1
