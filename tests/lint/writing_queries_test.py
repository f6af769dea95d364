"""The files in docs/writing-queries.md compile as they stand there, beside the project's own."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

SOURCE_DIR = pathlib.Path(os.environ["GLAIVE_SOURCE_DIR"])
DOCUMENT = SOURCE_DIR / "docs" / "writing-queries.md"
FILE = re.compile(r"^```cpp (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATIENCE_SECONDS = 240


class WritingQueriesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="glaive_writing_queries_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.files = dict(FILE.findall(DOCUMENT.read_text(encoding="utf-8")))
        for name, text in self.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def errors(self, name):
        """What the compiler says to a file; it also searches the folder of the document's own."""
        command = [os.environ["GLAIVE_CXX"], "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wconversion", "-Werror",
                   f"-I{self.folder}", f"-I{SOURCE_DIR}", str(self.folder / name)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
        return done.stderr if done.returncode else ""

    def test_every_source_compiles(self):
        sources = [name for name in self.files if name.endswith(".cc")]
        self.assertEqual(len(sources), 2)
        for name in sources:
            with self.subTest(name):
                self.assertEqual(self.errors(name), "")

    def test_a_mistake_would_be_seen(self):
        broken = self.folder / "queries/rides/main.cc"
        broken.write_text(self.files["queries/rides/main.cc"].replace("meters", "miles"), encoding="utf-8")
        self.assertIn("error:", self.errors("queries/rides/main.cc"))

    def test_the_project_has_no_files_of_these_names(self):
        for name in self.files:
            self.assertFalse((SOURCE_DIR / name).exists(), name)


if __name__ == "__main__":
    unittest.main()
