#!/usr/bin/env python3
"""Names the tests that were skipped: skips.py PRESET FOLDER, which holds ctest*.xml (ctest --output-junit).

A skip has to stand in tests/skips.txt with its reason. Exits 1 if one does not.
"""

import pathlib
import re
import sys
import xml.etree.ElementTree

LIST = pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "skips.txt"
# What GoogleTest prints of a test that it skips, and how unittest begins what it prints of any: test_it (__main__.Suite.test_it).
SKIPPED_CASE = re.compile(r"^\[  SKIPPED \] ([^\s,(]+\.[^\s,(]+)", re.MULTILINE)
METHOD = re.compile(r"^\s*(\w+) \(__main__\.(\w+)")


def listed_skips():
    """(presets, pattern of the test's name, preset that runs it) of each line of the list: these | and a reason."""
    for number, line in enumerate(LIST.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split(" | ")]
        if len(fields) != 4 or not all(fields):
            sys.exit(f"{LIST.name}:{number}: a line has presets, a test, the preset that runs it and a reason, with ' | ' between them")
        yield fields[0].split(), re.compile(fields[1]), fields[2]


def skipped_tests(case):
    """The names of the tests that a ctest has skipped: suite.test."""
    text = case.findtext("system-out") or ""
    names = SKIPPED_CASE.findall(text)
    method = None
    for line in text.splitlines():
        method = METHOD.match(line) or method
        if "... skipped " in line and method:
            names.append(f"{method[2]}.{method[1]}")
    if not names and case.get("status") not in ("run", "fail"):
        names.append(case.get("name"))
    return names


def main():
    preset, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    allowed = [pattern for presets, pattern, _ in listed_skips() if preset in presets]
    unlisted = set()
    for report in sorted(folder.glob("ctest*.xml")):
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            unlisted.update(name for name in skipped_tests(case)
                            if not any(pattern.fullmatch(name) for pattern in allowed))
    for name in sorted(unlisted):
        print(f"skipped in the preset {preset}, and not listed in tests/{LIST.name}: {name}")
    return 1 if unlisted else 0


if __name__ == "__main__":
    sys.exit(main())
