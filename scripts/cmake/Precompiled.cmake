# Headers that are parsed once for many sources.

# The compiler wants a source of a target with precompiled headers.
set(GLAIVE_PRECOMPILED_SOURCE "${PROJECT_BINARY_DIR}/generated/precompiled.cc")

# glaive_add_precompiled_headers(): the headers of others' code that nearly every source includes, or nearly every test.
# The compiler parses them once for all sources, batches too.
function(glaive_add_precompiled_headers)
  set(source "${GLAIVE_PRECOMPILED_SOURCE}")
  file(CONFIGURE OUTPUT "${source}" CONTENT "// The target's headers are what is of use.\n")
  set(headers
    <absl/functional/function_ref.h> <absl/status/statusor.h> <absl/strings/str_cat.h> <absl/strings/str_format.h>
    <absl/time/time.h>
    <algorithm> <functional> <iostream> <map> <memory> <optional> <string> <thread> <vector>)
  # Only targets that reuse a precompiled header have it made: a preset may lack tests.
  add_library(glaive_precompiled OBJECT EXCLUDE_FROM_ALL "${source}")
  target_precompile_headers(glaive_precompiled PRIVATE ${headers})
  # Their compile options and macros have to be those of the targets that use them.
  target_link_libraries(glaive_precompiled PRIVATE glaive_options absl::statusor absl::strings)
  if(TARGET GTest::gmock)  # else nothing is built that needs them
    add_library(glaive_precompiled_tests OBJECT EXCLUDE_FROM_ALL "${source}")
    target_precompile_headers(glaive_precompiled_tests PRIVATE
      <gmock/gmock.h> <gtest/gtest.h> ${headers} <filesystem> <random> <sstream>)
    target_compile_options(glaive_precompiled_tests PRIVATE ${GLAIVE_TEST_OPTIONS})
    target_link_libraries(glaive_precompiled_tests PRIVATE glaive_options absl::statusor absl::strings GTest::gmock)
  endif()
endfunction()

# glaive_add_precompiled_queries(): the engine's headers that nearly every query includes. To parse them takes a fifth of
# a query's compile time. The compiler parses them once for optimized queries, and once for the other queries.
function(glaive_add_precompiled_queries)
  get_target_property(headers glaive_precompiled PRECOMPILE_HEADERS)
  foreach(precompiled IN ITEMS glaive_precompiled_queries glaive_precompiled_queries_tests)
    add_library(${precompiled} OBJECT EXCLUDE_FROM_ALL "${GLAIVE_PRECOMPILED_SOURCE}")
    target_precompile_headers(${precompiled} PRIVATE
      ${headers} "${PROJECT_SOURCE_DIR}/engine/api/stream.h" "${PROJECT_SOURCE_DIR}/engine/sink/csv.h"
      "${PROJECT_SOURCE_DIR}/queries/common/generated_program.h")
    target_link_libraries(${precompiled} PRIVATE glaive_engine)
  endforeach()
  target_compile_options(glaive_precompiled_queries PRIVATE ${GLAIVE_QUERY_OPTIONS})
  target_compile_options(glaive_precompiled_queries_tests PRIVATE ${GLAIVE_TEST_OPTIONS})
endfunction()

# glaive_precompile(<target> [queries] [tests]): has the target use the precompiled headers of sources, or of queries;
# with `tests` those that are compiled with the options of tests.
function(glaive_precompile target)
  if(GLAIVE_PRECOMPILE)
    set(precompiled glaive_precompiled ${ARGN})
    list(JOIN precompiled "_" precompiled)
    target_precompile_headers(${target} REUSE_FROM ${precompiled})
  endif()
endfunction()
