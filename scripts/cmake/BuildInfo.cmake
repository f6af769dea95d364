# Compiles the version, the git commit and the compiler flags into glaive_engine (engine/metrics/build_info.h).
#
# The commit is looked up by every build, not at configure time; the source file is only rewritten when its
# text changes, so a moved HEAD costs one small compilation and the links.

set(GLAIVE_BUILD_INFO_SOURCE "${PROJECT_BINARY_DIR}/generated/build_info.cc")

string(TOUPPER "${CMAKE_BUILD_TYPE}" glaive_build_type_upper)
get_target_property(glaive_compile_options glaive_options INTERFACE_COMPILE_OPTIONS)
list(FILTER glaive_compile_options EXCLUDE REGEX "^-W|^-fmacro|^\\$")
list(JOIN glaive_compile_options " " glaive_compile_options)
string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${glaive_build_type_upper}} ${glaive_compile_options}"
  glaive_compiler_flags)

add_custom_target(glaive_build_info
  COMMAND "${CMAKE_COMMAND}"
    "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}"
    "-DTEMPLATE=${PROJECT_SOURCE_DIR}/scripts/cmake/build_info.cc.in"
    "-DOUTPUT=${GLAIVE_BUILD_INFO_SOURCE}"
    "-DVERSION=${PROJECT_VERSION}"
    "-DBUILD_TYPE=${CMAKE_BUILD_TYPE}"
    "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
    "-DCOMPILER_FLAGS=${glaive_compiler_flags}"
    -P "${PROJECT_SOURCE_DIR}/scripts/cmake/WriteBuildInfo.cmake"
  BYPRODUCTS "${GLAIVE_BUILD_INFO_SOURCE}"
  COMMENT "Looking up the git commit"
  VERBATIM)
