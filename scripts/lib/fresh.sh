# `scripts/test --fresh`: both commands in a clean Debian 12. Sourced after common.sh and packages.sh.
# shellcheck shell=bash

FRESH_RELEASE=bookworm

# run_fresh: makes the root, copies HEAD and the host's package sources into it, runs there, and removes it.
run_fresh() {
  ((EUID == 0)) || die "--fresh makes a chroot, so it needs root"
  ensure_packages "${FRESH_PACKAGES[@]}"
  unshare --mount --pid --fork true ||
    die "--fresh needs namespaces of its own, and this system refuses them (a container without CAP_SYS_ADMIN?)"
  git_here rev-parse --verify --quiet HEAD >/dev/null || die "--fresh tests the commit at HEAD, and there is none"
  [[ -z $(git_here status --porcelain) ]] || note "Changes that are not committed are not part of this test."

  FRESH_ROOT="$(mktemp -d "${TMPDIR:-/var/tmp}/glaive-fresh.XXXXXX")"
  trap 'rm -rf --one-file-system "$FRESH_ROOT"' EXIT
  chmod 755 "$FRESH_ROOT"
  make_fresh_root "$FRESH_ROOT"
  git_here clone --quiet --no-local "$PROJECT_ROOT" "$FRESH_ROOT/glaive"

  # All mounts and processes below end with the namespace, also when this script is killed.
  unshare --mount --pid --fork --kill-child \
    bash -euo pipefail -c "$(declare -f enter_fresh_root); enter_fresh_root \"\$1\"" fresh "$FRESH_ROOT" </dev/null
}

# git_here ARGUMENT...: git on this checkout, whoever owns it.
git_here() { git -c safe.directory='*' -C "$PROJECT_ROOT" "$@"; }

# host_sources: the package sources of this host that have the release, as "URI suite component" lines.
host_sources() {
  # shellcheck disable=SC2016  # apt's variables, not the shell's
  apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
    awk -v release="$FRESH_RELEASE" '$2 ~ "^" release "(-updates|-security)?$" && $3 == "main"' | sort -u
}

# make_fresh_root DIR: Debian's minimum, with the host's package sources, proxy and name resolution.
make_fresh_root() {
  local root="$1" sources mirror file include=()
  sources="$(host_sources)"
  mirror="$(awk -v release="$FRESH_RELEASE" '$2 == release { print $1; exit }' <<<"$sources")"
  [[ -n $mirror ]] || die "apt on this host has no package source of Debian $FRESH_RELEASE (after apt-get update)"
  [[ $sources != *https:* ]] || include=(--include=ca-certificates)

  note "Making a clean Debian $FRESH_RELEASE in $root from $mirror"
  export_apt_proxy
  debootstrap --variant=minbase "${include[@]}" "$FRESH_RELEASE" "$root" "$mirror" >"$root.log" 2>&1 || {
    tail -20 "$root.log" >&2
    die "debootstrap failed"
  }
  rm -f "$root.log"

  awk '{ print "deb", $1, $2, $3 }' <<<"$sources" >"$root/etc/apt/sources.list"
  for file in /etc/apt/apt.conf /etc/apt/apt.conf.d/*; do
    if [[ -f $file ]] && grep -qE 'Acquire::|Proxy' "$file"; then
      cp "$file" "$root/etc/apt/apt.conf.d/"
    fi
  done
  cp --dereference /etc/resolv.conf /etc/hosts "$root/etc/"
  # pip's configuration, and the certificates this host trusts.
  [[ ! -e /etc/pip.conf ]] || cp /etc/pip.conf "$root/etc/"
  [[ ! -e /etc/ssl/certs/ca-certificates.crt ]] || cp --dereference /etc/ssl/certs/ca-certificates.crt "$root/host.crt"
}

# export_apt_proxy: debootstrap doesn't read apt's configuration, but it does read these variables.
export_apt_proxy() {
  local proxy_http='' proxy_https=''
  eval "$(apt-config shell proxy_http Acquire::http::Proxy proxy_https Acquire::https::Proxy)"
  [[ -z $proxy_http ]] || export http_proxy="$proxy_http"
  [[ -z $proxy_https ]] || export https_proxy="$proxy_https"
}

# enter_fresh_root DIR: runs both commands in the root, as the first process of new mount and process namespaces.
enter_fresh_root() {
  local root="$1" certificates=()
  [[ ! -e $root/host.crt ]] || certificates=(PIP_CERT=/host.crt)
  mount --make-rprivate /
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  # Two users of /dev/shm would not be a clean system.
  mount -t tmpfs tmpfs "$root/dev/shm"
  chroot "$root" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 CI=true \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    "${certificates[@]}" \
    bash -euo pipefail -c 'cd /glaive; scripts/run ysb --records=1000000 --verify; scripts/test'
}
