# The parts that a build may lack. Each is found or named as missing, here and in `svmp --version`.
add_library(svmp_parts INTERFACE)
set(SVMP_PARTS_TEXT "")

function(svmp_part name found why)
  if(found)
    set(line "${name}: yes")
  else()
    set(line "${name}: no, ${why}")
  endif()
  message(STATUS "svmp part ${line}")
  set(SVMP_PARTS_TEXT "${SVMP_PARTS_TEXT}${line}\\n" PARENT_SCOPE)
endfunction()

# Random123 is headers alone and always needed: every random number is a function of its place.
find_path(RANDOM123_INCLUDE Random123/philox.h)
if(NOT RANDOM123_INCLUDE)
  message(FATAL_ERROR "Random123 is needed (Debian: librandom123-dev)")
endif()
target_include_directories(svmp_parts SYSTEM INTERFACE ${RANDOM123_INCLUDE})

find_package(OpenMP COMPONENTS C)
if(OpenMP_C_FOUND)
  target_link_libraries(svmp_parts INTERFACE OpenMP::OpenMP_C)
else() # what is said to OpenMP alone is then said to nobody
  target_compile_options(svmp_parts INTERFACE -Wno-unknown-pragmas -Wno-unused-variable)
endif()
svmp_part(openmp "${OpenMP_C_FOUND}" "runs use one thread")

find_path(CHOLMOD_INCLUDE cholmod.h PATH_SUFFIXES suitesparse)
find_library(CHOLMOD_LIBRARY cholmod)
if(CHOLMOD_INCLUDE AND CHOLMOD_LIBRARY)
  set(SVMP_CHOLMOD YES)
  target_include_directories(svmp_parts SYSTEM INTERFACE ${CHOLMOD_INCLUDE})
  target_link_libraries(svmp_parts INTERFACE ${CHOLMOD_LIBRARY})
  target_compile_definitions(svmp_parts INTERFACE SVMP_HAVE_CHOLMOD)
endif()
svmp_part(cholmod "${SVMP_CHOLMOD}" "the method 'exact' is left out (Debian: libsuitesparse-dev)")

# The page of a report draws with D3, which becomes part of the command (report/, cmake/embed.cmake).
find_file(SVMP_D3_SCRIPT d3.min.js PATHS /usr/share/nodejs/d3/dist /usr/share/javascript/d3 NO_DEFAULT_PATH)
if(SVMP_D3_SCRIPT)
  set(SVMP_D3 ${SVMP_D3_SCRIPT})
endif()
svmp_part(d3 "${SVMP_D3}" "the command 'report' is left out (Debian: node-d3)")

# The hot loops are compiled for several instruction sets and chosen at run time (src/backend/cpu/lanes.h).
include(CheckCCompilerFlag)
set(SVMP_LANES src/backend/cpu/isa_baseline.c src/backend/cpu/isa_avx2.c src/backend/cpu/isa_avx512.c)
set_source_files_properties(${SVMP_LANES} PROPERTIES COMPILE_OPTIONS "-ffp-contract=fast;-Wno-psabi")
check_c_compiler_flag("-mavx512f -mavx512dq -mavx2 -mfma" SVMP_KNOWS_AVX)
if(SVMP_KNOWS_AVX AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_definitions(svmp_parts INTERFACE SVMP_X86)
  set_property(SOURCE src/backend/cpu/isa_avx2.c APPEND PROPERTY COMPILE_OPTIONS -mavx2 -mfma)
  set_property(SOURCE src/backend/cpu/isa_avx512.c APPEND PROPERTY COMPILE_OPTIONS -mavx512f -mavx512dq -mfma)
endif()
