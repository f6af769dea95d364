"""scripts/channel_figures with made-up programs: the order and the rows of its measurements, and what it refuses."""

import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("GLAIVE_SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent.parent))

# A device, as bench/channel describes it, and its cases. A case's figure is the next of its way of arrival.
CHANNEL = """#!/bin/sh
echo "verbs: fake0 port 1 (Ethernet) at 10.0.0.1, GID 1 ::1, MTU 4096 B" >&2
for each in %(arrivals)s; do echo "Throughput/verbs/$each/slot:65536"; done > "$FOLDER/cases"
case "$*" in *list_tests*) cat "$FOLDER/cases"; exit;; esac
case "$*" in *--arrival=imm*) arrival=imm; tenths=10;; *--arrival=poll*) arrival=poll; tenths=20;; esac
echo $arrival >> "$FOLDER/calls"
count=$(grep -c $arrival "$FOLDER/calls")
echo "{\\"benchmarks\\": [{\\"channel_B/s\\": $((tenths + count))00000000}]}"
"""
# The client has the server's address as its last argument. It transfers 2 GB/s.
PERFTEST = """#!/bin/sh
for last; do :; done
[ "$last" = 10.0.0.1 ] || exit 0
echo perftest >> "$FOLDER/calls"
case "$*" in *-R*) echo rdma_cm >> "$FOLDER/connections";; esac
echo " 65536 5 0.00 1907.3486328125 0.03"
"""


class MeasurementsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def write_program(self, name, text):
        (self.path / name).write_text(text, encoding="utf-8")
        (self.path / name).chmod(0o755)

    def measure(self, *arguments, arrivals):
        self.write_program("channel", CHANNEL % {"arrivals": arrivals})
        self.write_program("ib_write_bw", PERFTEST)
        self.write_program("ib_write_lat", PERFTEST)
        environment = dict(os.environ, FOLDER=str(self.path), PATH=f"{self.path}:{os.environ['PATH']}")
        command = [SOURCE / "scripts/channel_figures", f"--program={self.path / 'channel'}", "--figures=10a",
                   "--slots=65536", "--priority=normal", *arguments]
        return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60, check=False)

    def calls(self):
        return (self.path / "calls").read_text(encoding="utf-8").split()

    def test_each_round_measures_both_ways_of_arrival_and_perftest_and_the_next_begins_with_another(self):
        done = self.measure("--rounds=3", arrivals="imm poll")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.calls(), ["imm", "poll", "perftest", "poll", "perftest", "imm", "perftest", "imm", "poll"])
        rows = list(csv.DictReader(done.stdout.splitlines()))
        self.assertEqual([row["arrival"] for row in rows], ["imm", "poll"])
        for row, least, median, largest in zip(rows, (1.1, 2.1), (1.2, 2.2), (1.3, 2.3)):
            for part, wanted in (("min", least), ("median", median), ("max", largest)):
                self.assertAlmostEqual(float(row[f"glaive_{part}"]), wanted)
                self.assertAlmostEqual(float(row[f"perftest_{part}"]), 2)
                self.assertAlmostEqual(float(row[f"ratio_{part}"]), wanted / 2)
        self.assertFalse((self.path / "connections").exists(), "perftest connects by itself where it can")

    def test_one_way_alone_takes_turns_with_perftest(self):
        done = self.measure("--rounds=2", "--arrival=poll", arrivals="imm poll")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.calls(), ["poll", "perftest", "perftest", "poll"])

    def test_a_device_without_immediate_values_is_polled_and_connected_by_rdma_cm(self):
        done = self.measure("--rounds=1", arrivals="poll")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.calls(), ["poll", "perftest"])
        self.assertTrue((self.path / "connections").exists())
        refused = self.measure("--arrival=imm", arrivals="poll")
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertIn("channel_figures: fake0 has no --arrival=imm", refused.stderr)


class RefusalTest(unittest.TestCase):
    def refuse(self, *arguments, **options):
        done = subprocess.run([SOURCE / "scripts/channel_figures", *arguments], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, check=False, **options)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        self.assertNotIn("Traceback", done.stderr)
        return done.stderr

    def test_a_program_that_is_not_built_is_named_with_the_remedy(self):
        said = self.refuse("--program=/nowhere/channel")
        self.assertIn("there is no program /nowhere/channel", said)
        self.assertIn("scripts/test --preset release", said)

    def test_missing_tools_are_named_with_their_packages(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "python3").symlink_to(sys.executable)
            said = self.refuse("--program=/bin/sh", "--priority=idle", env={"PATH": folder})
        self.assertIn("ib_write_bw, ib_write_lat, chrt not found: install the packages perftest", said)

    def test_wrong_values_are_refused_by_name(self):
        self.assertIn("--figures: there is no 11; there are 10a, ", self.refuse("--figures=10a,11"))
        self.assertIn("--arrival: there is no all; there are imm, poll", self.refuse("--arrival=imm,all"))
        for flag in ["--slots=64KiB", "--slots=0", "--rounds=0", "--megabytes=-1"]:
            self.assertIn(flag.split("=")[0], self.refuse(flag))


if __name__ == "__main__":
    unittest.main()
