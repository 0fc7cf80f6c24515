# Optional parts of a build. Each is found or reported as missing, here and in `svmp --version`.
add_library(svmp_parts INTERFACE)
set(SVMP_PARTS_TEXT "")

# After `why`, what there is to say of a part that was found.
function(svmp_part name found why)
  if(found)
    set(line "${name}: yes")
    if(ARGN)
      set(line "${line}, ${ARGN}")
    endif()
  else()
    set(line "${name}: no, ${why}")
  endif()
  message(STATUS "svmp part ${line}")
  set(SVMP_PARTS_TEXT "${SVMP_PARTS_TEXT}${line}\\n" PARENT_SCOPE)
endfunction()

# Random123 consists of headers and is always needed, for counter-based random numbers.
find_path(RANDOM123_INCLUDE Random123/philox.h)
if(NOT RANDOM123_INCLUDE)
  message(FATAL_ERROR "Random123 is needed (Debian: librandom123-dev)")
endif()
target_include_directories(svmp_parts SYSTEM INTERFACE ${RANDOM123_INCLUDE})

# A library that is used if it is found, unless -DSVMP_NAME=OFF. Code tests SVMP_HAVE_NAME. After `why`, LOADED: it is
# not linked but loaded on demand, from the file SVMP_NAME_LIBRARY.
function(svmp_library_part name header suffix why)
  string(TOUPPER ${name} upper)
  option(SVMP_${upper} "Use ${name} where it is found" ON)
  find_path(${upper}_INCLUDE ${header} PATH_SUFFIXES ${suffix})
  find_library(${upper}_LIBRARY ${name})
  set(found NO)
  if(SVMP_${upper} AND ${upper}_INCLUDE AND ${upper}_LIBRARY)
    set(found YES)
    target_include_directories(svmp_parts SYSTEM INTERFACE ${${upper}_INCLUDE})
    if("LOADED" IN_LIST ARGN)
      get_filename_component(file ${${upper}_LIBRARY} REALPATH)
      get_filename_component(folder ${${upper}_LIBRARY} DIRECTORY)
      if(folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES) # where the system looks for it
        get_filename_component(file ${file} NAME)
        string(REGEX REPLACE "(\\.so\\.[0-9]+).*" "\\1" file ${file}) # the name that updates keep
      endif()
      target_compile_definitions(svmp_parts INTERFACE SVMP_${upper}_LIBRARY="${file}")
    else()
      target_link_libraries(svmp_parts INTERFACE ${${upper}_LIBRARY})
    endif()
    target_compile_definitions(svmp_parts INTERFACE SVMP_HAVE_${upper})
  endif()
  set(SVMP_HAVE_${upper} ${found} PARENT_SCOPE)
  svmp_part(${name} ${found} "${why}")
  set(SVMP_PARTS_TEXT "${SVMP_PARTS_TEXT}" PARENT_SCOPE)
endfunction()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
target_link_libraries(svmp_parts INTERFACE Threads::Threads)

svmp_library_part(cholmod cholmod.h suitesparse "'exact' and '--init gaussian' take at most 3,000 variables (Debian: libsuitesparse-dev)")
svmp_library_part(jansson jansson.h "" "data in JSON are not read (Debian: libjansson-dev)")
svmp_library_part(netcdf netcdf.h "" "particle files are .csv alone (Debian: libnetcdf-dev)" LOADED)

svmp_library_part(metis metis.h "" "models are cut into blocks for several processes (Debian: libmetis-dev)")

# Several processes need svmp_mpi.so, which is loaded where a launcher has started some: a program of this build also
# starts where MPI is not installed. SVMP_MPI_INSIDE is for programs that cannot load libraries.
option(SVMP_MPI "Build the plug-in for MPI where MPI is found" ON)
option(SVMP_MPI_INSIDE "Link the plug-in for MPI into the library" OFF)
set(SVMP_HAVE_MPI NO)
if(SVMP_MPI)
  find_package(MPI COMPONENTS C)
  set(SVMP_HAVE_MPI ${MPI_C_FOUND})
endif()
set(SVMP_MPI_WORDS "")
if(SVMP_HAVE_MPI AND SVMP_MPI_INSIDE)
  target_link_libraries(svmp_parts INTERFACE MPI::MPI_C)
  target_compile_definitions(svmp_parts INTERFACE SVMP_MPI_INSIDE)
