"""Runs queries, asks DuckDB the same, and compares row by row: scripts/verify [QUERY...] [--bin FOLDER] [--keep FOLDER].

For each scenario (scenarios.py) the query's binary writes its input (--export-input) and its result (--output); the SQL
of queries/README.md computes the result from that input; both must have the same rows. Then wrong results are planted,
and the comparison has to find each: a changed value, a missing row, an extra row.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import collision_files
import comparison
import scenarios
import sql
import text_files
import trace_files

ROOT = pathlib.Path(__file__).resolve().parents[3]
PATIENCE_SECONDS = 120
FILES = {"cm": trace_files, "collisions": collision_files, "wordcount": text_files}  # by query, what makes files of its exported input


def run(*command):
    """Runs a command that has to succeed."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    if done.returncode != 0:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr.strip()}")


def run_query(binary, scenario, folder):
    """Runs the query; returns the paths of what it wrote, by table: a list each, since a result may have parts."""
    tables = ("input", *scenario.tables)
    exports = [f"--export-{flag(table)}={folder / table}.csv" for table in tables]
    output = [f"--{scenario.output}={folder / 'result.csv'}", f"--json={folder / 'report.json'}",
              *(f"--{flag(table)}={folder / table}.csv" for table in (*scenario.written, *scenario.given))]
    for table, text in scenario.given.items():
        (folder / f"{table}.csv").write_text(text, encoding="utf-8")
    if scenario.file_readers:
        run(binary, *scenario.flags, *exports)
        parts = folder / "parts"
        parts.mkdir()
        FILES[scenario.query].write(folder / "input.csv", parts)
        FILES[scenario.query].renumber(folder / "input.csv", scenario.file_readers)
        run(binary, f"--nodes={scenario.file_readers}", f"--input={parts}", *output, *scenario.flags_over_files)
    else:
        run(binary, *scenario.flags, *exports, *output)
    paths = {table: sorted(folder.glob(f"{table}.csv*")) for table in ("result", *scenario.written)}
    if scenario.partitioned:
        paths["result"] = sorted(folder.glob("result.csv/*/*/rows.csv*"))
    return paths | {table: [folder / f"{table}.csv"] for table in (*tables, *scenario.given)}


def flag(table):
    """The part of a flag's name that a table has."""
    return table.replace("_", "-")


def verify(binary, scenario, folder, statements):
    """Compares one scenario; returns what is wrong, as lines, and the numbers of input and result rows."""
    files = run_query(binary, scenario, folder)
    with comparison.Comparison(files, scenario.parameters, scenario.published) as compared:
        compared.expect("" if scenario.published else statements["progress"], statements[scenario.statement])
        findings = compared.differences() + scenario.unmet(json.loads((folder / "report.json").read_text()))
        if not findings:
            findings = compared.missed_plants()
        return findings, compared.input_rows, compared.result_rows


def main():
    parser = argparse.ArgumentParser(prog="scripts/verify", description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin", metavar="FOLDER",
                        help="where the queries' binaries are")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="leaves inputs and results here")
    parser.add_argument("queries", nargs="*", metavar="QUERY", help="only these")
    arguments = parser.parse_args()
    known = sorted({scenario.query for scenario in scenarios.ALL})
    for query in arguments.queries:
        if query not in known:
            parser.error(f"there is no query '{query}'; there are {', '.join(known)}")

    statements = sql.read(ROOT / "queries" / "README.md")
    failed = 0
    chosen = [scenario for scenario in scenarios.ALL if not arguments.queries or scenario.query in arguments.queries]
    for index, scenario in enumerate(chosen):
        with tempfile.TemporaryDirectory(prefix="glaive-verify-") as temporary:
            folder = pathlib.Path(temporary)
            if arguments.keep:
                folder = arguments.keep / f"{index:02}_{scenario.title.replace(' ', '_')}"
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(parents=True)
            start = time.monotonic()
            try:
                findings, input_rows, result_rows = verify(arguments.bin / scenario.query, scenario, folder, statements)
            except (RuntimeError, OSError, subprocess.TimeoutExpired, comparison.Error) as error:
                findings, input_rows, result_rows = [str(error)], 0, 0
        failed += bool(findings)
        print(f"{scenario.title:32} {'FAILED' if findings else 'equal '} {input_rows:>8} records {result_rows:>7} results"
              f" {time.monotonic() - start:5.1f} s   {' '.join(scenario.flags)}", flush=True)
        for finding in findings:
            print(f"  {finding}", flush=True)
    print(f"verify: {len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
