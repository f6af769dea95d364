"""Counts words with Glaive and with Renoir, in turns: scripts/peers [--records N] [--turns N] [FORM...].

Both read the same file, and run on the same processors. Glaive's time is that of its report, from the first batch read to
the last result out; Renoir's from the start of the execution to the last row. Rows are compared before any rate is told.
"""

import argparse
import collections
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
FORMS = ["associative", "plain", "count-window"]
PATIENCE_SECONDS = 600


def run(processors, *command):
    """Runs a command that has to succeed on some processors; returns what it prints."""
    done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=PATIENCE_SECONDS, preexec_fn=lambda: os.sched_setaffinity(0, processors))
    if done.returncode != 0:
        raise RuntimeError(f"{pathlib.Path(command[0]).name}: exit code {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def write_text(options, path):
    """Writes a text of so many lines; returns how many bytes it has."""
    exported = path.with_suffix(".csv")
    run(os.sched_getaffinity(0), options.glaive, "--progress=never", f"--records={options.records}", f"--export-input={exported}")
    with open(exported, encoding="utf-8", newline="") as rows, open(path, "w", encoding="utf-8") as text:
        for row in csv.DictReader(rows):
            text.write(row["text"] + "\n")
    exported.unlink()
    return path.stat().st_size


def of_glaive(options, form, processors, text, folder):
    """Seconds, and how often each row comes."""
    rows, report = folder / "glaive.csv", folder / "glaive.json"
    run(processors, options.glaive, f"--form={form}", f"--executors={len(processors)}", f"--input={text}", f"--output={rows}",
        "--join-output", f"--json={report}", "--progress=never")
    with open(rows, encoding="utf-8", newline="") as lines:
        counts = collections.Counter((row["key"], row["value"]) for row in csv.DictReader(lines))
    return json.loads(report.read_text(encoding="utf-8"))["seconds"], counts


def of_renoir(options, form, processors, text, folder):
    """Likewise."""
    rows = folder / "renoir.csv"
    seconds = float(run(processors, options.renoir, form, len(processors), text, rows))
    with open(rows, encoding="utf-8", newline="") as lines:
        return seconds, collections.Counter(tuple(row) for row in csv.reader(lines))


def shown(figures):
    """Their median, with the least and the largest."""
    return f"{statistics.median(figures):.2f} ({min(figures):.2f} to {max(figures):.2f})"


def compare(options, form, processors, text, megabytes, folder):
    """Prints the rates of both, and how many times as fast Glaive is; raises if their rows differ."""
    seconds = {"glaive": [], "renoir": []}
    for _ in range(options.turns):
        rows = {}
        for name, measure in (("glaive", of_glaive), ("renoir", of_renoir)):
            taken, rows[name] = measure(options, form, processors, text, folder)
            seconds[name].append(taken)
        if rows["glaive"] != rows["renoir"]:
            different = (rows["glaive"] - rows["renoir"]) + (rows["renoir"] - rows["glaive"])
            raise RuntimeError(f"{form}: rows differ, such as {different.most_common(3)}")
    ratios = [theirs / ours for ours, theirs in zip(seconds["glaive"], seconds["renoir"])]
    print(f"{form}, {len(processors)} processor{'s' if len(processors) > 1 else ''}: glaive "
          f"{shown([megabytes / s for s in seconds['glaive']])} MB/s, renoir "
          f"{shown([megabytes / s for s in seconds['renoir']])} MB/s, ratio {shown(ratios)}", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="scripts/peers", description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--glaive", type=pathlib.Path, default=ROOT / "build/release/bin/wordcount")
    parser.add_argument("--renoir", type=pathlib.Path, default=ROOT / "build/peers/release/glaive_peer_renoir")
    parser.add_argument("forms", nargs="*", metavar="FORM")
    options = parser.parse_args()
    for form in options.forms:
        if form not in FORMS:
            parser.error(f"there is no form '{form}': associative, plain or count-window")
    if options.records < 1 or options.turns < 1:
        parser.error("--records and --turns must be at least 1")
    available = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="glaive_peers_") as name:
        folder = pathlib.Path(name)
        text = folder / "lines.txt"
        megabytes = write_text(options, text) / 1e6
        print(f"{options.records} lines, {megabytes:.0f} MB; medians of {options.turns} turns, and least to largest")
        for form in options.forms or FORMS:
            for count in (1, 2):
                if count <= len(available):
                    compare(options, form, set(available[:count]), text, megabytes, folder)


if __name__ == "__main__":
    try:
        main()
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        sys.exit(f"scripts/peers: {error}")
