"""A run between two devices over a link that loses packets: intact, and they were really lost.

Needs the devices rxea (10.1.0.1, interface va) and rxeb (10.1.0.2, vb): scripts/softroce run --profile lossy.
"""

import json
import subprocess
import unittest

from rdma_counters import dropped_packets, retries, sent_packets
from ysb_process import CliTest, free_port

RUN = ["--nodes=2", "--transport=verbs", "--records=600000", "--keys=120000", "--verify", "--peer-timeout=1s"]


class LossyTest(CliTest):
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
                         r"no queue pair to this node after --join-timeout=3s; this node is at rxe[ab] port 1 .*"
                         r"try rping between them, or choose others with --bind or --device")

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
