"""Every flag of every query, and of the benchmarks and the simulator, with values at its limits and beyond: no run ends by
a signal or a failed check, none hangs, and what is refused is refused with one line."""

import itertools
import os
import pathlib
import random
import re
import subprocess
import tempfile
import unittest

from ysb_process import BIN, HAS_SIMULATOR, SANITIZED, SECRET, SOURCE, faults_of, help_of

QUERIES = ["ysb"] if SANITIZED else sorted(main.parent.name for main in SOURCE.glob("queries/*/main.cc"))
SEED = 14
COMBINATIONS = 60  # of each query
PATIENCE_SECONDS = 120 if SANITIZED else 20

# So little that a run takes some hundredths of a second.
TINY = ["--join-timeout=200ms", "--records=200", "--keys=20", "--idle-for=10ms"]
TINY_OF_FILES = TINY[:1]
TINY_OF_NEXMARK = TINY[:2]  # its events have no keys

TEXTS = ["", " ", "abc", "-", "é", b"\xff\xfe", "x" * 5000, "%s%n", "--help=1", "\n"]
NUMBERS = ["0", "1", "2", "3", "7", "4294967295", "4294967296", "9223372036854775807", "9223372036854775808",
           "18446744073709551615", "18446744073709551616", "-1", "-9223372036854775809", "1k", "1G", "99G",
           "18446744073709551615G", "1.5", "1e3", "0x10", "+1", "1 "]
SIZES = ["0", "1", "63", "64", "128", "256", "320", "4KiB", "64KiB", "16MiB", "17MiB", "1TiB", "1024TiB", "1025TiB",
         "16777216TiB", "-1", "-1KiB", "1.5GiB", "64KB", "18446744073709551616"]
TIMES = ["0", "-0", "1ns", "1us", "1ms", "1.5ms", "2ms", "10ms", "999ms", "1s", "600s", "1h", "24h", "8760h", "8761h",
         "-1s", "inf", "-inf", "1e9h", "9223372036854775807ns", "9223372036854775808h", "5", "1d"]
REALS = ["0", "-0", "1", "0.5", "1e-320", "-1e-320", "1e12", "1.1e12", "1e308", "1e999", "-1", "nan", "inf", "0x1p4"]
LAWS = ["uniform", "zipf:0", "zipf:1", "zipf:10", "zipf:10.1", "zipf:-1", "zipf:", "zipf:nan", "zipf:1e-320", "pareto:0",
        "pareto:1e-320", "pareto:1e-3", "pareto:10", "pareto:inf", "normal:1", ":"]
