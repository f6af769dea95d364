#!/usr/bin/env python3
"""Prints the tests that failed and the end of what each said: failures.py TITLE CTEST.XML (ctest --output-junit)."""

import pathlib
import sys
import xml.etree.ElementTree

LINES = 30  # of each test's output


def main():
    title, path = sys.argv[1], pathlib.Path(sys.argv[2])
    if not path.is_file():
        print(f"\n=== {title}: no test ran to its end")
        return
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        if case.get("status") != "fail":
            continue
        print(f"\n=== {title}: {case.get('name')} failed; the end of its output")
        print("\n".join((case.findtext("system-out") or "").rstrip().splitlines()[-LINES:]))


if __name__ == "__main__":
    main()
