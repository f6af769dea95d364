#!/usr/bin/env python3
"""Finds the tests that a regular expression names, and what they need built: matching_tests.py REGEX PRESET.

Prints a line of three fields, separated by tabs, for each source, script or benchmark that has some:

  case    state.combiner_test  Suite.One:Suite.Two   a C++ source: its target, and the --gtest_filter of the cases
  script  cli.output_test      swa ysb               a test in Python, and the programs that it runs, if any
  script  bench.store          store                 a short run of a benchmark
"""

import ast
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TESTS = ROOT / "tests"
CASE = re.compile(r"^(TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\((\w+),\s*(\w+)\)", re.MULTILINE)
# The names that GoogleTest gives to the cases of a macro.
FILTERS = {
    "TEST": "{0}.{1}",
    "TEST_F": "{0}.{1}",
    "TEST_P": "{0}.{1}/*:*/{0}.{1}/*",
    "TYPED_TEST": "{0}/*.{1}",
    "TYPED_TEST_P": "*/{0}/*.{1}",
}

QUERIES = {main.parent.name for main in ROOT.glob("queries/*/main.cc")}
EXAMPLES = {f"examples.{source.stem}" for source in ROOT.glob("queries/examples/*.cc")}
BENCHMARKS = {source.stem for source in ROOT.glob("bench/*.cc")}
# The programs that a preset builds; tests skip what needs others.
PROGRAMS = {
    "dev": QUERIES | EXAMPLES | BENCHMARKS | {"simulate"},
    "asan": {"ysb", "simulate"},
    "tsan": {"ysb"},
    "release": QUERIES | BENCHMARKS,
}
# A script with one of these texts looks for all queries, for the archives that they are linked with, or for all examples.
TEXTS_OF_PROGRAMS = {"queries/*/main.cc": QUERIES, "libglaive_": QUERIES, "queries/examples/*.cc": EXAMPLES}


def modules_of(script):
    """The script, and the modules beside it that it imports, directly or not."""
    found = {}
    left = [script]
    while left:
        path = left.pop()
        if path in found or not path.exists():
            continue
        found[path] = tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            left += [script.parent / f"{name}.py" for name in names]
    return found


def programs_of(script, preset):
    """The programs whose names stand as strings in the script or in its modules, if these look at what was built."""
    strings = {node.value for tree in modules_of(script).values() for node in ast.walk(tree)
               if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    if not strings & {"GLAIVE_BIN_DIR", "GLAIVE_BUILD_DIR"}:
        return []
    programs = strings & PROGRAMS[preset]
    for text, all_of_them in TEXTS_OF_PROGRAMS.items():
        if any(text in string for string in strings):
            programs |= all_of_them & PROGRAMS[preset]
    return sorted(programs)


def main():
    wanted = re.compile(sys.argv[1])
    preset = sys.argv[2]
    for source in sorted(TESTS.glob("*/*_test.cc")):
        filters = [FILTERS[macro].format(suite, case) for macro, suite, case in CASE.findall(source.read_text())
                   if wanted.search(f"{suite}.{case}")]
        if filters:
            print("case", f"{source.parent.name}.{source.stem}", ":".join(filters), sep="\t")
    for script in sorted(TESTS.glob("*/*_test.py")):
        if wanted.search(f"{script.parent.name}.{script.stem}"):
            print("script", f"{script.parent.name}.{script.stem}", " ".join(programs_of(script, preset)), sep="\t")
    for benchmark in sorted(BENCHMARKS & PROGRAMS[preset]):
        if wanted.search(f"bench.{benchmark}"):
            print("script", f"bench.{benchmark}", benchmark, sep="\t")


if __name__ == "__main__":
    main()
