# Planted defects: patches that break the code on purpose, to see that tests notice. Sourced after common.sh.
# shellcheck shell=bash

# The copy in which the programs of tests/fuzz are built, with a defect and without: a patch compiles there only sources
# that it changes.
# shellcheck disable=SC2034  # for scripts/fuzz and scripts/test
FUZZ_COPY="$PROJECT_ROOT/build/fuzz-copy"

# copy_sources FOLDER: brings a copy of the project's sources, as they are now, up to date; what is built of it lies in
# FOLDER/build. A file of other content gets a new time, and no file an older one than it has: else what was compiled of a
# patched file would count as up to date. Scripts that run side by side copy one after the other.
copy_sources() {
  local file
  mkdir -p "$1/build"
  (
    flock 9
    git -C "$PROJECT_ROOT" ls-files -z --cached --others --exclude-standard |
      while IFS= read -r -d '' file; do
        if [[ -e $PROJECT_ROOT/$file ]] && ! cmp --silent "$PROJECT_ROOT/$file" "$1/$file"; then
          mkdir -p "$1/$(dirname "$file")"
          cp "$PROJECT_ROOT/$file" "$1/$file"
        fi
      done
    find "$1" -path "$1/build" -prune -o -type f -printf '%P\0' |
      while IFS= read -r -d '' file; do
        [[ -e $PROJECT_ROOT/$file ]] || rm "$1/$file"
      done
  ) 9>"$1/build/.copy.lock"
}

# some_patches FOLDER COUNT: the names of COUNT patches in the folder, one a line. Which ones follows from the commit, so
# that each has its turn.
some_patches() {
  local patches=("$1"/*.patch) commit index
  commit="$(git -C "$PROJECT_ROOT" rev-parse HEAD)"
  for ((index = 0; index < $2; ++index)); do
    basename "${patches[(16#${commit:0:7} + index) % ${#patches[@]}]}" .patch
  done
}

# with_patch FOLDER PATCH COMMAND...: runs the command while the sources in the folder are patched; its exit code.
with_patch() {
  local folder="$1" patch="$2" status=0
  shift 2
  patch --dry-run --quiet --strip=1 --directory="$folder" <"$patch" >/dev/null ||
    die "$patch does not fit the code any more: mend it"
  patch --quiet --strip=1 --directory="$folder" <"$patch"
  "$@" || status=$?
  patch --quiet --strip=1 --reverse --directory="$folder" <"$patch"
  return "$status"
}

# build_copy FOLDER PRESET TARGET...: builds targets of the copy.
build_copy() {
  PROJECT_ROOT="$1" CCACHE_BASEDIR="$1" build_preset "${@:2}"
}
