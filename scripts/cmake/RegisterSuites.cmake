# Run by ctest when it starts: registers each suite of a GoogleTest program as one test, or as several where it has many
# cases. glaive_discover_suites sets GLAIVE_TEST_PROGRAM, GLAIVE_TEST_LABEL, GLAIVE_TEST_TIMEOUT_SECONDS and
# GLAIVE_TEST_FOLDER, where the suites run.

set(GLAIVE_MOST_CASES 12)  # of a test

# glaive_register_suite(<suite> <cases>): as many tests as <cases> need; GoogleTest shares the cases out among them.
function(glaive_register_suite suite cases)
  math(EXPR shards "(${cases} + ${GLAIVE_MOST_CASES} - 1) / ${GLAIVE_MOST_CASES}")
  foreach(shard RANGE 1 ${shards})
    set(test "${GLAIVE_TEST_LABEL}.${suite}")
    if(shards GREATER 1)
      string(APPEND test ".${shard}of${shards}")
    endif()
    math(EXPR index "${shard} - 1")
    add_test("${test}" "${GLAIVE_TEST_PROGRAM}" "--gtest_filter=${suite}.*:-*OverVerbs*")
    set_tests_properties("${test}" PROPERTIES LABELS "${GLAIVE_TEST_LABEL}" TIMEOUT "${GLAIVE_TEST_TIMEOUT_SECONDS}"
      WORKING_DIRECTORY "${GLAIVE_TEST_FOLDER}" ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${index}")
    if(suite MATCHES "Timing")
      set_tests_properties("${test}" PROPERTIES RUN_SERIAL TRUE)
    endif()
  endforeach()
endfunction()

execute_process(COMMAND "${GLAIVE_TEST_PROGRAM}" --gtest_list_tests --gtest_filter=-*OverVerbs*
  OUTPUT_VARIABLE listed ERROR_VARIABLE message RESULT_VARIABLE failed)
if(failed)
  # A test that fails, so that a program that was not built is not taken for one without tests.
  add_test("${GLAIVE_TEST_LABEL}.program" "${GLAIVE_TEST_PROGRAM}" --gtest_list_tests)
  return()
endif()
# The line of a suite ends in a dot, or goes on with a comment; the lines of its cases begin with spaces.
string(REGEX MATCHALL "[^\n]+" lines "${listed}")
set(suite "")
foreach(line IN LISTS lines)
  if(line MATCHES "^([A-Za-z0-9_/]+)[.]($| )")
    set(next "${CMAKE_MATCH_1}")
    if(suite)
      glaive_register_suite("${suite}" "${cases}")
    endif()
    set(suite "${next}")
    set(cases 0)
  elseif(suite)
    math(EXPR cases "${cases} + 1")
  endif()
endforeach()
if(suite)
  glaive_register_suite("${suite}" "${cases}")
endif()
