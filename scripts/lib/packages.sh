# Debian packages that Glaive needs, and their installation. Sourced after common.sh.
# shellcheck shell=bash
# shellcheck disable=SC2034  # the lists are for the scripts that source this file

# To build and run.
BUILD_PACKAGES=(
  g++ cmake ninja-build ccache mold pkg-config git python3
  libibverbs-dev librdmacm-dev ibverbs-providers libboost-context-dev libabsl-dev libxxhash-dev libcli11-dev
  nlohmann-json3-dev libsimdjson-dev zlib1g-dev libssl-dev libre2-dev
  libgtest-dev libgmock-dev libbenchmark-dev
)
# To check the sources and the scripts, and to make packages.
LINT_PACKAGES=(clang-format-19 dpkg-dev gdb patch shellcheck python3-venv)
# To count which lines the tests run.
COVERAGE_PACKAGES=(gcovr)
# To compile all presets but release, which has g++.
CLANG_PACKAGES=(clang-19 libclang-rt-19-dev)
# To make the kernel of `scripts/softroce`, and to set up and try RDMA devices in it.
SOFTROCE_PACKAGES=(
  gcc make flex bison bc xz-utils python3 iproute2
  rdma-core ibverbs-providers ibverbs-utils rdmacm-utils perftest
)
# To make a clean root for `scripts/test --fresh`.
FRESH_PACKAGES=(debootstrap git)

# as_root COMMAND...: runs the command as root; sudo may ask for a password only where somebody can answer.
as_root() {
  if ((EUID == 0)); then
    "$@"
  elif [[ -t 2 ]]; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

# ensure_packages PACKAGE...: installs what is missing. With nothing missing this costs one dpkg-query.
ensure_packages() {
  command -v dpkg-query >/dev/null || {
    note "This is not a Debian system; the build will say what is missing. Debian's names: $*"
    return 0
  }
  local format installed missing
  # shellcheck disable=SC2016  # a format of dpkg-query, not of the shell
  format='${db:Status-Status} ${Package}\n'
  # dpkg-query fails when it doesn't know a package, which is no error here.
  installed="$(dpkg-query --show --showformat="$format" "$@" 2>/dev/null | sed -n 's/^installed //p' || true)"
  mapfile -t missing < <(comm -23 <(printf '%s\n' "$@" | sort -u) <(sort -u <<<"$installed"))
  ((${#missing[@]})) || return 0

  if ((EUID != 0)) && ! command -v sudo >/dev/null; then
    die "missing packages, and neither root nor sudo to install them. As root, run: apt-get install ${missing[*]}"
  fi
  note "Installing ${missing[*]}"
  local apt=(as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)
  local log="$PROJECT_ROOT/build/apt.log"
  mkdir -p "$PROJECT_ROOT/build"
  run_quietly "$log" "${apt[@]}" update || note "apt-get update failed; trying with the package lists at hand"
  run_quietly "$log" "${apt[@]}" install --yes --no-install-recommends "${missing[@]}" ||
    die "could not install packages; the reason stands above"
}
