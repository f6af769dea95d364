"""Whole runs: what they print, the files they make, the report they write, and how nodes are started by hand."""

import csv
import json
import re
import unittest

from ysb_process import SOURCE, WAITS, CliTest, free_port

SMALL = ["--records=20000", "--keys=500"]


def documented_fields(heading):
    """The field names in the tables of docs/metrics.md below a heading."""
    page = (SOURCE / "docs/metrics.md").read_text(encoding="utf-8")
    section = re.search(rf"^## {heading}$(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL).group(1)
    return set(re.findall(r"^\| `([^`]+)`", section, re.MULTILINE))


def fields_of(value, prefix=""):
    """The names of all fields of an object, with dots between the levels."""
    names = set()
    for key, inner in value.items():
        if key == "settings":
            names.add(prefix + "settings.*")
        elif isinstance(inner, dict):
            names |= fields_of(inner, f"{prefix}{key}.")
        else:
            names.add(prefix + key)
    return names


class RunTest(CliTest):
    def read_rows(self, path):
        with open(path, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def test_several_nodes_and_executors_are_exact(self):
        for nodes, executors in [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1)]:
            with self.subTest(nodes=nodes, executors=executors):
                out, err = self.succeed(f"--nodes={nodes}", f"--executors={executors}", "--verify", *SMALL)
                self.assertRegex(out, r"verification +passed")
                self.assertEqual(WAITS.sub("", err), "", "silent when nobody watches")

    def test_both_profiles_run_with_small_slots_and_repeated_blocks(self):
        self.succeed("--nodes=2", "--profile=yahoo", "--records=20000", "--slot-bytes=256", "--credits=2", "--verify")
        self.succeed("--nodes=2", "--seconds=300ms", "--epoch-bytes=64KiB", "--epoch-min-bytes=1KiB", "--verify", *SMALL)

    def test_the_table_comes_once_and_names_the_transport(self):
        out, _ = self.succeed("--nodes=2", *SMALL)
        self.assertEqual(out.count("memory plan of a node"), 1)
        self.assertEqual(out.count("throughput"), 1)
        self.assertIn("transport shm", out)
        out, _ = self.succeed("--executors=2", *SMALL)
        self.assertIn("transport local", out)

    def test_the_report_is_one_line_with_exactly_the_documented_fields(self):
        self.succeed("--nodes=2", "--executors=2", "--verify", "--json=report.json", "--output=counts.csv", *SMALL)
        text = (self.folder / "report.json").read_text(encoding="utf-8")
        self.assertEqual(text.count("\n"), 1)
        report = json.loads(text)
        counters = documented_fields("Counters")
        self.assertEqual(fields_of(report), documented_fields("The run") | counters)
        self.assertGreaterEqual({region["what"] for region in report["regions"]},
                                {"send segments", "rings over shm", "rings over local", "state"})
        for region in report["regions"]:
            self.assertEqual(fields_of(region, "regions[]."), documented_fields("Each region"))
            self.assertGreater(region["bytes"], 0)
            self.assertLessEqual(set(region["pages"].split("+")), {"huge", "transparent", "base"})
        self.assertEqual(len(report["files"]), 4)
        for file in report["files"]:
            self.assertEqual(fields_of(file, "files[]."), documented_fields("Each file"))
        self.assertEqual(len(report["executors"]), 4)
        for executor in report["executors"]:
            self.assertEqual(fields_of(executor, "executors[]."),
                             documented_fields("Each executor") | {f"executors[].{name}" for name in counters})

    def test_the_report_holds_plausible_numbers(self):
        self.succeed("--nodes=2", "--verify", "--json=report.json", *SMALL)
        report = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))
        self.assertEqual(report["program"], "ysb")
        self.assertEqual(report["transport"], "shm")
        self.assertEqual(report["settings"]["keys"], "500")
        self.assertEqual(report["verification"], "passed")
        self.assertEqual((report["nodes"], report["executors_per_node"]), (2, 1))
        self.assertEqual(report["records"], 40000)
        self.assertEqual(report["input_bytes"], 40000 * 78)
        self.assertEqual(report["late_records"], 0)
        self.assertEqual(report["merges"], report["delta_entries"])
        self.assertEqual(sum(executor["records"] for executor in report["executors"]), report["records"])
        self.assertGreaterEqual(report["windows_fired"], 2 * 10)
        self.assertTrue(report["window_latency"]["measured"])
        latency = report["window_latency"]
        self.assertLessEqual(latency["p50_ms"], latency["p99_ms"])
        self.assertLessEqual(latency["p99_ms"], latency["max_ms"])
        for field in ["seconds", "records_per_second", "gigabytes_per_second", "peak_memory_bytes", "ring_bytes",
                      "epochs", "delta_bytes", "messages", "results", "folds_per_delta_entry"]:
            self.assertGreater(report[field], 0, field)

    def test_explain_prints_the_plan_and_runs_nothing(self):
        out, err = self.succeed("--explain", "--nodes=2", "--output=rows.csv", "--json=report.json",
                                "--export-input=input.csv", *SMALL)
        self.assertRegex(out, "(?s)^ysb: each of 2 executors runs\n   1  source\n.*aggregation of 1 .records of 78 bytes.\n"
                         ".*fused chain: filter, map\n.*merged late: .*sink of 2 ")
        self.assertEqual((err, self.files()), ("", []))

    def test_the_memory_of_the_process_that_starts_a_run_does_not_count(self):
        large = bytearray(500 << 20)
        large[::4096] = b"x" * len(large[::4096])  # every page is there
        self.succeed("--json=report.json", *SMALL)
        report = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))
        self.assertLess(report["peak_memory_bytes"], len(large))

    def test_prefaulted_state_is_mapped_and_counts_only_as_it_is_used(self):
        report = {}
        for flags in ([], ["--prefault-state=64MiB"]):
            out, _ = self.succeed("--nodes=2", "--verify", "--json=report.json", *flags, *SMALL)
            report[bool(flags)] = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))
        state = {prefaulted: next(region["bytes"] for region in each["regions"] if region["what"] == "state")
                 for prefaulted, each in report.items()}
        self.assertEqual(state[True], 2 * (64 << 20))
        self.assertLess(state[False], 2 * (64 << 20))
        self.assertLess(report[True]["state_bytes"], 2 * (8 << 20))
        self.assertIn("of which 64MiB is taken at the start", out)

    def test_parts_joined_are_the_whole_result(self):
        self.succeed("--nodes=2", "--output=parts.csv", *SMALL)
        parts = self.files()
        self.assertEqual(parts, ["parts.csv.part-000-of-002", "parts.csv.part-001-of-002"])
        rows = [row for part in parts for row in self.read_rows(self.folder / part)]
        self.succeed("--nodes=2", "--output=whole.csv", "--join-output", *SMALL)
        self.assertEqual(self.files(), [*parts, "whole.csv"])
        whole = self.read_rows(self.folder / "whole.csv")

        def order(row):
            return int(row["window_start_ms"]), int(row["key"])

        self.assertEqual(sorted(rows, key=order), sorted(whole, key=order))
        self.assertEqual(len({order(row) for row in whole}), len(whole), "a row was written twice")
        # One executor reads other input than two do, so compare with another split of the same executors.
        self.succeed("--executors=2", "--output=local.csv", "--join-output", *SMALL)
        self.assertEqual(sorted(self.read_rows(self.folder / "local.csv"), key=order), sorted(whole, key=order))

    def test_ranks_started_by_hand_in_any_order_make_one_run(self):
        address = f"--coordinator=127.0.0.1:{free_port()}"
        ranks = [self.start("--nodes=3", f"--rank={rank}", address, "--verify", *SMALL) for rank in (2, 0, 1)]
        for ysb in ranks:
            self.assertEqual(ysb.wait(), 0, ysb.err.text)
            self.assertEqual(WAITS.sub("", ysb.err.text), "")
        self.assertIn("3 node(s)", ranks[1].out.text)
        self.assertEqual(ranks[0].out.text, "", "rank 0 speaks for all")

    def test_progress_is_shown_when_asked_for(self):
        ysb = self.start_endless("--nodes=2")
        ysb.send(2)
        self.assertEqual(ysb.wait(), 130)
        self.assertRegex(ysb.err.text, r"M records, .* M records/s, watermark \d{4}-\d\d-\d\d .*, \d+ epochs")


if __name__ == "__main__":
    unittest.main()
