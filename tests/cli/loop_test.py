"""--engine=loop, the hand-written loops, as a user runs them: their rows pass --verify, and are those of the engine."""

import csv
import json
import pathlib
import signal
import tempfile
import unittest

from ysb_process import BIN, END_SECONDS, SANITIZED, CliTest

RECORDS = 20000
# A query and its flags.
RUNS = [("ysb", "--keys=500"), ("ysb", "--profile=yahoo"), ("ysb_star",), ("cm", "--keys=200"), ("cm", "--profile=cm1"),
        ("nb7", "--keys=500"), ("nb8", "--keys=500"), ("nb11", "--keys=500"), ("ro", "--keys=500"), ("swa",),
        ("swa", "--group-by=ad", "--keys=50"), ("swa", "--windows=session", "--window=100ms"),
        ("swa", "--windows=session", "--window=100ms", "--group-by=ad", "--keys=50"), ("wordcount", "--keys=500"),
        ("nexmark", "--query=q1"), ("nexmark", "--query=q2"), ("nexmark", "--query=q5", "--event-rate=1000"),
        ("nexmark", "--query=q5", "--event-rate=1000", "--profile=renoir"), ("nexmark", "--query=q7", "--event-rate=1000"),
        ("nexmark", "--query=q8", "--event-rate=1000")]
# Flags that have no loop, and what is said.
REFUSED = [("ysb", ["--disorder=1s"], "leave out --disorder"), ("cm", ["--profile=cm2"], "--profile=slash and --profile=cm1"),
           ("cm", ["--profile=cm1", "--window=2500ms"], "--window must be a multiple of --slide"),
           ("swa", ["--windows=sliding"], "--windows=tumbling and --windows=session"),
           ("swa", ["--late-output=late.csv"], "leave out --late-output"),
           ("nb8", ["--join=full"], "--windows=tumbling and --join=inner"),
           ("nb11", ["--seconds=1s"], "leave out --seconds"),
           ("wordcount", ["--form=plain"], "--form=associative"), ("wordcount", ["--input=/dev/null"], "leave out --input"),
           ("ysb", ["--executors=2"], "leave out --nodes and --executors"),
           ("nexmark", ["--query=q3"], "--query=q3 has no hand-written loop; leave out --engine=loop, or take one of q1, q2, q5"),
           ("nexmark", ["--query=q1", "--generate=live"], "leave out --generate=live"),
           ("nexmark", ["--query=q1", "--disorder-group=7"], "leave out --disorder-group"),
           ("collisions", [], "write one of slash, uppar")]
if SANITIZED:  # the sanitizers' presets build ysb alone
    RUNS = [run for run in RUNS if run[0] == "ysb"]
    REFUSED = [refused for refused in REFUSED if refused[0] == "ysb"]


class LoopTest(CliTest):
    def rows_of(self, engine, folder, flags):
        output = folder / f"{engine}.csv"
        report = folder / f"{engine}.json"
        code, out, err = self.run_ysb(f"--engine={engine}", "--verify", f"--records={RECORDS}", f"--output={output}",
                                      f"--json={report}", *flags)
        self.assertEqual((code, err), (0, ""), out)
        self.assertRegex(out, r"verification +passed")
        measured = json.loads(report.read_text(encoding="utf-8"))
        rows = sorted(output.read_text(encoding="utf-8").splitlines())
        self.assertEqual((measured["records"], measured["results"]), (RECORDS, len(rows) - 1))
        self.assertGreater(measured["records_per_second"], 0)
        return rows

    def test_each_loop_has_the_rows_of_the_engine(self):
        for query, *flags in RUNS:
            with self.subTest(query, flags=flags), tempfile.TemporaryDirectory() as folder:
                self.binary = BIN / query
                self.assertEqual(self.rows_of("loop", pathlib.Path(folder), flags),
                                 self.rows_of("slash", pathlib.Path(folder), flags))

    def test_records_that_are_repeated_have_later_event_times(self):
        self.binary = BIN / "ysb"
        code, out, err = self.run_ysb("--engine=loop", "--records=1000", "--keys=500", "--seconds=1s", "--rate=20000", "--verify")
        self.assertEqual((code, err), (0, ""), out)
        self.assertRegex(out, r"verification +passed")
        self.assertRegex(out, r"records +(1\d|20),\d\d\d in ")
        self.assertRegex(out, r"schedule ")

    @unittest.skipIf(SANITIZED, "the sanitizers' presets build ysb alone")
    def test_both_inputs_are_repeated(self):
        self.binary = BIN / "nb8"
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder, "rows.csv")
            code, out, err = self.run_ysb("--engine=loop", "--records=1000", "--keys=20", "--seconds=1s", "--rate=20000",
                                          "--window=1h", f"--output={output}")
            self.assertEqual((code, err), (0, ""), out)
            windows = {row["window_start_ms"] for row in csv.DictReader(output.read_text(encoding="utf-8").splitlines())}
        self.assertGreater(len(windows), 50, "each of the 10 windows of a block comes again, later")

    def test_a_rate_that_is_too_high_is_not_sustained(self):
        self.binary = BIN / "ysb"
        code, out, _ = self.run_ysb("--engine=loop", "--records=1000", "--keys=500", "--seconds=1s", "--rate=1000000000")
        self.assertEqual(code, 0)
        self.assertIn("NOT SUSTAINED", out)

    def test_an_interrupt_ends_a_loop(self):
        self.binary = BIN / "ysb"
        run = self.start_endless("--engine=loop")
        run.send(signal.SIGINT)
        self.assertEqual(run.wait(END_SECONDS), 130)
        self.assertIn("interrupted by SIGINT", run.err.text)

    def test_a_disk_that_is_full_ends_a_loop(self):
        self.binary = BIN / "ysb"
        code, _, err = self.run_ysb("--engine=loop", f"--records={RECORDS}", "--keys=500", "--output=/dev/full")
        self.assertNotIn(code, (0, 2), err)
        self.assertIn("/dev/full", err)

    def test_flags_without_a_loop_are_refused(self):
        for query, flags, words in REFUSED:
            with self.subTest(query, flags=flags):
                self.binary = BIN / query
                code, _, err = self.run_ysb("--engine=loop", *flags)
                self.assertEqual(code, 2, err)
                self.assertIn(words, err)

    def test_the_plan_is_a_loop(self):
        self.binary = BIN / "ysb"
        code, out, _ = self.run_ysb("--engine=loop", "--explain")
        self.assertEqual(code, 0)
        self.assertIn("a loop that is written by hand", out)


if __name__ == "__main__":
    unittest.main()
