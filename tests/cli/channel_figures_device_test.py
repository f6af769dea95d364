"""scripts/channel_figures over an RDMA device: each figure has a row for each way of arrival, beside perftest's figure."""

import csv
import os
import shutil
import signal
import subprocess
import unittest

from ysb_process import BIN, SOURCE

PROFILE = os.environ.get("GLAIVE_SOFTROCE_PROFILE")
# perftest measures the processor's clock, and runs again where that fails: often, while a build takes the host's
# processors from the guest.
LIMIT_SECONDS = 270


@unittest.skipUnless(shutil.which("ib_write_bw"), "perftest is not installed")
class ChannelFiguresTest(unittest.TestCase):
    def test_throughput_and_latency_stand_beside_perftests(self):
        command = [SOURCE / "scripts/channel_figures", f"--program={BIN / 'channel'}", "--rounds=1", "--seconds=0.05",
                   "--megabytes=4", "--slots=65536", "--figures=10a,10b"]
        with subprocess.Popen(command, env=dict(os.environ), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, start_new_session=True) as figures:
            try:
                out, err = figures.communicate(timeout=LIMIT_SECONDS)
            except subprocess.TimeoutExpired:
                # perftest, too: a device that a process has open cannot be deleted, as the next test does.
                os.killpg(figures.pid, signal.SIGKILL)
                raise
        self.assertEqual(figures.returncode, 0, err)
        rows = list(csv.DictReader(out.splitlines()))
        arrivals = ["poll"] if PROFILE == "siw" else ["imm", "poll"]
        self.assertEqual([(row["figure"], row["unit"], row["slot_bytes"], row["arrival"]) for row in rows],
                         [(*figure, "65536", arrival) for figure in (("10a", "GB/s"), ("10b", "us")) for arrival in arrivals])
        for row in rows:
            ours, theirs, ratio = (float(row[f"{what}_median"]) for what in ("glaive", "perftest", "ratio"))
            self.assertGreater(min(ours, theirs), 0)
            self.assertAlmostEqual(ratio, ours / theirs, delta=0.01 * ratio)


if __name__ == "__main__":
    unittest.main()
