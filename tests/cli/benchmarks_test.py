"""What benchmarks print: the library adds unit and prefix, so a counter's name has neither."""

import json
import os
import re
import subprocess
import time
import unittest

from ysb_process import BIN, END_SECONDS, PATIENCE_SECONDS, SANITIZED, free_port


@unittest.skipIf(SANITIZED, "the sanitizers' presets build ysb alone")
class BenchmarksTest(unittest.TestCase):
    def counters(self, program, case, *flags):
        """Name and printed value of each counter of a case."""
        command = [BIN / program, f"--benchmark_filter=^{case}", "--benchmark_min_time=0.001", *flags]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
                              check=True)
        return dict(re.findall(r"(\S+)=(\S+)", done.stdout))

    def test_times_and_rates_have_the_unit_of_their_size(self):
        self.assertRegex(self.counters("fiber_switch", "BM_Turn/8$")["turn"], r"^[\d.]+[nu]s$")
        self.assertRegex(self.counters("fiber_switch", "BM_ReadyWait/8$")["turn"], r"^[\d.]+[nu]s$")
        self.assertRegex(self.counters("fiber_switch", "BM_ParkedPoll/8$")["poll"], r"^[\d.]+[pnu]s$")
        self.assertRegex(self.counters("store", "BM_SliceUpdate/10000$")["records"], r"^[\d.]+[kM]/s$")
        channel = self.counters("channel", "Throughput", "--transport=local", "--slots=65536", "--credits=8",
                                "--channels=1")
        for name in ["channel_B/s", "copy_B/s"]:
            self.assertRegex(channel[name], r"^[\d.]+[MG]$")

    def test_an_idle_round_costs_little_more_with_many_peers(self):
        command = [BIN / "idle_round", "--benchmark_filter=/peers:(3|255)$", "--benchmark_min_time=0.02",
                   "--benchmark_repetitions=9", "--benchmark_enable_random_interleaving=true", "--benchmark_format=json"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
                              check=True)
        runs = [run for run in json.loads(done.stdout)["benchmarks"] if run["run_type"] == "iteration"]
        few, many = (min(run["cpu_time"] for run in runs if run["name"].split("/")[1] == f"peers:{peers}") for peers in (3, 255))
        self.assertLessEqual(many, 1.5 * few)

    def test_wrong_flags_are_refused_with_one_line(self):
        beyond = "18446744073709551616"
        for program, *flags in (("channel", f"--no-read={beyond}"), ("channel", "--slots=x"), ("channel", "--channels=0"),
                                ("write_order", "--seconds=0"), ("write_order", "--self-test", "--seconds=nan"),
                                ("store", "--benchmark_format=x"), ("fiber_switch", "--benchmark_color="),
                                ("channel", "--transport=local", "--benchmark_out_format=x"),
                                ("channel", "--transport=shm", "--incast=2"), ("channel", "--transport=local", "--listen=a:1"),
                                ("channel", "--listen=a:1", "--connect=b:1"), ("channel", "--sender=1"),
                                ("write_order", "--listen=a"), ("write_order", "--connect=a:0"), ("write_order", "--incast=0"),
                                ("write_order", "--connect=a:1", "--incast=2", "--sender=3"),
                                ("write_order", "--self-test", "--connect=a:1"), ("write_order", "--queue-pairs=0"),
                                ("write_order", "--self-test", "--join-timeout=nan")):
            with self.subTest(program=program, flags=flags):
                done = subprocess.run([BIN / program, *flags], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                      timeout=PATIENCE_SECONDS, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertRegex(done.stderr, rf"^{program}: [^\n]{{1,200}}; see --help\n$")

    def run_ends(self, *ends, secrets=("a secret that both ends of a test know",) * 2):
        """Runs write_order at several ends at once; what each has told."""
        running = [subprocess.Popen([BIN / "write_order", *flags], env=dict(os.environ) | {"GLAIVE_SECRET": secret},
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                   for flags, secret in zip(ends, secrets)]
        for end in running:
            self.addCleanup(end.communicate)
            self.addCleanup(end.kill)
        told = [end.communicate(timeout=PATIENCE_SECONDS)[1] for end in running]
        self.assertEqual([end.returncode for end in running], [3] * len(ends), told)
        return told

    def test_ends_that_do_not_match_are_refused_by_name(self):
        place = f"127.0.0.1:{free_port()}"
        told = self.run_ends([f"--listen={place}", "--queue-pairs=2"], [f"--connect={place}", "--queue-pairs=3"])
        for text in told:
            self.assertIn("write_order: rank 1 was started with --queue-pairs=3 but rank 0 with --queue-pairs=2", text)

    def test_an_end_that_does_not_come_is_named_after_the_join_timeout(self):
        place = f"127.0.0.1:{free_port()}"
        began = time.monotonic()
        self.assertRegex(self.run_ends([f"--connect={place}", "--join-timeout=0.5"])[0],
                         f"no receiver with --listen={place}: .* within 500ms .Connection refused")
        self.assertRegex(self.run_ends([f"--listen={place}", "--join-timeout=0.5", "--incast=2"])[0],
                         f"no sender with --connect={place} for each of --incast: ranks 1, 2 of 3 .* within 500ms")
        self.assertLess(time.monotonic() - began, END_SECONDS)

    def test_ends_without_one_secret_do_not_meet(self):
        place = f"127.0.0.1:{free_port()}"
        self.assertIn("have to know one secret", self.run_ends([f"--listen={place}"], secrets=[""])[0])
        told = self.run_ends([f"--listen={place}", "--join-timeout=2"], [f"--connect={place}", "--join-timeout=2"],
                             secrets=["a secret of one end only, long enough", "a secret of the other end, long enough"])
        self.assertIn("was turned away: it does not know this run's secret", told[0])

    def test_a_filter_that_selects_nothing_is_refused(self):
        done = subprocess.run([BIN / "store", "--benchmark_filter=nothing"], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=PATIENCE_SECONDS, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("store: --benchmark_filter selects no benchmark; see --help\n", done.stderr)

    def test_a_full_standard_output_is_told(self):
        channel = ["channel", "--transport=local", "--slots=4096", "--credits=8", "--channels=1",
                   "--benchmark_filter=^Throughput", "--benchmark_min_time=0.001"]
        brief = "--benchmark_min_time=0.001"
        for code, program, *flags in ((1, *channel), (1, "channel", "--help"),
                                      (1, "store", "--benchmark_filter=^BM_SliceUpdate/10000$", brief), (1, "store", "--help"),
                                      (1, "fiber_switch", "--benchmark_filter=^BM_Turn/8$", brief), (1, "fiber_switch", "--help"),
                                      (1, "scaling_bench", "--help"), (1, "scaling_bench", "--version"),
                                      (3, "write_order", "--self-test", "--seconds=0.1"), (3, "write_order", "--help")):
            with self.subTest(program=program, flags=flags), open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([BIN / program, *flags], stdin=subprocess.DEVNULL, stdout=full,
                                      stderr=subprocess.PIPE, text=True, timeout=PATIENCE_SECONDS, check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertTrue(done.stderr.endswith(
                    f"{program}: cannot write standard output: No space left on device\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
