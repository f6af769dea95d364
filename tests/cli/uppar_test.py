"""--engine=uppar of every query, as a user runs it: its rows pass --verify, and only the partitioners read."""

import json
import pathlib
import tempfile
import unittest

from query_runs import RUNS
from ysb_process import BIN, SANITIZED, CliTest

RECORDS = 5000
# Nodes, executors of each, and how many of these partition.
SHAPES = [(1, 2, 1), (2, 1, 1), (2, 4, 3)]


@unittest.skipIf(SANITIZED, "the sanitizers' presets build ysb alone")
class UpParTest(CliTest):
    def test_each_query_is_exact(self):
        for query, *flags in RUNS:
            for nodes, executors, partitioners in SHAPES:
                with self.subTest(query, flags=flags, nodes=nodes), tempfile.TemporaryDirectory() as folder:
                    self.binary = BIN / query
                    report = pathlib.Path(folder) / "report.json"
                    code, out, err = self.run_ysb(
                        "--engine=uppar", f"--partitioners={partitioners}", f"--nodes={nodes}", f"--executors={executors}",
                        "--verify", f"--records={RECORDS}", f"--json={report}", *flags)
                    self.assertEqual((code, err), (0, ""), out)
                    self.assertRegex(out, r"verification +passed")
                    by_executor = json.loads(report.read_text(encoding="utf-8"))["executors"]
                    group = executors if executors > 1 else nodes
                    self.assertEqual([each["records"] for each in by_executor],
                                     ([RECORDS] * partitioners + [0] * (group - partitioners)) * (nodes * executors // group))


if __name__ == "__main__":
    unittest.main()
