"""The benchmarks' ends, started by hand on one host over an RDMA device: what they measure, and how one's end ends the other."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from ysb_process import BIN, END_SECONDS, PATIENCE_SECONDS, SECRET, free_port

CHANNEL = ["channel", "--slots=65536", "--benchmark_filter=^Throughput", "--benchmark_min_time=0.01"]


class TwoEndedTest(unittest.TestCase):
    def start(self, program, *flags):
        end = subprocess.Popen([BIN / program, *flags], env=dict(os.environ) | SECRET, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(end.communicate)
        self.addCleanup(end.kill)
        return end

    def finish(self, *ends):
        """Exit code, standard output and standard error of each."""
        printed = [end.communicate(timeout=PATIENCE_SECONDS) for end in ends]
        return [(end.returncode, *texts) for end, texts in zip(ends, printed)]

    def test_the_throughput_of_all_senders_is_reported_at_the_receiver(self):
        place = f"127.0.0.1:{free_port()}"
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder, "report.json")
            receiver = self.start(*CHANNEL, f"--listen={place}", "--incast=2", f"--benchmark_out={report}")
            senders = [self.start(*CHANNEL, f"--connect={place}", "--incast=2", f"--sender={sender}") for sender in (1, 2)]
            for code, printed, told in self.finish(receiver, *senders):
                self.assertEqual(code, 0, printed + told)
            cases = json.loads(report.read_text(encoding="utf-8"))["benchmarks"]
        self.assertTrue(cases)
        for case in cases:
            # 64 MiB in slots of 64 KiB with 64 bytes of footer, half of them from each sender.
            payload_bytes = 1024 * (65536 - 64)
            seconds = case["real_time"] / 1000
            if case["iterations"] == 1:
                self.assertAlmostEqual(case["channel_B/s"], payload_bytes / seconds, delta=0.01 * payload_bytes / seconds)
            self.assertGreater(case["channel_B/s"], 0)

    def test_several_queue_pairs_of_several_writers_are_read(self):
        done = subprocess.run([BIN / "write_order", "--seconds=1", "--queue-pairs=3", "--incast=2"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        counts = [int(line.split()[1]) for line in done.stdout.splitlines()[1:9]]
        self.assertEqual(len(counts), 8, done.stdout)
        self.assertGreater(min(counts), 0, done.stdout)

    def test_a_case_that_no_end_can_set_up_is_an_error_and_no_crash(self):
        for _ in range(5):
            done = subprocess.run([BIN / "channel", "--transport=verbs", "--slots=128"], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("must be a multiple of 64 from 256", done.stderr)

    @unittest.skipUnless(os.environ.get("GLAIVE_SOFTROCE_PROFILE") == "rxe", "devices differ in what they grant")
    def test_messages_travel_in_the_work_request_up_to_what_the_device_grants(self):
        small = ["channel", "--transport=verbs", "--slots=256", "--benchmark_filter=^Latency", "--benchmark_min_time=0.001"]
        for inline_bytes, code, words in [(256, 0, "Latency/"), (65536, 1, "65536 bytes of inline data: Invalid argument")]:
            with self.subTest(inline_bytes):
                done = subprocess.run([BIN / small[0], *small[1:], f"--inline={inline_bytes}"], stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)
                self.assertIn(words, done.stdout + done.stderr)

    def test_an_end_that_goes_ends_the_other(self):
        endless = ["write_order", "--seconds=600"]
        for victim in (0, 1):
            for kind in (signal.SIGINT, signal.SIGKILL):
                with self.subTest(victim=victim, signal=kind.name):
                    place = f"127.0.0.1:{free_port()}"
                    ends = [self.start(*endless, f"--listen={place}"), self.start(*endless, f"--connect={place}")]
                    self.assertTrue(ends[0].stdout.readline())  # the head of the table: both ends stand
                    time.sleep(0.3)  # mid-run; any other moment has to do as well
                    ends[victim].send_signal(kind)
                    began = time.monotonic()
                    results = self.finish(*ends)
                    self.assertLess(time.monotonic() - began, END_SECONDS)
                    self.assertEqual(results[victim][0], -kind, results)
                    code, _, told = results[1 - victim]
                    self.assertEqual(code, 3, told)
                    self.assertRegex(told, r"^write_order: [^\n]+\n$")


if __name__ == "__main__":
    unittest.main()
