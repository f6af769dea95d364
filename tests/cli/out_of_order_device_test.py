"""Runs over a device that places data out of order (scripts/lib/softroce/rxe_reorder.h): seen by write_order, and exact."""

import json
import pathlib
import subprocess
import unittest

from ysb_process import BIN, CliTest

PARAMETERS = pathlib.Path("/sys/module/rdma_rxe/parameters")
HOLD_MS = 3
MOST_RUNS = 5  # on a slow machine a message may be complete whenever its receiver polls


def held_back():
    return int((PARAMETERS / "reordered_writes").read_text(encoding="ascii"))


@unittest.skipUnless((PARAMETERS / "reorder_writes").exists(), "needs the patched Soft-RoCE of scripts/softroce")
class OutOfOrderTest(CliTest):
    def setUp(self):
        super().setUp()
        switch = PARAMETERS / "reorder_writes"
        self.addCleanup(switch.write_text, switch.read_text(encoding="ascii"), encoding="ascii")
        switch.write_text(f"{HOLD_MS}\n", encoding="ascii")
        self.held_before = held_back()

    def report_of(self, *flags):
        """The report of a verified run in which data was held back."""
        out, err = self.succeed("--transport=verbs", "--records=40000", "--verify", "--json=report.json", *flags)
        self.assertRegex(out, r"verification +passed")
        self.assertGreater(held_back(), self.held_before + 10)
        report = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))
        self.assertEqual(err.count("in place before the rest"), 1 if report["placement_waits"] > 0 else 0, err)
        return report

    def test_the_check_of_write_order_sees_it(self):
        done = subprocess.run([BIN / "write_order", "--seconds=1"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?m)^ +65536 +\d+ +[1-9]\d* ")
        self.assertIn("this device does not place writes in order", done.stdout)

    def test_runs_are_exact_with_both_ways_of_arrival(self):
        for query, *flags in [("ysb", "--keys=50000"), ("nb8", "--join=full", "--disorder=1h", "--keys=20000")]:
            self.binary = BIN / query
            for arrival in ("imm", "poll"):
                with self.subTest(query, arrival=arrival):
                    waits = 0
                    for _ in range(MOST_RUNS):
                        report = self.report_of("--nodes=2", "--executors=2", f"--arrival={arrival}", *flags)
                        waits += report["placement_waits"]
                        if arrival == "imm" or waits > 0:
                            break
                    self.assertTrue(waits > 0 if arrival == "poll" else waits == 0, f"{waits} waits")


if __name__ == "__main__":
    unittest.main()
