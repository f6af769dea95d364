"""The command line: help, version, and every wrong flag answered with one line that says what to do."""

import pathlib
import unittest

from ysb_process import BIN, SANITIZED, CliTest


class FlagsTest(CliTest):
    def refuse(self, *flags):
        """Runs with wrong flags; the one line of complaint."""
        code, out, err = self.run_ysb(*flags)
        self.assertEqual(code, 2, f"{flags}: {err}")
        self.assertEqual(out, "", flags)
        self.assertEqual(err.count("\n"), 1, f"{flags}: {err}")
        self.assertTrue(err.startswith("ysb: "), err)
        self.assertIn("ysb --help", err)
        return err

    def test_help_lists_the_flags_of_every_layer_and_exits_0(self):
        out, err = self.succeed("--help")
        self.assertEqual(err, "")
        for heading in ["Query (ysb):", "Cluster:", "Channel (rdma):", "State:", "Epochs and progress (engine):",
                        "Output:"]:
            self.assertIn(f"\n{heading}\n", out)
        table = out.split("Usage:")[1]
        flags = [line for line in table.splitlines() if line.startswith("  --")]
        self.assertGreater(len(flags), 25)
        self.assertEqual(table.count("[default: "), len(flags) - 2)  # all but --help and --version

    def test_version_gives_the_commit(self):
        out, _ = self.succeed("--version")
        self.assertRegex(out, r"^ysb \d+\.\d+\.\d+ \(commit \S+\)\n$")

    def test_hyphens_and_underscores_are_the_same(self):
        self.succeed("--records=1000", "--slot-bytes=4KiB", "--epoch_bytes=1KiB")

    def test_what_is_no_size_is_refused(self):
        self.assertIn("--slot-bytes=abc: not a size; write e.g. 64KiB", self.refuse("--slot-bytes=abc"))

    def test_an_empty_value_is_refused_and_selects_nothing(self):
        for flag in ["--input", "--output", "--json", "--ads", "--export-input", "--coordinator", "--bind", "--device",
                     "--secret-file", "--key-distribution", "--records", "--verify"]:
            with self.subTest(flag):
                self.assertIn(f"{flag}=: the value is missing", self.refuse(f"{flag}="))
        self.assertIn("--input=: the value is missing", self.refuse("--input", ""))

    def test_numbers_below_0_and_beyond_64_bits_are_out_of_range(self):
        for value in ["-1", "18446744073709551616", "99999999999G"]:
            with self.subTest(value):
                self.assertIn(f"--seed={value}: out of range; it must be 0 to 18446744073709551615",
                              self.refuse(f"--seed={value}"))

    @unittest.skipIf(SANITIZED, "the sanitizers' presets build ysb alone")
    def test_windows_that_overlap_too_far_are_refused(self):
        for query, *flags in [("swa", "--windows=sliding", "--window=600s", "--slide=1ms"),
                              ("nb8", "--windows=sliding", "--window=24h", "--slide=1ms"),
                              ("cm", "--profile=cm1", "--window=600s", "--slide=1ms")]:
            with self.subTest(query):
                self.binary = BIN / query
                code, _, err = self.run_ysb(*flags)
                self.assertEqual(code, 2, err)
                self.assertIn("--window and --slide make a sliding window of", err)
                self.assertIn("use a longer slide", err)

    @unittest.skipIf(SANITIZED, "the sanitizers' presets build ysb alone")
    def test_half_of_the_shortest_window_is_no_slide(self):
        self.binary = BIN / "nb8"
        code, _, err = self.run_ysb("--windows=sliding", "--window=1ms")
        self.assertEqual(code, 2, err)
        self.assertIn("at least 1", err)

    def test_unknown_flags_are_refused_with_the_nearest(self):
        self.assertIn("--slot-byte: unknown flag; did you mean --slot-bytes?", self.refuse("--slot-byte=64KiB"))
        self.assertIn("'file' is no flag", self.refuse("file"))

    def test_zero_and_absurd_sizes_are_refused_by_name(self):
        for flag in ["--records=0", "--keys=0", "--nodes=0", "--nodes=100000", "--executors=0", "--credits=0",
                     "--slot-bytes=0", "--slot-bytes=100", "--slot-bytes=1TiB", "--epoch-bytes=0", "--fragment-bytes=1",
                     "--ring-budget=0", "--join-timeout=0", "--epoch-interval=-5ms", "--seconds=-1s", "--window=1us",
                     "--hot-key-share=2", "--rate=-1"]:
            with self.subTest(flag):
                self.assertIn(flag.split("=")[0], self.refuse(flag))

    @unittest.skipIf(any(pathlib.Path("/sys/class/infiniband").glob("*")), "this host has an RDMA device")
    def test_verbs_without_a_device_is_refused_with_what_to_do(self):
        code, _, err = self.run_ysb("--transport=verbs", "--nodes=2", "--records=1000")
        self.assertEqual(code, 1)
        self.assertRegex(err, r"this host has no RDMA device; on one host --transport=shm needs none, and scripts/softroce")

    def test_flags_that_do_not_go_together_are_refused(self):
        self.assertIn("--coordinator", self.refuse("--nodes=2", "--rank=1"))
        self.assertIn("--rank", self.refuse("--nodes=2", "--coordinator=localhost:7700"))
        self.assertIn("the ranks are 0 to 1", self.refuse("--nodes=2", "--rank=2", "--coordinator=localhost:7700"))
        self.assertIn("--output", self.refuse("--join-output"))
        self.assertIn("/no/such/folder", self.refuse("--json=/no/such/folder/report.json"))


if __name__ == "__main__":
    unittest.main()
