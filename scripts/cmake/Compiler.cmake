# What every target of Glaive is compiled with: the interface library `glaive_options`.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

# Debian's linker takes four times as long.
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

add_library(glaive_options INTERFACE)
target_include_directories(glaive_options INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(glaive_options INTERFACE
  -Wall -Wextra
  -Wcast-align -Wcast-qual -Wconversion -Wextra-semi -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual
  -Wshadow -Wsuggest-override -Wundef -Wvla
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond>
  # g++ 12 warns of values without initialization in its own header of AVX-512. Clang's presets still have -Wuninitialized.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
  # Clang's -Wconversion goes further than g++'s, and libstdc++'s algorithms use what clang calls deprecated.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)

# A failed check names its file from the project's root, wherever the checkout lies, also when ccache hands the compiler
# paths relative to the build folder.
cmake_path(RELATIVE_PATH PROJECT_SOURCE_DIR BASE_DIRECTORY "${PROJECT_BINARY_DIR}" OUTPUT_VARIABLE glaive_relative_root)
target_compile_options(glaive_options INTERFACE
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/= -fmacro-prefix-map=${glaive_relative_root}/=)

if(GLAIVE_WERROR)
  target_compile_options(glaive_options INTERFACE -Werror)
endif()

if(GLAIVE_NATIVE)
  target_compile_options(glaive_options INTERFACE -march=native)
endif()

if(GLAIVE_SANITIZE)
  # A finding ends the test; undefined behaviour would only be printed otherwise.
  target_compile_options(glaive_options INTERFACE -fsanitize=${GLAIVE_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(glaive_options INTERFACE -fsanitize=${GLAIVE_SANITIZE})
  if(GLAIVE_NO_SANITIZE)
    target_compile_options(glaive_options INTERFACE -fno-sanitize=${GLAIVE_NO_SANITIZE})
  endif()
  # A target with the property GLAIVE_WITHOUT_UBSAN has the other sanitizers alone.
  target_compile_options(glaive_options INTERFACE
    $<$<BOOL:$<TARGET_PROPERTY:GLAIVE_WITHOUT_UBSAN>>:-fno-sanitize=undefined>)
  # As g++ does. Frames on the heap would double the time of tests, as each fiber has its own.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND GLAIVE_SANITIZE MATCHES "address")
    target_compile_options(glaive_options INTERFACE -fsanitize-address-use-after-return=never)
  endif()
  # A test starts its program anew, and a sanitizer's program has so much to relocate that half its start is that.
  target_link_options(glaive_options INTERFACE -no-pie)
endif()
