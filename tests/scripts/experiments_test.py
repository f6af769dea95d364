"""scripts/lib/experiments with made-up queries: what runs in which order, what a file of results has, how it resumes, what
is drawn, and what is refused."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ.get("GLAIVE_SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent.parent))
MAIN = SOURCE / "scripts/lib/experiments/main.py"
PYTHON = SOURCE / "build/python/bin/python3"
EXPERIMENTS = SOURCE / "scripts/lib/experiments"

# Notes its flags, and reports a rate that is the slot size, or 1000 records/s; UpPar's is half. ro fails.
QUERY = """#!/usr/bin/env python3
import json, os, pathlib, sys, time
name = pathlib.Path(sys.argv[0]).name
if sys.argv[1:] == ["--version"]:
    sys.exit(print(name, "0.1.0 (commit %s)" % os.environ.get("COMMIT", "abc")))
flags = dict(each.lstrip("-").split("=", 1) for each in sys.argv[1:])
with open(pathlib.Path(sys.argv[0]).parent / "calls", "a") as calls:
    calls.write(" ".join([name, *sys.argv[1:]]) + "\\n")
if name == "ro":
    sys.exit("ro: no such keys")
time.sleep(float(os.environ.get("QUERY_SECONDS", "0")))
rate = int(flags.get("slot-bytes", "1000")) / (2 if flags.get("engine") == "uppar" else 1)
report = {"commit": os.environ.get("COMMIT", "abc"), "machine": {"cpu_model": "made up"}, "records": int(flags["records"]),
          "records_per_second": rate, "window_latency": {"measured": "rate" in flags, "p50_ms": 2.5, "p99_ms": 7.5},
          "executors": [1, 2, 3], "secret": os.environ.get("GLAIVE_SECRET", "")}
