"""Queries whose steps are out of order do not compile, and the compiler says why in few words.

Each source in compile_fail/ names in its first line how the error must begin. It has to be the only error, few lines may
follow it, and all of the compiler's output has to fit on a screen: a message that drowns in template instantiations helps
nobody.
"""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

SOURCE_DIR = pathlib.Path(os.environ["GLAIVE_SOURCE_DIR"])
CASES = sorted((SOURCE_DIR / "tests/engine/compile_fail").glob("*.cc"))
COMPILER = "g++"  # of the preset release, with which scripts/run compiles a query
MAX_ERRORS = 1
MAX_OUTPUT_LINES = 25  # of a text screen
MAX_LINES_BEHIND = 15  # behind the error
# Such a message has the step's name, from a list in a macro: the compiler prints three lines for each macro, twice.
STEP_IN_WRONG_PLACE = re.compile(r"_after_(key|window|count_window)\.cc$")
MAX_LINES_BEHIND_A_STEP = 17


def precompile(folder):
    """Compiles the header that all cases begin with into a folder to be searched first; parsing it is most of the work."""
    header = "tests/engine/compile_fail/query.h"
    target = pathlib.Path(folder) / f"{header}.gch"
    target.parent.mkdir(parents=True)
    subprocess.run([COMPILER, "-std=c++20", "-w", f"-I{SOURCE_DIR}", "-x", "c++-header",
                    str(SOURCE_DIR / header), "-o", str(target)], timeout=120, check=True)


def compile_case(source, folder):
    """Compiles one file without producing code; returns the exit code and what the compiler wrote."""
    command = [COMPILER, "-std=c++20", "-fsyntax-only", f"-I{folder}", f"-I{SOURCE_DIR}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False,
                          env={**os.environ, "LC_ALL": "C"})
    return done.returncode, done.stderr


class CompileFailTest(unittest.TestCase):
    def test_there_are_cases(self):
        self.assertGreater(len(CASES), 10)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="glaive_compile_fail_")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_each_case_fails_with_its_message_and_little_else(self):
        precompile(self.folder)
        for source in CASES:
            expected = re.match(r"// expect: (.*)", source.read_text(encoding="utf-8")).group(1)
            with self.subTest(source.name):
                code, output = compile_case(source, self.folder)
                if expected == "nothing":
                    self.assertEqual((code, output), (0, ""))
                    continue
                self.assertNotEqual(code, 0, "it compiled")
                lines = output.splitlines()
                errors = [number for number, line in enumerate(lines) if " error: " in line]
                self.assertLessEqual(len(errors), MAX_ERRORS, output)
                self.assertRegex(lines[errors[0]], f" error: (static assertion failed: )?{re.escape(expected)}")
                self.assertLessEqual(len(lines), MAX_OUTPUT_LINES, output)
                behind = MAX_LINES_BEHIND_A_STEP if STEP_IN_WRONG_PLACE.search(source.name) else MAX_LINES_BEHIND
                self.assertLessEqual(len(lines) - errors[0] - 1, behind, output)


if __name__ == "__main__":
    unittest.main()
