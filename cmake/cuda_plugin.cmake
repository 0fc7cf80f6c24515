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

# The plug-in's C, which the tests run on a simulated device, and what only svmp_cuda.so has. The plug-in is built for
# itself: of src/ it has only what it includes, and base/shared_library.c.
file(GLOB cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/plugins/cuda/*.c)
set(cuda_entry ${PROJECT_SOURCE_DIR}/plugins/cuda/cuda_plugin.c)
list(REMOVE_ITEM cuda_sources ${cuda_entry})
add_library(svmp_cuda_host OBJECT EXCLUDE_FROM_ALL ${cuda_sources} ${svmp_sources})
add_library(svmp_cuda_entry OBJECT EXCLUDE_FROM_ALL ${cuda_entry} ${PROJECT_SOURCE_DIR}/src/base/shared_library.c)
foreach(objects svmp_cuda_host svmp_cuda_entry)
  target_link_libraries(${objects} PRIVATE svmp_inside svmp_parts)
  target_compile_definitions(${objects} PRIVATE SVMP_VERSION="${PROJECT_VERSION}")
  target_include_directories(${objects} PRIVATE ${SVMP_KNOWN})
endforeach()

if(SVMP_HAVE_CUDA) # nvcc itself says which files the device depends on
  set(cuda_library ${PROJECT_BINARY_DIR}/svmp_cuda.so)
  add_custom_command(OUTPUT ${cuda_library}
    COMMAND ${SVMP_NVCC} -std=c++17 -O3 --threads 0 ${SVMP_CUDA_OPTIONS} -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/include
      -I${PROJECT_SOURCE_DIR}/plugins -MD -MF ${cuda_library}.d -MT ${cuda_library} -Xcompiler -fPIC,-fvisibility=hidden
      -Xlinker --no-undefined -shared -o ${cuda_library} ${PROJECT_SOURCE_DIR}/plugins/cuda/device.cu
      $<TARGET_OBJECTS:svmp_cuda_host> $<TARGET_OBJECTS:svmp_cuda_entry> -lm -ldl
    DEPENDS plugins/cuda/device.cu $<TARGET_OBJECTS:svmp_cuda_host> $<TARGET_OBJECTS:svmp_cuda_entry>
    DEPFILE ${cuda_library}.d COMMENT "Building svmp_cuda.so" VERBATIM COMMAND_EXPAND_LISTS)
  add_custom_target(svmp_cuda ALL DEPENDS ${cuda_library})
  install(PROGRAMS ${cuda_library} DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