pathlib.Path(flags["json"]).write_text(json.dumps(report))
"""
# An ssh that runs the command on this host, and notes whom it was to reach.
SSH = """#!/bin/sh
while [ "$1" = -o ]; do shift 2; done
echo "$1" >> "$(dirname "$0")/reached"
shift
exec sh -c "$*"
"""


class ExperimentsTest(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="glaive_experiments_")
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        for query in ("ysb", "cm", "nb8", "ro", "swa", "nexmark"):
            self.program(query, QUERY)
        self.results = self.folder / "results.jsonl"

    def program(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        (self.folder / name).chmod(0o755)

    def run_main(self, *arguments, **environment):
        done = subprocess.run([PYTHON, "-B", MAIN, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                              env=os.environ | {"MPLCONFIGDIR": str(self.folder)} | environment, check=False)
        return done.returncode, done.stdout, done.stderr

    def measure(self, *names, size="tiny", **environment):
        return self.run_main("run", *names, f"--size={size}", f"--bin={self.folder}", f"--results={self.results}", **environment)

    def calls(self):
        return (self.folder / "calls").read_text(encoding="utf-8").splitlines()

    def lines(self):
        return [json.loads(line) for line in self.results.read_text(encoding="utf-8").splitlines()]

    def test_compared_engines_read_as_many_records_and_take_turns(self):
        code, _, error = self.measure("fig9b", "--nodes=2", size="small")
        self.assertEqual(code, 0, error)
        calls = self.calls()
        self.assertEqual([("--engine=uppar" in call) for call in calls], [False, True, True, False, False, True])
        records = {line["series"]: line["report"]["records"] for line in self.lines()}
        self.assertEqual(records["uppar"], 2 * records["slash"], "half of the executors read")
        self.assertEqual({(line["x"], line["nodes"], line["executors"]) for line in self.lines()}, {(2, 2, 1)})
        self.assertEqual({line["turn"] for line in self.lines()}, {0, 1, 2})
        self.assertNotIn("executors", self.lines()[0]["report"])

    def test_a_sweep_has_its_first_and_last_value(self):
        self.assertEqual(self.measure("slots")[0], 0)
        self.assertEqual({line["x"] for line in self.lines()}, {4, 1024})
        self.assertEqual({re.search(r"--slot-bytes=(\d+)", call).group(1) for call in self.calls()}, {"4096", "1048576"})

    def test_nexmark_runs_its_queries_on_one_and_two_executors_and_live_and_their_loops(self):
        code, _, error = self.measure("nexmark", size="small")
        self.assertEqual(code, 0, error)
        runs = {(query, series, executors) for query in (f"q{number}" for number in range(23))
                for series, executors in (("one executor", 1), ("two executors", 2), ("one executor, live", 1))}
        runs |= {(query, "loop", 1) for query in ("q1", "q2", "q5", "q7", "q8")}
        self.assertEqual({(line["x"], line["series"], line["executors"]) for line in self.lines()}, runs)
        flags = {(line["x"], line["series"]): line["flags_used"] for line in self.lines()}
        self.assertEqual({run for run, used in flags.items() if "--generate=live" in used},
                         {run for run in flags if run[1].endswith("live")})
        self.assertEqual({run for run, used in flags.items() if "--engine=loop" in used}, {run for run in flags if run[1] == "loop"})
        self.assertEqual({series for (query, series), used in flags.items() if query == "q7" and "--format=lean" in used},
                         {"one executor", "two executors", "loop"})
        records = {(line["x"], line["series"]): line["report"]["records"] for line in self.lines()}
        self.assertEqual(records["q7", "loop"], 8 * records["q0", "one executor"], "a query that is fast reads more events")
        self.assertEqual(records["q7", "one executor, live"], records["q0", "one executor, live"])

    def test_a_run_at_a_share_of_the_full_rate_is_offered_that(self):
        self.assertEqual(self.measure("air_swa")[0], 0)
        lines = self.lines()
        self.assertEqual([line["x"] for line in lines], ["full", 0.1, 1.0])
        self.assertIn("--rate=1000 --event-rate=1000 --records=1000 --seconds=0.5s --window=250ms", self.calls()[-1])
        self.assertIn("--rate=1000", lines[-1]["flags_used"])
        self.assertEqual(self.measure("air_swa")[0], 0)
        self.assertEqual(len(self.calls()), 3, "nothing is left to be run")

    def test_an_interrupted_experiment_goes_on_where_it_stopped(self):
        started = subprocess.Popen([PYTHON, "-B", MAIN, "run", "credits", "--size=small", f"--bin={self.folder}",
                                    f"--results={self.results}"], env=os.environ | {"QUERY_SECONDS": "0.2"},
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        while not self.results.exists() and started.poll() is None:
            time.sleep(0.02)
        started.send_signal(signal.SIGINT)
        said, _ = started.communicate(timeout=60)
        self.assertEqual(started.returncode, 130, said)
        before = len(self.lines())
        self.results.write_bytes(self.results.read_bytes() + b'{"experiment": "cre')  # a line that a kill has cut off
        code, _, error = self.measure("credits", size="small")
        self.assertEqual(code, 0, error)
        self.assertIn(f"{before} of 15 runs are in", error)
        self.assertEqual(len(self.lines()), 15)
        self.assertEqual(len({(line["x"], line["turn"]) for line in self.lines()}), 15)

    def test_a_failed_run_is_named_and_tried_again(self):
        code, _, error = self.measure("fig10d", "fig9b")
        self.assertEqual(code, 1)
        self.assertIn("scripts/experiments: fig10d, slash, z of Zipf's law 0.2: ro: ro: no such keys", error)
        self.assertEqual({line["experiment"] for line in self.lines() if "report" in line}, {"fig9b"})
        self.program("ro", QUERY.replace('name == "ro"', 'name == ""'))
        self.assertEqual(self.measure("fig10d", "fig9b")[0], 0)

    def test_a_run_that_takes_too_long_ends(self):
        code, _, error = self.measure("fig9b", "--patience=0.2", QUERY_SECONDS="60")
        self.assertEqual(code, 1)
        self.assertIn("cm: did not end within 0.2 s", error)

    def test_results_of_two_commits_do_not_mix(self):
        self.assertEqual(self.measure("fig9b")[0], 0)
        for name in ("credits", "fig9b"):
            code, _, error = self.measure(name, COMMIT="def")
            self.assertEqual(code, 1)
            self.assertIn("has results of commit abc, and the binaries are of def: give another file with --results", error)
        self.assertEqual({line["report"]["commit"] for line in self.lines()}, {"abc"})

    def test_results_of_two_settings_do_not_mix(self):
        self.assertEqual(self.measure("fig9b")[0], 0)
        code, _, error = self.measure("fig9b", size="small")
        self.assertEqual(code, 1)
        self.assertRegex(error, r"has results of another setting: size tiny, .*; this is size small, .*\. Give another file")

    def test_one_node_has_no_uppar_and_hosts_no_experiments_of_one(self):
        self.assertEqual(self.measure("fig9b", "--nodes=1")[0], 0)
        self.assertEqual({line["series"] for line in self.lines()}, {"slash"})
        hosts = self.folder / "hosts"
        hosts.write_text("127.0.0.1\n127.0.0.2\n", encoding="utf-8")
        _, _, error = self.measure("table1", f"--hosts={hosts}", "--executors=1")
        self.assertIn("table1 measures this host alone; leave --hosts out", error)
        _, _, error = self.measure("fig9b", f"--hosts={hosts}")
        self.assertIn("--hosts and --executors go together", error)

    def test_a_report_that_cannot_be_read_fails_its_run_alone(self):
        self.program("nb8", QUERY.replace("json.dumps(report)", '"no report"'))
        code, _, error = self.measure("slots", "fig9b")
        self.assertEqual(code, 1)
        self.assertIn("slots, slash, buffer, KiB 4: nb8: Expecting value", error)
        self.assertEqual({line["experiment"] for line in self.lines() if "report" in line}, {"fig9b"})

    def test_nodes_on_hosts_share_a_secret_that_no_command_line_has(self):
        self.program("ssh", SSH)
        hosts = self.folder / "hosts"
        hosts.write_text("127.0.0.1 first\n# a comment\n127.0.0.2 second\n127.0.0.3\n", encoding="utf-8")
        # Rank 0 writes the report.
        self.program("cm", QUERY.replace("pathlib.Path(flags", 'flags["rank"] == "0" and pathlib.Path(flags'))
        code, _, error = self.measure("fig9b", f"--hosts={hosts}", "--executors=2",
                                      PATH=f"{self.folder}:{os.environ['PATH']}")
        self.assertEqual(code, 0, error)
        self.assertEqual({line["executors"] for line in self.lines()}, {2})
        slash = [call for call in self.calls() if "--engine" not in call]
        self.assertEqual({re.search(r"--rank=(\d) --coordinator=(\S+) --bind=(\S+)", call).groups() for call in slash},
                         {("0", "127.0.0.1:17171", "127.0.0.1"), ("1", "127.0.0.1:17171", "127.0.0.2")})
        secret = self.lines()[0]["report"]["secret"]
        self.assertRegex(secret, "^[0-9a-f]{64}$")
        self.assertNotIn(secret, (self.folder / "calls").read_text(encoding="utf-8"))
        self.assertIn("second", (self.folder / "reached").read_text(encoding="utf-8").split())

    def test_what_is_drawn_needs_nothing_else(self):
        self.assertEqual(self.measure("fig9b", "slots", "air_swa", "transports", "fig10d")[0], 1)
        code, page, error = self.run_main("plot", f"--results={self.results}", f"--folder={self.folder / 'figures'}")
        self.assertEqual(code, 0, error)
        text = pathlib.Path(page.strip()).read_text(encoding="utf-8")
        for name in ("fig9b", "slots", "air_swa", "transports"):
            self.assertTrue((self.folder / f"figures/{name}.svg").exists(), name)
            self.assertTrue((self.folder / f"figures/{name}.png").read_bytes().startswith(b"\x89PNG"), name)
        self.assertEqual(text.count("<svg"), 4)
        self.assertNotRegex(text, r"(src|href)=\"(?!#)[a-z]+:", "it is read without a network")
        self.assertIn("Taken from the paper", text)
        self.assertIn("No figures: ro: ro: no such keys", text)
        self.assertIn("<td>2</td><td>1 k (1 k to 1 k, 1 turns)</td><td>500 (500 to 500, 1 turns)</td><td>2.00</td>", text)
        self.assertIn("<td>made up</td>", text)

    def test_compare_says_what_moved(self):
        self.assertEqual(self.measure("fig9b", "--nodes=2", size="small")[0], 0)
        other = self.folder / "other.jsonl"
        texts = self.results.read_text(encoding="utf-8").replace('"records_per_second": 1000.0', '"records_per_second": 1220.0')
        other.write_text(texts, encoding="utf-8")
        code, out, error = self.run_main("compare", self.results, other)
        self.assertEqual(code, 0, error)
        self.assertIn("| fig9b | slash | 2 | records/s | 1 k | 1.22 k | 1.22 (1.22 to 1.22) | more |", out)
        self.assertIn("| fig9b | uppar | 2 | records/s | 500 | 500 | 1.00 (1.00 to 1.00) |  |", out)
        self.assertIn("1 of 2 points moved beyond noise", out)
        _, out, _ = self.run_main("compare", other, self.results)
        self.assertIn("| less |", out)

    def test_wrong_arguments_are_named(self):
        hosts = self.folder / "hosts"
        hosts.write_text("one two three\n", encoding="utf-8")
        empty = self.folder / "empty.jsonl"
        for arguments, complaint in [
                (["run", "fig99"], "there is no experiment 'fig99'; scripts/experiments list shows them"),
                (["run", f"--hosts={hosts}"], f"{hosts}:1: 'one two three' is not ADDRESS [SSH-NAME]"),
                (["run", "--nodes=0"], "0 is less than 1"),
                (["model", f"--results={empty}"], "there are no costs to predict from: scripts/experiments run costs"),
                (["plot", f"--results={empty}"], "has no results; make some with `scripts/experiments run`"),
                (["compare", empty, empty], "has no results"),
                (["compare", hosts, hosts], f"{hosts}:1: is no result of an experiment")]:
            with self.subTest(arguments):
                code, _, error = self.run_main(*arguments)
                self.assertNotEqual(code, 0)
                self.assertIn(complaint, error)


class ModulesTest(unittest.TestCase):
    def setUp(self):
        sys.path.insert(0, str(EXPERIMENTS))
        self.addCleanup(sys.path.remove, str(EXPERIMENTS))

    @staticmethod
    def costs(x, executors, ns, epochs_per_record=1e-6, entries=0.5):
        """A run of a query whose records make half an entry of 16 bytes each, and cost 10 ns, 20 ns for each entry that
        moves, and 1000 ns for each message."""
        records = 1_000_000 * executors
        moved = int(records * entries) * (executors - 1) // executors
        report = {"records": records, "own_entries": int(records * entries) - moved, "delta_entries": moved, "delta_bytes": 16 * moved,
                  "messages": int(records * max(moved * 16 / records / 65472, (executors - 1) * epochs_per_record)),
                  "epochs": int(records * epochs_per_record), "processor_ns": ns * records}
        return {"experiment": "costs", "series": "ysb", "x": x, "turn": 0, "setting": "made up", "query": "ysb", "nodes": 1,
                "executors": executors, "flags": [], "report": report}

    def made_up_costs(self):
        lines = [self.costs(1, 1, 8)]
        lines += [self.costs(n, n, 10 + 20 * 0.5 * (1 - 1 / n)) for n in (2, 4, 8)]
        # Short epochs fold less: all records are entries.
        return [*lines, self.costs("short epochs", 2, 10 + 20 * 0.5 + 1000 * (1e-3 - 61e-6), epochs_per_record=1e-3, entries=1)]

    def test_the_model_finds_the_costs_that_made_its_figures(self):
        import model
        fitted = model.model_of(self.made_up_costs(), "ysb")
        self.assertAlmostEqual(fitted.base, 10, delta=0.1)
        self.assertAlmostEqual(fitted.entry, 20, delta=0.1)
        self.assertAlmostEqual(fitted.message, 1000, delta=10)
        self.assertEqual([row[0] for row in model.checks(self.made_up_costs(), "ysb")], [1, 2, 4, 8])
        for _, measured, predicted in model.checks(self.made_up_costs(), "ysb"):
            self.assertAlmostEqual(measured, predicted, delta=0.1)

    def test_the_model_says_what_limits_a_cluster(self):
        import model
        fitted = model.model_of(self.made_up_costs(), "ysb")
        self.assertEqual(fitted.predict(2, 10, 100e9).limit, "processors")
        # 8 bytes of each record leave the node.
        slow = fitted.predict(2, 10, 1e9)
        self.assertEqual(slow.limit, "network")
        self.assertAlmostEqual(slow.records_per_second, 2 * 1e9 / 8 * 0.95 / 4, delta=1e6)
        self.assertEqual(fitted.predict(3000, 10, 100e12).limit, "messages")
        self.assertIsNone(fitted.predict(10_000, 200, 100e9), "rings of 400 M executors' pairs")
        text = model.table(self.made_up_costs(), [(16, 10), (10_000, 200)], 100e9)
        self.assertIn("| ysb | 8 | 18.8 | 18.8 | 1.00 |", text)
        self.assertIn("| ysb | 10000 x 200 | – | – | – | memory", text)

    def test_rings_are_planned_as_the_engine_plans_them(self):
        import model
        # docs/architecture.md, "The needs of a node of 16 executors"
        self.assertEqual([model.rings(nodes, 16) for nodes in (16, 64, 256)], [(65536, 4), (32768, 2), (8192, 2)])

    def test_a_binary_that_cannot_be_counted_is_named(self):
        import counters
        if counters.has_perf():
            self.assertEqual(counters.tool("/bin/false"), "perf")
            return
        with self.assertRaisesRegex(counters.CountersError, "valgrind"):
            counters.tool("/bin/false")

    def test_events_of_a_record_are_those_of_the_repeated_ones(self):
        import counters
        once, more = ({"instructions": 1000, "cycles": 500}, 10), ({"instructions": 5000, "cycles": 900}, 110)
        self.assertEqual(counters.per_record(once, more), {"instructions_per_record": 40, "cycles_per_record": 4})
        with self.assertRaisesRegex(counters.CountersError, "give the run more time"):
            counters.per_record(more, once)


if __name__ == "__main__":
    unittest.main()
