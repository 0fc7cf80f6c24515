# The files of the library that code for a GPU includes when NVRTC compiles it (plugins/cuda/embedded_sources.h), in C.
set(svmp_source_program plugins/cuda/device_program.h)
set(svmp_source_generated plugins/cuda/generated_words.h)
set(svmp_source_special_all plugins/cuda/device_special.h)
set(svmp_source_special src/maths/special.h)
set(svmp_source_bits src/maths/fast_bits.h)
set(svmp_source_exponential src/maths/fast_exponential.h)
set(svmp_source_logarithm src/maths/fast_logarithm.h)
set(svmp_source_power src/maths/fast_power.h)
set(svmp_source_trigonometric src/maths/fast_trigonometric.h)
set(svmp_source_fast_gamma src/maths/fast_gamma.h)
set(svmp_source_normal src/maths/fast_normal.h)
set(svmp_source_gamma src/maths/special_gamma.c)
set(svmp_source_beta src/maths/special_beta.c)
set(svmp_source_hypergeometric src/maths/special_hypergeometric.c)
set(svmp_source_noncentral src/maths/special_noncentral.c)
set(svmp_source_quantile src/maths/special_quantile.c)
set(svmp_sources ${PROJECT_BINARY_DIR}/sources.c)
svmp_embed(${svmp_sources} cuda/embedded_sources.h "Embedding what generated code includes" svmp_source_program
  svmp_source_generated svmp_source_special_all svmp_source_special svmp_source_bits svmp_source_exponential
  svmp_source_logarithm svmp_source_power svmp_source_trigonometric svmp_source_fast_gamma svmp_source_normal
  svmp_source_gamma svmp_source_beta svmp_source_hypergeometric svmp_source_noncentral svmp_source_quantile)
target_sources(svmp_objects PRIVATE ${svmp_sources})
