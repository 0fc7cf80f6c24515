# Cross-compiles for ARM on Debian: gcc-aarch64-linux-gnu, and libsodium-dev:arm64 (dpkg --add-architecture arm64), or
# -DARM64_SODIUM=FOLDER with its lib/aarch64-linux-gnu/libsodium.a. Run there, or by qemu-aarch64 (qemu-user).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
set(ARM64_SODIUM /usr CACHE PATH "Where libsodium for ARM is")

# Headers that all processors share; not those of the machine's own C library beside them.
set(shared ${CMAKE_BINARY_DIR}/shared)
file(MAKE_DIRECTORY ${shared})
foreach(header Random123 sodium sodium.h)
  if(EXISTS /usr/include/${header})
    file(CREATE_LINK /usr/include/${header} ${shared}/${header} SYMBOLIC)
  endif()
endforeach()
set(RANDOM123_INCLUDE ${shared} CACHE PATH "")
set(SODIUM_INCLUDE ${shared} CACHE PATH "")
set(SODIUM_LIBRARY ${ARM64_SODIUM}/lib/aarch64-linux-gnu/libsodium.a CACHE FILEPATH "")
set(SODIUM_ARCHIVE ${SODIUM_LIBRARY} CACHE FILEPATH "")
foreach(part CHOLMOD JANSSON NETCDF METIS MPI CUDA)
  set(SVMP_${part} OFF CACHE BOOL "")
endforeach()
