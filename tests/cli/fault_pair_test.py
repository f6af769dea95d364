"""Hosts, links and paths that break down in the middle of a run over two hosts: all nodes end in time and say why."""

import os
import pathlib
import re
import shlex
import signal
import subprocess
import unittest

from host_pair import PORT, HostPairTest

PEER_TIMEOUT_SECONDS = 2
# A busy machine adds to the time-out; a hanging run is what is looked for.
END_SECONDS = PEER_TIMEOUT_SECONDS + 13
NODE = ["--nodes=2", "--records=20000", "--keys=1000", "--output=rows.csv", "--publish=end",
        f"--peer-timeout={PEER_TIMEOUT_SECONDS}s"]
ENDLESS = [*NODE, "--seconds=10m"]

NOTHING = "true"
# Loses what leaves by eth0, but for what the matches (protocol, u32's match) send to the first band.
CUT = """tc qdisc add dev eth0 root handle 1: prio priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2
tc qdisc add dev eth0 parent 1:3 netem loss 100%
tc filter add dev eth0 parent 1: protocol arp u32 match u32 0 0 flowid 1:1
"""
KEEP = "tc filter add dev eth0 parent 1: protocol ip u32 match {} flowid 1:1\n"

# Runs a node, has the fault strike in mid-run, and prints how the node ended. $1: the node's command, $2: the fault, $3:
# how long the host waits at most, in seconds. In mid-run, the host's interface has sent some thousand packets.
SCRIPT = r"""
mkdir /tmp/run && cp run.secret /tmp/run && cd /tmp/run || exit
eval "$1" >/tmp/out 2>/tmp/err & node=$!
until (($(cat /sys/class/net/eth0/statistics/tx_packets) > 1000)) || [[ ! -e /proc/$node ]]; do sleep 0.05; done
echo in mid-run
eval "$2"
start=$SECONDS
while kill -0 $node 2>/dev/null && ((SECONDS - start < $3)); do sleep 0.1; done
kill -0 $node 2>/dev/null && echo "still there after $3 s" && kill -KILL $node
wait $node
echo "exit code $?"
sed 's/^/said /' /tmp/err
echo left $(pgrep -x ysb) $(ls /dev/shm) $(ls /tmp/run)
"""


def kernel_of(host, launcher):
    """The process that is the kernel of a host, of all that the launcher has started."""
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[1])
            line = (path.parent / "cmdline").read_bytes()
        except OSError:
            continue  # it has ended
        if parent == launcher and f"mac=02:00:00:00:00:0{host}".encode() in line:
            return int(path.parent.name)
    raise AssertionError(f"host {host} has no kernel")


class FaultTest(HostPairTest):
    def run_with(self, faults, flags=tuple(ENDLESS), profile="rxe", killed=None):
        """What each of the two hosts printed, with its fault in mid-run, or with one host killed then."""
        commands = [shlex.join(["bash", "-c", SCRIPT, "name", self.rank(host - 1, host, *flags), fault, str(END_SECONDS)])
                    for host, fault in enumerate(faults, start=1)]
        with self.start_hosts(*commands, profile=profile) as hosts:
            printed = ""
            if killed:
                while (line := hosts.stdout.readline()) and f"{killed}: in mid-run" not in line:
                    printed += line
                os.kill(kernel_of(killed, hosts.pid), signal.SIGKILL)
            printed += hosts.stdout.read()
        by_host = [re.sub(rf"(?m)^{host}: |^[^{host}].*\n", "", printed) for host in (1, 2)]
        for host, text in enumerate(by_host, start=1):
            if host != killed:
                self.assertIn("exit code", text, printed)
                self.assertNotIn("still there", text, printed)
        return by_host

    def expect_error(self, text, pattern):
        """A node ended with an error that says why, and left nothing."""
        self.assertRegex(text, r"exit code [13]\n")
        self.assertRegex(text, pattern)
        self.assertIn("left run.secret\n", text)

    def test_a_kernel_that_is_killed(self):
        for killed in (1, 2):
            with self.subTest(killed=killed):
                printed = self.run_with([NOTHING, NOTHING], killed=killed)
                lost = rf"node {killed - 1} .*was lost: it has been silent for 2s|to executor {killed - 1}: |write to node {killed - 1} "
                self.expect_error(printed[2 - killed], lost)

    def test_a_link_that_goes_down(self):
        printed = self.run_with([NOTHING, "ip link set eth0 down"])
        self.expect_error(printed[0], r"said .*node 1\b")
        self.expect_error(printed[1], r"said .*(node 0\b|executor 0: |rxe0)")

    def test_a_path_of_rdma_that_is_cut_while_tcp_goes_on(self):
        printed = self.run_with([CUT + KEEP.format("ip protocol 6 0xff"), NOTHING])
        self.expect_error(printed[0], r"said .*(executor 1: |node 1\b)")
        self.expect_error(printed[1], r"said .*(node 0\b|executor 0: )")

    def test_a_path_of_iwarp_that_is_cut_while_the_coordinator_is_reached(self):
        # siw gives up when TCP does, by default after many minutes.
        impatient = "echo 3 >/proc/sys/net/ipv4/tcp_retries2\n"
        keep = KEEP.format(f"ip dport {PORT} 0xffff") + KEEP.format(f"ip sport {PORT} 0xffff")
        printed = self.run_with([impatient + CUT + keep, impatient], profile="siw")
        self.expect_error(printed[0], r"said .*node 1\b")
        self.expect_error(printed[1], r"said .*node 0\b")

    def test_a_device_that_is_removed_stays_until_the_run_has_ended(self):
        # Soft-RoCE waits for its users before it goes.
        flags = [*NODE, "--seconds=2s", "--rate=10000", "--verify"]
        printed = self.run_with([NOTHING, "rdma link delete rxe0 & "], flags=flags)
        for text in printed:
            self.assertIn("exit code 0\n", text)
        self.assertIn("rows.csv", printed[0] + printed[1])


if __name__ == "__main__":
    unittest.main()
