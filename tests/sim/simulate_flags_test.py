"""The flags of `simulate`, with values at their limits and beyond, and what it says when the system refuses it something."""

import concurrent.futures
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import unittest

SIMULATE = os.path.join(os.environ["GLAIVE_BIN_DIR"], "simulate")
PATIENCE_SECONDS = 60
# A limit on processes holds for users other than root. This one has no other process.
USER = 61234

BRIEF = ["--seeds=2", "--no-shrink"]
BEYOND = ["18446744073709551616", "-1", "x", "", "1.5"]
SEEDS = ["18446744073709551615", *BEYOND]
VALUES = {"seed": ["0", *SEEDS], "seeds": ["0", *SEEDS], "first": ["0", *SEEDS], "jobs": ["0", "1024", "1025", *BEYOND],
          "most-failures": ["0", "4294967296", *BEYOND], "no-shrink": [BEYOND[0], "x"], "nothing": ["1"]}
# Flags of which the tests below, or scripts/simulate, show what they do.
ELSEWHERE = {"set", "trace", "list", "forever", "require-coverage"}
SETTINGS = ["x=1", "=", "x", "nodes=", "nodes=0", "nodes=18446744073709551616"]


def run(*flags, **options):
    return subprocess.run([SIMULATE, *flags], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          timeout=PATIENCE_SECONDS, check=False, **{"stdout": subprocess.PIPE} | options)


def fault_of(flags):
    """What is wrong with how the program ends with these flags, if anything is."""
    try:
        done = run(*flags)
    except subprocess.TimeoutExpired:
        return f"{flags}: still runs after {PATIENCE_SECONDS} s"
    lines = len(re.findall("^simulate: ", done.stderr, re.MULTILINE))
    if done.returncode not in (0, 1, 2) or (done.returncode == 0 and done.stderr) or (done.returncode == 2 and lines != 1):
        return f"{flags}: exit code {done.returncode}\n{done.stderr}"
    if "--nothing=1" in flags and done.returncode != 2:
        return f"{flags}: an unknown flag ends with {done.returncode}"
    return None


class SimulateFlagsTest(unittest.TestCase):
    def test_every_flag_has_an_entry_and_every_entry_a_flag(self):
        own = {flag for line in re.findall(r"^  (-\S+)", run("--help").stdout, re.MULTILINE)
               for flag in re.findall(r"--([a-z-]+)", line)}
        self.assertEqual(own - {"help", "shrink"}, (set(VALUES) | ELSEWHERE) - {"nothing"})

    def test_forever_goes_on(self):
        running = subprocess.Popen([SIMULATE, "--forever", "--jobs=1"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(running.communicate)
        self.addCleanup(os.killpg, running.pid, signal.SIGKILL)
        with self.assertRaises(subprocess.TimeoutExpired):
            running.wait(timeout=2)

    def test_coverage_that_is_missing_is_named(self):
        self.assertEqual(run("--seeds=1").returncode, 0)
        done = run("--seeds=1", "--require-coverage")
        self.assertEqual(done.returncode, 1, done.stdout)
        # No query has both.
        self.assertRegex(done.stdout + done.stderr, r"\nnever met: (CountWindow|Transaction)\n")

    def test_a_trace_and_the_list_of_queries_are_printed(self):
        scenario = ["--seed=1", "--set=query=0,nodes=2,records=100"]  # of all that seed 1 draws, enough to be traced
        brief, traced = run(*scenario), run(*scenario, "--trace")
        self.assertEqual((brief.returncode, traced.returncode), (0, 0), traced.stderr)
        self.assertGreater(traced.stdout.count("\n"), brief.stdout.count("\n") + 100)
        self.assertIn("tumbling count windows by key", run("--list").stdout)

    def test_every_value_of_every_flag(self):
        cases = [[*(flag for flag in BRIEF if flag.partition("=")[0] != f"--{name}"), f"--{name}={value}"]
                 for name, values in VALUES.items() for value in values]
        cases += [["--seed=1", f"--set={value}"] for value in SETTINGS]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong = [fault for fault in pool.map(fault_of, cases) if fault]
        self.assertEqual(wrong, [], "\n\n".join(wrong))

    def test_wrong_flags_are_refused_with_one_line(self):
        for flags in (["--seed=3", f"--no-shrink={BEYOND[0]}"], ["--seeds=0"], ["--seeds=x"], ["--trace"], ["--nothing"]):
            with self.subTest(flags=flags):
                done = run(*flags)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertRegex(done.stderr, r"^simulate: [^\n]{1,200}; see --help\n$")

    def test_standard_output_that_cannot_be_written_is_said(self):
        for flag in ("--list", "--seed=1", "--help"):
            with self.subTest(flag=flag), open("/dev/full", "w", encoding="utf-8") as full:
                done = run(flag, stdout=full)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertTrue(done.stderr.endswith("simulate: cannot write standard output: No space left on device\n"),
                                done.stderr)

    def test_processes_that_cannot_be_had(self):
        seeds = ["--seeds=4", "--jobs=2"]
        done = run(*seeds, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4)))
        self.assertEqual((done.returncode, done.stderr), (1, (
            "simulate: cannot make a pipe; raise ulimit -n, or take fewer --jobs: Too many open files\n")))

        def limit_processes():
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
            if os.geteuid() == 0:
                os.setgid(USER)
                os.setuid(USER)

        with tempfile.TemporaryDirectory(prefix="glaive_sim_") as folder:
            os.chmod(folder, 0o777)  # the user may not see where the program is
            program = shutil.copy(SIMULATE, pathlib.Path(folder))
            done = subprocess.run([program, *seeds], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  preexec_fn=limit_processes, timeout=PATIENCE_SECONDS, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, (
            "simulate: cannot start a process; raise ulimit -u or the cgroup's pids.max, or take fewer --jobs: "
            "Resource temporarily unavailable\n")))


if __name__ == "__main__":
    unittest.main()
