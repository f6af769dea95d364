"""scripts/tidy: without what it runs, it says so."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("GLAIVE_SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent.parent))


class TidyTest(unittest.TestCase):
    def test_a_missing_cmake_is_named_with_the_remedy(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "python3").symlink_to(sys.executable)
            done = subprocess.run([SOURCE / "scripts/tidy"], env={"PATH": folder, "HOME": folder}, capture_output=True,
                                  stdin=subprocess.DEVNULL, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, "scripts/tidy: there is no cmake; run first: scripts/verify\n")


if __name__ == "__main__":
    unittest.main()
