"""scripts/tidy: it reads each source once, finds what is wrong in each source of a batch, and names a missing program."""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

# What is wrong with three files of a batch: the line and the check.
WRONG = {
    "state/first.cc": ("""#include "state/common.h"
namespace {
int Answer(int unread) { return 42; }
}  // namespace
int First() { return Answer(1); }
""", ":3:16: error: parameter 'unread' is unused [misc-unused-parameters"),
    "state/second.cc": ("""#include "state/common.h"
namespace {
bool Same(int number) { return number == number; }
}  // namespace
bool Second() { return Same(2); }
""", ":3:39: error: both sides of operator are equivalent [misc-redundant-expression"),
    "state/common.h": ("""#pragma once
struct Common {
  Common(int given) : number(given) {}
  int number;
};
""", ":3:3: error: single-argument constructors must be marked explicit"),
}


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

    def test_a_finding_in_each_source_of_a_batch_is_named_where_it_stands(self):
        tidy = module()
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "state").mkdir()
            shutil.copy(SOURCE / ".clang-tidy", root)
            for name, (text, _) in WRONG.items():
                (root / name).write_text(text)
            sources = [root / name for name in WRONG if name.endswith(".cc")]
            unity = root / "unity_0_cxx.cxx"
            unity.write_text("".join(f'#include "{source}"\n' for source in sources))
            command = f"clang++-19 -std=c++20 -I{root} -c {unity}"
            (root / "compile_commands.json").write_text(json.dumps(
                [{"file": str(unity), "command": command, "directory": str(root)}]))
            tidy.CHOSEN = root
            stamp = root / "stamp"
            output = tidy.check(tidy.Batch(unity, command, str(root), sources), stamp)
            self.assertFalse(stamp.exists())
            for name, (_, finding) in WRONG.items():
                self.assertIn(f"{root / name}{finding}", output)

    def test_a_missing_cmake_is_named_with_the_remedy(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "python3").symlink_to(sys.executable)
            done = subprocess.run([SOURCE / "scripts/tidy"], env={"PATH": folder, "HOME": folder}, capture_output=True,
                                  stdin=subprocess.DEVNULL, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, "scripts/tidy: there is no cmake; run first: scripts/verify\n")


if __name__ == "__main__":
    unittest.main()
