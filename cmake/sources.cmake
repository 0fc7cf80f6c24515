# The files of the library that code for a GPU includes when NVRTC compiles it (src/backend/cuda/sources.h), in C.
set(svmp_source_program src/backend/cuda/program.h)
set(svmp_source_generated src/backend/cuda/generated.h)
set(svmp_source_special_all src/backend/cuda/special.h)
set(svmp_source_special src/expr/special.h)
set(svmp_source_exponential src/expr/exponential.h)
set(svmp_source_normal src/expr/special_normal.c)
set(svmp_source_gamma src/expr/special_gamma.c)
set(svmp_source_beta src/expr/special_beta.c)
set(svmp_source_hypergeometric src/expr/special_hypergeometric.c)
set(svmp_source_noncentral src/expr/special_noncentral.c)
set(svmp_source_quantile src/expr/special_quantile.c)
set(svmp_sources ${PROJECT_BINARY_DIR}/sources.c)
svmp_embed(${svmp_sources} backend/cuda/sources.h "Embedding what generated code includes" svmp_source_program
  svmp_source_generated svmp_source_special_all svmp_source_special svmp_source_exponential svmp_source_normal
  svmp_source_gamma svmp_source_beta svmp_source_hypergeometric svmp_source_noncentral svmp_source_quantile)
target_sources(svmp_objects PRIVATE ${svmp_sources})
