"""Every flag in a program's --help does something: a run with it differs from the same run without it, in its rows, its
report or what it prints, and the report has the value. A flag without an entry here fails a test."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import typing
import unittest

from ysb_process import BIN, PATIENCE_SECONDS, SANITIZED, SECRET, SOURCE, faults_of, free_port, help_of

QUERIES = ["ysb"] if SANITIZED else sorted(main.parent.name for main in SOURCE.glob("queries/*/main.cc"))

# What all runs have; in a table below, the flags of `context` are those of both runs.
ALWAYS = ["--executors=2", "--json=report.json", "--output=rows.csv", "--join-output"]
GENERATED = ["--records=2000", "--keys=200"]

EVENT = ('{"user_id": "%s", "page_id": "%s", "ad_id": "%s", "ad_type": "mail", "event_type": "view", '
         '"event_time": "%d", "ip_address": "1.2.3.4"}\n')
UUID = "01000000-0000-0000-8888-000000000001"
TASK = "600000000,,7,0,12,1,user,2,9,0.0625,0.03125,0.0001,0\n"
CRASHES = (SOURCE / "tests/queries/collisions.csv").read_text(encoding="utf-8")
FILES = {"events": EVENT % (UUID, UUID, UUID, 1480452812345), "bad-events": EVENT % (UUID, UUID, UUID, 1) + "{}\n",
         "ads": '{"%s": "%s"}\n' % (UUID, UUID.replace("01", "02", 1)), "tasks": TASK, "bad-tasks": TASK.replace("0.0625", "0.5") + "7\n",
         "side-input": "key,value\n1000,a\n",
         "crashes": CRASHES, "bad-crashes": CRASHES.replace("12/28/2021", "12/28/2020") + CRASHES.splitlines()[1].replace("/", ".") + "\n",
         "text": "Don't panic\n", "bad-text": "word\n" + "x" * (1 << 20) + "x\n"}


class Run:
    """A run that has ended, and what it left."""

    def __init__(self, query, flags):
        with tempfile.TemporaryDirectory(prefix="glaive_flags_") as name:
            folder = pathlib.Path(name)
            for file, text in FILES.items():
                (folder / file).write_text(text, encoding="utf-8")
            done = subprocess.run([BIN / query, *flags], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=PATIENCE_SECONDS, check=False)
            self.files = {path.name: path.read_text(encoding="utf-8")
                          for path in sorted(folder.iterdir()) if path.is_file() and path.name not in FILES}
        self.shown = f"{query} {' '.join(flags)}\n{done.stdout}{done.stderr}"
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        self.report = next((json.loads(text) for name, text in self.files.items() if name.endswith(".json")), {})

    def __getattr__(self, name):
        """A figure of the report; of a run that failed, none."""
        return self.report.get(name)

    @property
    def rows(self):
        return sorted(self.files.get("rows.csv", "").splitlines())

    @property
    def names(self):
        return list(self.files)

    @property
    def ring_bytes(self):
        return self.report["ring_bytes"]

    @property
    def segment_bytes(self):
        return next(region["bytes"] for region in self.report["regions"] if region["what"] == "send segments")


class Effect(typing.NamedTuple):
    value: str
    shown_by: typing.Any              # a property of a Run that differs, or a condition on the runs without and with
    context: typing.Sequence[str] = ()
    code: int = 0                     # of the run with the flag
    start: typing.Sequence[str] = GENERATED


def lasts(seconds):
    """The run with the flag takes that long at least. The run without takes some hundredths of a second."""
    return lambda before, after: after.seconds >= seconds


LATE = ["--allowed-lateness=0", "--watermark-every=16"]

# The flags of the generated input.
INPUT = {
    "records": Effect("3000", "records"),
    "seconds": Effect("100ms", lambda before, after: after.records > before.records),
    "seed": Effect("2", "rows"),
    "keys": Effect("20", "rows"),
    "key-distribution": Effect("zipf:1.5", "rows"),
    "hot-key-share": Effect("0.9", "rows"),
    "event-rate": Effect("77", "rows"),
    "rate": Effect("4000", lasts(0.4)),
    "disorder": Effect("1h", "rows", LATE),
    "allowed-lateness": Effect("0", "late_records", ["--disorder=48h", "--watermark-every=16"]),
    "watermark-every": Effect("1", "late_records", ["--disorder=48h", "--allowed-lateness=0"]),
    "idle-flows": Effect("1", "records", ["--idle-for=1ms"]),
    "idle-for": Effect("400ms", lasts(0.4), ["--idle-flows=1", "--idle-for=1ms"]),
    "export-input": Effect("input.csv", lambda before, after: after.files["input.csv"].count("\n") > 3000),
}

# Those of nexmark, whose events have other flags than the records of the other queries.
WINDOWS_OUT_OF_ORDER = ["--query=q11", "--event-rate=10", "--disorder-group=1000"]
EVENTS = {
    **{flag: INPUT[flag] for flag in ["records", "seed", "event-rate", "rate", "export-input"]},
    "seconds": Effect("100ms", lambda before, after: after.records > before.records, ["--generate=live"]),
    "generate": Effect("live", lambda before, after: "made while the run reads them" in after.out),
    "disorder-group": Effect("70", "rows", ["--event-rate=100"]),
    "allowed-lateness": Effect("0", "late_records", WINDOWS_OUT_OF_ORDER),
    "watermark-every": Effect("7", "late_records", [*WINDOWS_OUT_OF_ORDER, "--allowed-lateness=0"]),
    "bid-bytes": Effect("300", "rows"),
    **{flag: Effect("70", lambda before, after: before.files["input.csv"] != after.files["input.csv"],
                    ["--export-input=input.csv"])
       for flag in ["person-bytes", "auction-bytes", "hot-auction-ratio", "hot-seller-ratio", "hot-bidder-ratio",
                    "in-flight-auctions"]},
    "active-people": Effect("7", "rows"),
}


# Those of collisions, which has neither keys nor event times.
COLLISIONS = {flag: INPUT[flag] for flag in ["records", "seed", "export-input"]}


def input_of(query):
    return {"nexmark": EVENTS, "collisions": COLLISIONS}.get(query, INPUT)


def generated_of(query):
    return {"nexmark": ["--records=2000"], "collisions": ["--records=2000", "--question=boroughs"]}.get(query, GENERATED)


# The rows of swa show keys only if they are asked for, and those of wordcount times.
INPUT_CONTEXT = {"swa": ["--group-by=ad"], "wordcount": ["--form=windowed"]}
# Flags that change nothing of a query's rows: its ads are fixed, or no window reads its times.
WITHOUT = {("ysb_star", "keys"),
           *(("ro", flag) for flag in ["event-rate", "disorder", "allowed-lateness", "watermark-every"])}

# The engine's flags, seen in runs of ysb.
ENGINE = {
    "nodes": Effect("2", "nodes"),
    "executors": Effect("3", "executors_per_node"),
    # Only the executors that read have records.
    "engine": Effect("uppar", lambda before, after: after.records == 2000 == before.records // 2),
    "partitioners": Effect("2", lambda before, after: after.records == 4000 == 2 * before.records,
                           ["--executors=3", "--engine=uppar"]),
    "ingest": Effect("channel", lambda before, after: after.records == 2000 == before.records // 2),
    "transport": Effect("local", "code", ["--nodes=2"], code=2),
    "slot-bytes": Effect("4KiB", "ring_bytes"),
    "credits": Effect("4", "ring_bytes"),
    "ring-budget": Effect("256KiB", "ring_bytes"),
    "memory-limit": Effect("300MiB", lambda before, after: "memory plan of a node: 300MiB" in after.out),
    "prefault-state": Effect("64MiB", lambda before, after: after.peak_memory_bytes > before.peak_memory_bytes + (64 << 20)),
    "fragment-bytes": Effect("128KiB", "segment_bytes"),
    "epoch-bytes": Effect("4KiB", lambda before, after: after.epochs > before.epochs, ["--epoch-interval=1h"]),
    "epoch-min-bytes": Effect("0", lambda before, after: after.epochs > before.epochs, ["--epoch-interval=1h"]),
    "epoch-interval": Effect("1h", lambda before, after: after.epochs < before.epochs / 2, ["--rate=6000"]),
    # The other executor falls silent in the middle. What this one reads ahead of it is kept as state.
    "max-lead": Effect("1ms", lambda before, after: after.state_bytes < 0.75 * before.state_bytes,
                       ["--records=20000", "--keys=500", "--idle-flows=1", "--idle-for=2s", "--idle-timeout=0",
                        "--max-lead=1h"]),
    "idle-timeout": Effect("10ms", lambda before, after: before.idle_periods == 0 < after.idle_periods,
                           ["--idle-flows=1", "--idle-for=300ms"]),
    "output": Effect("other.csv", "names"),
    "join-output": Effect("false", lambda before, after: "rows.csv" in before.files and "rows.csv" not in after.files),
    "json": Effect("other.json", "names"),
    "verify": Effect("true", lambda before, after: re.search("verification +passed", after.out) and
                     not re.search("verification +passed", before.out)),
    "progress": Effect("always", lambda before, after: "records/s, watermark" in after.err and not before.err,
                       ["--rate=1500"]),
}

# The engine's flags of which other tests show what they do, and a value that does no harm.
ELSEWHERE = {"device": ("verbs_device_test.py", "none0"), "arrival": ("verbs_device_test.py", "poll"),
             "relaxed-ordering": ("verbs_device_test.py", "on"),
             "publish": ("publish_test.py", "end"), "explain": ("run_test.py", "false"), "rdma-tos": ("verbs_lossy_test.py", "104"), "peer-timeout": ("lost_node_test.py", "7s")}
# Those of nodes that are started by hand have a test of their own below.
BY_HAND = {"rank", "coordinator", "bind", "secret-file", "join-timeout"}

WINDOW = Effect("7s", "rows")
SELLERS = Effect("sellers.csv", lambda before, after: after.files["sellers.csv"].count("\n") > 500)
# Flags of one query alone, and those of input files.
OWN = {
    "ysb": {"profile": Effect("yahoo", "rows"), "window": WINDOW,
            "export-ads": Effect("ads.csv", lambda before, after: after.files["ads.csv"].count("\n") == 1001),
            "input": Effect("events", "rows", ["--input=bad-events", "--on-bad-record=skip"], start=[]),
            "on-bad-record": Effect("skip", "code", ["--input=bad-events"], start=[]),
            "ads": Effect("ads", "code", ["--input=events", "--profile=yahoo"], start=[])},
    "ysb_star": {"window": WINDOW,
                 "export-ads": Effect("ads.csv", lambda before, after: after.files["ads.csv"].count("\n") == 1001)},
    "swa": {"windows": Effect("sliding", "rows"), "group-by": Effect("ad", "rows"), "window": WINDOW,
            "slide": Effect("3s", "rows", ["--windows=sliding"]),
            "late-output": Effect("late.csv", lambda before, after: any(name.startswith("late.csv") for name in after.files),
                                  ["--disorder=20s", *LATE])},
    "nb7": {"window": WINDOW},
    # The files of all questions do not go with --output. What they have is shown in collisions_test.py.
    "collisions": {"question": Effect("factors", "rows"),
                   **{f"{name}-output": Effect("answer.csv", "code", code=2) for name in ("weeks", "factors", "boroughs")},
                   "input": Effect("crashes", "rows", ["--question=weeks", "--input=bad-crashes", "--on-bad-record=skip"],
                                   start=[]),
                   "on-bad-record": Effect("skip", "code", ["--question=weeks", "--input=bad-crashes"], start=[])},
    "top_words": {"window": WINDOW, "slide": Effect("250ms", "rows")},
    "nb8": {"profile": Effect("beam", "rows"), "join": Effect("full", "rows"), "windows": Effect("sliding", "rows"),
            "window": WINDOW, "slide": Effect("3h", "rows", ["--windows=sliding"]),
            "export-sellers": SELLERS},
    "nb11": {"gap": Effect("7s", "rows"), "export-sellers": SELLERS},
    "cm": {"profile": Effect("cm2", "rows"), "window": WINDOW, "slide": Effect("2s", "rows", ["--profile=cm1"]),
           "input": Effect("tasks", "rows", ["--input=bad-tasks", "--on-bad-record=skip"], start=[]),
           "on-bad-record": Effect("skip", "code", ["--input=bad-tasks"], start=[])},
    "ro": {},
    "nexmark": {"query": Effect("q2", "rows"), "profile": Effect("beam", "rows"),
                "window": Effect("7s", "rows", ["--query=q11", "--event-rate=10"]),
                "slide": Effect("5s", "rows", ["--query=q5", "--event-rate=10"]),
                "partitions": Effect("bids", lambda before, after: len(after.report["files"]) == 1 + 2 + 2 * 4,
                                     ["--query=q10", "--event-rate=20"]),
                "most-partitions": Effect("2", "code", ["--query=q10", "--event-rate=20", "--partitions=bids"], code=1),
                "side-input": Effect("side-input", "rows", ["--query=q13"]),
                "export-side-input": Effect("side.csv", lambda before, after: after.files["side.csv"].count("\n") == 10001,
                                            ["--query=q13"]),
                "read-times": Effect("times.csv", lambda before, after: sum(
                    after.files[f"times.csv.part-00{i}-of-002"].count("\n") for i in (0, 1)) == 2 + 2 * 1840,
                                     ["--query=q12"]),
                "format": Effect("lean", lambda before, after: "without texts that the query does not read" in after.out)},
    "wordcount": {"form": Effect("windowed", "rows"), "window": Effect("7s", "rows", ["--form=windowed"]),
                  "input": Effect("text", "rows", ["--input=bad-text", "--on-bad-record=skip"], start=[]),
                  "on-bad-record": Effect("skip", "code", ["--input=bad-text"], start=[])},
}


def flags_of(query):
    return set(re.findall(r"^  --([a-z-]+)", help_of(query), re.MULTILINE)) - {"help", "version"}


def fault_of(query, flag, effect):
    """Runs without the flag and with it; what is wrong, if anything is."""
    generated = generated_of(query) if effect.start == GENERATED else effect.start
    start = [*ALWAYS, *generated, *effect.context]
    before, after = Run(query, start), Run(query, [*start, f"--{flag}={effect.value}"])
    if after.code != effect.code:
        return f"exit code {after.code}, not {effect.code}: {after.shown}"
    if callable(effect.shown_by):
        differ = effect.shown_by(before, after)
    else:
        differ = getattr(before, effect.shown_by) != getattr(after, effect.shown_by)
    if not differ:
        return f"--{flag} does not do what it should\n{before.shown}\n{after.shown}"
    if after.code == 0 and after.report["settings"][flag] != effect.value:
        return f"the report has not --{flag}={effect.value}: {after.shown}"
    return None


class EveryFlagTest(unittest.TestCase):
    def expect_effects(self, cases):
        """Runs cases of a query, a flag and its effect."""
        faults = faults_of(fault_of, cases)
        self.assertEqual(faults, [], "\n\n".join(faults))

    def test_every_flag_has_an_entry_and_every_entry_a_flag(self):
        for query in QUERIES:
            with self.subTest(query):
                self.assertEqual(flags_of(query), {*input_of(query), *ENGINE, *ELSEWHERE, *BY_HAND, *OWN[query]})

    def test_what_is_shown_elsewhere_is_there(self):
        for flag, (test, _) in ELSEWHERE.items():
            self.assertIn(f"--{flag}", (SOURCE / "tests/cli" / test).read_text(encoding="utf-8"))

    def test_the_flags_of_the_input_do_something_in_every_query(self):
        cases = []
        for query in QUERIES:
            for flag, effect in input_of(query).items():
                shown_by = (lambda before, after: before.rows == after.rows) if (query, flag) in WITHOUT else effect.shown_by
                context = [*effect.context, *INPUT_CONTEXT.get(query, [])]
                cases.append((query, flag, effect._replace(shown_by=shown_by, context=context)))
        self.expect_effects(cases)

    def test_the_flags_of_each_query_do_something(self):
        self.expect_effects([(query, flag, effect) for query in QUERIES for flag, effect in OWN[query].items()])

    def test_the_flags_of_the_engine_do_something(self):
        self.expect_effects([("ysb", flag, effect) for flag, effect in ENGINE.items()])

    def test_every_query_takes_the_flags_of_the_engine(self):
        values = {flag: effect.value for flag, effect in ENGINE.items() if flag != "transport"}
        values |= {flag: value for flag, (_, value) in ELSEWHERE.items()} | {"join-timeout": "40s", "ring-budget": "1MiB"}
        values |= {"nodes": "1", "executors": "2", "partitioners": "1", "idle-timeout": "1m"}
        for query in QUERIES:
            with self.subTest(query):
                run = Run(query, [*ALWAYS, *generated_of(query), *(f"--{flag}={value}" for flag, value in values.items())])
                self.assertEqual(run.code, 0, run.shown)
                self.assertEqual({flag: run.report["settings"][flag] for flag in values}, values)

    @unittest.skipIf(SANITIZED, "the sanitizers' presets build ysb alone")
    def test_a_join_keeps_no_more_than_the_lead(self):
        ahead = ["--records=20000", "--idle-flows=1", "--idle-for=2s", "--idle-timeout=0", *ALWAYS]
        far, near = Run("nb8", [*ahead, "--max-lead=600h"]), Run("nb8", [*ahead, "--max-lead=12h"])
        self.assertEqual((far.code, near.code), (0, 0), far.shown + near.shown)
        self.assertEqual(far.rows, near.rows)
        self.assertLess(near.kept_tuples, 0.6 * far.kept_tuples)

    def test_nodes_started_by_hand(self):
        port = free_port()
        with tempfile.TemporaryDirectory(prefix="glaive_flags_") as folder:
            for name in ["right", "wrong"]:
                (pathlib.Path(folder) / name).write_text(f"the {name} secret, which is long enough\n", encoding="utf-8")
                (pathlib.Path(folder) / name).chmod(0o600)

            def start(rank, secret, *flags):
                own = {name: value for name, value in os.environ.items() if name not in SECRET}
                return subprocess.Popen(
                    [BIN / "ysb", *GENERATED, "--nodes=2", f"--rank={rank}", f"--secret-file={secret}", *flags],
                    cwd=folder, env=own, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

            # Rank 0 listens where --bind says, and rank 1 connects where --coordinator says.
            listen, connect = f"--bind=127.0.0.2:{port}", f"--coordinator=127.0.0.2:{port}"
            ranks = [start(0, "right", listen, "--json=report.json"), start(1, "right", connect)]
            ends = [rank.communicate(timeout=PATIENCE_SECONDS) for rank in ranks]
            self.assertEqual([rank.returncode for rank in ranks], [0, 0], ends)
            report = json.loads((pathlib.Path(folder) / "report.json").read_text(encoding="utf-8"))
            self.assertEqual({executor["node"] for executor in report["executors"]}, {0, 1})
            ranks = [start(0, "right", listen), start(1, "wrong", connect, "--join-timeout=2s")]
            _, error = ranks[1].communicate(timeout=PATIENCE_SECONDS)
            self.assertNotEqual(ranks[1].returncode, 0)
            self.assertIn("give all ranks the same secret with --secret-file", error)
            ranks[0].terminate()
            ranks[0].communicate(timeout=PATIENCE_SECONDS)
            # Nobody else comes.
            alone = start(0, "right", listen, "--join-timeout=200ms")
            _, error = alone.communicate(timeout=PATIENCE_SECONDS / 2)
            self.assertEqual(alone.returncode, 3, error)


if __name__ == "__main__":
    unittest.main()
