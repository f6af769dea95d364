"""Whole runs over an RDMA device: exact, and really over it."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import unittest

from rdma_counters import DEVICES, sent_ip_bytes, sent_packets
from ysb_process import BIN, END_SECONDS, WAITS, YSB, CliTest, free_port

SMALL = ["--transport=verbs", "--records=20000", "--keys=500", "--verify"]
DEVICE = os.environ.get("GLAIVE_TEST_DEVICE") or min(path.name for path in DEVICES.iterdir())
# The ways in which messages can arrive, the default first: iWARP has no immediate values.
ARRIVALS = ["poll"] if DEVICE.startswith("siw") else ["imm", "poll"]
PROFILE = os.environ.get("GLAIVE_SOFTROCE_PROFILE")
GUEST = PROFILE in ("rxe", "siw")
SECOND = "second0"


class VerbsTest(CliTest):
    def run_over_device(self, *flags):
        """Runs over the device; what was printed."""
        packets, ip_bytes = sent_packets(DEVICE), sent_ip_bytes()
        out, err = self.succeed(f"--device={DEVICE}", "--json=report.json", *flags)
        caveat = rf"^\S+ \S+ ysb: rank \d+: --relaxed-ordering=on lets {DEVICE} place bytes out of order.*\n"
        told = len(re.findall(caveat, err, re.MULTILINE))
        iwarp = DEVICE.startswith("siw")
        self.assertEqual(told > 0, iwarp and "--relaxed-ordering=on" in flags, err)
        self.assertEqual(re.sub(caveat, "", WAITS.sub("", err), flags=re.MULTILINE), "")
        report = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))
        self.assertIn("verbs", report["transport"].split("+"))
        self.assertNotIn("shm", report["transport"])
        self.assertEqual(len(report["devices"]), report["nodes"])
        for device in report["devices"]:
            self.assertTrue(device.startswith(f"{DEVICE} port "), device)
            self.assertTrue(device.endswith((", relaxed ordering", ", strict ordering")), device)
            if "--relaxed-ordering=on" in flags:
                self.assertTrue(device.endswith(", relaxed ordering"), device)
            if iwarp and "--relaxed-ordering=on" not in flags:
                self.assertTrue(device.endswith(", strict ordering"), device)
        if packets is not None:
            # A message is a packet or more; those between executors of a node don't go through the device.
            least = report["messages"] if report["transport"] == "verbs" else report["messages"] // 3
            self.assertGreater(least, 2)
            self.assertGreater(sent_packets(DEVICE), packets + least, f"little went through {DEVICE}")
        elif report["transport"] == "verbs":
            # Nodes that are joined otherwise exchange 8 kB of control messages.
            sent_bytes = report["delta_bytes"] + report["exchanged_bytes"]
            self.assertGreater(sent_bytes, 12_000)
            self.assertGreater(sent_ip_bytes() - ip_bytes, sent_bytes, f"nothing went through {DEVICE}")
        self.assertRegex(out, r"verification +passed")
        self.assertGreater(report["credit_writes"], 0)
        self.report = report
        return out

    def test_one_two_and_three_nodes_are_exact(self):
        for nodes, executors in [(1, 2), (2, 1), (2, 2), (3, 1)]:
            with self.subTest(nodes=nodes, executors=executors):
                out = self.run_over_device(f"--nodes={nodes}", f"--executors={executors}", *SMALL)
                self.assertIn("transport verbs: asked for", out)

    def test_the_other_profile_and_small_rings_are_exact(self):
        self.run_over_device("--nodes=2", "--profile=yahoo", *SMALL[:2], "--verify")
        self.run_over_device("--nodes=2", "--slot-bytes=512", "--credits=2", "--keys=5000", *SMALL[:2], "--verify")

    def test_joins_and_stages_are_exact(self):
        for query, *flags in [("nb8", "--join=full", "--disorder=1h"), ("nb11", "--keys=5000"), ("ysb_star",)]:
            self.binary = BIN / query
            for nodes, executors in [(1, 2), (2, 2), (3, 1)]:
                with self.subTest(query, nodes=nodes, executors=executors):
                    self.run_over_device(f"--nodes={nodes}", f"--executors={executors}", "--transport=verbs",
                                         "--records=20000", "--keys=2000", *flags, "--verify")

    def test_texts_as_keys_and_in_exchanges_are_exact(self):
        self.binary = BIN / "wordcount"
        for form in ("associative", "plain", "windowed"):
            for nodes, executors in [(1, 2), (2, 2), (3, 1)]:
                with self.subTest(form, nodes=nodes, executors=executors):
                    self.run_over_device(f"--nodes={nodes}", f"--executors={executors}", "--transport=verbs",
                                         f"--form={form}", "--records=5000", "--keys=5000", "--verify")

    def test_both_ways_of_arrival_are_exact(self):
        for arrival in ARRIVALS:
            for executors in (1, 2):
                with self.subTest(arrival, executors=executors):
                    out = self.run_over_device("--nodes=2", f"--executors={executors}", f"--arrival={arrival}",
                                               "--relaxed-ordering=on", *SMALL)
                    self.assertIn(f"; messages arrive by {arrival}\n", out)
                    # Queue pairs join executors of equal number. A value for another one of the node is handed on.
                    if arrival == "imm" and executors == 2:
                        self.assertGreater(self.report["handed_on"], 0)
                    else:
                        self.assertEqual(self.report["handed_on"], 0)

    def test_device_gid_mtu_and_queue_pairs_are_said(self):
        out = self.run_over_device("--nodes=2", "--executors=2", *SMALL)
        self.assertIn(f"transport verbs: asked for; queue pairs a node: 2; messages arrive by {ARRIVALS[0]}\n", out)
        rest = "" if DEVICE.startswith("siw") else r", ACK timeout 67\.1 ms"
        if DEVICE.startswith(("rxe", "siw")):
            rest += ", no thread domains"
        else:
            rest += r", (no )?thread domains(, NUMA node \d+)?"
        self.assertRegex(out, rf"\n  nodes 0, 1: {DEVICE} port \d+ \(.*\) at .*, GID \d+ .*, MTU \d+ B{rest}, (relaxed|strict) ordering\n")

    @unittest.skipIf(DEVICE.startswith("siw"), "iWARP has TCP's time-outs")
    def test_the_ack_timeout_leaves_time_for_all_retries_within_the_peer_timeout(self):
        out = self.run_over_device("--nodes=2", "--peer-timeout=1s", *SMALL)
        self.assertIn(", ACK timeout 33.6 ms, ", out)  # 4.096 us * 2^13; 7 attempts of up to 4 times that are 0.94 s

    def test_a_device_or_address_that_is_none_is_named_with_what_there_is(self):
        code, _, err = self.run_ysb("--nodes=2", "--device=mlx9_9", *SMALL)
        self.assertEqual(code, 1)
        self.assertIn("--device=mlx9_9: there is no such device", err)
        self.assertIn(DEVICE, err)

    @unittest.skipUnless(GUEST, "takes the network interface down: only in the guest of scripts/softroce")
    def test_a_port_that_is_down_is_named_with_a_remedy(self):
        subprocess.run(["ip", "link", "set", "eth0", "down"], check=True)
        try:
            code, _, err = self.run_ysb("--nodes=2", *SMALL)
        finally:
            subprocess.run(["ip", "link", "set", "eth0", "up"], check=True)
        self.assertEqual(code, 1)
        self.assertRegex(err, rf"no port is active: {DEVICE} port 1 \(.*\); bring its network interface up")

    def add_second_device(self):
        """Another device, with its own network interface and subnet, until the test ends."""
        def run(*command):
            subprocess.run(command, check=True)

        run("ip", "link", "add", "eth1", "type", "dummy")
        self.addCleanup(run, "ip", "link", "delete", "eth1")  # its device goes with it
        run("ip", "address", "add", "10.9.0.1/24", "dev", "eth1")
        run("ip", "link", "set", "eth1", "up")
        run("rdma", "link", "add", SECOND, "type", PROFILE, "netdev", "eth1")

    @unittest.skipUnless(GUEST, "adds a device: only in the guest of scripts/softroce")
    def test_a_second_device_is_used_while_the_first_is_down(self):
        self.add_second_device()
        out, _ = self.succeed("--nodes=2", *SMALL)
        self.assertIn(f"  nodes 0, 1: {DEVICE} port 1 ", out)
        subprocess.run(["ip", "link", "set", "eth0", "down"], check=True)
        try:
            out, _ = self.succeed("--nodes=2", *SMALL)
        finally:
            subprocess.run(["ip", "link", "set", "eth0", "up"], check=True)
        self.assertRegex(out, rf"\n  nodes 0, 1: {SECOND} port 1 \(.*\) at 10\.9\.0\.1, ")

    @unittest.skipUnless(GUEST, "adds a device: only in the guest of scripts/softroce")
    def test_the_device_of_the_coordinators_subnet_is_preferred(self):
        self.add_second_device()
        for coordinator, device in [("10.9.0.1", SECOND), ("10.0.0.1", DEVICE)]:
            with self.subTest(coordinator):
                address = f"--coordinator={coordinator}:{free_port()}"
                ranks = [self.start("--nodes=2", f"--rank={rank}", address, *SMALL) for rank in range(2)]
                self.assertEqual([ysb.wait() for ysb in ranks], [0, 0], ranks[0].err.text + ranks[1].err.text)
                self.assertRegex(ranks[0].out.text, rf"\n  nodes 0, 1: {device} port 1 \(.*\) at {re.escape(coordinator)}, ")

    @unittest.skipUnless(PROFILE == "rxe", "iWARP connects nobody without a queue pair, and only a guest may be flooded")
    def test_a_flood_of_requests_in_mid_run_changes_nothing(self):
        program = pathlib.Path(__file__).with_name("rdma_flood.py")
        for arrival in ARRIVALS:
            with self.subTest(arrival):
                with subprocess.Popen([sys.executable, program, "10.0.0.1"], stdout=subprocess.PIPE, text=True) as flood:
                    self.addCleanup(flood.kill)
                    self.assertEqual(flood.stdout.readline(), "at the doors\n")
                    self.run_over_device("--nodes=3", f"--arrival={arrival}", "--transport=verbs", "--seconds=3s",
                                         "--rate=20000", "--records=20000", "--keys=500", "--verify")
                    flood.terminate()
                    found = json.loads(flood.stdout.read())
                self.assertGreater(found["ports"], 0, found)
                self.assertGreater(found["answers"].get("REJECTED", 0), 100, found)
                self.assertNotIn("ESTABLISHED", found["answers"], found)

    @unittest.skipUnless(GUEST, "changes /etc/hosts: only in the guest of scripts/softroce")
    def test_rank_0_is_reached_where_its_name_is_a_loopback_address(self):
        with open("/etc/hosts", "a", encoding="ascii") as hosts:
            hosts.write("127.0.1.1 rank0-host\n")
        port = free_port()
        # Another host has another address for the name.
        ranks = [self.start("--nodes=2", f"--rank={rank}", f"--coordinator={host}:{port}", *SMALL)
                 for rank, host in enumerate(("rank0-host", "10.0.0.1"))]
        self.assertEqual([ysb.wait() for ysb in ranks], [0, 0], ranks[0].err.text + ranks[1].err.text)
        self.assertIn("listens at all addresses of this host, since rank0-host is 127.0.1.1:", ranks[0].err.text)

    @unittest.skipUnless(GUEST, "takes the network interface down: only in the guest of scripts/softroce")
    def test_a_port_that_goes_down_in_mid_run_is_named(self):
        ysb = self.start_endless("--transport=verbs", "--nodes=2", f"--device={DEVICE}")
        subprocess.run(["ip", "link", "set", "eth0", "down"], check=True)
        try:
            code = ysb.wait(END_SECONDS)
            self.wait_until_gone()
        finally:
            subprocess.run(["ip", "link", "set", "eth0", "up"], check=True)
            # The connection manager's queue pair of Soft-RoCE does not get over packets that could not be sent.
            subprocess.run(["rdma", "link", "delete", DEVICE], check=True)
            subprocess.run(["rdma", "link", "add", DEVICE, "type", PROFILE, "netdev", "eth0"], check=True)
        self.assertIn(code, (1, 3), ysb.err.text)
        self.assertRegex(ysb.err.text, rf"{DEVICE} port 1 went down during the run; look at cable")

    @unittest.skipUnless(GUEST, "gives up its rights: only in the guest of scripts/softroce")
    def test_too_little_locked_memory_is_named_with_a_remedy(self):
        done = subprocess.run(["prlimit", "--memlock=65536", "setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock",
                               YSB, "--nodes=1", "--executors=2", *SMALL], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"cannot register .* with .*this process may lock 64KiB in memory: raise that")

    def test_a_lost_rank_ends_the_run(self):
        ysb = self.start_endless("--transport=verbs", "--nodes=2", f"--device={DEVICE}")
        os.kill(self.pid_of_rank(1), signal.SIGKILL)
        self.assertEqual(ysb.wait(END_SECONDS), 3)
        self.assertIn("node 1", ysb.err.text)

    def test_an_interrupt_ends_the_run(self):
        ysb = self.start_endless("--transport=verbs", "--nodes=2", f"--device={DEVICE}")
        ysb.send(signal.SIGINT)
        self.assertEqual(ysb.wait(END_SECONDS), 130)


if __name__ == "__main__":
    unittest.main()
