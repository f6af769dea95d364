"""Runs that the system gives too little memory, too few threads or descriptors: each ends with one line that says so, or
succeeds, and leaves nothing behind."""

import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import unittest

from ysb_process import BIN, SANITIZED, YSB, shared_memory_names

RUN = ["--records=2000", "--keys=100", "--output=counts.csv", "--publish=end"]
SHAPES = [["--executors=2"], ["--nodes=2", "--executors=2"]]
# A limit on processes holds for users other than root. This one has no other process.
USER = 61234
MEBIBYTE = 1 << 20
PATIENCE_SECONDS = 60


@unittest.skipIf(SANITIZED, "the sanitizers take address space and descriptors of their own")
class ExhaustionTest(unittest.TestCase):
    def run_limited(self, binary, flags, limits, as_user=False):
        """Runs with `limits` {resource: number, or (soft, hard)}; the exit code and standard error. Nothing must be left of a failure."""
        before = shared_memory_names()
        with tempfile.TemporaryDirectory(prefix="glaive_cli_") as folder:
            if as_user:  # a copy: the user may not see where the binaries are
                binary = shutil.copy(binary, folder)
                os.chmod(folder, 0o777)

            def limit():
                for kind, number in limits.items():
                    resource.setrlimit(kind, number if isinstance(number, tuple) else (number, number))
                if as_user and os.geteuid() == 0:
                    os.setgid(USER)
                    os.setuid(USER)

            done = subprocess.run([binary, *flags], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, preexec_fn=limit, timeout=PATIENCE_SECONDS, check=False)
            files = sorted(path.name for path in pathlib.Path(folder).iterdir() if path.name != pathlib.Path(binary).name)
        error = done.stderr.decode(errors="replace")
        if done.returncode != 0:
            self.assertEqual(files, [], f"{flags} {limits}: {error}")
        self.assertEqual(shared_memory_names() - before, set())
        return done.returncode, error

    def expect_refusal_or_success(self, binary, flags, limits, remedies, as_user=False):
        code, error = self.run_limited(binary, flags, limits, as_user)
        context = f"{flags} {limits}: exit code {code}\n{error}"
        self.assertIn(code, (0, 1, 3), context)  # 3: it was the other node that had too little
        if code != 0:
            self.assertRegex(error, remedies, context)
            self.assertNotIn("terminate called", error, context)
        return code

    def test_threads_and_processes_that_cannot_be_started(self):
        for shape in SHAPES:
            codes = [self.expect_refusal_or_success(YSB, [*RUN, *shape], {resource.RLIMIT_NPROC: most},
                                                    "raise ulimit -u", as_user=True) for most in range(1, 16)]
            self.assertEqual(codes[0], 1, "one process and no thread besides")
            self.assertEqual(codes[-1], 0)

    def test_address_space_that_cannot_be_had(self):
        for shape in SHAPES:
            codes = [self.expect_refusal_or_success(YSB, [*RUN, *shape], {resource.RLIMIT_AS: mebibytes * MEBIBYTE},
                                                    "ulimit -v|out of memory|cannot map|too little memory")
                     for mebibytes in [*range(24, 128, 4), *range(128, 1024, 48)]]
            self.assertEqual(codes[0], 1)
            self.assertEqual(codes[-1], 0)

    def test_descriptors_that_cannot_be_had(self):
        for shape in SHAPES:
            codes = [self.expect_refusal_or_success(YSB, [*RUN, *shape], {resource.RLIMIT_NOFILE: most},
                                                    "raise ulimit -n") for most in range(4, 40)]
            self.assertEqual(codes[0], 1)
            self.assertEqual(codes[-1], 0)

    def test_stacks_that_are_too_small(self):
        for shape in SHAPES:
            codes = [self.expect_refusal_or_success(YSB, [*RUN, *shape], {resource.RLIMIT_STACK: kibibytes << 10},
                                                    "stack of [0-9]+ KiB is too small; raise ulimit -s to 512")
                     for kibibytes in (32, 48, 64, 80, 96, 128, 256, 511, 512, 1024)]
            self.assertEqual(codes, [1] * 8 + [0, 0])

    def test_files_that_may_not_grow(self):
        for shape in SHAPES:
            codes = [self.expect_refusal_or_success(YSB, [*RUN, *shape], {resource.RLIMIT_FSIZE: size}, "ulimit -f")
                     for size in (0, 1, 100, 1 << 12, 1 << 14, 1 << 18, 1 << 30)]
            self.assertEqual(codes[0], 1)
            self.assertEqual(codes[-1], 0)

    def test_processor_time_that_is_used_up(self):
        code, error = self.run_limited(YSB, ["--seconds=300s", "--output=counts.csv", "--publish=end"],
                                       {resource.RLIMIT_CPU: (1, 60)})
        self.assertEqual(code, 130, error)
        self.assertIn("interrupted by SIGXCPU: no more processor time is allowed; raise ulimit -t", error)

    def test_a_benchmark_that_cannot_have_its_memory(self):
        code, error = self.run_limited(BIN / "scaling_bench", ["--records=50M", "--runs=1"],
                                       {resource.RLIMIT_AS: 512 * MEBIBYTE})
        self.assertEqual(code, 1, error)
        self.assertRegex(error, "^scaling_bench: .*(out of memory|cannot map)")
        code, error = self.run_limited(BIN / "store", [], {resource.RLIMIT_AS: 60 * MEBIBYTE})
        self.assertEqual(code, 1, error)
        self.assertRegex(error, "(?m)^store: .*(out of memory|cannot map|ulimit -v)")

    def test_a_benchmark_that_may_open_few_files(self):
        for program in ("channel", "store"):
            code, error = self.run_limited(BIN / program, [], {resource.RLIMIT_NOFILE: 5})
            self.assertEqual(code, 1, error)
            self.assertRegex(error, f"(?m)^{program}: .*raise ulimit -n$")

    def test_a_benchmark_whose_memory_is_a_file_that_may_not_grow(self):
        code, error = self.run_limited(BIN / "channel", ["--transport=shm"], {resource.RLIMIT_FSIZE: 0})
        self.assertEqual(code, 1, error)
        self.assertRegex(error, "^channel: .*ulimit -f")


if __name__ == "__main__":
    unittest.main()
