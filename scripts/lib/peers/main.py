"""Measures programs beside those of other engines, in turns: scripts/peers [--records N] [--turns N] [PROGRAM...].

All have the same input, and run on the same processors. Glaive's time is that of its report, from the first batch read
to the last result out; Renoir's and DuckDB's from the start of the execution to the last row; timely's from the first
record read to the last row. Rows are compared before any rate is told, but for those of windows that begin elsewhere with
Renoir. Glaive, Renoir and timely then read the records of a windowed query again and again, with later event times, for
--seconds, since a single pass is over before caches, allocators and the processor's clock rate are steady.
"""

import argparse
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import programs

ROOT = pathlib.Path(__file__).resolve().parents[3]
DUCKDB = pathlib.Path(__file__).resolve().parent / "duckdb_peer.py"
PATIENCE_SECONDS = 600
REPEATING = ("renoir", "timely")  # DuckDB has a batch alone, and Flink takes seconds for a single pass


def run(processors, *command):
    """Runs a command that has to succeed on some processors; returns what it prints."""
    done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=PATIENCE_SECONDS, preexec_fn=lambda: os.sched_setaffinity(0, processors))
    if done.returncode != 0:
        raise RuntimeError(f"{pathlib.Path(command[0]).name}: exit code {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def shown(figures):
    """Their median, with the least and the largest; a dash if there are none."""
    return f"{statistics.median(figures):.2f} ({min(figures):.2f} to {max(figures):.2f})" if figures else "-"


class Case:
    """A program on some processors, beside the chosen peers that have it."""

    def __init__(self, options, program, processors, file, folder):
        self.options = options
        self.program = program
        self.processors = processors
        self.job = programs.Job(options.records, len(processors), file, folder)
        self.peers = [peer for peer in options.peers if peer in program.peers]
        self.passes = {}  # of the peers that read the records more than once

    def run_ours(self, flags):
        """Runs Glaive; its rate."""
        run(self.processors, self.options.bin / self.program.binary, "--progress=never", *flags)
        return self.program.rate(self.job)

    def command_of(self, peer):
        """What runs a peer; a program's arguments follow."""
        if peer == "duckdb":
            return [self.options.python, "-B", DUCKDB]
        if peer == "flink":
            return ["java", "-Xms4g", "-Xmx12g", "-jar", self.options.flink_jar]
        return [self.options.peer_bin / f"glaive_peer_{peer}"]

    def run_peer(self, peer, output, passes=1):
        """Runs a peer; its rate."""
        repetition = [] if passes == 1 else [passes, self.program.span_ms]
        seconds = float(run(self.processors, *self.command_of(peer), self.program.name, self.job.executors, self.job.file,
                            output, *repetition))
        return passes * self.program.amount(self.job) / seconds

    def run_with_rows(self, peers):
        """Runs Glaive and peers, which write their rows, and compares these; the rate of each."""
        rows = self.job.folder / "peer.csv"
        rates = {"glaive": self.run_ours(self.program.flags_of_rows(self.job))}
        ours = self.program.rows(self.job)
        for peer in peers:
            rates[peer] = self.run_peer(peer, rows)
            theirs = self.program.rows_of_peer(rows)
            if ours != theirs:
                example = ((ours - theirs) + (theirs - ours)).most_common(3)
                raise RuntimeError(f"rows differ from those of {peer}, such as {example}")
        return rates

    def run_without_rows(self, peers):
        """Runs Glaive and peers, which drop their rows; the rate of each."""
        flags = self.program.flags_of_events(self.job)
        if self.program.span_ms:
            flags.append(f"--seconds={self.options.seconds}s")
        return {"glaive": self.run_ours(flags),
                **{peer: self.run_peer(peer, "-", self.passes.get(peer, 1)) for peer in peers}}

    def measure(self):
        """The rate of each in each turn; raises if rows differ."""
        turns = range(self.options.turns)
        if not self.program.rows_apart:
            return [self.run_with_rows(self.peers) for _ in turns]
        comparable = [peer for peer in self.peers if peer not in self.program.incomparable]
        if comparable:
            rates = self.run_with_rows(comparable)
            if self.program.span_ms:
                self.passes = {peer: math.ceil(self.options.seconds * rates[peer] / self.program.amount(self.job))
                               for peer in comparable if peer in REPEATING}
        return [self.run_without_rows(self.peers) for _ in turns]


def export(options, program, executors, folder):
    """Has Glaive write the input into the folder; returns the file that the peers read."""
    exported = folder / "exported.csv"
    run(os.sched_getaffinity(0), options.bin / program.binary, "--progress=never",
        *program.export_flags(options.records, executors, folder), f"--export-input={exported}")
    return program.file_of(exported)


def compare(case):
    """Prints a row: the rates, and how many times as fast Glaive is."""
    try:
        turns = case.measure()
    except RuntimeError as error:
        raise RuntimeError(f"{case.program.name}: {error}") from error
    cells = [case.program.name, case.job.executors, case.program.unit]
    cells.append(shown([turn["glaive"] for turn in turns]))
    for peer in case.options.peers:
        both = turns if peer in case.peers else []
        cells += [shown([turn[peer] for turn in both]), shown([turn["glaive"] / turn[peer] for turn in both])]
    print_row(cells)


def print_row(cells):
    print("|", " | ".join(str(cell) for cell in cells), "|", flush=True)


def peers_of(text):
    """The peers of a list with commas."""
    peers = text.split(",")
    for peer in peers:
        if peer not in programs.PEERS:
            raise argparse.ArgumentTypeError(f"there is no peer '{peer}': {', '.join(programs.PEERS[:-1])} or {programs.PEERS[-1]}")
    return peers


def main():
    parser = argparse.ArgumentParser(prog="scripts/peers", description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2, help="of a run that reads its records again")
    parser.add_argument("--peers", type=peers_of, default=programs.PEERS)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--peer-bin", type=pathlib.Path, default=ROOT / "build/peers/release")
    parser.add_argument("--flink-jar", type=pathlib.Path, default=ROOT / "build/peers_flink/glaive_peer_flink.jar")
    parser.add_argument("--python", type=pathlib.Path, default=ROOT / "build/python/bin/python3", help="has DuckDB")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    options = parser.parse_args()
    names = [program.name for program in programs.ALL]
    for name in options.programs:
        if name not in names:
            parser.error(f"there is no program '{name}': {', '.join(names[:-1])} or {names[-1]}")
    if options.records < 1 or options.turns < 1 or not 0 < options.seconds <= PATIENCE_SECONDS / 10:
        parser.error(f"--records and --turns must be at least 1, and --seconds above 0 and at most {PATIENCE_SECONDS // 10}")
    available = sorted(os.sched_getaffinity(0))
    print(f"{options.records} records; medians of {options.turns} turns, and least to largest\n", flush=True)
    header = ["program", "processors", "unit", "glaive"]
    for peer in options.peers:
        header += [peer, f"glaive/{peer}"]
    print_row(header)
    print_row(["---"] * len(header))
    for program in programs.ALL:
        if options.programs and program.name not in options.programs:
            continue
        with tempfile.TemporaryDirectory(prefix="glaive_peers_") as name:
            folder = pathlib.Path(name)
            file = None
            for count in (1, 2):
                if count > len(available):
                    break
                if file is None or program.flows_apart:
                    file = export(options, program, count, folder)
                compare(Case(options, program, set(available[:count]), file, folder))


if __name__ == "__main__":
    try:
        main()
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        sys.exit(f"scripts/peers: {error}")
