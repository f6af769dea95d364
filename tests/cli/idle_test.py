"""A run that has nothing to do leaves the processors to others."""

import re
import time
import unittest

from ysb_process import SANITIZED, CliTest, cpu_seconds

MEASURED_SECONDS = 4
MOST_OF_A_CORE = 0.05


class IdleTest(CliTest):
    @unittest.skipIf(SANITIZED, "processor time says nothing under a sanitizer")
    def test_four_idle_nodes_use_under_a_twentieth_of_a_core(self):
        # An event every 1000 s: after the first everybody waits.
        ysb = self.start("--nodes=4", "--records=1000", "--rate=0.001", "--seconds=10m", "--progress=always")
        self.assertTrue(ysb.err.wait_for(re.compile(r"records/s, watermark")), ysb.err.text)
        pids = self.pids()
        self.assertEqual(len(pids), 4)
        used_before, before = cpu_seconds(pids), time.monotonic()
        time.sleep(MEASURED_SECONDS)  # the length of the measurement, waiting for nothing
        share = (cpu_seconds(pids) - used_before) / (time.monotonic() - before)
        print(f"4 idle nodes use {100 * share:.1f} % of a core")
        self.assertLess(share, MOST_OF_A_CORE)


if __name__ == "__main__":
    unittest.main()
