"""Runs over two hosts, over networks as they are found: exact, and really over RDMA."""

import json
import re
import shlex
import unittest

from host_pair import HostPairTest
from ysb_process import BIN

RECORDS = ["--records=20000", "--keys=500", "--verify"]
# Thousands of packets, so that a network that treats one in a hundred badly does so for certain.
MANY_RECORDS = ["--records=1000000", "--keys=100000", "--verify"]
# A shell's function: what has left the host, in packets of its devices, or of its interface with siw, which counts none.
SENT = """sent() {
    cat /sys/class/infiniband/rxe*/ports/1/hw_counters/sent_pkts 2>/dev/null || cat /sys/class/net/eth0/statistics/tx_packets
}
sent_packets() { echo $(($(sent | paste -sd+))); }
"""


class PairTest(HostPairTest):
    def run_ranks(self, *hosts, before=("true", "true"), after="true", profile="rxe", records=RECORDS, flags=(),
                  **options):
        """Runs the ranks of a run on two hosts, given as lists of ranks; the exit code and what was printed."""
        nodes = f"--nodes={sum(len(ranks) for ranks in hosts)}"
        commands = []
        for host, ranks in enumerate(hosts, start=1):
            lines = [self.rank(rank, host, nodes, *records, *flags, *(["--json=report.json"] if rank == 0 else []),
                               **options) for rank in ranks]
            # The other ranks of a host run beside the first, and all have to succeed.
            commands.append(f"{SENT}{before[host - 1]} || exit; start=$(sent_packets); " + " & ".join(lines) +
                            ' & for job in $(jobs -p); do wait "$job" || exit; done; '
                            f"echo sent $(($(sent_packets) - start)) packets; {after}")
        return self.run_hosts(*commands, profile=profile)

    def succeed(self, *hosts, **options):
        """The same of a run that is exact; the report of rank 0, and what was printed."""
        code, printed = self.run_ranks(*hosts, **options)
        self.assertEqual(code, 0, printed)
        for host in (1, 2):
            sent = re.search(rf"^{host}: sent (\d+) packets$", printed, re.MULTILINE)
            self.assertTrue(sent, printed)
            self.assertGreater(int(sent[1]), 10)
        report = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))
        self.assertEqual(report["verification"], "passed")
        return report, printed

    def run_two(self, **options):
        """One node on each host; what was printed."""
        report, printed = self.succeed([0], [1], **options)
        self.assertEqual(report["transport"], "verbs")
        return printed

    def test_one_node_on_each_of_two_hosts_runs_over_rdma(self):
        printed = self.run_two()
        self.assertIn("transport verbs: each of the 2 nodes is on a host of its own", printed)
        self.assertRegex(printed, r"node 0: rxe0 port 1 .* at 10\.0\.0\.1, .*\n.*node 1: rxe0 port 1 .* at 10\.0\.0\.2, ")

    def test_two_nodes_on_each_host_mix_shared_memory_and_rdma(self):
        report, printed = self.succeed([0, 1], [2, 3])
        self.assertEqual(report["transport"], "shm+verbs")
        self.assertIn("(2 nodes on this host", printed)
        self.assertIn("verbs between the 2 hosts, shm between the nodes of one", printed)

    def run_benchmarks(self, **options):
        """Runs write_order and channel over two hosts; the cases of channel and what was printed."""
        commands = []
        for end in ("--listen", "--connect"):
            lines = [[BIN.resolve() / "write_order", f"{end}=10.0.0.1:7701", "--queue-pairs=2", "--seconds=1"],
                     [BIN.resolve() / "channel", f"{end}=10.0.0.1:7702", "--slots=65536", "--benchmark_filter=^Throughput",
                      *(["--benchmark_out=report.json"] if end == "--listen" else [])]]
            commands.append(f"{SENT}start=$(sent_packets); "
                            + " && ".join(shlex.join([*map(str, line), "--secret-file=run.secret"]) for line in lines)
                            + " && echo sent $(($(sent_packets) - start)) packets")
        code, printed = self.run_hosts(*commands, **options)
        self.assertEqual(code, 0, printed)
        # More than the 1024 full slots of 16 packets each, which the second host sends.
        self.assertGreater(int(re.search(r"^2: sent (\d+) packets$", printed, re.MULTILINE)[1]), 16 * 1024)
        self.assertIn("1: no message was seen before it was complete\n", printed)
        cases = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))["benchmarks"]
        self.assertEqual([case["name"].split("/")[2] for case in cases], ["imm", "poll"])
        for case in cases:
            self.assertGreater(case["channel_B/s"], 0)
        return cases

    def test_the_benchmarks_measure_between_two_hosts(self):
        for case in self.run_benchmarks():
            self.assertNotIn("senders:rcvd_seq_err", case)

    def test_what_the_devices_of_both_ends_count_stands_beside_the_throughput(self):
        for case in self.run_benchmarks(profile="lossy"):
            self.assertGreater(case["receiver:out_of_seq_request"], 0)
            self.assertGreater(case["senders:completer_retry_err"], 0)

    def test_delayed_doubled_and_overtaken_packets(self):
        network = "tc qdisc add dev eth0 root netem limit 100000 delay 2ms reorder 3% duplicate 5%"
        again = "cat /sys/class/infiniband/rxe0/ports/1/hw_counters/{duplicate_request,out_of_seq_request}"
        printed = self.run_two(before=(network, network), records=MANY_RECORDS, after=f"echo $({again})")
        self.assertRegex(printed, r"(?m)^[12]: [1-9]\d* [1-9]\d*$")

    def test_data_that_is_placed_out_of_order(self):
        held = "echo held $(cat /sys/module/rdma_rxe/parameters/reordered_writes)"
        for arrival, network in [("poll", "true"), ("imm", "tc qdisc add dev eth0 root netem loss 1%")]:
            with self.subTest(arrival):
                printed = self.run_two(profile="reorder", before=(network, network), records=MANY_RECORDS, after=held,
                                       flags=[f"--arrival={arrival}"])
                self.assertRegex(printed, r"(?m)^1: held [1-9]\d*$")
                self.assertRegex(printed, r"(?m)^2: held [1-9]\d*$")

    def test_an_mtu_of_1500(self):
        small = "ip link set eth0 mtu 1500"
        printed = self.run_two(before=(small, small))
        self.assertRegex(printed, r"node 0: rxe0 .* MTU 1024 B, .*\n.*node 1: rxe0 .* MTU 1024 B,")

    def test_hosts_whose_mtu_differs_are_exact_or_say_that_a_node_is_not_reached(self):
        # Connections have the MTU of the node that asks for them, which is the second.
        small = "ip link set eth0 mtu 1500"
        printed = self.run_two(before=("true", small))
        self.assertRegex(printed, r"node 0: rxe0 .* MTU 4096 B, .*\n.*node 1: rxe0 .* MTU 1024 B,")
        code, printed = self.run_ranks([0], [1], before=(small, "true"))
        self.assertEqual(code, 3, printed)
        self.assertRegex(printed, r"rank 0: .*(executor|node) 1\b")

    def test_ipv6_alone(self):
        addresses = ("fd00::1", "fd00::2")
        before = [f"ip address flush dev eth0 scope global && ip address add {address}/64 dev eth0 nodad"
                  for address in addresses]
        printed = self.run_two(before=before, addresses=addresses)
        self.assertRegex(printed, r"node 0: rxe0 port 1 .* at fd00::1, .*\n.*node 1: rxe0 port 1 .* at fd00::2, ")

    def test_iwarp_that_loses_packets(self):
        network = "tc qdisc add dev eth0 root netem loss 1%"
        printed = self.run_two(before=(network, network), profile="siw", records=MANY_RECORDS,
                               after="tc -s qdisc show dev eth0 | grep -o 'dropped [0-9]*'")
        self.assertRegex(printed, r"(?m)^[12]: dropped [1-9]")

    def test_a_host_whose_first_device_is_down(self):
        second = ("rdma link delete rxe0 && ip link add down0 mtu 9000 type dummy && rdma link add rxe0 type rxe "
                  "netdev down0 && rdma link add rxe1 type rxe netdev eth0")
        printed = self.run_two(before=(second, "true"), bind=False)
        self.assertRegex(printed, r"node 0: rxe1 port 1 .* at 10\.0\.0\.1, ")


if __name__ == "__main__":
    unittest.main()
