# The inside of the Python package (pyproject.toml): the library, its headers and the command, next to the modules.
option(SVMP_PYTHON "Install the parts of the Python package" OFF)
if(SVMP_PYTHON)
  set_property(TARGET svmp PROPERTY VERSION) # one file: a wheel has no links
  set_property(TARGET svmp PROPERTY SOVERSION)
  set_property(TARGET svmp PROPERTY INSTALL_RPATH "$ORIGIN")
  set_property(TARGET svmp_command PROPERTY INSTALL_RPATH "$ORIGIN/../lib")
  install(TARGETS svmp LIBRARY DESTINATION lib COMPONENT python)
  install(TARGETS svmp_command RUNTIME DESTINATION bin COMPONENT python)
  install(FILES include/svmp.h include/svmp_tools.h include/svmp_parallel.h include/svmp_plan.h DESTINATION include COMPONENT python)
endif()
