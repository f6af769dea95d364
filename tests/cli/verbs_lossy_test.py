"""A run between two devices over a link that loses packets: intact, and they were really lost.

Needs the devices rxea (10.1.0.1, interface va) and rxeb (10.1.0.2, vb): scripts/softroce run --profile lossy.
"""

import unittest

from rdma_counters import dropped_packets, retries, sent_packets
from ysb_process import CliTest, free_port

RUN = ["--nodes=2", "--transport=verbs", "--records=100000", "--keys=20000", "--verify"]


class LossyTest(CliTest):
    def test_a_run_that_loses_one_percent_of_its_packets_is_exact(self):
        counters = [lambda: dropped_packets("va") + dropped_packets("vb"), lambda: retries("rxea") + retries("rxeb"),
                    lambda: sent_packets("rxea"), lambda: sent_packets("rxeb")]
        before = [counter() for counter in counters]
        coordinator = f"--coordinator=10.1.0.1:{free_port()}"
        ranks = [self.start(*RUN, f"--rank={rank}", coordinator, f"--bind=10.1.0.{rank + 1}") for rank in range(2)]
        for ysb in ranks:
            self.assertEqual(ysb.wait(), 0, ysb.err.text)
        self.assertRegex(ranks[0].out.text, r"verification +passed")
        for what, counter, start in zip(["dropped packets", "retries", "rxea sent", "rxeb sent"], counters, before):
            self.assertGreater(counter(), start, what)


if __name__ == "__main__":
    unittest.main()
