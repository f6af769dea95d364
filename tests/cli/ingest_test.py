"""--ingest=channel as a user runs it: half of the executors stream the records to the others, and rows pass --verify."""

import json
import pathlib
import tempfile
import unittest

from query_runs import RUNS
from ysb_process import BIN, SANITIZED, CliTest

RECORDS = 5000
SHAPES = [(1, 2), (2, 1), (2, 3)]  # nodes, and executors of each


class IngestTest(CliTest):
    def run_fed(self, query, nodes, executors, *flags):
        """Runs a query that passes --verify; the executors of its report."""
        with tempfile.TemporaryDirectory() as folder:
            self.binary = BIN / query
            report = pathlib.Path(folder) / "report.json"
            code, out, err = self.run_ysb("--ingest=channel", f"--nodes={nodes}", f"--executors={executors}", "--verify",
                                          f"--records={RECORDS}", f"--json={report}", *flags)
            self.assertEqual((code, err), (0, ""), out)
            self.assertRegex(out, r"verification +passed")
            return json.loads(report.read_text(encoding="utf-8"))["executors"]

    def test_the_first_half_reads_and_the_second_processes(self):
        executors = self.run_fed("ysb", 2, 2, "--keys=500")
        self.assertEqual([each["records"] for each in executors], [RECORDS, RECORDS, 0, 0])
        self.assertTrue(all(0 < each["seconds"] < 60 for each in executors), executors)
        self.assertEqual([each["exchanged_records"] for each in executors], [RECORDS, RECORDS, 0, 0])
        self.assertEqual([each["records_accepted"] > 0 for each in executors], [False, False, True, True])

    def test_late_records_are_those_of_the_source(self):
        for flags in (("--watermark-every=7",), ("--watermark-every=1000",), ("--slot-bytes=4KiB",)):
            with self.subTest(flags):
                executors = self.run_fed("ysb", 2, 1, "--keys=50", "--window=10s", "--event-rate=100", "--disorder=30s",
                                         "--allowed-lateness=1s", *flags)
                self.assertGreater(sum(each["late_records"] for each in executors), 0)

    def test_records_that_are_repeated_have_later_event_times(self):
        executors = self.run_fed("ysb", 1, 2, "--keys=50", "--seconds=100ms")
        self.assertGreater(executors[0]["records"], RECORDS)

    def test_partitioners_are_those_of_the_first_node(self):
        executors = self.run_fed("ysb", 2, 2, "--keys=500", "--engine=uppar")
        self.assertEqual([each["records"] for each in executors], [RECORDS, RECORDS, 0, 0])

    def test_odd_numbers_are_refused(self):
        self.binary = BIN / "ysb"
        code, _, err = self.run_ysb("--ingest=channel", "--nodes=3")
        self.assertEqual(code, 2, err)
        self.assertIn("--nodes=3 must be even", err)

    @unittest.skipIf(SANITIZED, "the sanitizers' presets build ysb alone")
    def test_each_query_is_exact(self):
        for query, *flags in RUNS:
            for nodes, executors in SHAPES:
                with self.subTest(query, flags=flags, nodes=nodes):
                    self.run_fed(query, nodes, executors, *flags)


if __name__ == "__main__":
    unittest.main()
