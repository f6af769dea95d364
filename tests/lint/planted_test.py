"""Planted defects fit the code: each patch applies to the sources as they are, says what it breaks, and is documented."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE_DIR = pathlib.Path(os.environ["GLAIVE_SOURCE_DIR"])
SIMULATED = sorted((SOURCE_DIR / "tests/sim/planted").glob("*.patch"))
FUZZED = sorted((SOURCE_DIR / "tests/fuzz/planted").glob("*.patch"))


def patched_files(patch):
    """The files that a patch changes, relative to the project's root."""
    return re.findall(r"^\+\+\+ b/(\S+)", patch.read_text(encoding="utf-8"), re.MULTILINE)


class PlantedTest(unittest.TestCase):
    def test_there_are_defects(self):
        self.assertGreater(len(SIMULATED), 30)
        self.assertGreater(len(FUZZED), 5)

    def test_each_applies_and_changes_its_files(self):
        for patch in SIMULATED + FUZZED:
            with self.subTest(patch.stem), tempfile.TemporaryDirectory() as folder:
                files = patched_files(patch)
                self.assertTrue(files)
                for file in files:
                    copy = pathlib.Path(folder, file)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(SOURCE_DIR / file, copy)
                done = subprocess.run(["patch", "--quiet", "--strip=1", "--fuzz=0", "--directory", folder],
                                      input=patch.read_text(encoding="utf-8"), capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, f"mend the patch: {done.stdout}{done.stderr}")
                for file in files:
                    self.assertNotEqual(pathlib.Path(folder, file).read_bytes(), (SOURCE_DIR / file).read_bytes())

    def test_each_says_what_it_breaks(self):
        for patch in SIMULATED + FUZZED:
            with self.subTest(patch.stem):
                first = patch.read_text(encoding="utf-8").splitlines()[0]
                self.assertFalse(first.startswith(("---", "diff")), "the first line says what the patch breaks")

    def test_each_has_its_row_in_the_documentation(self):
        text = (SOURCE_DIR / "docs/testing.md").read_text(encoding="utf-8").split("\n## Planted defects\n")[1].split("\n## ")[0]
        rows = re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE)
        self.assertEqual(sorted(rows), [patch.stem for patch in SIMULATED])


if __name__ == "__main__":
    unittest.main()
