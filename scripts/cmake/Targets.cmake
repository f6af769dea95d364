# Functions that turn a folder into targets. All of them glob: a new file needs no change here.

include(GoogleTest)

set(GLAIVE_TEST_TIMEOUT_SECONDS 300)

# How many sources of a test program are compiled as one. There are more than elsewhere: a developer's test is a program
# of its own, so a change of one source compiles no batch.
set(GLAIVE_TEST_BATCH_SIZE 12)

# The same for targets of many templates, scripts/tidy included: twelve sources of engine_tests take 7 GB of memory
# under AddressSanitizer, and 4 GB in clang-tidy.
set(GLAIVE_TEMPLATE_BATCH_SIZE 6)

# Options of queries that are optimized: line numbers for a profile, and no variables, which take a tenth of the time to
# compile. The engine has variables: scripts/lib/gdb finds fibers by them.
set(GLAIVE_QUERY_OPTIONS $<$<CONFIG:Release>:-g1>)

# Options of tests alone. A test instantiates most of the engine, and most tests take longer to compile than to run.
set(GLAIVE_TEST_OPTIONS -O0)
# Tests with so many records that they are optimized all the same, except for a sanitizer, for which they have fewer.
# They have a program of their own. Of two instances of a template in one program, the linker takes either, also the one
# that is not optimized.
set(GLAIVE_OPTIMIZED_TESTS join_test sliding_test turn_length_test)

# What a source names if its tests check something in a plain build that they do not check under AddressSanitizer: the
# number of records, orders of work or shapes of a cluster depends on the sanitizer, a case is left out, needs an RDMA
# device (a guest of scripts/softroce has no address space for AddressSanitizer), or measures time.
set(GLAIVE_PLAIN_TEST "Sanitize[rd]|kOrders|kManyRecords|OverVerbs|Timing")

# Tests of the state layer with short names (Table, Update, kLimitBytes) that another one has, too: each is compiled
# alone.
set(GLAIVE_ALONE_TESTS
  append_table_test bucket_table_test cell_table_test combiner_test crdt_law_test delta_reader_test fragment_geometry_test group_index_test
  hash_index_test placed_table_test primary_partition_test rounding_test slice_table_test two_stacks_test)

# Tests of the engine that ThreadSanitizer leaves out, since their threads meet nowhere else than those of other tests.
# Executors meet in channels of deltas (exactness_test, session_test, stages_test), in exchanges (exchange_test), and
# with texts in both and in a queue that a thread of the user's feeds (text_moves_test). Tests of threads of files, of
# progress, of interrupts and of the launcher run, too. The tests here vary what one executor computes with what it got:
# operators, kinds of windows, joins and aggregates, states of keys, types of keys, formats, and sizes of tables. Some
# have one thread.
set(GLAIVE_TESTS_WITHOUT_TSAN
  aggregates_test csv_reader_test described_files_test distinct_test explain_test flat_map_test fold_test formats_test
  global_test interval_join_test join_memory_test join_results_test join_shipping_test join_test json_reader_test
  key_types_test keyed_state_test operators_test order_of_records_test ordered_windows_test partition_folder_test
  partitioned_windows_test process_test processing_time_graphs_test recurring_keys_test sliding_test sort_merge_join_test
  text_joins_test text_states_test text_values_test turn_length_test unbounded_test union_test untimed_join_test
  unwindowed_test window_trigger_test windows_test)

# glaive_leave_out_ubsan(<target>...): compiles the targets without UndefinedBehaviorSanitizer, wherever the preset has
# it (docs/testing.md, "Where each runs", says for which targets and why).
function(glaive_leave_out_ubsan)
  set_target_properties(${ARGN} PROPERTIES GLAIVE_WITHOUT_UBSAN TRUE)
endfunction()

