"""The queries that join two streams, as a user runs them: exact, measured, and clear about what they refuse."""

import json
import unittest

from ysb_process import BIN, SANITIZED, CliTest


@unittest.skipIf(SANITIZED, "the sanitizers' presets build ysb alone")
class JoinsTest(CliTest):
    def run_query(self, query, *flags):
        self.binary = BIN / query
        return self.run_ysb(*flags)

    def expect_exact(self, query, *flags):
        """Runs with --verify; the report."""
        code, out, err = self.run_query(query, "--verify", "--json=report.json", *flags)
        self.assertEqual((code, err), (0, ""), f"{query} {' '.join(flags)}\n{err}{out}")
        self.assertRegex(out, r"verification +passed")
        return json.loads((self.folder / "report.json").read_text(encoding="utf-8"))

    def test_each_is_exact_on_several_nodes(self):
        for query, *flags in [("nb8", "--hot-key-share=0.5", "--keys=5000"), ("nb11", "--disorder=5s", "--keys=5000"),
                              ("ysb_star", "--disorder=20s", "--allowed-lateness=5s")]:
            for nodes, executors in [(1, 1), (1, 3), (3, 2)]:
                with self.subTest(query, nodes=nodes, executors=executors):
                    report = self.expect_exact(query, f"--nodes={nodes}", f"--executors={executors}",
                                               "--records=30000", *flags)
                    self.assertEqual(report["records"], 30000 * nodes * executors)
                    self.assertGreater(report["results"], 0)
                    self.assertGreater(report["kept_tuples"], 0)
                    self.assertGreaterEqual(report["kept_tuple_bytes"], 16 * report["kept_tuples"])

    def test_kinds_of_joins_and_windows_are_exact(self):
        for kind in ("inner", "left", "full"):
            for windows in (["--windows=tumbling"], ["--windows=sliding"], ["--windows=sliding", "--slide=5h"]):
                with self.subTest(kind, windows=windows):
                    self.expect_exact("nb8", "--nodes=2", "--records=20000", "--keys=3000", f"--join={kind}", *windows,
                                      "--disorder=6h", "--allowed-lateness=1h")

    def test_too_little_memory_names_the_join_its_sizes_and_the_flag(self):
        code, _, err = self.run_query("nb8", "--records=1000000", "--event-rate=1000000", "--memory-limit=256MiB")
        self.assertEqual(code, 1, err)
        self.assertRegex(err, r"the tumbling join keeps \d+ tuples of 16 bytes of its left stream and \d+ of 16 bytes")
        self.assertIn("--memory-limit", err)

    def test_the_table_says_what_a_kept_tuple_takes(self):
        code, out, err = self.run_query("nb8", "--records=100000")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"kept tuples +at most [\d,]+ at one time, [\d.]+ bytes of state each")

    def test_a_check_of_a_repeated_stream_is_refused(self):
        code, _, err = self.run_query("nb11", "--seconds=1s", "--verify")
        self.assertEqual(code, 2, err)
        self.assertIn("--seconds", err)


if __name__ == "__main__":
    unittest.main()
