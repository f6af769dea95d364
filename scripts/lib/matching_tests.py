#!/usr/bin/env python3
"""Finds the GoogleTest cases that a regular expression names: matching_tests.py REGEX.

Prints a line for each source of tests/ that has some: its target, a tab, and the --gtest_filter of the cases. Prints
nothing if the expression names no case of a source, or a test in Python as well: then everything has to be built.
"""

import pathlib
import re
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent.parent / "tests"
CASE = re.compile(r"^(TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\((\w+),\s*(\w+)\)", re.MULTILINE)
# The names that GoogleTest gives to the cases of a macro.
FILTERS = {
    "TEST": "{0}.{1}",
    "TEST_F": "{0}.{1}",
    "TEST_P": "{0}.{1}/*:*/{0}.{1}/*",
    "TYPED_TEST": "{0}/*.{1}",
    "TYPED_TEST_P": "*/{0}/*.{1}",
}


def main():
    wanted = re.compile(sys.argv[1])
    if any(wanted.search(f"{script.parent.name}.{script.stem}") for script in TESTS.glob("*/*_test.py")):
        return
    for source in sorted(TESTS.glob("*/*_test.cc")):
        filters = [FILTERS[macro].format(suite, case) for macro, suite, case in CASE.findall(source.read_text())
                   if wanted.search(f"{suite}.{case}")]
        if filters:
            print(f"{source.parent.name}.{source.stem}\t{':'.join(filters)}")


if __name__ == "__main__":
    main()
