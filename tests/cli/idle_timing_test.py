"""A run that has nothing to do leaves the processors to others."""

import re
import time
import unittest

from ysb_process import SANITIZED, CliTest, cpu_seconds

MEASURED_SECONDS = 4
MEASUREMENTS = 3  # whatever else the machine does only adds to what is measured, so the least counts
MOST_OF_A_CORE = 0.05


class IdleTest(CliTest):
    @unittest.skipIf(SANITIZED, "processor time says nothing under a sanitizer")
    def test_four_idle_nodes_use_under_a_twentieth_of_a_core(self):
        # An event every 100 s: after the first everybody waits.
        ysb = self.start("--nodes=4", "--records=1000", "--rate=0.01", "--seconds=10m", "--progress=always")
        self.assertTrue(ysb.err.wait_for(re.compile(r"records/s, watermark")), ysb.err.text)
        pids = self.pids()
        self.assertEqual(len(pids), 4)
        shares = []
        while len(shares) < MEASUREMENTS and min(shares, default=1) >= MOST_OF_A_CORE:
            used_before, before = cpu_seconds(pids), time.monotonic()
            time.sleep(MEASURED_SECONDS)  # the length of the measurement, waiting for nothing
            shares.append((cpu_seconds(pids) - used_before) / (time.monotonic() - before))
        print("4 idle nodes use", ", ".join(f"{100 * share:.1f}" for share in shares), "% of a core")
        self.assertLess(min(shares), MOST_OF_A_CORE)


if __name__ == "__main__":
    unittest.main()
