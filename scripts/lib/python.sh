# The Python packages of scripts/requirements.txt. Sourced after common.sh and packages.sh.
# shellcheck shell=bash

PYTHON_TOOLS="$PROJECT_ROOT/build/python"

# ensure_python_tools: installs the packages into an environment of their own, $PYTHON_TOOLS, where that is not done.
ensure_python_tools() {
  local wanted="$PROJECT_ROOT/scripts/requirements.txt"
  mkdir -p "$PROJECT_ROOT/build"
  (
    flock 9
    if cmp -s "$wanted" "$PYTHON_TOOLS/requirements.txt"; then
      return 0
    fi
    ensure_packages python3 python3-venv
    note "Installing $(sed -n 's/==.*//p' "$wanted" | paste -sd' ') into build/python"
    rm -rf "$PYTHON_TOOLS"
    local log="$PROJECT_ROOT/build/python.log"
    if ! run_quietly "$log" /usr/bin/python3 -m venv "$PYTHON_TOOLS" ||
      ! run_quietly "$log" "$PYTHON_TOOLS/bin/pip" --disable-pip-version-check install --requirement "$wanted"; then
      die "could not install Python packages; the reason stands above"
    fi
    cp "$wanted" "$PYTHON_TOOLS/requirements.txt"
  ) 9>"$PROJECT_ROOT/build/.python.lock"
}
