# The parts of a test run, each with a header, its duration and its processor time, and the summary at the end. Sourced
# after common.sh.
# shellcheck shell=bash

SUMMARY_LINES=()
TESTS_RUN=0
TESTS_FAILED=0
SECTIONS_FAILED=0
FAILURES='' # the end of what each failed test printed, and the skips without a listed reason
# Whether the last section passed.
SECTION_PASSED=true

# section TITLE COMMAND...: runs one part, and remembers its result for the summary. A part that exits with
# $EXIT_UNAVAILABLE could not run here: see skip_section. Always returns 0: a caller that asked in an `if` would switch
# `set -e` off inside the part.
section() {
  local title="$1" start=$SECONDS processor_start status result
  shift
  printf '\n=== %s\n' "$title"
  processor_start="$(processor_seconds)"
  set +e
  (
    set -e
    "$@"
  )
  status=$?
  set -e
  if ((status == 0)); then
    result=passed
    SECTION_PASSED=true
  else
    SECTION_PASSED=false
    if ((status == EXIT_UNAVAILABLE)); then
      skip_section "$title" "the reason stands above"
      return
    fi
    result=FAILED
    SECTIONS_FAILED=$((SECTIONS_FAILED + 1))
  fi
  result="$(printf '%-16s %s %12s %12s of processors' "$title" "$result" "$(duration $((SECONDS - start)))" \
    "$(duration $(($(processor_seconds) - processor_start)))")"
  printf -- '--- %s\n' "$result"
  SUMMARY_LINES+=("$result")
}

# skip_section TITLE REASON...: a part that cannot run here. In CI that is a failure.
skip_section() {
  local result
  result="$(printf '%-16s skipped: %s' "$1" "${*:2}")"
  printf '\n=== %s\n' "$result"
  SUMMARY_LINES+=("$result")
  if [[ -n ${CI:-} ]]; then
    note "CI is set, so nothing may be skipped."
    SECTIONS_FAILED=$((SECTIONS_FAILED + 1))
  fi
}

# leave_out TITLE REASON...: a part that does not belong to what was asked for.
leave_out() {
  SUMMARY_LINES+=("$(printf '%-16s left out: %s' "$1" "${*:2}")")
}

# What ctest is run by: a command that its own command line is added to, or nothing.
CTEST_RUNNER=()
# What ctest does when no test matches: "error" or "ignore".
NO_TESTS=error
# How much of a passed test's output ctest keeps: all, as skips.py reads there which tests were skipped.
PASSED_OUTPUT_BYTES=10000000

# test_section TITLE PRESET [CTEST ARGUMENT...] [--beside CTEST ARGUMENT...]: some of the preset's tests as one section,
# counted for the summary. Those of the arguments behind --beside run at the same time, in a runner of their own.
test_section() {
  local title="$1" preset="$2" dir="$PROJECT_ROOT/build/$2" failed total
  shift
  rm -f "$dir"/ctest*.log "$dir"/ctest*.xml
  section "$title" run_tests_and_judge_skips "$@"
  if ! $SECTION_PASSED; then
    FAILURES+="$("$PROJECT_ROOT/scripts/lib/failures.py" "$title" "$dir")"$'\n'
    FAILURES+="$("$PROJECT_ROOT/scripts/lib/skips.py" "$preset" "$dir" || true)"$'\n'
  fi
  while read -r failed total; do
    TESTS_FAILED=$((TESTS_FAILED + failed))
    TESTS_RUN=$((TESTS_RUN + total))
  done < <(cat "$dir"/ctest*.log 2>/dev/null | sed -nE 's/^[0-9]+% tests passed, ([0-9]+) tests failed out of ([0-9]+)$/\1 \2/p')
}

# run_tests_and_judge_skips PRESET ...: as run_tests, and names the tests that were skipped without a reason in
# tests/skips.txt. In CI they fail the section.
run_tests_and_judge_skips() {
  local status=0
  run_tests "$@" || status=$?
  "$PROJECT_ROOT/scripts/lib/skips.py" "$1" "$PROJECT_ROOT/build/$1" || [[ -z ${CI:-} ]] || status=1
  return "$status"
}

