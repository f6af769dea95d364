"""Signals while a run is set up: each ends it in time, with exit code 130, and leaves nothing behind."""

import datetime
import fcntl
import functools
import os
import pathlib
import signal
import subprocess
import time
import unittest
import uuid

from ysb_process import PATIENCE_SECONDS, SANITIZED, SANITIZER, YSB, CliTest

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# What a user is told (docs/operations.md).
END_SECONDS = 12 if SANITIZED else 1.5
# Zipf's keys take longest to draw: seconds of set-up.
MANY = ["--records=30M", "--key-distribution=zipf:1.1"]


def setUpModule():
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup would have the runs ignore it


def available_bytes():
    for line in pathlib.Path("/proc/meminfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("/proc/meminfo has no MemAvailable")


class SetUpTest(CliTest):
    def expect_end(self, ysb, number, files, send=None):
        """The signal ends the run in time, before the report; only `files` are left."""
        sent, at = time.monotonic(), datetime.datetime.now(datetime.timezone.utc)
        (send or ysb.send)(number)
        code = ysb.wait()
        seconds = time.monotonic() - sent
        self.assertEqual(code, 130, ysb.err.text)
        self.assertLess(seconds, END_SECONDS, f"the signal was sent at {at.time()}\n{ysb.err.text}")
        self.assertIn(f"interrupted by {number.name}", ysb.err.text)
        self.assertNotIn("throughput", ysb.out.text, "the run was over")
        self.assertEqual(self.wait_until_gone(), [])
        self.assertEqual(self.files(), files)

    def wait_for_plan(self, ysb):
        """Waits until the run is about to make its executors; they then generate their input."""
        self.wait_until(lambda: "state: up to" in ysb.out.text or ysb.process.poll() is not None)
        self.assertIsNone(ysb.process.poll(), ysb.err.text)

    def test_while_input_is_generated(self):
        for number in SIGNALS:
            for nodes, target in ((1, "rank 0"), (2, "rank 0"), (2, "rank 1"), (2, "group")):
                with self.subTest(signal=number.name, nodes=nodes, target=target):
                    ysb = self.start(*MANY, f"--nodes={nodes}", "--output=counts.csv")
                    self.wait_for_plan(ysb)
                    time.sleep(0.2)
                    # Found before the clock starts: /proc answers late for processes that the kernel is busy with.
                    pid = self.pid_of_rank(1) if target == "rank 1" else ysb.process.pid
                    end = os.killpg if target == "group" else os.kill
                    send = functools.partial(end, pid)
                    self.expect_end(ysb, number, [], send)

    def test_while_input_is_exported(self):
        for number in SIGNALS:
            with self.subTest(signal=number.name):
                ysb = self.start(*MANY, "--export-input=events.csv")
                self.wait_until(lambda: any(path.stat().st_size > 1 << 20 for path in self.folder.iterdir()))
                self.assertNotIn("memory plan", ysb.out.text)
                self.expect_end(ysb, number, [])

    def test_while_tables_are_read(self):
        ads = self.folder / "ads.txt"
        ads.write_text("".join(f'{{"{uuid.UUID(int=i << 64 | 1)}": "{uuid.UUID(int=i % 7 + 1 << 64)}"}}\n'
                               for i in range(1, 1_000_000)), encoding="utf-8")
        (self.folder / "events.json").write_text("{}\n", encoding="utf-8")
        for number in SIGNALS:
            with self.subTest(signal=number.name):
                ysb = self.start("--profile=yahoo", "--input=events.json", "--ads=ads.txt")
                self.wait_until(lambda: self.has_read(ysb.process.pid, 1 << 20))
                self.expect_end(ysb, number, ["ads.txt", "events.json"])
                self.assertNotIn("memory plan", ysb.out.text)

    def has_read(self, pid, size):
        """Whether the process has read so many bytes."""
        counts = pathlib.Path(f"/proc/{pid}/io").read_text(encoding="utf-8")
        return int(counts.split("rchar:")[1].split()[0]) > size

    def test_while_state_is_taken_from_the_system(self):
        mebibytes = min(8192, available_bytes() // 2 >> 20)
        for number in SIGNALS:
            with self.subTest(signal=number.name):
                ysb = self.start("--records=1000", f"--prefault-state={mebibytes}MiB", "--output=counts.csv")
                self.wait_for_plan(ysb)
                self.expect_end(ysb, number, [])

    @unittest.skipIf(SANITIZER == "thread", "ThreadSanitizer holds signals back from a thread that is in write")
    def test_while_nobody_reads_standard_output(self):
        for number in SIGNALS:
            reader, writer = os.pipe()
            self.addCleanup(os.close, reader)
            fill(writer)
            with self.subTest(signal=number.name), subprocess.Popen([YSB, "--records=1000"], stdin=subprocess.DEVNULL,
                                                                    stdout=writer, stderr=subprocess.PIPE, text=True) as ysb:
                os.close(writer)
                try:
                    place = pathlib.Path(f"/proc/{ysb.pid}/wchan")
                    self.wait_until(lambda: ysb.poll() is not None or "pipe_write" in place.read_text(encoding="utf-8"))
                    self.assertIsNone(ysb.poll())
                    sent = time.monotonic()
                    ysb.send_signal(number)
                    error = ysb.communicate(timeout=PATIENCE_SECONDS)[1]
                    seconds = time.monotonic() - sent
                finally:
                    ysb.kill()
                self.assertEqual(ysb.returncode, 130, error)
                self.assertLess(seconds, END_SECONDS, error)
                self.assertIn(f"interrupted by {number.name}", error)


def fill(pipe):
    """Writes into a pipe, made as small as there are, until it takes no more."""
    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 4096)
    os.set_blocking(pipe, False)
    try:
        while os.write(pipe, b"x" * 512):
            pass
    except BlockingIOError:
        os.set_blocking(pipe, True)


if __name__ == "__main__":
    unittest.main()
