"""docs/writing-queries.md, followed as its reader does: the files of its query put into a copy of the tree, the query built
and run, and its results compared with DuckDB's.

The copy links the libraries that this build has compiled of the same sources, so only the query itself is compiled.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

SOURCE_DIR = pathlib.Path(os.environ["GLAIVE_SOURCE_DIR"])
BUILD_DIR = pathlib.Path(os.environ["GLAIVE_BUILD_DIR"])
PYTHON = SOURCE_DIR / "build" / "python" / "bin" / "python"  # which has DuckDB
TEXT = (SOURCE_DIR / "docs" / "writing-queries.md").read_text(encoding="utf-8")
PATIENCE_SECONDS = 240


def blocks(kind):
    """What stands in the document's blocks of a kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


FILES = dict(re.findall(r"^```cpp (\S+)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))

# Instantiates the document's queries with states, and with windows by the order of records.
RECORD_RIDES = """
#include "engine/sink/discard.h"
#include "engine/source/pulled_source.h"
#include "queries/rides/record_rides.h"
#include "queries/rides/tours.h"

namespace glaive::queries::rides {

const auto tours = BuildTours(
    engine::Pulled<Ride>([](const engine::SourceContext&) { return [] { return std::optional<Ride>(); }; }),
    engine::Discard{});
const auto query = BuildRecordRides(
    engine::Pulled<Ride>([](const engine::SourceContext&) { return [] { return std::optional<Ride>(); }; }),
    engine::Discard{});

}  // namespace glaive::queries::rides
"""


class WritingQueriesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="glaive_writing_queries_")
        cls.addClassCleanup(folder.cleanup)
        cls.tree = pathlib.Path(folder.name) / "glaive"
        cls.build = cls.tree / "build" / "dev"
        shutil.copytree(SOURCE_DIR, cls.tree, symlinks=True, ignore=shutil.ignore_patterns("build", ".git", ".*cache*"))
        for name, text in FILES.items():
            path = cls.tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def run_command(self, *command, cwd=None):
        """The exit code, and all output."""
        done = subprocess.run(command, cwd=cwd or self.tree, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=PATIENCE_SECONDS, check=False)
        return done.returncode, done.stdout

    def succeed(self, *command, cwd=None):
        code, output = self.run_command(*command, cwd=cwd)
        self.assertEqual(code, 0, f"{shlex.join(map(str, command))}\n{output}")
        return output

    def build_query(self):
        """Configures the whole tree, and runs the commands that are about the query alone."""
        self.succeed("cmake", "--preset", "dev", "-DGLAIVE_PRECOMPILE=OFF", "-DGLAIVE_LINT=OFF",
                     f"-DCMAKE_CXX_COMPILER={os.environ['GLAIVE_CXX']}")
        for library in BUILD_DIR.glob("libglaive_*.a"):
            (self.build / library.name).symlink_to(library)
        commands = self.succeed("ninja", "-C", self.build, "-t", "commands", "rides").splitlines()
        of_the_query = [command for command in commands if "/rides.dir/" in command]
        self.assertEqual(len(of_the_query), 2, "compile and link")
        (self.build / "CMakeFiles" / "rides.dir" / "Unity").mkdir(parents=True, exist_ok=True)
        (self.build / "bin").mkdir(exist_ok=True)
        for command in of_the_query:
            self.succeed("sh", "-c", command, cwd=self.build)

    def test_the_query_is_built_run_and_proven_as_the_document_says(self):
        self.build_query()

        [command] = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("scripts/run rides")]
        output = self.succeed(self.build / "bin" / "rides", *shlex.split(command)[2:])
        expected = re.search(r"^`(verification +passed: .*?)`", TEXT, re.MULTILINE).group(1)
        self.assertIn(expected, output)

        [statement] = blocks("sql")
        [scenario] = blocks("python")
        with open(self.tree / "queries" / "README.md", "a", encoding="utf-8") as readme:
            readme.write(f"\n```sql rides\n{statement}```\n")
        scenarios = self.tree / "scripts" / "lib" / "verify" / "scenarios.py"
        text = scenarios.read_text(encoding="utf-8")
        scenarios.write_text(text.replace("ALL = [\n", f"ALL = [\n    {scenario}"), encoding="utf-8")
        self.assertTrue(PYTHON.exists(), "DuckDB is not installed; scripts/verify installs it")
        verify = self.tree / "scripts" / "lib" / "verify" / "main.py"
        self.succeed(PYTHON, "-B", verify, f"--bin={self.build / 'bin'}", "rides")

    def errors(self, name):
        """What the compiler says to a file of the document."""
        code, output = self.run_command(os.environ["GLAIVE_CXX"], "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra",
                                        "-Wconversion", "-Werror", f"-I{self.tree}", self.tree / name)
        return output if code else ""

    def test_its_test_compiles_and_a_mistake_would_be_seen(self):
        test = "tests/queries/rides_spread_test.cc"
        self.assertEqual(self.errors(test), "")
        wrong = self.tree / "tests" / "queries" / "rides_wrong_test.cc"
        self.addCleanup(wrong.unlink)
        wrong.write_text(FILES[test].replace("SpreadValue>(", "SpreadValues>("), encoding="utf-8")
        self.assertIn("error:", self.errors(wrong))

    def test_its_queries_with_states_and_windows_by_order_compile(self):
        source = self.tree / "queries" / "rides" / "record_rides_check.cc"
        self.addCleanup(source.unlink)
        source.write_text(RECORD_RIDES, encoding="utf-8")
        self.assertEqual(self.errors(source), "")
        source.write_text(RECORD_RIDES.replace("Pulled<Ride>", "Pulled<int>"), encoding="utf-8")
        self.assertIn("error:", self.errors(source))

    def test_its_query_over_files_compiles(self):
        self.assertEqual(self.errors("queries/trades/trades_query.cc"), "")

    def test_every_source_is_built_or_compiled(self):
        self.assertEqual({name for name in FILES if name.endswith(".cc")},
                         {"queries/rides/main.cc", "queries/trades/trades_query.cc", "tests/queries/rides_spread_test.cc"})

    def test_the_project_has_no_files_of_these_names(self):
        for name in FILES:
            self.assertFalse((SOURCE_DIR / name).exists(), name)


if __name__ == "__main__":
    unittest.main()
