#!/usr/bin/env python3
"""Prints the tests that failed and the end of what each said: failures.py TITLE FOLDER, whose ctest*.xml it reads
(ctest --output-junit)."""

import pathlib
import sys
import xml.etree.ElementTree

LINES = 30  # of each test's output


def main():
    title, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    reports = sorted(folder.glob("ctest*.xml"))
    if not reports:
        print(f"\n=== {title}: no test ran to its end")
    for report in reports:
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            if case.get("status") != "fail":
                continue
            print(f"\n=== {title}: {case.get('name')} failed; the end of its output")
            print("\n".join((case.findtext("system-out") or "").rstrip().splitlines()[-LINES:]))


if __name__ == "__main__":
    main()
