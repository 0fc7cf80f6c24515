# The inside of the Python package (pyproject.toml): the library, its headers and the command, next to the modules.
if(SVMP_PYTHON)
  # `pip install .` waits for the compiler: no debugging symbols, and -O1 for code that is not in the loops over
  # particles. Neither changes a bit of the results.
  target_compile_options(svmp_objects PRIVATE -g0)
  foreach(target svmp_command svmp_localise svmp_slam_objects)
    target_compile_options(${target} PRIVATE -g0 -O1)
  endforeach()
  set(outside_the_loop ${SVMP_SOURCES})
  list(FILTER outside_the_loop INCLUDE REGEX "/src/(data|dist|graph|lang|run|sample)/|/src/expr/(differentiate|value_range|recipe|simplify)")
  set_property(SOURCE ${outside_the_loop} APPEND PROPERTY COMPILE_OPTIONS -O1)
  set_property(TARGET svmp svmp_slam PROPERTY VERSION) # one file: a wheel has no links
  set_property(TARGET svmp svmp_slam PROPERTY SOVERSION)
  set_property(TARGET svmp svmp_slam PROPERTY INSTALL_RPATH "$ORIGIN")
  set_property(TARGET svmp_command svmp_localise PROPERTY INSTALL_RPATH "$ORIGIN/../lib")
  install(TARGETS svmp svmp_slam LIBRARY DESTINATION lib COMPONENT python)
  install(TARGETS svmp_command svmp_localise RUNTIME DESTINATION bin COMPONENT python)
  install(DIRECTORY include/ DESTINATION include COMPONENT python)
endif()
