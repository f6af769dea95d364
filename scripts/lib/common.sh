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

# children_seconds PID: the processor time of the process's children that it has waited for (cutime and cstime of proc(5)).
children_seconds() {
  local fields
  read -ra fields < <(sed 's/.*) //' "/proc/$1/stat")
  printf '%d' $(((fields[13] + fields[14]) / $(getconf CLK_TCK)))
}

PROGRESS_SECONDS=20

# show_progress LOG: the log's last line now and then, until standard input ends.
show_progress() {
  local line
  while read -rt "$PROGRESS_SECONDS" || (($? > 128)); do
    line="$(tail -n 1 "$1")"
    note "still at work, see $1: ${line:0:100}"
  done
}

# run_quietly LOG COMMAND...: shows the output on a terminal. Elsewhere keeps it in LOG, shows the last line now and then,
# and all of it after a failure. The command reads nothing, and doesn't inherit a lock on descriptor 9.
run_quietly() {
  local log="$1"
  shift
  if [[ -t 2 ]]; then
    "$@" </dev/null >&2 9>&-
  # The pipe ends with the subshell that waits for the command, whatever the command leaves running.
  elif ! { "$@" </dev/null >"$log" 2>&1 9>&- || exit; } | show_progress "$log" 9>&-; then
    cat "$log" >&2
    return 1
  fi
}
