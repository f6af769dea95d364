#!/usr/bin/env python3
"""Prints the tests that failed and the end of what each said: failures.py TITLE FOLDER, which holds a
ctest*.xml (ctest --output-junit) for every ctest*.log."""

import pathlib
import sys
import xml.etree.ElementTree

LINES = 30  # of each test's output


def main():
    title, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    for log in sorted(folder.glob("ctest*.log")):
        report = log.with_suffix(".xml")
        if not report.is_file():
            print(f"\n=== {title}: {log.name} ends before its tests do")
            continue
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            if case.get("status") != "fail":
                continue
            print(f"\n=== {title}: {case.get('name')} failed; the end of its output")
            print("\n".join((case.findtext("system-out") or "").rstrip().splitlines()[-LINES:]))


if __name__ == "__main__":
    main()
