# The guest's kernel: its place in the cache, and `scripts/softroce build`. Sourced after common.sh and packages.sh.
# shellcheck shell=bash

# shellcheck source=scripts/lib/softroce/source.sh
source "$SOFTROCE/source.sh"

# What a build must have switched on; a config that lost one of these boots and fails strangely.
REQUIRED_OPTIONS=(
  RDMA_RXE RDMA_SIW INFINIBAND_USER_ACCESS INFINIBAND_ADDR_TRANS HOSTFS OVERLAY_FS DEVTMPFS TMPFS_XATTR
  DUMMY VETH NET_SCH_NETEM NET_SCH_PRIO NET_CLS_U32 IP_MULTIPLE_TABLES UML_NET_VECTOR
)

# kernel_cache: the folder of finished kernels.
kernel_cache() {
  local cache="${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}"
  [[ -n $cache ]] || die "neither XDG_CACHE_HOME nor HOME is set, so there is no place for a kernel"
  printf '%s/glaive/softroce' "$cache"
}

# kernel_recipe: names everything that makes one kernel differ from another of the same source.
kernel_recipe() {
  cat "$SOFTROCE/kernel.config" "$SOFTROCE/source.sh" "$SOFTROCE/rxe_reorder.h" | sha256sum | cut -c1-12
}

# newest_kernel: the path of the finished kernel with this checkout's recipe and the newest source, or nothing.
newest_kernel() {
  local cache
  cache="$(kernel_cache)"
  [[ ! -d $cache ]] || find "$cache" -maxdepth 1 -name "linux-*-$(kernel_recipe)" | sort -V | tail -1
}

# build_kernel: makes the kernel unless one of this checkout's recipe is there, of whatever source. One build at a time;
# the next one removes what a killed one left.
build_kernel() {
  local cache package version kernel
  kernel="$(newest_kernel)"
  if [[ -n $kernel ]]; then
    ensure_packages "${SOFTROCE_PACKAGES[@]}"
    note "The kernel is there: $kernel"
    return
  fi
  [[ $(uname -m) == x86_64 ]] || die_unavailable "the kernel needs x86-64, and this is $(uname -m)"
  command -v apt-cache >/dev/null ||
    die_unavailable "the kernel is made from a source package of Debian or Ubuntu, and there is no apt here;" \
      "a kernel made elsewhere from this checkout can be copied to $(kernel_cache)"
  cache="$(kernel_cache)"
  mkdir -p "$cache"
  package="$(find_source_package)"
  ensure_packages "${SOFTROCE_PACKAGES[@]}"
  version="$(source_version "$package")"
  kernel="$cache/linux-$version-$(kernel_recipe)"

  exec 9>"$cache/.lock"
  flock --nonblock 9 || {
    note "Waiting for another build"
    flock 9
  }
  if [[ -x $kernel ]]; then
    note "The other build has made it: $kernel"
    return
  fi
  rm -rf "$cache"/build.*
  (($(df --output=avail -k "$cache" | tail -1) > 1000000)) || die "a build needs 1 GB of free space in $cache"
  BUILD_FOLDER="$(mktemp -d "$cache/build.XXXXXX")"
  # In the background and a process group of its own, so that a signal ends it at once and as a whole.
  set -m
  make_kernel "$package" "$BUILD_FOLDER" "$kernel" </dev/null &
  BUILDER=$!
  set +m
  trap '{ kill -KILL -- "-$BUILDER" || true; wait; } 2>/dev/null; rm -rf "$BUILD_FOLDER"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  wait "$BUILDER"
  note "$kernel is ready ($(du -h "$kernel" | cut -f1)B) after $SECONDS s"
}

# find_source_package: the package; asks apt to look again when its lists have none.
find_source_package() {
  local package
  package="$(source_package)"
  if [[ -z $package ]]; then
    as_root apt-get -qq update >&2 || true
    package="$(source_package)"
  fi
  [[ -n $package ]] ||
    die_unavailable "apt offers no package linux-source-6.x. On Debian 12 it comes from the security suite: check that" \
      "/etc/apt/sources.list has a line for bookworm-security with the component main, and run: apt-get update"
  printf '%s' "$package"
}

# make_kernel PACKAGE DIR KERNEL: fetches, configures and builds below DIR, and moves the kernel into place when whole.
make_kernel() {
  local package="$1" dir="$2" kernel="$3"
  note "Fetching $package"
  (
    cd "$dir"
    run_quietly "$dir/fetch.log" apt-get download "$package"
  ) || die_unavailable "could not fetch $package; apt's lists may be too old: run apt-get update"
  note "Unpacking $package ($SECONDS s)"
  (unpack_source "$dir/$package"_*.deb "$dir/source") || die "could not unpack $package; the reason stands above"
  rm -f "$dir/$package"_*.deb
  adapt_source "$dir/source" || die "$package is too different for the changes in $SOFTROCE/source.sh"

  note "Configuring and building the kernel ($SECONDS s)"
  # Without ccache, which makes a first build take a third longer; the finished kernel is cached.
  local make=(make -s -C "$dir/source" ARCH=um KBUILD_BUILD_TIMESTAMP=1970-01-01 KBUILD_BUILD_USER=glaive
    KBUILD_BUILD_HOST=softroce)
  run_quietly "$dir/configure.log" "${make[@]}" KCONFIG_ALLCONFIG="$SOFTROCE/kernel.config" allnoconfig ||
    die "could not configure the kernel; the reason stands above"
  local option
  for option in "${REQUIRED_OPTIONS[@]}"; do
    grep -q "^CONFIG_$option=y" "$dir/source/.config" ||
      die "$package doesn't accept CONFIG_$option, so $SOFTROCE/kernel.config needs a change"
  done
  run_quietly "$dir/build.log" "${make[@]}" -j"$(nproc)" linux ||
    die "could not build the kernel; the reason stands above"
  strip -o "$dir/linux" "$dir/source/linux"
  mv "$dir/linux" "$kernel"
}
