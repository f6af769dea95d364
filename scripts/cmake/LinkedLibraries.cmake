# Finds the libraries that a program with Glaive is linked with. Used by Glaive's own build, and installed for projects
# that use it (GlaiveConfig.cmake). Adds the Debian packages that are missing to the list `glaive_missing`.

# glaive_require(<found> <package>): remembers the Debian package unless the variable <found> is true.
macro(glaive_require found package)
  if(NOT ${found})
    list(APPEND glaive_missing ${package})
  endif()
endmacro()

find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)
glaive_require(PkgConfig_FOUND pkg-config)
if(PkgConfig_FOUND)
  pkg_check_modules(ibverbs QUIET IMPORTED_TARGET libibverbs)
  pkg_check_modules(rdmacm QUIET IMPORTED_TARGET librdmacm)
  pkg_check_modules(xxhash QUIET IMPORTED_TARGET libxxhash)
  pkg_check_modules(zlib QUIET IMPORTED_TARGET zlib)
  pkg_check_modules(simdjson QUIET IMPORTED_TARGET simdjson>=3)
  pkg_check_modules(libcrypto QUIET IMPORTED_TARGET libcrypto>=3)
endif()
glaive_require(ibverbs_FOUND libibverbs-dev)
glaive_require(rdmacm_FOUND librdmacm-dev)
glaive_require(xxhash_FOUND libxxhash-dev)
glaive_require(zlib_FOUND zlib1g-dev)
glaive_require(simdjson_FOUND libsimdjson-dev)
glaive_require(libcrypto_FOUND libssl-dev)

find_package(absl QUIET)
glaive_require(absl_FOUND libabsl-dev)
find_package(Boost QUIET COMPONENTS context)
glaive_require(Boost_CONTEXT_FOUND libboost-context-dev)