# run_tests PRESET [CTEST ARGUMENT...] [--beside CTEST ARGUMENT...]: see test_section.
run_tests() {
  local dir="$PROJECT_ROOT/build/$1" arguments=("$1") job='' status=0
  shift
  while (($#)) && [[ $1 != --beside ]]; do
    arguments+=("$1")
    shift
  done
  if (($#)); then
    run_ctest ctest-beside "${arguments[0]}" "${@:2}" >/dev/null &
    job=$!
  fi
  run_ctest ctest "${arguments[@]}" || status=$?
  if [[ -n $job ]]; then
    wait "$job" || status=$?
    cat "$dir/ctest-beside.log"
  fi
  return "$status"
}

# run_ctest NAME PRESET [CTEST ARGUMENT...]: leaves NAME.log and NAME.xml in the build folder. One test more at a time
# than there are processors, as many tests mostly wait.
run_ctest() {
  local report="$PROJECT_ROOT/build/$2/$1" preset="$2" wrapper=("${CTEST_RUNNER[@]}") processors
  shift 2
  processors="$(nproc)"
  ((${#CTEST_RUNNER[@]} == 0)) || processors=1 # a guest's
  # ThreadSanitizer cannot run where the kernel spreads mappings wider than it expects.
  if [[ $preset == tsan ]] && setarch --addr-no-randomize true 2>/dev/null; then
    wrapper+=(setarch --addr-no-randomize)
  fi
  export ASAN_OPTIONS="${ASAN_OPTIONS:-strict_string_checks=1}"
  export TSAN_OPTIONS="${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}"
  export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"
  "${wrapper[@]}" ctest --test-dir "$PROJECT_ROOT/build/$preset" --output-on-failure --no-tests="$NO_TESTS" \
    --parallel $((processors + 1)) --output-junit "$report.xml" --test-output-size-passed "$PASSED_OUTPUT_BYTES" "$@" \
    </dev/null | tee "$report.log"
}

# matching_sections PRESET LINE...: builds and runs cases of single sources and scripts, a line of lib/matching_tests.py
# each.
matching_sections() {
  local preset="$1" log="$PROJECT_ROOT/build/$1/cases.log" line kind name needs targets=(build.ninja) cases=() scripts=() count
  shift
  for line; do
    IFS=$'\t' read -r kind name needs <<<"$line"
    if [[ $kind == case ]]; then
      targets+=("$name")
      cases+=("$name"$'\t'"$needs")
    else
      # shellcheck disable=SC2206  # names of programs
      targets+=($needs)
      scripts+=("${name//./\\.}")
    fi
  done
  # The file of the build's rules is a target that is always there: a script may need no program.
  section "$preset: build" build_preset "$preset" "${targets[@]}"
  $SECTION_PASSED || return 0
  if ((${#cases[@]})); then
    section "$preset: cases" run_cases "$preset" "$log" "${cases[@]}"
    while read -r kind count; do
      case "$kind" in
        "==========") TESTS_RUN=$((TESTS_RUN + count)) ;;
        "FAILED") TESTS_FAILED=$((TESTS_FAILED + count)) ;;
      esac
    done < <(sed -nE 's/^\[ *(=+|FAILED) *\] ([0-9]+) tests?(,| from .* ran).*/\1 \2/p' "$log")
  fi
  if ((${#scripts[@]})); then
    # A preset may lack a script; summary fails if no test has run at all.
    NO_TESTS=ignore test_section "$preset: scripts" "$preset" \
      -R "^($(IFS='|' && printf '%s' "${scripts[*]}"))\$" -LE "$RDMA_LABELS"
  fi
}

# run_cases PRESET LOG LINE...: runs all, and fails if one does.
run_cases() {
  local preset="$1" log="$2" line failed=0
  shift 2
  : >"$log"
  for line; do
    (cd "$PROJECT_ROOT" && "build/$preset/bin/${line%%$'\t'*}" --gtest_filter="${line#*$'\t'}-*OverVerbs*") |& tee -a "$log" ||
      failed=1
  done
  return "$failed"
}

# processor_seconds: the processor time of the script's children that have ended, but for the background build's.
processor_seconds() { printf '%d' $(($(children_seconds $$) - $(built_ahead_seconds))); }

# built_ahead_seconds: the processor time of the background build, once it has ended and the script has waited for it. Then
# it counts among the children's.
built_ahead_seconds() {
  if [[ -s ${BUILDER_TIME:-} ]] && ! kill -0 "$BUILDER" 2>/dev/null; then
    cat "$BUILDER_TIME"
  else
    printf 0
  fi
}

# duration SECONDS: as "1 min 05 s".
duration() {
  if (($1 < 60)); then
    printf '%d s' "$1"
  else
    printf '%d min %02d s' $(($1 / 60)) $(($1 % 60))
  fi
}

# summary: the reasons of failures, one line a section, one line for the background build, and a last line for everything.
# Fails unless all passed and a test ran.
summary() {
  local ahead
  ahead="$(built_ahead_seconds)"
  printf '%s' "$FAILURES"
  printf '\n=== Summary\n'
  printf '%s\n' "${SUMMARY_LINES[@]}"
  ((ahead == 0)) || printf '%-36s %12s of processors\n' "built in the background" "$(duration "$ahead")"
  printf '%d sections, %d failed; %d tests, %d failed; total time %s, of processors %s\n' "${#SUMMARY_LINES[@]}" \
    "$SECTIONS_FAILED" "$TESTS_RUN" "$TESTS_FAILED" "$(duration $SECONDS)" "$(duration "$(children_seconds $$)")"
  ((TESTS_RUN)) || {
    note "No test ran."
    return 1
  }
  ((SECTIONS_FAILED == 0))
}
