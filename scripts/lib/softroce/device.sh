# `scripts/softroce up` and `down`: Soft-RoCE of the host's own kernel. Sourced after common.sh and packages.sh.
# shellcheck shell=bash

DEVICE=glaive_rxe0

# device_up [NETDEV]: makes the device, and says how to use it.
device_up() {
  local netdev="$1" addresses
  ((EUID == 0)) || command -v sudo >/dev/null || die "up needs root or sudo"
  command -v ip >/dev/null || ensure_packages iproute2
  if [[ -z $netdev ]]; then
    netdev="$(ip route show default | sed -nE 's/^default .*dev ([^ ]+).*/\1/p' | head -1)"
    [[ -n $netdev ]] || die "this host has no default route; name a network device: scripts/softroce up NETDEV"
  fi
  [[ -e /sys/class/net/$netdev ]] || {
    note "softroce: there is no network device '$netdev'; 'ip link' lists them"
    exit 2
  }
  [[ ! -e /sys/class/infiniband/$DEVICE ]] ||
    die "the device $DEVICE is there already; 'scripts/softroce down' removes it"

  # As a module or built in; modprobe knows both.
  /sbin/modprobe --dry-run --quiet rdma_rxe 2>/dev/null ||
    die "this kernel ($(uname -r)) has no rdma_rxe module: use scripts/softroce run"
  command -v rdma >/dev/null || ensure_packages iproute2
  as_root /sbin/modprobe rdma_rxe || die "could not load the module rdma_rxe; the reason stands above"
  as_root rdma link add "$DEVICE" type rxe netdev "$netdev" ||
    die "could not make $DEVICE on $netdev; the reason stands above"

  addresses="$(ip -brief address show dev "$netdev" | awk '{ for (i = 3; i <= NF; ++i) print $i }' | sed 's:/.*::')"
  note "$DEVICE is up on $netdev. Use it with --device=$DEVICE, or --bind=ADDRESS with one of its addresses:"
  note "${addresses:-(none yet: give $netdev an address)}"
}

# device_down: removes the device.
device_down() {
  ((EUID == 0)) || command -v sudo >/dev/null || die "down needs root or sudo"
  [[ -e /sys/class/infiniband/$DEVICE ]] || die "there is no device $DEVICE to remove"
  as_root rdma link delete "$DEVICE" || die "could not remove $DEVICE; the reason stands above"
  note "$DEVICE is removed"
}
