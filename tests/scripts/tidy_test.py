"""scripts/tidy: it reads each source once, and names a missing program."""

import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("GLAIVE_SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent.parent))


def module():
    """The script, as a module."""
    loader = importlib.machinery.SourceFileLoader("tidy", str(SOURCE / "scripts/tidy"))
    tidy = importlib.util.module_from_spec(importlib.util.spec_from_loader("tidy", loader))
    loader.exec_module(tidy)
    return tidy


class TidyTest(unittest.TestCase):
    def test_a_source_of_several_batches_is_read_in_the_largest(self):
        tidy = module()
        alone, other, pair = (tidy.Batch(pathlib.Path(name), "", "", [pathlib.Path(source) for source in sources])
                              for name, sources in [("alone", "a"), ("other", "c"), ("pair", "ab")])
        self.assertEqual(tidy.without_repetitions([alone, other, pair]), [pair, other])

    def test_a_missing_cmake_is_named_with_the_remedy(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "python3").symlink_to(sys.executable)
            done = subprocess.run([SOURCE / "scripts/tidy"], env={"PATH": folder, "HOME": folder}, capture_output=True,
                                  stdin=subprocess.DEVNULL, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, "scripts/tidy: there is no cmake; run first: scripts/verify\n")


if __name__ == "__main__":
    unittest.main()
