# find_package(Glaive) makes the target glaive::engine.

set(glaive_missing "")
include("${CMAKE_CURRENT_LIST_DIR}/LinkedLibraries.cmake")
if(glaive_missing)
  list(JOIN glaive_missing " " glaive_missing)
  set(Glaive_FOUND FALSE)
  set(Glaive_NOT_FOUND_MESSAGE "Glaive needs packages that are not installed: apt-get install ${glaive_missing}")
  return()
endif()
include("${CMAKE_CURRENT_LIST_DIR}/GlaiveTargets.cmake")
