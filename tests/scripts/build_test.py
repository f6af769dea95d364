"""Long commands of scripts: without a terminal they say now and then how far they have come, and all of it on failure."""

import os
import pathlib
import subprocess
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ.get("GLAIVE_SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent.parent))
PROLOGUE = f'set -euo pipefail; source "{SOURCE}/scripts/lib/common.sh"; '


class RunQuietlyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="glaive_scripts_")
        self.addCleanup(folder.cleanup)
        self.log = pathlib.Path(folder.name, "log")

    def run_quietly(self, command, progress_seconds=20):
        """Exit code and standard error."""
        prologue = f"{PROLOGUE} PROGRESS_SECONDS={progress_seconds};"
        done = subprocess.run(["bash", "-c", f'{prologue} run_quietly {self.log} bash -c "$1"', "bash", command],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.stdout, "")
        return done.returncode, done.stderr

    def test_a_long_command_shows_its_last_line_now_and_then(self):
        code, err = self.run_quietly("echo '[1/9] first'; echo '[2/9] second'; sleep 1", progress_seconds=0.2)
        self.assertEqual(code, 0)
        self.assertGreater(err.count(f"still at work, see {self.log}: [2/9] second\n"), 1)
        self.assertNotIn("first", err)
        self.assertEqual(self.log.read_text(encoding="utf-8"), "[1/9] first\n[2/9] second\n")

    def test_a_short_command_says_nothing(self):
        self.assertEqual(self.run_quietly("echo done"), (0, ""))

    def test_a_command_that_fails_shows_everything(self):
        code, err = self.run_quietly("echo first; echo second >&2; exit 3")
        self.assertEqual((code, err), (1, "first\nsecond\n"))

    def test_what_a_command_leaves_running_is_not_waited_for(self):
        start = time.monotonic()
        self.assertEqual(self.run_quietly("sleep 20 & echo $!"), (0, ""))
        self.assertLess(time.monotonic() - start, 10)
        os.kill(int(self.log.read_text(encoding="utf-8")), 9)


if __name__ == "__main__":
    unittest.main()
