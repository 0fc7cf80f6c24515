# svmp-agent: `svmp agent` alone, for small machines: one static file without MPI, NetCDF, and whatever else a planner
# needs. Built only on demand: cmake --build build/release --target svmp-agent. The formulas are compiled as in the library,
# so the bits are the same. For ARM: cmake -B build/arm64 -DCMAKE_TOOLCHAIN_FILE=cmake/arm64.cmake.
set(agents ${PROJECT_SOURCE_DIR}/apps/agents)
set(static_agent_sources ${SVMP_SOURCES})
list(FILTER static_agent_sources EXCLUDE REGEX "netcdf_(load|read|write)")
foreach(name agent_state command_agent datagram lockstep lockstep_keep lockstep_receive lockstep_report lockstep_send
        lockstep_state lockstep_stop row_changes seal swarm_files udp_socket static/svmp_agent_main)
  list(APPEND static_agent_sources ${agents}/${name}.c)
endforeach()
file(GLOB static_agent_front CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/apps/front/*.c)
list(APPEND static_agent_sources ${static_agent_front})
find_library(SODIUM_ARCHIVE libsodium.a)
add_executable(svmp-agent EXCLUDE_FROM_ALL ${static_agent_sources})
target_include_directories(svmp-agent PRIVATE ${SVMP_KNOWN} ${PROJECT_SOURCE_DIR}/apps/cli)
target_include_directories(svmp-agent SYSTEM PRIVATE ${RANDOM123_INCLUDE})
target_link_libraries(svmp-agent PRIVATE svmp_inside Threads::Threads)
if(SVMP_HAVE_SODIUM AND SODIUM_ARCHIVE)
  target_include_directories(svmp-agent SYSTEM PRIVATE ${SODIUM_INCLUDE})
  target_compile_definitions(svmp-agent PRIVATE SVMP_HAVE_SODIUM)
  target_link_libraries(svmp-agent PRIVATE ${SODIUM_ARCHIVE})
endif()
if(SVMP_KNOWS_AVX AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_definitions(svmp-agent PRIVATE SVMP_X86)
endif()
target_compile_definitions(svmp-agent PRIVATE SVMP_VERSION="${PROJECT_VERSION}" SVMP_PARTS="")
target_compile_options(svmp-agent PRIVATE -ffunction-sections -fdata-sections -g0
  -fno-asynchronous-unwind-tables)
target_link_options(svmp-agent PRIVATE -static LINKER:--gc-sections LINKER:-s LINKER:-Map=svmp-agent.map)
# The analysers see each file as the library compiles it.
set_target_properties(svmp-agent PROPERTIES POSITION_INDEPENDENT_CODE OFF RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
  EXPORT_COMPILE_COMMANDS OFF)