elseif(SVMP_HAVE_MPI)
  set(SVMP_MPI_WORDS "in svmp_mpi.so")
  add_library(svmp_mpi MODULE plugins/mpi/mpi_peers.c)
  target_include_directories(svmp_mpi PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(svmp_mpi PRIVATE svmp_flags MPI::MPI_C)
  set_target_properties(svmp_mpi PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  install(TARGETS svmp_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
svmp_part(mpi "${SVMP_HAVE_MPI}" "a run is one process (Debian: libopenmpi-dev)" ${SVMP_MPI_WORDS})

# The backend on NVIDIA GPUs is a library of its own, svmp_cuda.so, which is loaded when a run asks for it. The oldest
# devices are those that nvcc still knows, from compute capability 7.0 on; others take the code of the one before them, or
# compile the PTX of the newest. CI, and builds with sanitizers, which do not see the device, save time.
option(SVMP_CUDA "Build the backend on GPUs where nvcc is found" ON)
set(SVMP_CUDA_ARCHITECTURES "" CACHE STRING "Compute capabilities for the backend on GPUs, e.g. 80;90; empty: 7.0, 8.0, 9.0")
find_program(SVMP_NVCC nvcc HINTS ENV CUDA_PATH PATH_SUFFIXES bin PATHS /usr/local/cuda/bin /opt/cuda/bin)
include(cmake/cuda.cmake)
set(SVMP_HAVE_CUDA NO)
if(NOT SVMP_CUDA)
  set(SVMP_CUDA_WHY "runs use the CPU (SVMP_CUDA is OFF)")
elseif(SVMP_SANITIZE)
  set(SVMP_CUDA_WHY "runs use the CPU (sanitizers are on)")
elseif(NOT SVMP_NVCC)
  set(SVMP_CUDA_WHY "runs use the CPU (nvcc ${SVMP_CUDA_NEEDS} or newer: Debian's nvidia-cuda-toolkit or NVIDIA's own)")
else()
  string(COMPARE EQUAL "$ENV{CI}" "true" ci)
  svmp_cuda_plan(${SVMP_NVCC} "${SVMP_CUDA_ARCHITECTURES}" ${ci})
  if(NOT SVMP_CUDA_WHY)
    set(SVMP_HAVE_CUDA YES)
  endif()
endif()
if(SVMP_HAVE_CUDA) # nvcc itself says which files the library depends on
  set(cuda_library ${PROJECT_BINARY_DIR}/svmp_cuda.so)
  add_custom_command(OUTPUT ${cuda_library}
    COMMAND ${SVMP_NVCC} -std=c++17 -O3 --threads 0 ${SVMP_CUDA_OPTIONS} -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/plugins
      -MD -MF ${cuda_library}.d -MT ${cuda_library} -Xcompiler -fPIC,-fvisibility=hidden -shared -o ${cuda_library}
      ${PROJECT_SOURCE_DIR}/plugins/cuda/device.cu
    DEPENDS plugins/cuda/device.cu DEPFILE ${cuda_library}.d
    COMMENT "Building svmp_cuda.so" VERBATIM)
  add_custom_target(svmp_cuda ALL DEPENDS ${cuda_library})
  install(PROGRAMS ${cuda_library} DESTINATION ${CMAKE_INSTALL_LIBDIR})
  target_compile_definitions(svmp_parts INTERFACE SVMP_HAVE_CUDA)
endif()
target_link_libraries(svmp_parts INTERFACE ${CMAKE_DL_LIBS})
svmp_part(cuda "${SVMP_HAVE_CUDA}" "${SVMP_CUDA_WHY}" "in svmp_cuda.so, for compute capability ${SVMP_CUDA_WORDS} and newer")

# The page of a report uses D3, which is embedded in the command (apps/report/page, cmake/embed.cmake).
find_file(SVMP_D3_SCRIPT d3.min.js PATHS /usr/share/nodejs/d3/dist /usr/share/javascript/d3 NO_DEFAULT_PATH)
if(SVMP_D3_SCRIPT)
  set(SVMP_D3 ${SVMP_D3_SCRIPT})
endif()
svmp_part(d3 "${SVMP_D3}" "the command 'report' is left out (Debian: node-d3)")

# The hot loops are compiled for several instruction sets and selected at run time (src/backend/cpu/lanes.h).
include(CheckCCompilerFlag)
set(SVMP_LANES src/backend/cpu/lanes_baseline.c src/backend/cpu/lanes_avx2.c src/backend/cpu/lanes_avx512.c)
set_source_files_properties(${SVMP_LANES} PROPERTIES COMPILE_OPTIONS "-ffp-contract=fast;-Wno-psabi")
check_c_compiler_flag("-mavx512f -mavx512dq -mavx2 -mfma" SVMP_KNOWS_AVX)
if(SVMP_KNOWS_AVX AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_definitions(svmp_parts INTERFACE SVMP_X86)
  set_property(SOURCE src/backend/cpu/lanes_avx2.c APPEND PROPERTY COMPILE_OPTIONS -mavx2 -mfma -mpopcnt)
  set_property(SOURCE src/backend/cpu/lanes_avx512.c APPEND PROPERTY COMPILE_OPTIONS -mavx512f -mavx512dq -mfma -mpopcnt)
endif()
