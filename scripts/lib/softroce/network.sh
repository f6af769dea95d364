# The guest's networks, one function a profile. Sourced by init, inside the guest.
# shellcheck shell=bash

# A device with an MTU of 9000 moves RDMA packets of 4096 bytes; one of 1500 moves 1024, at half the speed.
MTU=9000

# make_dummy: eth0 as a device that leads nowhere, with four addresses for as many nodes.
make_dummy() {
  local i
  ip link add eth0 mtu "$MTU" type dummy
  for i in 1 2 3 4; do
    ip address add "10.0.0.$i/24" dev eth0
  done
  ip link set eth0 up
}

# make_wire HOST: eth0 as this end of the Ethernet between the two guests of a pair.
make_wire() {
  ip link set vec0 name eth0
  ip address add "10.0.0.$1/24" dev eth0
  ip link set eth0 up
}

network_rxe() {
  make_dummy
  rdma link add rxe0 type rxe netdev eth0
}

network_siw() {
  make_dummy
  rdma link add siw0 type siw netdev eth0
}

# reorder_writes: has Soft-RoCE hold back some packets' data for up to 3 ms (rxe_reorder.h).
reorder_writes() {
  echo 3 >/sys/module/rdma_rxe/parameters/reorder_writes
}

network_reorder() {
  network_rxe
  reorder_writes
}

# Two devices joined by a veth pair in one network namespace (rxe of 6.12 listens in the first namespace only). The
# kernel would pass packets between two of its own addresses over the loopback; the rules make them leave by the veth.
network_lossy() {
  local all=/proc/sys/net/ipv4/conf name
  ip link add va mtu "$MTU" type veth peer name vb mtu "$MTU"
  for name in all va vb; do
    echo 1 >"$all/$name/accept_local"
    echo 0 >"$all/$name/rp_filter"
  done
  ip address add 10.1.0.1/32 dev va
  ip address add 10.1.0.2/32 dev vb
  ip link set va up
  ip link set vb up
  ip neighbour replace 10.1.0.2 lladdr "$(cat /sys/class/net/vb/address)" dev va
  ip neighbour replace 10.1.0.1 lladdr "$(cat /sys/class/net/va/address)" dev vb
  ip route add table 100 10.1.0.2 dev va src 10.1.0.1
  ip route add table 101 10.1.0.1 dev vb src 10.1.0.2
  # What arrives is for this host; what is for the other end leaves by the wire; all else as usual.
  ip rule add pref 1 iif va lookup local
  ip rule add pref 2 iif vb lookup local
  ip rule add pref 10 from 10.1.0.1 to 10.1.0.2 lookup 100
  ip rule add pref 11 oif va to 10.1.0.2 lookup 100
  ip rule add pref 12 from 10.1.0.2 to 10.1.0.1 lookup 101
  ip rule add pref 13 oif vb to 10.1.0.1 lookup 101
  ip rule add pref 100 lookup local
  ip rule delete pref 0
  tc qdisc add dev va root netem loss 1%
  tc qdisc add dev vb root netem loss 1%
  rdma link add rxea type rxe netdev va
  rdma link add rxeb type rxe netdev vb
}

# pair_PROFILE HOST: the same for host 1 or 2 of a pair.
pair_rxe() {
  make_wire "$1"
  rdma link add rxe0 type rxe netdev eth0
}

pair_reorder() {
  pair_rxe "$1"
  reorder_writes
}

pair_siw() {
  make_wire "$1"
  rdma link add siw0 type siw netdev eth0
}

pair_lossy() {
  pair_rxe "$1"
  tc qdisc add dev eth0 root netem loss 1%
}
