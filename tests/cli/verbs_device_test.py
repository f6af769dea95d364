"""Whole runs over an RDMA device: exact, and really over it."""

import json
import os
import signal
import subprocess
import unittest

from rdma_counters import DEVICES, sent_ip_bytes, sent_packets
from ysb_process import BIN, END_SECONDS, YSB, CliTest

SMALL = ["--transport=verbs", "--records=20000", "--keys=500", "--verify"]
DEVICE = os.environ.get("GLAIVE_TEST_DEVICE") or min(path.name for path in DEVICES.iterdir())
GUEST = os.environ.get("GLAIVE_SOFTROCE_PROFILE") in ("rxe", "siw")


class VerbsTest(CliTest):
    def run_over_device(self, *flags):
        """Runs over the device; what was printed."""
        packets, ip_bytes = sent_packets(DEVICE), sent_ip_bytes()
        out, err = self.succeed(f"--device={DEVICE}", "--json=report.json", *flags)
        self.assertEqual(err, "")
        report = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))
        self.assertIn("verbs", report["transport"].split("+"))
        self.assertNotIn("shm", report["transport"])
        self.assertEqual(len(report["devices"]), report["nodes"])
        for device in report["devices"]:
            self.assertTrue(device.startswith(f"{DEVICE} port "), device)
        if packets is not None:
            # A message is a packet or more; those between executors of a node don't go through the device.
            least = report["messages"] if report["transport"] == "verbs" else report["messages"] // 3
            self.assertGreater(least, 2)
            self.assertGreater(sent_packets(DEVICE), packets + least, f"little went through {DEVICE}")
        elif report["transport"] == "verbs":
            # Nodes that are joined otherwise exchange 8 kB of control messages.
            self.assertGreater(report["delta_bytes"], 20_000)
            self.assertGreater(sent_ip_bytes() - ip_bytes, report["delta_bytes"], f"nothing went through {DEVICE}")
        self.assertRegex(out, r"verification +passed")
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

    def test_split_writes_are_exact(self):
        self.run_over_device("--nodes=2", "--write-mode=split", *SMALL)

    def test_device_gid_mtu_and_queue_pairs_are_said(self):
        out = self.run_over_device("--nodes=2", "--executors=2", *SMALL)
        self.assertIn("transport verbs: asked for; queue pairs a node: 2\n", out)
        self.assertRegex(out, rf"\n  nodes 0, 1: {DEVICE} port \d+ \(.*\) at .*, GID .*, MTU \d+ B\n")

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
