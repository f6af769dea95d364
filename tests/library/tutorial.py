"""The pages of docs/tutorial: their files, and their commands with what these print."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE_DIR = pathlib.Path(os.environ["GLAIVE_SOURCE_DIR"])
BUILD_DIR = pathlib.Path(os.environ["GLAIVE_BUILD_DIR"])
EXAMPLES = sorted(SOURCE_DIR.glob("queries/examples/*.cc"))
PAGES = sorted((SOURCE_DIR / "docs" / "tutorial").glob("*.md"))
# Of a fence: its kind, and what stands in the block.
BLOCK = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
IN_A_GUEST = "$GLAIVE/scripts/softroce run "


def blocks(page):
    """(kind, text) of all blocks of a page."""
    return [(match["kind"], match["text"]) for match in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def commands(text):
    """(command, expected output) of each command of a console block."""
    return re.findall(r"^\$ ([^\n]*)\n((?:(?!\$ )[^\n]*\n)*)", text, re.MULTILINE)


class TutorialTest(unittest.TestCase):
    """A test whose working folder is what the tutorial's first page makes, with the programs of this build."""

    def setUp(self):
        self.begin_in_a_new_folder()

    def begin_in_a_new_folder(self):
        folder = tempfile.TemporaryDirectory(prefix="glaive_tutorial_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "tutorial"
        shutil.copytree(SOURCE_DIR / "queries" / "examples", self.folder)
        (self.folder / "build").mkdir()
        for source in EXAMPLES:
            (self.folder / "build" / source.stem).symlink_to(BUILD_DIR / "bin" / f"examples.{source.stem}")

    def run_block(self, page, text, replacements=None):
        """Runs a block's commands in one shell after the other, and compares what they print."""
        for command, expected in commands(text):
            for old, new in (replacements or {}).items():
                command = command.replace(old, new)
            with self.subTest(page.name, command=command):
                done = subprocess.run(["bash", "-c", command], cwd=self.folder, env={**os.environ, "LC_ALL": "C"},
                                      stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                                      check=False)
                self.assertEqual((done.returncode, done.stdout), (0, expected), done.stderr)
