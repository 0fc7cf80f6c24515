# The inside of the Python package (pyproject.toml): the library, its headers and the command, next to the modules.
option(SVMP_PYTHON "Install the parts of the Python package" OFF)
if(SVMP_PYTHON)
  set_target_properties(svmp PROPERTIES INSTALL_RPATH "$ORIGIN")
  set_target_properties(svmp_command PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  install(FILES $<TARGET_FILE:svmp> RENAME libsvmp${CMAKE_SHARED_LIBRARY_SUFFIX} DESTINATION lib COMPONENT python)
  install(PROGRAMS $<TARGET_FILE:svmp_command> DESTINATION bin COMPONENT python)
  install(FILES include/svmp.h include/svmp_tools.h include/svmp_parallel.h include/svmp_plan.h DESTINATION include COMPONENT python)
endif()
