# Configuring and building a preset below build/. Sourced after common.sh.
# shellcheck shell=bash

# Another checkout of the same sources finds what this one has compiled without precompiled headers (GLAIVE_PRECOMPILE):
# checks of headers, and tests with many records. A precompiled header names the files of its checkout, and the command of
# each source that reads it names the checkout, so such sources are compiled again.
export CCACHE_BASEDIR="$PROJECT_ROOT" CCACHE_NOHASHDIR=true
# What the compiler says of the files it has read is enough; else ccache preprocesses each source once more.
export CCACHE_DEPEND=true
# Precompiled headers (GLAIVE_PRECOMPILE) are hashed as they are, which ccache has to be told is good enough.
export CCACHE_SLOPPINESS=pch_defines,time_macros

# build_preset PRESET [TARGET...]: configures where needed and builds, without a word when nothing is to be done.
# Scripts build side by side (two nodes of a run started by hand, say), so a lock lets one of them work at a time.
build_preset() {
  local preset="$1" dir="$PROJECT_ROOT/build/$1" native=OFF
  shift
  # Programs that are measured may use all of this machine's instructions.
  [[ $preset != release ]] || native=ON
  mkdir -p "$dir"
  (
    flock --nonblock 9 || {
      note "waiting for another build in build/$preset"
      flock 9 | show_progress "$dir/build.log" 9>&-
    }
    # Ninja configures again by itself when CMake's own files change, but not when the presets do. A folder that was
    # configured for another compiler would lose the preset's values, hence --fresh.
    if [[ ! -e $dir/build.ninja || $PROJECT_ROOT/CMakePresets.json -nt $dir/build.ninja ]] ||
      ! grep -q "^GLAIVE_NATIVE:BOOL=$native$" "$dir/CMakeCache.txt"; then
      run_quietly "$dir/configure.log" \
        cmake --fresh -S "$PROJECT_ROOT" -B "$dir" --preset "$preset" -DGLAIVE_NATIVE="$native"
    fi
    run_quietly "$dir/build.log" cmake --build "$dir" -- "$@"
  ) 9>"$dir/.lock"
}

# start_building_ahead COMMAND: runs COMMAND in the background, which builds presets that the script needs later. It ends
# with the script. The scheduling policy "idle" gives it only the processor time that nothing else uses, so tests that
# run meanwhile keep their timing. build_preset waits for a build of its preset that is under way, and builds again what
# failed, so that its errors are seen. At its end, $BUILDER_TIME has the processor time that it took.
start_building_ahead() {
  BUILDER_TIME="$PROJECT_ROOT/build/built-ahead"
  mkdir -p "$PROJECT_ROOT/build"
  rm -f "$BUILDER_TIME"
  set -m # a process group of its own, which ends as a whole
  {
    chrt --idle --pid 0 "$BASHPID" || exit # a build of normal priority would starve the tests
    "$@" || true
    children_seconds "$BASHPID" >"$BUILDER_TIME"
  } </dev/null &>/dev/null &
  BUILDER=$!
  set +m
  trap '{ kill -KILL -- "-$BUILDER" || true; wait "$BUILDER"; } &>/dev/null || true' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
}
