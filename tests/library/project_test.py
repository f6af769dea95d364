"""A project of a user's own: this build installed and packaged, the template built with it outside of the tree, and run.

The libraries are those of this build, so only the template itself is compiled, with g++ and fully optimized as it asks for.
"""

import csv
import os
import pathlib
import re
import resource
import shutil
import subprocess
import tempfile
import unittest

from tutorial import PAGES, blocks, commands

SOURCE_DIR = pathlib.Path(os.environ["GLAIVE_SOURCE_DIR"])
BUILD_DIR = pathlib.Path(os.environ["GLAIVE_BUILD_DIR"])  # its libglaive_*.a
QUERIES = sorted(main.parent.name for main in SOURCE_DIR.glob("queries/*/main.cc"))
PATIENCE_SECONDS = 240
TUTORIAL_CLICKS = "clicks/build/clicks"  # the template's program, as the tutorial builds it
MOST_COMPILE_SECONDS = 15  # of processor time, for the template with full optimization
# A busy or slow machine takes longer for everything. So the template may also take so many times what a source of the
# standard library alone takes at that moment: 15 s where this one takes 3.75 s.
MOST_COMPILE_RATIO = 4
REFERENCE = """
#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
#include <string>

int main(int argc, char** argv) {
  const std::regex word("([a-z]+)([0-9]*)(,|$)");
  std::map<std::string, int> counts;
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    for (std::sregex_iterator match(text.begin(), text.end(), word), end; match != end; ++match) ++counts[match->str(1)];
  }
  for (const auto& [key, count] : counts) std::cout << key << ' ' << count << '\\n';
}
"""


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class ProjectTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="glaive_library_")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.prefix = cls.folder / "prefix"
        cls.run_command("cmake", "--install", BUILD_DIR, "--component", "development", "--prefix", cls.prefix)

    @classmethod
    def run_command(cls, *command, code=0, environment=None):
        """What the command writes to standard output and to standard error."""
        done = subprocess.run(command, cwd=cls.folder, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
        if done.returncode != code:
            raise AssertionError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout, done.stderr

    def package(self):
        """Makes the package of this build, and extracts it; what dpkg-deb says of it, and the folder."""
        self.run_command("cpack", "--config", BUILD_DIR / "CPackConfig.cmake", "-B", self.folder / "packages",
                         "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=none")
        [package] = (self.folder / "packages").glob("*.deb")
        self.assertRegex(package.name, r"^glaive_\d+\.\d+\.\d+_amd64\.deb$")
        root = self.folder / "root"
        self.run_command("dpkg-deb", "--extract", package, root)
        return self.run_command("dpkg-deb", "--field", package)[0], root

    def test_the_template_builds_against_the_package_and_runs_on_one_and_two_nodes(self):
        fields, root = self.package()
        for library in re.findall(r"glaive_require\(\w+ (lib\w+-dev|zlib1g-dev|pkg-config)\)",
                                  (SOURCE_DIR / "scripts/cmake/LinkedLibraries.cmake").read_text(encoding="utf-8")):
            self.assertRegex(fields, rf"\nDepends: .*{re.escape(library)}")
        self.assertRegex(fields, r"\nDepends: .*libibverbs1 .*librdmacm1", "what the queries are linked with")
        self.assertEqual(sorted(path.name for path in (root / "usr/libexec/glaive").iterdir()), QUERIES)
        self.run_command(root / "usr/libexec/glaive/ysb", "--version")

        project = self.folder / "project"
        shutil.copytree(root / "usr/share/glaive/template", project)
        self.run_command("cmake", "-S", project, "-B", self.folder / "build", f"-DCMAKE_PREFIX_PATH={root / 'usr'}",
                         "-GNinja", "-DCMAKE_CXX_COMPILER=g++", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wconversion -Werror")
        before = processor_seconds()
        self.run_command("cmake", "--build", self.folder / "build")
        between = processor_seconds()
        (self.folder / "reference.cc").write_text(REFERENCE, encoding="utf-8")
        self.run_command("g++", "-std=c++20", "-O3", "-c", "reference.cc", "-o", "reference.o")
        most = max(MOST_COMPILE_SECONDS, MOST_COMPILE_RATIO * (processor_seconds() - between))
        self.assertLess(between - before, most)

        clicks = self.folder / "build" / "clicks"
        out, _ = self.run_command(clicks, "--help")
        for flag in ["--nodes=N", "--output=FILE", "--verify"]:
            self.assertIn(f"\n  {flag} ", out)
        for nodes in (1, 2):
            out, _ = self.run_command(clicks, f"--nodes={nodes}", "--verify", "--output=rows.csv", "--join-output")
            self.assertRegex(out, r"\nclicks \d+\.\d+\.\d+ \(commit ")
            self.assertRegex(out, r"verification +passed")
            self.assertIn(f"{nodes} node(s)", out)
            with open(self.folder / "rows.csv", newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual(sum(int(row["value"]) for row in rows), 1_000_000)
        _, err = self.run_command(clicks, "--nodes=none", code=2)
        self.assertIn("clicks: --nodes=none", err)

        in_the_tutorial = [text for page in PAGES for kind, text in blocks(page)
                           if kind == "console" and TUTORIAL_CLICKS in text]
        self.assertEqual(len(in_the_tutorial), 1)
        for command, expected in commands(in_the_tutorial[0]):
            out, _ = self.run_command("bash", "-c", command.replace(TUTORIAL_CLICKS, str(clicks)))
            self.assertEqual(out, expected)

    def test_the_tutorial_begins_with_a_build_of_the_examples(self):
        [block] = [text for kind, text in blocks(PAGES[0]) if kind == "sh"]
        commands_of_page = block.replace("/usr/", f"{self.prefix}/")
        self.assertTrue(commands_of_page.endswith("cmake --build build\n"))
        self.run_command("bash", "-ec", f"{commands_of_page.rstrip()} --target squares",
                         environment={"CMAKE_PREFIX_PATH": str(self.prefix), "CMAKE_GENERATOR": "Ninja"})
        self.run_command(self.folder / "tutorial" / "build" / "squares", "--output=of_tutorial.csv")
        self.assertEqual((self.folder / "of_tutorial.csv").read_text(encoding="utf-8").splitlines()[-1], "100")

    def test_a_program_builds_by_pkg_config_alone(self):
        folders = list(self.prefix.rglob("pkgconfig"))
        self.assertEqual(len(folders), 1)
        flags, _ = self.run_command("pkg-config", "--cflags", "--libs", "glaive",
                                    environment={"PKG_CONFIG_PATH": str(folders[0])})
        self.run_command("g++", "-o", self.folder / "squares", self.prefix / "share/glaive/examples/squares.cc",
                         *flags.split())
        self.run_command(self.folder / "squares", "--nodes=2", "--output=squares.csv", "--join-output")
        lines = (self.folder / "squares.csv").read_text(encoding="utf-8").splitlines()
        self.assertEqual((lines[0], sorted(map(int, lines[1:]))), ("record", [n * n for n in range(1, 11)]))
        _, err = self.run_command(self.folder / "squares", "--verify", code=2)
        self.assertIn("--verify: unknown flag", err, "it has no check")

    def test_a_build_to_install_needs_no_library_of_tests_and_benchmarks(self):
        self.run_command("cmake", "-S", SOURCE_DIR, "-B", self.folder / "package", "--preset", "package",
                         "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_benchmark=ON")
        self.assertTrue((self.folder / "package" / "CPackConfig.cmake").exists())

    def test_headers_include_each_other_below_glaive(self):
        headers = list((self.prefix / "include").rglob("*.h"))
        self.assertGreater(len(headers), 200)
        names = {header.relative_to(self.prefix / "include").as_posix() for header in headers}
        for header in headers:
            text = header.read_text(encoding="utf-8")
            for name in re.findall(r'^#include "([^"]+)"', text, re.MULTILINE):
                if not name.startswith("absl/"):
                    self.assertIn(name, names, header)

    def test_a_missing_package_is_named(self):
        project = self.folder / "without_simdjson"
        shutil.copytree(self.prefix / "share/glaive/template", project)
        listed = subprocess.run(["pkg-config", "--variable=pcfiledir", "libibverbs"], capture_output=True, text=True, check=True)
        others = self.folder / "others"
        others.mkdir()
        for name in pathlib.Path(listed.stdout.strip()).glob("*.pc"):
            if name.name != "simdjson.pc":
                (others / name.name).symlink_to(name)
        _, err = self.run_command("cmake", "-GNinja", "-S", project, "-B", self.folder / "no_build", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                                  code=1, environment={"PKG_CONFIG_LIBDIR": str(others), "PKG_CONFIG_PATH": ""})
        self.assertIn("Glaive needs packages that are not installed: apt-get install libsimdjson-dev", re.sub(r"\s+", " ", err))


if __name__ == "__main__":
    unittest.main()
