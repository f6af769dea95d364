#!/usr/bin/env python3
"""Sums up a summary of gcovr by layer: `coverage_by_layer.py SUMMARY.json LEAST_PERCENT`. Exits 1 below that."""

import collections
import json
import sys

LEAST_COVERED_SHOWN = 12


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        files = json.load(file)["files"]
    least_percent = float(sys.argv[2])
    lines = collections.Counter()
    covered = collections.Counter()
    for each in files:
        layer = each["filename"].split("/")[0]
        lines[layer] += each["line_total"]
        covered[layer] += each["line_covered"]
    is_enough = bool(lines)
    for layer in sorted(lines):
        percent = 100 * covered[layer] / max(lines[layer], 1)
        is_enough = is_enough and percent >= least_percent
        print(f"{layer:8} {covered[layer]:6} of {lines[layer]:6} lines, {percent:.1f} %")
    print("most lines that did not run:")
    by_missing = sorted(files, key=lambda each: each["line_covered"] - each["line_total"])
    for each in by_missing[:LEAST_COVERED_SHOWN]:
        print(f"  {each['line_total'] - each['line_covered']:4} of {each['line_total']:5}  {each['filename']}")
    return 0 if is_enough else 1


if __name__ == "__main__":
    sys.exit(main())
