"""Measures programs beside Renoir's, in turns: scripts/peers [--records N] [--turns N] [PROGRAM...].

Both have the same input, and run on the same processors. Glaive's time is that of its report, from the first batch read to
the last result out; Renoir's from the start of the execution to the last row. Rows are compared before any rate is told,
but for those of NEXMark's windows, which begin elsewhere with Renoir.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import programs

ROOT = pathlib.Path(__file__).resolve().parents[3]
PATIENCE_SECONDS = 600


def run(processors, *command):
    """Runs a command that has to succeed on some processors; returns what it prints."""
    done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=PATIENCE_SECONDS, preexec_fn=lambda: os.sched_setaffinity(0, processors))
    if done.returncode != 0:
        raise RuntimeError(f"{pathlib.Path(command[0]).name}: exit code {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def shown(figures):
    """Their median, with the least and the largest."""
    return f"{statistics.median(figures):.2f} ({min(figures):.2f} to {max(figures):.2f})"


def compare_rows(ours, theirs):
    """Raises if they differ."""
    if ours != theirs:
        raise RuntimeError(f"rows differ, such as {((ours - theirs) + (theirs - ours)).most_common(3)}")


def run_with_rows(options, program, processors, file, folder):
    """Runs both, each of which writes its rows, and compares them; how many seconds each took."""
    flags = program.flags(file, len(processors), folder)
    run(processors, options.bin / program.binary, "--progress=never", *flags)
    rows = folder / "renoir.csv"
    seconds = float(run(processors, options.renoir, program.name, len(processors), file, rows))
    compare_rows(program.rows(folder), program.rows_of_renoir(rows))
    return program.seconds(folder), seconds


def run_without_rows(options, program, processors, file, folder):
    """Runs both, which drop their rows; how many seconds each took."""
    flags = program.flags_of_events(options.records, len(processors), folder)
    run(processors, options.bin / program.binary, "--progress=never", *flags)
    seconds = float(run(processors, options.renoir, program.name, len(processors), file, "-"))
    return program.seconds(folder), seconds


def check_rows(options, program, processors, file, folder):
    """Compares the rows of runs that write them."""
    flags = program.flags_of_rows(options.records, len(processors), folder)
    run(processors, options.bin / program.binary, "--progress=never", *flags)
    rows = folder / "renoir.csv"
    run(processors, options.renoir, program.name, len(processors), file, rows)
    compare_rows(program.rows(folder), program.rows_of_renoir(rows))


def compare(options, program, processors, file, folder):
    """Prints the rates of both, and how many times as fast Glaive is; raises if their rows differ."""
    amount = program.amount(file, options.records)
    measured = run_without_rows if program.rows_apart else run_with_rows
    try:
        if program.rows_apart and program.columns:
            check_rows(options, program, processors, file, folder)
        pairs = [measured(options, program, processors, file, folder) for _ in range(options.turns)]
    except RuntimeError as error:
        raise RuntimeError(f"{program.name}: {error}") from error
    print(f"{program.name}, {len(processors)} processor{'s' if len(processors) > 1 else ''}: glaive "
          f"{shown([amount / ours for ours, _ in pairs])} {program.unit}, renoir "
          f"{shown([amount / theirs for _, theirs in pairs])} {program.unit}, ratio "
          f"{shown([theirs / ours for ours, theirs in pairs])}", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="scripts/peers", description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--renoir", type=pathlib.Path, default=ROOT / "build/peers/release/glaive_peer_renoir")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    options = parser.parse_args()
    names = [program.name for program in programs.ALL]
    for name in options.programs:
        if name not in names:
            parser.error(f"there is no program '{name}': {', '.join(names[:-1])} or {names[-1]}")
    if options.records < 1 or options.turns < 1:
        parser.error("--records and --turns must be at least 1")
    available = sorted(os.sched_getaffinity(0))
    print(f"{options.records} records; medians of {options.turns} turns, and least to largest", flush=True)
    for program in programs.ALL:
        if options.programs and program.name not in options.programs:
            continue
        with tempfile.TemporaryDirectory(prefix="glaive_peers_") as name:
            folder = pathlib.Path(name)
            run(set(available), options.bin / program.binary, "--progress=never", *program.export_flags(options.records),
                f"--export-input={folder / 'exported.csv'}")
            file = program.file_of(folder / "exported.csv")
            for count in (1, 2):
                if count <= len(available):
                    compare(options, program, set(available[:count]), file, folder)


if __name__ == "__main__":
    try:
        main()
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        sys.exit(f"scripts/peers: {error}")
