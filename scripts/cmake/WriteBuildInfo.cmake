# Run by the target glaive_build_info: writes OUTPUT from TEMPLATE, and leaves it untouched when nothing changed.

set(COMMIT "unknown")
find_program(GIT git)
if(GIT)
  # "safe.directory": a checkout of another owner (a container's bind mount) is read all the same.
  execute_process(
    COMMAND "${GIT}" -c safe.directory=* describe --always --dirty --abbrev=12 --exclude=*
    WORKING_DIRECTORY "${SOURCE_DIR}"
    OUTPUT_VARIABLE described
    OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE status
    ERROR_QUIET)
  if(status EQUAL 0 AND described)
    set(COMMIT "${described}")
  endif()
endif()
configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)
