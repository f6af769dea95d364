# Finds what Glaive needs from Debian's packages. Whatever is missing is named in one message, as an apt command.

set(glaive_missing "")
include(LinkedLibraries)

if(PkgConfig_FOUND)
  pkg_check_modules(re2 QUIET re2)  # of the query nexmark
endif()
glaive_require(re2_FOUND libre2-dev)
find_package(CLI11 QUIET)
glaive_require(CLI11_FOUND libcli11-dev)
find_package(nlohmann_json QUIET)
glaive_require(nlohmann_json_FOUND nlohmann-json3-dev)
if(GLAIVE_UNIT_TESTS OR GLAIVE_SIMULATOR OR GLAIVE_LINT)
  find_package(GTest QUIET)
  glaive_require(GTest_FOUND libgtest-dev)
  if(GTest_FOUND AND NOT TARGET GTest::gmock)
    list(APPEND glaive_missing libgmock-dev)
  endif()
endif()
if(GLAIVE_BENCHMARKS)
  find_package(benchmark QUIET)
  glaive_require(benchmark_FOUND libbenchmark-dev)
endif()
find_package(Python3 3.9 QUIET COMPONENTS Interpreter)
glaive_require(Python3_Interpreter_FOUND python3)

if(glaive_missing)
  list(JOIN glaive_missing " " glaive_missing)
  message(FATAL_ERROR "Glaive needs packages that are not installed. Install them with:\n"
    "    apt-get install ${glaive_missing}\n")
endif()
