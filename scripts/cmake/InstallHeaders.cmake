# Run by `cmake --install`: copies the headers of the folders GLAIVE_LAYERS of GLAIVE_SOURCE_DIR below
# GLAIVE_HEADER_FOLDER, relative to the prefix. "engine/api/stream.h" becomes <glaive/engine/api/stream.h>, also where
# another header includes it. So a project's own folder engine/ does not get in the way of Glaive's.

set(folder "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${GLAIVE_HEADER_FOLDER}")
message(STATUS "Installing: ${folder}")
list(JOIN GLAIVE_LAYERS "|" layers)
foreach(layer IN LISTS GLAIVE_LAYERS)
  file(REMOVE_RECURSE "${folder}/${layer}")  # headers of an older version
  file(GLOB_RECURSE headers RELATIVE "${GLAIVE_SOURCE_DIR}" "${GLAIVE_SOURCE_DIR}/${layer}/*.h")
  foreach(header IN LISTS headers)
    file(READ "${GLAIVE_SOURCE_DIR}/${header}" text)
    string(REGEX REPLACE "\n#include \"(${layers})/" "\n#include \"glaive/\\1/" text "${text}")
    file(WRITE "${folder}/${header}" "${text}")
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${CMAKE_INSTALL_PREFIX}/${GLAIVE_HEADER_FOLDER}/${header}")
  endforeach()
endforeach()