# glaive_add_layer(<folder> <library>...): the static library glaive_<folder> of all sources below the folder.
function(glaive_add_layer folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.cc")
  add_library(glaive_${folder} STATIC ${sources})
  target_link_libraries(glaive_${folder} PUBLIC $<BUILD_INTERFACE:glaive_options> ${ARGN})
  glaive_precompile(glaive_${folder})
endfunction()

# glaive_add_queries(): the library glaive_queries_common of queries/common, queries/loops and of the Slash paper's
# NEXMark records in queries/nexmark, and for every queries/<name>/main.cc the library glaive_query_<name>, for tests
# and benchmarks, of what else lies in the folder and in those below it, and the executable <name>, of main.cc and
# *_program.cc. A query may have all else in headers: its library then has no sources. The sanitizers' presets build the
# executable ysb alone, which is what tests/cli runs there: all run the same engine. They build the libraries of queries
# that their tests link.
function(glaive_add_queries)
  if(GLAIVE_PRECOMPILE)
    glaive_add_precompiled_queries()
  endif()
  file(GLOB common CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/queries/common/*.cc" "${PROJECT_SOURCE_DIR}/queries/loops/*.cc"
    "${PROJECT_SOURCE_DIR}/queries/nexmark/*.cc")
  list(FILTER common EXCLUDE REGEX "/queries/nexmark/(main|[a-z_]*_program)[.]cc$")
  add_library(glaive_queries_common STATIC ${common})
  target_link_libraries(glaive_queries_common PUBLIC glaive_engine)
  glaive_precompile(glaive_queries_common)
  file(GLOB mains CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/queries/*/main.cc")
  set(only_for_users "")
  if(GLAIVE_SANITIZE)
    set(only_for_users EXCLUDE_FROM_ALL)
  endif()
  foreach(main IN LISTS mains)
    cmake_path(GET main PARENT_PATH folder)
    cmake_path(GET folder FILENAME name)
    file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cc" "${folder}/*/*.cc")
    file(GLOB program CONFIGURE_DEPENDS "${folder}/main.cc" "${folder}/*_program.cc")
    list(REMOVE_ITEM sources ${program} ${common})
    if(sources)
      add_library(glaive_query_${name} STATIC ${only_for_users} ${sources})
      set_target_properties(glaive_query_${name} PROPERTIES UNITY_BUILD_BATCH_SIZE ${GLAIVE_TEMPLATE_BATCH_SIZE})
      target_link_libraries(glaive_query_${name} PUBLIC glaive_queries_common)
      glaive_compile_query(glaive_query_${name} ${name})
      if(NOT name STREQUAL "ysb")
        glaive_leave_out_ubsan(glaive_query_${name})
      endif()
    else()
      add_library(glaive_query_${name} INTERFACE)
      target_link_libraries(glaive_query_${name} INTERFACE glaive_queries_common)
    endif()
    set_property(GLOBAL APPEND PROPERTY GLAIVE_QUERY_LIBRARIES glaive_query_${name})
    add_executable(${name} ${program})
    set_property(GLOBAL APPEND PROPERTY GLAIVE_QUERIES ${name})
    target_link_libraries(${name} PRIVATE glaive_query_${name})
    glaive_compile_query(${name} ${name})
    if(GLAIVE_SANITIZE AND NOT name STREQUAL "ysb")
      set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    endif()
  endforeach()
endfunction()

# glaive_compile_query(<target> <query>): how the query's library or program is compiled. Without
# GLAIVE_OPTIMIZE_QUERIES only ysb is optimized, which the tests of the command line run: the compiler takes less than
# half of the time then.
function(glaive_compile_query target query)
  if(GLAIVE_OPTIMIZE_QUERIES OR query STREQUAL "ysb")
    target_compile_options(${target} PRIVATE ${GLAIVE_QUERY_OPTIONS})
    glaive_precompile(${target} queries)
  else()
    target_compile_options(${target} PRIVATE ${GLAIVE_TEST_OPTIONS})
    glaive_precompile(${target} queries tests)
  endif()
endfunction()

# Benchmarks that measure RDMA devices, too. Each has a folder below bench/ with its name.
set(GLAIVE_RDMA_BENCHMARKS channel write_order)

# glaive_add_bench_libraries(): two static libraries of what lies in bench/*/, for benchmarks and tests:
# glaive_rdma_bench of bench/common and of the folders of GLAIVE_RDMA_BENCHMARKS, and glaive_bench, which has the rest
# and links all queries.
function(glaive_add_bench_libraries)
  get_property(query_libraries GLOBAL PROPERTY GLAIVE_QUERY_LIBRARIES)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/*/*.cc")
  list(FILTER sources EXCLUDE REGEX "/bench/[^/]*$")
  list(JOIN GLAIVE_RDMA_BENCHMARKS "|" folders)
  set(rdma_sources ${sources})
  list(FILTER rdma_sources INCLUDE REGEX "/bench/(common|${folders})/")
  list(REMOVE_ITEM sources ${rdma_sources})
  add_library(glaive_rdma_bench STATIC EXCLUDE_FROM_ALL ${rdma_sources})
  target_link_libraries(glaive_rdma_bench PUBLIC glaive_engine)
  add_library(glaive_bench STATIC EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(glaive_bench PUBLIC glaive_rdma_bench ${query_libraries})
  glaive_precompile(glaive_rdma_bench)
  glaive_precompile(glaive_bench)
  glaive_leave_out_ubsan(glaive_rdma_bench glaive_bench)
endfunction()

# glaive_add_benchmarks(): for every bench/<name>.cc the executable <name>, and a ctest with the label bench that runs
# it as briefly as GLAIVE_SMOKE_FLAGS_<name> says; by default, each case of Google Benchmark about once. What needs an
# RDMA device has the label rdma-device instead, by GLAIVE_SMOKE_LABEL_<name>. All benchmarks run in the preset release.
# Other presets' default build has GLAIVE_RDMA_BENCHMARKS alone; the target benchmarks builds all.
function(glaive_add_benchmarks)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/*.cc")
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    set(smoke_flags --benchmark_min_time=0.001)
    if(DEFINED GLAIVE_SMOKE_FLAGS_${name})
      set(smoke_flags ${GLAIVE_SMOKE_FLAGS_${name}})
    endif()
    add_executable(${name} "${source}")
    if(name IN_LIST GLAIVE_RDMA_BENCHMARKS)
      target_link_libraries(${name} PRIVATE glaive_rdma_bench benchmark::benchmark)
    else()
      target_link_libraries(${name} PRIVATE glaive_bench benchmark::benchmark)
      if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
        set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
      endif()
    endif()
    add_dependencies(benchmarks ${name})
    glaive_precompile(${name})
    add_test(NAME bench.${name} COMMAND ${name} ${smoke_flags})
    set(smoke_label bench)
    if(DEFINED GLAIVE_SMOKE_LABEL_${name})
      set(smoke_label ${GLAIVE_SMOKE_LABEL_${name}})
    endif()
    set_tests_properties(bench.${name} PROPERTIES LABELS ${smoke_label} TIMEOUT ${GLAIVE_TEST_TIMEOUT_SECONDS})
  endforeach()
endfunction()

# glaive_add_tests(): the tests of every folder below tests/; those of lint and scripts, which look at sources and
# scripts and not at what was compiled, only with GLAIVE_LINT. ThreadSanitizer does not run tests/state and tests/sim,
# which start no thread, nor tests/queries and tests/bench, whose threads are those of tests/engine.
function(glaive_add_tests)
  add_custom_target(unit_tests)
  file(GLOB folders LIST_DIRECTORIES TRUE CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/*")
  foreach(folder IN LISTS folders)
    cmake_path(GET folder FILENAME name)
    if(IS_DIRECTORY "${folder}" AND NOT name STREQUAL "fuzz" AND (GLAIVE_LINT OR NOT name MATCHES "^(library|lint|scripts)$")
        AND (GLAIVE_SIMULATOR OR NOT name STREQUAL "sim"))
      if(GLAIVE_UNIT_TESTS AND NOT (GLAIVE_SANITIZE STREQUAL "thread" AND name MATCHES "^(bench|queries|sim|state)$"))
        glaive_add_test_program(${name} "${folder}")
      endif()
      glaive_add_test_scripts(${name} "${folder}")
    endif()
  endforeach()
endfunction()

# glaive_add_simulator(): the library glaive_simulator of tests/sim, and its program, simulate. Its queries are not
# optimized: they are the templates of some eighty stages, which take longer to optimize than simulations save. They are
# a library of their own, which follows that of the simulator on the linker's command line: of two instances of a
# template, sorting texts for one, the linker takes the first, and the simulator's is optimized.
function(glaive_add_simulator)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/sim/*.cc")
  list(FILTER sources EXCLUDE REGEX "(_test|/simulate_main)[.]cc$")
  set(queries ${sources})
  list(FILTER queries INCLUDE REGEX "/tests/sim/queries/")
  list(FILTER sources EXCLUDE REGEX "/tests/sim/queries/")
  add_library(glaive_simulator_queries STATIC ${queries})
  set_target_properties(glaive_simulator_queries PROPERTIES UNITY_BUILD_BATCH_SIZE ${GLAIVE_TEMPLATE_BATCH_SIZE})
  target_link_libraries(glaive_simulator_queries PUBLIC glaive_engine)
  target_compile_options(glaive_simulator_queries PRIVATE ${GLAIVE_TEST_OPTIONS})
  glaive_precompile(glaive_simulator_queries tests)
  add_library(glaive_simulator STATIC ${sources})
  target_link_libraries(glaive_simulator PUBLIC glaive_simulator_queries)
  glaive_precompile(glaive_simulator)
  add_executable(simulate "${PROJECT_SOURCE_DIR}/tests/sim/simulate_main.cc")
  target_link_libraries(simulate PRIVATE glaive_simulator)
endfunction()

# glaive_add_fuzzers(): every tests/fuzz/<name>_fuzz.cc, with what lies in tests/fuzz/<name>/, is the executable
# <name>_fuzz; scripts/fuzz runs them. GLAIVE_FUZZ_SOURCES_<name> lists further sources: parsers of queries, without the
# rest of the query's library, which takes long to compile. Sources are compiled one by one, so that all processors have
# work. Those of tests/fuzz/merge and tests/fuzz/exchange are templates of queries: neither they nor their checks are
# optimized, which would take three times as long.
function(glaive_add_fuzzers)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "GLAIVE_FUZZ needs clang's libFuzzer: use the preset fuzz")
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/fuzz/*_fuzz.cc")
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM stem)
    string(REGEX REPLACE "_fuzz$" "" name "${stem}")
    file(GLOB parts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/fuzz/${name}/*.cc")
    add_executable(${stem} "${source}" ${parts} ${GLAIVE_FUZZ_SOURCES_${name}})
    set_target_properties(${stem} PROPERTIES UNITY_BUILD OFF)
    if(name MATCHES "^(merge|exchange)$")
      set_source_files_properties(${parts} PROPERTIES
        COMPILE_OPTIONS "-O0;-fno-sanitize=null,vptr" SKIP_PRECOMPILE_HEADERS TRUE)
    endif()
    target_link_libraries(${stem} PRIVATE glaive_engine)
    target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
    glaive_precompile(${stem})
  endforeach()
endfunction()

# glaive_add_test_program(<name> <folder>): the tests of a folder, linked with what the folder tests: a layer, the
# benchmarks' library, the simulator, or all queries. They are the executable <name>_tests, and in presets without a
# sanitizer two more: <name>_plain_tests (GLAIVE_PLAIN_TEST) and <name>_volume_tests (GLAIVE_OPTIMIZED_TESTS). Each
# source is a program of its own as well, <name>.<source>, which is built only when it is asked for (scripts/test -R).
# What lies in compile_fail/ is there to be refused by the compiler, so it belongs to no target.
#
# AddressSanitizer's preset checks all that <name>_tests checks elsewhere, and more. So the program is no part of other
# presets' default build; the target unit_tests builds all.
function(glaive_add_test_program name folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cc")
  list(FILTER sources EXCLUDE REGEX "/compile_fail/")
  if(name STREQUAL "sim")
    list(FILTER sources INCLUDE REGEX "_test[.]cc$")  # the rest is glaive_simulator
    set(tested glaive_simulator)
  elseif(TARGET glaive_${name})
    set(tested glaive_${name})
  else()
    get_property(tested GLOBAL PROPERTY GLAIVE_QUERY_LIBRARIES)
  endif()
  if(GLAIVE_SANITIZE STREQUAL "thread")
    list(JOIN GLAIVE_TESTS_WITHOUT_TSAN "|" left_out)
    list(FILTER sources EXCLUDE REGEX "/(${left_out})[.]cc$")
  endif()
  if(NOT sources)
    return()
  endif()
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM stem)
    glaive_add_tests_of(${name}.${stem} ${name} "${tested}" "${source}")
    set_target_properties(${name}.${stem} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endforeach()
  if(GLAIVE_SANITIZE)
    glaive_add_tests_of(${name}_tests ${name} "${tested}" ${sources})
    add_dependencies(unit_tests ${name}_tests)
    glaive_discover_suites(${name})
    return()
  endif()
  set(others "")
  set(plain "")
  set(volume "")
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM stem)
    file(STRINGS "${source}" words REGEX "${GLAIVE_PLAIN_TEST}" LIMIT_COUNT 1)
    if(stem IN_LIST GLAIVE_OPTIMIZED_TESTS)
      list(APPEND volume "${source}")
    elseif(words)
      list(APPEND plain "${source}")
    else()
      list(APPEND others "${source}")
    endif()
  endforeach()
  if(others)
    glaive_add_tests_of(${name}_tests ${name} "${tested}" ${others})
    set_target_properties(${name}_tests PROPERTIES EXCLUDE_FROM_ALL TRUE)
    glaive_discover_cases(${name}_tests ${name} sanitized)
  endif()
  if(plain)
    glaive_add_tests_of(${name}_plain_tests ${name} "${tested}" ${plain})
    glaive_discover_cases(${name}_plain_tests ${name})
  endif()
  if(volume)
    set_source_files_properties(${volume} PROPERTIES COMPILE_OPTIONS -O1 SKIP_PRECOMPILE_HEADERS TRUE)
    glaive_add_tests_of(${name}_volume_tests ${name} "${tested}" ${volume})
    set_target_properties(${name}_volume_tests PROPERTIES UNITY_BUILD OFF)
    glaive_discover_cases(${name}_volume_tests ${name})
  endif()
  foreach(program IN ITEMS ${name}_tests ${name}_plain_tests ${name}_volume_tests)
    if(TARGET ${program})
      add_dependencies(unit_tests ${program})
    endif()
  endforeach()
endfunction()

# glaive_add_tests_of(<program> <name> <tested> <source>...): the executable <program> of sources of tests/<name>, which
# are not optimized. <tested> is a list of libraries.
function(glaive_add_tests_of program name tested)
  add_executable(${program} ${ARGN})
  set(batch_size ${GLAIVE_TEST_BATCH_SIZE})
  if(name STREQUAL "engine")
    set(batch_size ${GLAIVE_TEMPLATE_BATCH_SIZE})
  endif()
  set_target_properties(${program} PROPERTIES UNITY_BUILD_BATCH_SIZE ${batch_size})
  target_link_libraries(${program} PRIVATE ${tested} GTest::gmock_main)
  target_compile_options(${program} PRIVATE ${GLAIVE_TEST_OPTIONS})
  glaive_precompile(${program} tests)
  if(name STREQUAL "state")
    list(JOIN GLAIVE_ALONE_TESTS "|" alone_stems)
    set(alone_sources ${ARGN})
    list(FILTER alone_sources INCLUDE REGEX "/(${alone_stems})[.]cc$")
    set_source_files_properties(${alone_sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION TRUE)
  endif()
  if(name MATCHES "^(bench|engine|queries)$")
    glaive_leave_out_ubsan(${program})
  endif()
endfunction()

# glaive_discover_cases(<program> <label>...): each case of the program as one ctest with the labels. A suite with
# "Timing" in its name never runs beside another test. One with "OverVerbs" needs an RDMA device, and has the label
# rdma-device instead; with "AloneOverVerbs" it never runs beside another test.
function(glaive_discover_cases program)
  set(common DISCOVERY_MODE PRE_TEST WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    PROPERTIES TIMEOUT ${GLAIVE_TEST_TIMEOUT_SECONDS})
  gtest_discover_tests(${program} TEST_FILTER "-*Timing*.*:*OverVerbs*" ${common} LABELS "${ARGN}")
  gtest_discover_tests(${program} TEST_FILTER "*Timing*.*" ${common} LABELS "${ARGN}" RUN_SERIAL TRUE)
  gtest_discover_tests(${program} TEST_FILTER "*OverVerbs*:-*AloneOverVerbs*" ${common} LABELS rdma-device)
  gtest_discover_tests(${program} TEST_FILTER "*AloneOverVerbs*" ${common} LABELS rdma-device RUN_SERIAL TRUE)
endfunction()

# glaive_discover_suites(<name>): each suite of <name>_tests as one ctest with the label <name>, but those that need an
# RDMA device. A sanitizer's program takes longer to start than most cases take to run.
function(glaive_discover_suites name)
  set(registration "${PROJECT_BINARY_DIR}/${name}_suites.cmake")
  file(GENERATE OUTPUT "${registration}" CONTENT
"set(GLAIVE_TEST_PROGRAM [[$<TARGET_FILE:${name}_tests>]])
set(GLAIVE_TEST_LABEL [[${name}]])
set(GLAIVE_TEST_TIMEOUT_SECONDS ${GLAIVE_TEST_TIMEOUT_SECONDS})
set(GLAIVE_TEST_FOLDER [[${PROJECT_SOURCE_DIR}]])
include([[${PROJECT_SOURCE_DIR}/scripts/cmake/RegisterSuites.cmake]])
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${registration}")
endfunction()

# glaive_add_test_scripts(<name> <folder>): every *_test.py of the folder as one ctest with the label <name>. One that
# ends in _timing_test.py never runs beside another test; one that ends in _device_test.py needs an RDMA device, in
# _lossy_test.py two with a lossy link between them, in _pair_test.py two hosts; these have the labels rdma-device,
# rdma-lossy and rdma-pair instead. flag_fuzz_test runs in asan, which finds errors of memory and has the query ysb
# alone, and in dev, which has all queries and a checked standard library: its label is flag-fuzz there, so that
# scripts/test runs it without the others of its folder. One thread reads the flags, so ThreadSanitizer would find
# nothing. The sanitizers' presets do not run the tests of the program simulate: `scripts/simulate --sanitized` goes
# through the same code.
function(glaive_add_test_scripts name folder)
  file(GLOB scripts CONFIGURE_DEPENDS "${folder}/*_test.py")
  foreach(script IN LISTS scripts)
    cmake_path(GET script STEM stem)
    if(stem STREQUAL "flag_fuzz_test" AND (GLAIVE_SANITIZE STREQUAL "thread" OR CMAKE_BUILD_TYPE STREQUAL "Release"))
      continue()
    endif()
    if(stem MATCHES "^simulate_" AND GLAIVE_SANITIZE)
      continue()
    endif()
    set(test ${name}.${stem})
    add_test(NAME ${test} COMMAND Python3::Interpreter -B "${script}" --verbose)
    set_tests_properties(${test} PROPERTIES LABELS ${name} TIMEOUT ${GLAIVE_TEST_TIMEOUT_SECONDS})
    set_property(TEST ${test} PROPERTY ENVIRONMENT
      "GLAIVE_SOURCE_DIR=${PROJECT_SOURCE_DIR}" "GLAIVE_BUILD_DIR=${PROJECT_BINARY_DIR}"
      "GLAIVE_BIN_DIR=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}" "GLAIVE_CXX=${CMAKE_CXX_COMPILER}"
      "GLAIVE_SANITIZE=${GLAIVE_SANITIZE}")
    if(stem STREQUAL "flag_fuzz_test" AND NOT GLAIVE_SANITIZE)
      set_tests_properties(${test} PROPERTIES LABELS flag-fuzz)
    endif()
    if(stem MATCHES "_(device|lossy|pair)_test$")
      # Some take a port down or compare speeds.
      set_tests_properties(${test} PROPERTIES LABELS rdma-${CMAKE_MATCH_1} RUN_SERIAL TRUE)
    endif()
    if(stem MATCHES "_timing_test$" OR stem MATCHES "^(lost_node|scale)_test$")
      # They measure times, or keep all processors busy.
      set_tests_properties(${test} PROPERTIES RUN_SERIAL TRUE)
    endif()
  endforeach()
endfunction()