FILES = ["out.csv", "./out.csv", ".", "..", "/", "no/such/folder/out.csv", "folder", "folder/", "out.csv/x", "lines"]
PATHS = ["lines", "folder", "nothing", "*", "[", ".", "/", "**/?", "empty"]
PLACES = ["127.0.0.1:1", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1", ":1", ":", "[::1]:1", "[", "::1", "300.0.0.1:1",
          "no.such.host.invalid:1"]
POOLS = {"N": NUMBERS, "SIZE": SIZES, "TIME": TIMES, "X": REALS, "LAW": LAWS, "FILE": FILES, "PATH": PATHS,
         "HOST:PORT": PLACES, "HOST[:PORT]": PLACES, "NAME": ["nothing"], "": ["true", "false", "2"]}
# What the flags of a query's windows have to be tried with together.
LENGTHS = ["1ms", "600s", "24h", "8760h"]
# Flags with values that are right, and take long or much: only some of them.
FEW = {"nodes": ["0", "1", "2", "3", "1025", "-1", "4294967297"],
       "executors": ["0", "1", "2", "5", "257", "-1", "4294967297"],
       "seconds": ["0", "1ns", "1ms", "50ms", "-1ms", "8761h", "inf"],
       "rate": ["0", "1e12", "1e13", "-1", "nan", "1e308"],
       "idle-for": ["0", "1ns", "10ms", "-1ms", "8761h"],
       "progress": ["auto", "never", "sometimes"],  # the others show it
       "join-timeout": ["99ms", "100ms", "25h", "-1s"],
       "prefault-state": ["0", "1", "2MiB", "16MiB", "1TiB", "1025TiB", "-1"]}

BEYOND = ["18446744073709551616", "-1", "x", "", "1.5"]
SEEDS = ["18446744073709551615", *BEYOND]
# Values of the simulator's --set.
SETTINGS = ["x=1", "=", "x", "nodes=", "nodes=0", "nodes=18446744073709551616"]
# Those of benchmarks with two ends; none with which one waits for the other.
ENDS = {"listen": ["x", "localhost:0", "[::1", ":1", "localhost:70000"], "connect": ["x", "localhost:0", "localhost:-1"],
        "incast": ["0", "2", "65", *BEYOND], "sender": ["0", "65", *BEYOND],
        "join-timeout": ["0", "-1", "nan", "1e999", "x", ""], "secret-file": ["/nowhere"]}
GOOGLE_BENCHMARKS = ("channel", "store", "fiber_switch")
# The flags with which the other programs run briefly, and values of their flags. These are few, since an accepted run takes
# long.
TOOLS = {
    "channel": (["--transport=local", "--slots=4096", "--credits=8", "--channels=1", "--benchmark_filter=^Throughput",
                 "--benchmark_min_time=0.001"],
                {"transport": ["x", ""], "slots": ["0", "1", "63", "4294967295", "4096,", ",", *BEYOND],
                 "credits": ["0", "1", "4294967295", *BEYOND], "channels": ["0", "17", "4294967295", *BEYOND],
                 "segments": ["4294967295", *BEYOND], "signal-interval": BEYOND, "no-read": [BEYOND[0], "x"],
                 **ENDS}),
    "write_order": (["--self-test", "--seconds=0.001"],
                    {"seconds": ["0", "-1", "nan", "inf", "1e999", "1e-320", "x", ""],
                     "self-test": [BEYOND[0], "x"], "queue-pairs": ["0", "2", "65", *BEYOND], **ENDS}),
    "scaling_bench": (["--workload=nb7", "--records=100", "--windows=1", "--repetitions=1", "--runs=1", "--executors=1"],
                      {"workload": ["x", ""], "executors": ["0", "2", "257", "1,2", ",", *BEYOND],
                       "runs": ["0", "1001", *BEYOND], "records": ["1000000001", *BEYOND], "windows": ["0", "1000001", *BEYOND],
                       "repetitions": ["0", "1000001", *BEYOND], "keys": ["0", "1", "4294967297", *BEYOND],
                       "key-distribution": ["zipf:0.5", *LAWS[3:]], "json": FILES}),
    "simulate": (["--seeds=2", "--no-shrink"],
                 {"seed": ["0", *SEEDS], "seeds": ["0", *SEEDS], "first": ["0", *SEEDS],
                  "jobs": ["0", "1024", "1025", *BEYOND], "most-failures": ["0", "4294967296", *BEYOND],
                  "no-shrink": [BEYOND[0], "x"]}),
    "store": (["--benchmark_filter=^BM_SliceUpdate/10000$", "--benchmark_min_time=0.001"], {"benchmark_format": ["x", ""]}),
    "fiber_switch": (["--benchmark_filter=^BM_Turn/8$", "--benchmark_min_time=0.001"], {"benchmark_repetitions": ["x"]}),
}


class Flag:
    def __init__(self, name, placeholder, group):
        self.name = name
        self.group = group
        self.is_switch = placeholder == ""
        self.takes_text = placeholder in ("LAW", "FILE", "PATH", "NAME", "HOST:PORT", "HOST[:PORT]")
        self.choices = placeholder.split("|") if "|" in placeholder else []
        self.is_length = placeholder == "TIME"
        self.values = FEW.get(name) or self.choices or POOLS[placeholder]

    def draw(self, random_):
        """One argument; mostly of the flag's own kind."""
        if self.is_switch and random_.random() < 0.5:
            return random_.choice([f"--{self.name}", f"--no-{self.name}"]).encode()
        value = random_.choice(self.values if random_.random() < 0.85 else TEXTS)
        return self.argument(value)

    def all_values(self):
        """Those of its own kind, and others."""
        return [*self.values, *(TEXTS if self.takes_text else TEXTS[:3])]

    def argument(self, value):
        return f"--{self.name}=".encode() + (value if isinstance(value, bytes) else value.encode())


def flags_of(query):
    flags = []
    for group, lines in re.findall(r"^(\S.*):\n((?:  .*\n)+)", help_of(query), re.MULTILINE):
        flags += [Flag(name, value, group) for name, value in re.findall(r"^  --([a-z-]+)(?:=(\S+))?", lines, re.MULTILINE)]
    return [flag for flag in flags if flag.group != "Help"]


def base_of(program, arguments):
    """The flags that make a run short, without those that `arguments` have."""
    if program in TOOLS:
        given = {argument.partition(b"=")[0] for argument in arguments}
        return [flag for flag in TOOLS[program][0] if flag.partition("=")[0].encode() not in given]
    if program == "nexmark":
        return TINY_OF_NEXMARK
    return TINY_OF_FILES if any(argument.startswith(b"--input") for argument in arguments) else TINY


def run(query, arguments):
    """What is wrong with how the program ends with these arguments, if anything is."""
    shown = f"{query} {' '.join(map(str, arguments))}"
    with tempfile.TemporaryDirectory(prefix="glaive_cli_") as name:
        folder = pathlib.Path(name)
        (folder / "folder").mkdir()
        (folder / "folder" / "part").write_text("no record\n", encoding="utf-8")
        (folder / "lines").write_text("no record\n", encoding="utf-8")
        (folder / "empty").touch()
        try:
            done = subprocess.run([BIN / query, *base_of(query, arguments), *arguments], cwd=folder, env=os.environ | SECRET,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return f"{shown}: still runs after {PATIENCE_SECONDS} s"
    error = done.stderr.decode(errors="replace")
    if done.returncode not in (0, 1, 2, 3):  # not 4: results that are wrong
        return f"{shown}: exit code {done.returncode}\n{error}"
    if b"--nothing=1" in arguments and done.returncode != 2:
        return f"{shown}: an unknown flag ends with {done.returncode}"
    if done.returncode == 0 and error and query not in GOOGLE_BENCHMARKS:  # these describe the machine
        return f"{shown}: succeeds, and says\n{error}"
    if done.returncode == 2 and len(re.findall(r"^(?:\S+Z \S+ )?\w+: ", error, re.MULTILINE)) != 1:
        return f"{shown}: more or less than one complaint\n{error}"
    if re.search("check failed|defect|runtime error|Sanitizer", error):
        return f"{shown}: exit code {done.returncode}\n{error}"
    return None


class FlagFuzzTest(unittest.TestCase):
    def expect_good_ends(self, cases):
        wrong = faults_of(run, cases)
        self.assertEqual(wrong, [], "\n\n".join(wrong[:20]))

    def test_every_value_of_every_flag_by_itself(self):
        cases = []
        seen = set()
        for query in QUERIES:
            for flag in flags_of(query):
                # The flags of the engine and of the input are the same in all queries: they take one of them in turn.
                values = [value for value in flag.all_values() if (flag.name, value) not in seen]
                seen |= {(flag.name, value) for value in values}
                cases += [(query, [flag.argument(value)]) for value in values]
        self.expect_good_ends(cases)

    @unittest.skipIf(SANITIZED, "the sanitizers' presets build ysb alone")
    def test_every_value_of_every_flag_of_benchmarks_and_simulator(self):
        self.expect_good_ends([(program, [f"--{name}={value}".encode()]) for program, (_, flags) in TOOLS.items()
                               if program != "simulate" or HAS_SIMULATOR
                               for name, values in [*flags.items(), ("nothing", ["1"])] for value in values] +
                              [("simulate", [b"--seed=1", f"--set={value}".encode()]) for value in SETTINGS
                               if HAS_SIMULATOR])

    def test_windows_of_every_kind_and_length(self):
        cases = []
        for query in QUERIES:
            own = [flag for flag in flags_of(query)
                   if flag.group.startswith("Query") and (flag.choices or flag.is_length)]
            cases += [(query, [flag.argument(value) for flag, value in zip(own, values)])
                      for values in itertools.product(*(flag.choices or LENGTHS for flag in own))]
        self.expect_good_ends(cases)

    def test_several_flags_together(self):
        random_ = random.Random(SEED)
        cases = []
        for query in QUERIES:
            flags = flags_of(query)
            cases += [(query, [flag.draw(random_) for flag in random_.sample(flags, random_.randint(2, 5))])
                      for _ in range(COMBINATIONS)]
        self.expect_good_ends(cases)


if __name__ == "__main__":
    unittest.main()
