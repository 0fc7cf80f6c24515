# What `cmake --install` puts where, and the two ways others find it: pkg-config and find_package(svmp).
# Both are relative to where they lie, so an installed tree may be moved.

# ---- what a program that links libsvmp.a needs besides: one list for pkg-config and CMake ---------
set(SVMP_STATIC_NEEDS "")
foreach(part CHOLMOD JANSSON NETCDF METIS)
  if(SVMP_HAVE_${part})
    get_filename_component(folder ${${part}_LIBRARY} DIRECTORY)
    if(NOT folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
      list(APPEND SVMP_STATIC_NEEDS -L${folder})
    endif()
    string(TOLOWER ${part} name)
    list(APPEND SVMP_STATIC_NEEDS -l${name})
  endif()
endforeach()
if(SVMP_HAVE_MPI)
  list(APPEND SVMP_STATIC_NEEDS ${MPI_C_LIBRARIES})
endif()
foreach(library ${OpenMP_C_LIB_NAMES} m) # the runtime of the compiler that built the library, by name
  if(NOT CMAKE_C_COMPILER_ID STREQUAL "GNU" AND OpenMP_${library}_LIBRARY) # GCC's every compiler finds, others' not
    get_filename_component(folder ${OpenMP_${library}_LIBRARY} DIRECTORY)
    list(APPEND SVMP_STATIC_NEEDS -L${folder})
  endif()
  list(APPEND SVMP_STATIC_NEEDS -l${library})
endforeach()
list(REMOVE_DUPLICATES SVMP_STATIC_NEEDS)

# ---- libraries, header, command -----------------------------------------------------------------
set_target_properties(svmp_static PROPERTIES EXPORT_NAME static)
target_link_libraries(svmp_static INTERFACE "$<INSTALL_INTERFACE:${SVMP_STATIC_NEEDS}>")
install(TARGETS svmp svmp_static EXPORT svmpTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS svmp_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES include/svmp.h include/svmp_parallel.h include/svmp_plan.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# ---- the manual page and completion: the command writes them from the tables its options are declared in --
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/svmp.1
  COMMAND svmp_command manual > ${PROJECT_BINARY_DIR}/svmp.1
  DEPENDS svmp_command COMMENT "Writing svmp.1" VERBATIM)
add_custom_target(svmp_manual ALL DEPENDS ${PROJECT_BINARY_DIR}/svmp.1)
install(FILES ${PROJECT_BINARY_DIR}/svmp.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
foreach(shell bash zsh)
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/completion.${shell}
    COMMAND svmp_command completion ${shell} > ${PROJECT_BINARY_DIR}/completion.${shell}
    DEPENDS svmp_command COMMENT "Writing completion.${shell}" VERBATIM)
endforeach()
add_custom_target(svmp_completion ALL DEPENDS ${PROJECT_BINARY_DIR}/completion.bash ${PROJECT_BINARY_DIR}/completion.zsh)
install(FILES ${PROJECT_BINARY_DIR}/completion.bash RENAME svmp
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${PROJECT_BINARY_DIR}/completion.zsh RENAME _svmp DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)

# ---- pkg-config -----------------------------------------------------------------------------------
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  set(SVMP_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  set(SVMP_PC_LIBDIR ${CMAKE_INSTALL_LIBDIR})
else()
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" up ${up})
  set(SVMP_PC_PREFIX "\${pcfiledir}/${up}")
  set(SVMP_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
if(IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
  set(SVMP_PC_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR})
else()
  set(SVMP_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
list(JOIN SVMP_STATIC_NEEDS " " SVMP_PC_PRIVATE)
configure_file(cmake/svmp.pc.in ${PROJECT_BINARY_DIR}/svmp.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/svmp.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# ---- find_package(svmp): targets svmp::svmp and svmp::static ---------------------------------------
set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/svmp)
install(EXPORT svmpTargets NAMESPACE svmp:: DESTINATION ${folder})
configure_package_config_file(cmake/svmpConfig.cmake.in ${PROJECT_BINARY_DIR}/svmpConfig.cmake
  INSTALL_DESTINATION ${folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/svmpConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/svmpConfig.cmake ${PROJECT_BINARY_DIR}/svmpConfigVersion.cmake DESTINATION ${folder})
