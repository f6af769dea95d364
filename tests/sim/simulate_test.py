"""The program `simulate`: the same seed is the same run in any process, and its words are for people."""

import os
import re
import subprocess
import unittest

SIMULATE = os.path.join(os.environ["GLAIVE_BIN_DIR"], "simulate")


def run(*flags):
    return subprocess.run([SIMULATE, *flags], capture_output=True, text=True, check=False, timeout=200)


class SimulateTest(unittest.TestCase):
    def test_a_seed_has_the_same_trace_in_two_processes(self):
        # Each process has its memory, and its hash tables' seeds, elsewhere.
        for seed in range(100, 112):
            flags = [f"--seed={seed}", "--trace"] + ([] if seed % 2 else ["--set=file-sources=1,file-sinks=1"])
            first, second = run(*flags), run(*flags)
            self.assertGreater(len(first.stdout.splitlines()), 3)
            self.assertEqual(first.stdout, second.stdout)

    def test_a_trace_reads_in_the_order_of_time(self):
        lines = run("--seed=1", "--set=fault=0,nodes=2,query=0", "--trace").stdout.splitlines()
        times = [float(match[1]) for line in lines if (match := re.match(r" *([0-9.]+) ms  ", line))]
        self.assertGreater(len(times), 50)
        self.assertEqual(times, sorted(times))
        self.assertTrue(any("executor 1: receive" in line for line in lines))
        self.assertTrue(any(re.search(r"write 0 -> 1: \d+ of \d+ bytes", line) for line in lines))
        self.assertEqual(lines[-1], "right")

    def test_many_seeds_say_what_they_met(self):
        done = run("--seeds=60", "--first=5000")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("60 simulations", done.stdout)
        self.assertIn("all 60 right: seeds 5000 to 5059", done.stdout)
        self.assertIn("never met: ", done.stdout)

    def test_a_batch_that_meets_too_little_fails_if_asked_to(self):
        done = run("--seeds=10", "--require-coverage")
        self.assertEqual(done.returncode, 1)
        self.assertIn("use more seeds", done.stdout)

    def test_wrong_flags_are_refused_with_what_would_be_right(self):
        for flags, words in [((), "say --seed=N"),
                             (("--seed=1", "--set=knots=3"), "there is no 'knots', only query, "),
                             (("--seed=1", "--set=nodes=99"), "nodes=<1 to 16>"),
                             (("--set=nodes=2",), "--seed"),
                             (("--seeds=many",), "--seeds"),
                             (("--seeds=3", "--jobs=0"), "--jobs")]:
            with self.subTest(flags=flags):
                done = run(*flags)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
