"""Every flag of every benchmark, with values at its limits and beyond, as flag_fuzz_test has them for queries. A flag of
--help without an entry here fails a test."""

import re
import unittest

from flag_values import BEYOND, FILES, LAWS, fault_of
from ysb_process import SANITIZED, faults_of, help_of

# Those of an RDMA device. A run that needs none takes no notice of them, and one that has none is refused.
DEVICE = {"device": ["none0", ""], "bind": ["127.0.0.1", "x", "[::1", ""]}
ORDERING = {"relaxed-ordering": ["auto", "on", "off", "x", ""]}
# Those of benchmarks with two ends; none with which one waits for the other.
ENDS = {"listen": ["x", "localhost:0", "[::1", ":1", "localhost:70000"], "connect": ["x", "localhost:0", "localhost:-1"],
        "incast": ["0", "2", "65", *BEYOND], "sender": ["0", "65", *BEYOND],
        "join-timeout": ["0", "-1", "nan", "1e999", "x", ""], "secret-file": ["/nowhere"]}
GOOGLE_BENCHMARKS = ("channel", "store", "fiber_switch")  # they describe the machine
# The flags with which the programs run briefly, and values of their flags. These are few, since an accepted run takes
# long.
TOOLS = {
    "channel": (["--transport=local", "--slots=4096", "--credits=8", "--channels=1", "--benchmark_filter=^Throughput",
                 "--benchmark_min_time=0.001"],
                {"transport": ["x", ""], "slots": ["0", "1", "63", "4294967295", "4096,", ",", *BEYOND],
                 "credits": ["0", "1", "4294967295", *BEYOND], "channels": ["0", "17", "4294967295", *BEYOND],
                 "segments": ["4294967295", *BEYOND], "signal-interval": BEYOND,
                 "inline": ["0", "65536", "65537", *BEYOND], "no-read": [BEYOND[0], "x"],
                 "arrival": ["imm", "poll", "x", ""], **ORDERING, **DEVICE, **ENDS}),
    "write_order": (["--self-test", "--seconds=0.001"],
                    {"seconds": ["0", "-1", "nan", "inf", "1e999", "1e-320", "x", ""],
                     "self-test": [BEYOND[0], "x"], "queue-pairs": ["0", "2", "65", *BEYOND],
                     **ORDERING, **DEVICE, **ENDS}),
    "scaling_bench": (["--workload=nb7", "--records=100", "--windows=1", "--repetitions=1", "--runs=1", "--executors=1"],
                      {"workload": ["x", ""], "executors": ["0", "2", "257", "1,2", ",", *BEYOND],
                       "runs": ["0", "1001", *BEYOND], "records": ["1000000001", *BEYOND], "windows": ["0", "1000001", *BEYOND],
                       "repetitions": ["0", "1000001", *BEYOND], "keys": ["0", "1", "4294967297", *BEYOND],
                       "key-distribution": ["zipf:0.5", *LAWS[3:]], "json": FILES,
                       "skew": ["false", "2", "x", ""], "uppar": ["false", "2", "x", ""], "prefault": ["true", "false", "2", "x", ""],
                       "verify": ["true", "false", "2", "x", ""]}),
    "store": (["--benchmark_filter=^BM_SliceUpdate/10000$", "--benchmark_min_time=0.001"], {"benchmark_format": ["x", ""]}),
    "fiber_switch": (["--benchmark_filter=^BM_Turn/8$", "--benchmark_min_time=0.001"], {"benchmark_repetitions": ["x"]}),
}


def run(program, argument):
    base = [flag for flag in TOOLS[program][0] if flag.partition("=")[0].encode() != argument.partition(b"=")[0]]
    return fault_of(program, base, [argument], may_talk=program in GOOGLE_BENCHMARKS)


@unittest.skipIf(SANITIZED, "the sanitizers' presets build no benchmark")
class ToolFlagsTest(unittest.TestCase):
    def test_every_flag_has_an_entry_and_every_entry_a_flag(self):
        for program, (_, flags) in TOOLS.items():
            with self.subTest(program):
                own = set(re.findall(r"^  (?:-h,)?--([a-z-]+)", help_of(program), re.MULTILINE)) - {"help", "version"}
                # Google Benchmark's own flags are its library's: two of them have entries.
                self.assertEqual(own, {flag for flag in flags if not flag.startswith("benchmark_")})

    def test_every_value_of_every_flag(self):
        wrong = faults_of(run, [(program, f"--{name}={value}".encode()) for program, (_, flags) in TOOLS.items()
                                for name, values in [*flags.items(), ("nothing", ["1"])] for value in values])
        self.assertEqual(wrong, [], "\n\n".join(wrong[:20]))


if __name__ == "__main__":
    unittest.main()
