# What `cmake --install` and `cpack` make of a build: the component "development" (libraries, headers, the files for CMake
# and pkg-config, a template project and the examples) and the component "programs" (the queries).
#
# The libraries are static. A query's loop is compiled into the user's program anyway, one file is all that has to be
# copied to the nodes of a cluster, and there is no binary interface to promise from version to version.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(GLAIVE_PACKAGE_FOLDER "${CMAKE_INSTALL_LIBDIR}/cmake/Glaive")
set(GLAIVE_SHARE_FOLDER "${CMAKE_INSTALL_DATADIR}/glaive")

# Libraries.
set(layers rdma state engine)
foreach(layer IN LISTS layers)
  set_target_properties(glaive_${layer} PROPERTIES EXPORT_NAME ${layer})
  install(TARGETS glaive_${layer} EXPORT GlaiveTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
    INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
endforeach()
target_compile_features(glaive_rdma INTERFACE cxx_std_20)
if(GLAIVE_NATIVE)
  # The loop over the records, which is in the user's program, is compiled as it is for the queries of this build.
  target_compile_options(glaive_rdma INTERFACE $<INSTALL_INTERFACE:-march=native>)
endif()

# Headers.
install(CODE "
set(GLAIVE_SOURCE_DIR [[${PROJECT_SOURCE_DIR}]])
set(GLAIVE_HEADER_FOLDER [[${CMAKE_INSTALL_INCLUDEDIR}/glaive]])
set(GLAIVE_LAYERS [[${layers}]])
" COMPONENT development)
install(SCRIPT "${PROJECT_SOURCE_DIR}/scripts/cmake/InstallHeaders.cmake" COMPONENT development)

# find_package(Glaive).
install(EXPORT GlaiveTargets NAMESPACE glaive:: DESTINATION "${GLAIVE_PACKAGE_FOLDER}" COMPONENT development)
# Below 1.0 a minor version may change any interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/generated/GlaiveConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/generated/GlaiveConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/scripts/cmake/GlaiveConfig.cmake" "${PROJECT_SOURCE_DIR}/scripts/cmake/LinkedLibraries.cmake"
  DESTINATION "${GLAIVE_PACKAGE_FOLDER}" COMPONENT development)

# pkg-config.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig"
  OUTPUT_VARIABLE GLAIVE_PREFIX_FROM_PC)
set(GLAIVE_PC_FLAGS "")
if(GLAIVE_NATIVE)
  set(GLAIVE_PC_FLAGS " -march=native")
endif()
configure_file("${PROJECT_SOURCE_DIR}/scripts/cmake/glaive.pc.in" "${PROJECT_BINARY_DIR}/generated/glaive.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/generated/glaive.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
  COMPONENT development)

# Projects to begin with.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/queries/template" "${PROJECT_SOURCE_DIR}/queries/examples"
  DESTINATION "${GLAIVE_SHARE_FOLDER}" COMPONENT development)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT development)

# Queries. Their names are too short for everybody's search path.
get_property(queries GLOBAL PROPERTY GLAIVE_QUERIES)
install(TARGETS ${queries} RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/glaive" COMPONENT programs)

# A package is for other machines, too.
if(NOT GLAIVE_NATIVE)
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_NAME glaive)
  set(CPACK_PACKAGE_VENDOR "The Glaive project")
  set(CPACK_PACKAGE_CONTACT "The Glaive project")
  set(CPACK_STRIP_FILES ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
  # What programs with Glaive are linked with (LinkedLibraries.cmake); what the queries need is found out from them.
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS
    "pkg-config, libabsl-dev, libboost-context-dev, libibverbs-dev, librdmacm-dev, libsimdjson-dev, libssl-dev, libxxhash-dev, zlib1g-dev")
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "cmake, g++, ibverbs-providers")
  include(CPack)
else()
  file(REMOVE "${PROJECT_BINARY_DIR}/CPackConfig.cmake")  # of a build without GLAIVE_NATIVE in this folder
endif()
