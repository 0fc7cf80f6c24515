# svmp_embed(OUTPUT HEADER COMMENT PART...): the C file OUTPUT that defines each PART of HEADER, an embedded_file
# (apps/front/embedded_file.h), from the files that the variable of that name lists.
function(svmp_embed output header comment)
  set(sources "")
  set(files "")
  foreach(part ${ARGN})
    list(APPEND files ${${part}})
    list(JOIN ${part} "," joined)
    list(APPEND sources "${part}=${joined}")
  endforeach()
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} "-DSOURCES=${sources}" -DHEADER=${header}
      -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${PROJECT_SOURCE_DIR}/cmake/embed.cmake ${files}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} COMMENT ${comment} VERBATIM)
endfunction()
