# Shell basics shared by the scripts: where the project is, messages, times. Sourced, never run.
# shellcheck shell=bash

PROJECT_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"

# note MESSAGE...: progress for people, on standard error; standard output belongs to the program that is run.
note() { printf '%s\n' "$*" >&2; }

# die MESSAGE...: ends the script with a message.
die() {
  note "$(basename "$0"): $*"
  exit 1
}

# The exit code of what cannot be done on this machine at all (EX_UNAVAILABLE of sysexits.h).
EXIT_UNAVAILABLE=69

# die_unavailable MESSAGE...: like die, with that exit code.
die_unavailable() {
  note "$(basename "$0"): $*"
  exit "$EXIT_UNAVAILABLE"
}

# queries: the names of all queries, one a line.
queries() {
  local main
  for main in "$PROJECT_ROOT"/queries/*/main.cc; do
    [[ -e $main ]] && basename "$(dirname "$main")"
  done
}

# run_quietly LOG COMMAND...: keeps the output in LOG, and shows it on a terminal or after a failure. The command reads
# nothing, and doesn't inherit a lock on descriptor 9.
run_quietly() {
  local log="$1"
  shift
  if [[ -t 2 ]]; then
    "$@" </dev/null >&2 9>&-
  elif ! "$@" </dev/null >"$log" 2>&1 9>&-; then
    cat "$log" >&2
    return 1
  fi
}
