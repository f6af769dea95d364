"""scripts/channel_figures: what it lacks or does not take is said in words, before it measures anything."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("GLAIVE_SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent.parent))


class ChannelFiguresTest(unittest.TestCase):
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
        for flag in ["--slots=64KiB", "--slots=0", "--rounds=0", "--megabytes=-1"]:
            self.assertIn(flag.split("=")[0], self.refuse(flag))


if __name__ == "__main__":
    unittest.main()
