"""scripts/lib/planted_simulate.py in a small project: the program has the defect, and all else stays as it is."""

import fcntl
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("GLAIVE_SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent.parent))
SCRIPT = "scripts/lib/planted_simulate.py"

# The program's exit code is 123. other.cc is compiled in a batch, as CMake writes them.
FILES = {
    "value.h": "#pragma once\ninline int Value() { return 1; }\n",
    "other.cc": '#include "value.h"\nint Other() {\n  return 20 * Value();\n}\n',
    "alone.cc": "int Alone() {\n  return 100;\n}\n",
    "main.cc": '#include "value.h"\nint Alone();\nint Other();\nint main() { return Alone() + Other() + 3 * Value(); }\n',
    "unread.h": "#pragma once\n",
    "build/dev/unity.cxx": '#include "{root}/other.cc"\n',
    "build/dev/build.ninja": """
rule compile
  depfile = $out.d
  deps = gcc
  command = ccache clang++-19 -I{root} -MD -MT $out -MF $out.d -o $out -c $in
rule archive
  command = : && rm -f $out && ar qc $out $in && :
rule link
  command = : && clang++-19 $in -o $out libs.a && :
build o/unity.cxx.o: compile {root}/build/dev/unity.cxx
build o/alone.cc.o: compile {root}/alone.cc
build o/main.cc.o: compile {root}/main.cc
build libs.a: archive o/unity.cxx.o o/alone.cc.o
build bin/simulate: link o/main.cc.o | libs.a
build other_program: link o/main.cc.o | libs.a
""",
}


def patch_of(file, old, new):
    """A patch that puts one line of a file in the place of another."""
    lines = FILES[file].splitlines()
    place = lines.index(old)
    body = [f" {line}" for line in lines[:place]] + [f"-{old}", f"+{new}"] + [f" {line}" for line in lines[place + 1:]]
    head = f"Says what it breaks.\n--- a/{file}\n+++ b/{file}\n@@ -1,{len(lines)} +1,{len(lines)} @@\n"
    return head + "\n".join(body) + "\n"


OTHER_VALUE = patch_of("value.h", "inline int Value() { return 1; }", "inline int Value() { return 2; }")


class PlantedSimulateTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="glaive_planted_")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.build = self.root / "build/dev"
        for name, text in FILES.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("{root}", str(self.root)), encoding="utf-8")
        (self.root / SCRIPT).parent.mkdir(parents=True)
        shutil.copy(SOURCE / SCRIPT, self.root / SCRIPT)

    def built(self):
        subprocess.run(["ninja", "-C", self.build, "--quiet", "bin/simulate"], check=True, stdin=subprocess.DEVNULL, timeout=60)

    def content(self):
        """All files of the project but ninja's own."""
        return {path: path.read_bytes() for path in self.root.rglob("*")
                if path.is_file() and path.name != ".lock" and not path.name.startswith(".ninja")
                and self.root / "planted" not in path.parents}

    def start(self, patch):
        (self.root / "planted").mkdir(exist_ok=True)
        file = self.root / "planted" / "defect.patch"
        file.write_text(patch, encoding="utf-8")
        return subprocess.Popen([self.root / SCRIPT, file, self.root / "planted" / "defect"], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def plant(self, patch):
        """Exit code of the program with the defect, and what was printed if there is none."""
        with self.start(patch) as process:
            output = process.communicate(timeout=60)[0]
        if process.returncode != 0:
            return None, output
        return subprocess.run([self.root / "planted/defect/bin/simulate"], check=False, timeout=60).returncode, output

    def test_the_program_has_the_defect_and_all_else_stays(self):
        self.built()
        before = self.content()
        self.assertEqual(self.plant(OTHER_VALUE), (100 + 40 + 6, ""))  # in a batch of a library, and in the program's own
        self.assertEqual(self.plant(patch_of("other.cc", "  return 20 * Value();", "  return 50;")), (100 + 50 + 3, ""))
        self.assertEqual(self.plant(patch_of("alone.cc", "  return 100;", "  return 200;")), (200 + 20 + 3, ""))
        self.assertEqual(self.content(), before)
        self.assertEqual(subprocess.run([self.build / "bin/simulate"], check=False, timeout=60).returncode, 123)

    def test_a_function_that_the_patch_removes_is_taken_from_nowhere_else(self):
        self.built()
        code, output = self.plant(patch_of("alone.cc", "int Alone() {", "int Renamed() {"))
        self.assertIsNone(code)
        self.assertIn("Alone()", output)

    def test_a_patch_that_changes_nothing_of_the_program_is_refused(self):
        self.built()
        code, output = self.plant(patch_of("unread.h", "#pragma once", "#pragma twice"))
        self.assertIsNone(code)
        self.assertIn(f"no source of the simulator reads {self.root}/unread.h\n", output)

    def test_a_patch_that_does_not_fit_is_refused(self):
        self.built()
        code, output = self.plant(OTHER_VALUE.replace("return 1;", "return 7;"))
        self.assertIsNone(code)
        self.assertIn("defect.patch does not fit the code any more: mend it\n", output)

    def test_the_preset_has_to_be_built(self):
        code, output = self.plant(OTHER_VALUE)
        self.assertIsNone(code)
        self.assertIn("scripts/simulate --planted builds it first\n", output)
        shutil.rmtree(self.build)
        code, output = self.plant(OTHER_VALUE)
        self.assertIsNone(code)
        self.assertIn("scripts/simulate --planted builds it first\n", output)

    def test_a_build_that_is_under_way_is_waited_for(self):
        self.built()
        with open(self.build / ".lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            process = self.start(OTHER_VALUE)
            self.addCleanup(process.kill)
            with self.assertRaises(subprocess.TimeoutExpired):
                process.wait(timeout=1)
            self.assertFalse((self.root / "planted/defect").exists())
        self.assertEqual((process.communicate(timeout=60)[0], process.returncode), ("", 0))


if __name__ == "__main__":
    unittest.main()
