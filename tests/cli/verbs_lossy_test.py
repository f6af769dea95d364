"""A run between two devices over a link that loses packets: intact, and they were really lost.

Needs the devices rxea (10.1.0.1, interface va) and rxeb (10.1.0.2, vb): scripts/softroce run --profile lossy.
"""

import contextlib
import json
import pathlib
import re
import subprocess
import time
import unittest

from rdma_counters import dropped_packets, received_ect0, retries, sent_packets
from ysb_process import ENDLESS, MID_RUN, CliTest, free_port

RUN = ["--nodes=2", "--transport=verbs", "--records=600000", "--keys=120000", "--verify", "--peer-timeout=1s"]
SMALL = ["--nodes=2", "--transport=verbs", "--records=20000", "--keys=500", "--verify"]


@contextlib.contextmanager
def lose(percent):
    """Both ways lose so many packets meanwhile."""
    def set_loss(percent):
        for interface in ("va", "vb"):
            subprocess.run(["tc", "qdisc", "replace", "dev", interface, "root", "netem", "loss", f"{percent}%"], check=True)

    set_loss(percent)
    try:
        yield set_loss
    finally:
        set_loss(1)


class LossyTest(CliTest):
    def start_ranks(self, *flags):
        """Rank 0 at va and rank 1 at vb. The bootstrap connection binds no source address and so takes the loopback."""
        coordinator = f"--coordinator=10.1.0.1:{free_port()}"
        return [self.start(*flags, f"--rank={rank}", coordinator, f"--bind=10.1.0.{rank + 1}") for rank in range(2)]

    def wait(self, ranks):
        """The exit codes, and all that was said on standard error."""
        codes = [ysb.wait() for ysb in ranks]
        return codes, ranks[0].err.text + ranks[1].err.text

    @contextlib.contextmanager
    def unresolved(self):
        """The address of va is not resolved at vb meanwhile, so that each attempt to connect fails after 4 s."""
        neighbour = ["10.1.0.1", "dev", "vb"]
        mac = pathlib.Path("/sys/class/net/va/address").read_text(encoding="ascii").strip()
        answers = pathlib.Path("/proc/sys/net/ipv4/conf/va/arp_ignore")
        answers.write_text("8", encoding="ascii")  # to nobody
        subprocess.run(["ip", "neighbour", "delete", *neighbour], check=True)
        try:
            yield
        finally:
            answers.write_text("0", encoding="ascii")
            subprocess.run(["ip", "neighbour", "replace", *neighbour, "lladdr", mac], check=True)

    def test_a_path_that_comes_up_late_is_waited_for(self):
        with lose(0):
            with self.unresolved():
                ranks = self.start_ranks(*SMALL)
                self.wait_until(lambda: "queue pairs a node" in ranks[0].out.text)
                time.sleep(5)  # an attempt fails
                self.assertEqual([ysb.process.poll() for ysb in ranks], [None, None], ranks[1].err.text)
            codes, errors = self.wait(ranks)
        self.assertEqual(codes, [0, 0], errors)

    def test_a_path_that_never_comes_up_is_named_with_the_last_failure(self):
        with lose(0), self.unresolved():
            codes, errors = self.wait(self.start_ranks(*SMALL, "--join-timeout=6s"))  # one attempt takes 4 s
        self.assertEqual(codes, [3, 3], errors)
        self.assertRegex(errors, r"node 0 at 10\.1\.0\.1:\d+, from rxeb .*nobody is reached there .*; "
                                 r"tried 2 times in 6s \(--join-timeout\)")

    def test_a_request_that_is_lost_is_given_up_and_sent_again(self):
        mac = pathlib.Path("/sys/class/net/va/address").read_text(encoding="ascii").strip()
        neighbour = ["ip", "neighbour", "replace", "10.1.0.1", "dev", "vb", "lladdr", mac, "nud"]
        subprocess.run([*neighbour, "permanent"], check=True)  # the address is known, whatever is lost
        try:
            with lose(100) as set_loss:
                ranks = self.start_ranks(*SMALL)
                lost = re.compile(r"waits for a queue pair to node 0 .* \(--join-timeout\); the last attempt failed: no answer to "
                                  r"the request for a connection in 3(\.\d)?s; ")
                self.assertTrue(ranks[1].err.wait_for(lost), ranks[1].err.text)
                set_loss(0)
                codes, errors = self.wait(ranks)
        finally:
            subprocess.run([*neighbour, "reachable"], check=True)
        self.assertEqual(codes, [0, 0], errors)

    def test_a_path_that_drops_large_packets_is_named_before_the_clock_starts(self):
        # Rank 1 connects, and its MTU is that of the queue pairs. A veth passes on no packet that is larger than the MTU
        # of its other end.
        subprocess.run(["ip", "link", "set", "va", "mtu", "1500"], check=True)
        try:
            for arrival in ("imm", "poll"):
                with self.subTest(arrival), lose(0):
                    ranks = self.start_ranks(*SMALL, f"--arrival={arrival}", "--progress=always")
                    codes, errors = self.wait(ranks)
                    self.assertNotIn(0, codes, errors)
                    self.assertRegex(errors, r"node \d is connected, but the first message of full size \(64KiB\) did not "
                                             r"reach it: .*(was not acknowledged in 7 attempts: |was dropped by a queue pair "
                                             r"that has failed: ).*smaller MTU than the queue pairs")
                    self.assertNotIn("records/s", errors)
        finally:
            subprocess.run(["ip", "link", "set", "va", "mtu", "9000"], check=True)

    def test_a_path_that_is_cut_in_mid_run_is_noticed_when_all_retries_are_over(self):
        with lose(0) as set_loss:
            ranks = self.start_ranks("--nodes=2", "--transport=verbs", *ENDLESS, "--progress=always", "--peer-timeout=4s")
            self.assertTrue(ranks[0].err.wait_for(MID_RUN), ranks[0].err.text)
            start = time.monotonic()
            set_loss(100)
            codes, errors = self.wait(ranks)
        self.assertLess(time.monotonic() - start, 4)
        self.assertEqual(codes, [3, 3], errors)
        self.assertRegex(errors, r"a write to node \d was not acknowledged in 7 attempts: .*\(vendor error 0x")

    def test_the_traffic_class_is_that_of_the_packets(self):
        with lose(0):
            for tos, is_marked in [(None, False), (106, True)]:  # DSCP 26 and the mark ECT(0)
                with self.subTest(tos=tos):
                    before = received_ect0()
                    codes, errors = self.wait(self.start_ranks(*SMALL, *([f"--rdma-tos={tos}"] if tos else [])))
                    self.assertEqual(codes, [0, 0], errors)
                    self.assertEqual(received_ect0() - before > 20, is_marked)

    def test_an_address_that_reaches_nobody_is_named_with_a_remedy(self):
        # The bootstrap connection binds no source address and so takes the loopback.
        coordinator = f"--coordinator=10.1.0.1:{free_port()}"
        subprocess.run(["tc", "qdisc", "replace", "dev", "vb", "root", "netem", "loss", "100%"], check=True)
        try:
            ranks = [self.start(*RUN, f"--rank={rank}", coordinator, "--join-timeout=3s", bind)
                     for rank, bind in enumerate(["--bind=10.1.0.1", "--bind=10.1.0.2"])]
            codes = [ysb.wait() for ysb in ranks]
        finally:
            subprocess.run(["tc", "qdisc", "replace", "dev", "vb", "root", "netem", "loss", "1%"], check=True)
        self.assertEqual(codes, [3, 3])
        self.assertRegex(ranks[0].err.text + ranks[1].err.text,
                         r"node 0 at 10\.1\.0\.1:\d+, from rxeb .*(nobody is reached there|no answer to the request) .*try "
                         r"rping between them, or choose others with --bind or --device; tried 1 time in 3s \(--join-timeout\)")

    def test_a_run_that_loses_one_percent_of_its_packets_is_exact(self):
        counters = [lambda: dropped_packets("va") + dropped_packets("vb"), lambda: retries("rxea") + retries("rxeb"),
                    lambda: sent_packets("rxea"), lambda: sent_packets("rxeb")]
        before = [counter() for counter in counters]
        coordinator = f"--coordinator=10.1.0.1:{free_port()}"
        ranks = [self.start(*RUN, f"--rank={rank}", coordinator, f"--bind=10.1.0.{rank + 1}", f"--json=report{rank}")
                 for rank in range(2)]
        for ysb in ranks:
            self.assertEqual(ysb.wait(), 0, ysb.err.text)
        report = json.loads((self.folder / "report0").read_text(encoding="utf-8"))
        self.assertEqual((report["transport"], report["verification"]), ("verbs", "passed"))
        self.assertEqual([device.split()[0] for device in report["devices"]], ["rxea", "rxeb"])
        for what, counter, start in zip(["dropped packets", "retries", "rxea sent", "rxeb sent"], counters, before):
            self.assertGreater(counter(), start, what)


if __name__ == "__main__":
    unittest.main()
