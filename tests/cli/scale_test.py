"""Runs of many executors: hundreds on this machine, far more of them than it has processors."""

import pathlib
import re
import unittest

from ysb_process import CliTest, SANITIZED

# What the plans of four nodes of 64 executors with the default rings and segments add up to, and a reserve. They touch
# a quarter of it.
DEFAULT_SIZES_GIB = 13


def available_gib():
    return int(re.search(r"MemAvailable: +(\d+) kB", pathlib.Path("/proc/meminfo").read_text(encoding="ascii"))[1]) / 2**20


class ScaleTest(CliTest):
    def run_of(self, nodes, executors, *flags):
        """Runs a query of 200 records an executor, and checks that all executors took part and that the rows are right."""
        run = self.start(f"--nodes={nodes}", f"--executors={executors}", "--records=200", "--keys=500", "--verify", *flags)
        self.assertEqual(run.wait(), 0, run.err.text)
        self.assertIn("passed: every result equals a sequential run's", run.out.text)
        self.assertEqual(len(re.findall(r"^  executor \d+ ", run.out.text, re.MULTILINE)), nodes * executors)
        self.assertIn(f"{200 * nodes * executors:,} in ", run.out.text)
        return run.out.text

    def test_many_executors_on_several_nodes(self):
        if SANITIZED:
            self.run_of(3, 8)
        else:
            sizes = [] if available_gib() >= DEFAULT_SIZES_GIB else ["--slot-bytes=4KiB"]
            # A hundred threads share a processor: one of them may have to wait for seconds until it can send a sign of life.
            told = self.run_of(4, 64, "--peer-timeout=30s", *sizes)
            if not sizes:
                self.assertIn("rings have 2 slots of 32KiB instead of 8 slots of 64KiB", told)

    def test_rings_get_smaller_to_stay_below_their_budget(self):
        told = self.run_of(2, 8, "--ring-budget=4MiB")
        self.assertIn("rings have 2 slots of 16KiB instead of 8 slots of 64KiB: the 120 rings of a node must fit into "
                      "--ring-budget=4MiB", told)


if __name__ == "__main__":
    unittest.main()
