"""Starts ysb, or another query, the way a user does, and watches what it prints, which processes it leaves and which files it makes."""

import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import uuid

BIN = pathlib.Path(os.environ.get("GLAIVE_BIN_DIR", "build/dev/bin"))
YSB = BIN / "ysb"
SOURCE = pathlib.Path(os.environ.get("GLAIVE_SOURCE_DIR", "."))
SANITIZER = os.environ.get("GLAIVE_SANITIZE", "")
SANITIZED = bool(SANITIZER)
# No run may take longer; a hanging run is what many of these tests look for.
PATIENCE_SECONDS = 240 if SANITIZED else 60
# Within this time every process of a run has to end once something went wrong.
END_SECONDS = 40 if SANITIZED else 10

# A run that goes on until something ends it. The first progress line says that all nodes are in mid-run.
ENDLESS = ["--records=20000", "--keys=1000", "--seconds=10m"]
MID_RUN = re.compile(r"records/s, watermark 2")

MARK = "GLAIVE_TEST_RUN"
# What nodes that are started by hand need to know; a run that starts its own makes one.
SECRET = {"GLAIVE_SECRET": "a secret for tests, known to everybody"}


# How a message begins: time, host, query and rank.
FORM = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \S+ ysb: rank \d+: \S"
# Lines that a slow machine prints in the middle of a start: nothing is wrong.
WAITS = re.compile(r"^.* \w+: rank \d+: (waits at|waits for a queue pair to|calls the coordinator at) .*\n", re.MULTILINE)


class Output:
    """What a process writes to a pipe, read by a thread as it comes."""

    def __init__(self, pipe):
        self.text = ""
        self.changed = threading.Condition()
        self.closed = False
        self.thread = threading.Thread(target=self.read, args=(pipe,), daemon=True)
        self.thread.start()

    def read(self, pipe):
        while data := os.read(pipe.fileno(), 65536):
            with self.changed:
                self.text += data.decode(errors="replace")
                self.changed.notify_all()
        pipe.close()
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def wait_for(self, pattern):
        """Waits until the pattern stands in the text; False if the text ended or took too long."""
        with self.changed:
            self.changed.wait_for(lambda: pattern.search(self.text) or self.closed, PATIENCE_SECONDS)
            return bool(pattern.search(self.text))


class Ysb:
    """One process that a test starts: a whole run with --nodes, or one rank of it."""

    def __init__(self, mark, flags, folder, binary):
        self.flags = list(flags)
        by_hand = any(flag.startswith("--rank=") for flag in self.flags)
        environment = os.environ | {MARK: mark} | (SECRET if by_hand else {})
        self.process = subprocess.Popen([binary, *flags], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.out = Output(self.process.stdout)
        self.err = Output(self.process.stderr)

    def wait(self, seconds=PATIENCE_SECONDS):
        """The exit code; the streams have been read to their ends."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"ysb {' '.join(self.flags)} still runs after {seconds} s\n{self.err.text}") from None
        for output in (self.out, self.err):
            output.thread.join(seconds)
        return code

    def send(self, number):
        self.process.send_signal(number)


class CliTest(unittest.TestCase):
    """A test whose processes and files are gone when it ends, or it fails."""

    binary = YSB

    def setUp(self):
        self.mark = uuid.uuid4().hex
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="glaive_cli_"))
        self.shared_memory = shared_memory_names()
        self.started = []

    def tearDown(self):
        for ysb in self.started:
            if ysb.process.poll() is None:
                ysb.process.kill()
                ysb.process.wait()
        orphans = self.wait_until_gone()
        for pid in orphans:
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.folder)
        self.assertEqual(orphans, [], "processes outlived their run")
        self.assertEqual(shared_memory_names() - self.shared_memory, set(), "shared memory outlived its run")

    def start(self, *flags):
        ysb = Ysb(self.mark, flags, self.folder, self.binary)
        self.started.append(ysb)
        return ysb

    def start_endless(self, *flags):
        """A run that is in its middle when this returns."""
        ysb = self.start(*ENDLESS, "--progress=always", *flags)
        self.assertTrue(ysb.err.wait_for(MID_RUN), f"the run never began:\n{ysb.err.text}")
        return ysb

    def start_by_hand(self, nodes, *flags):
        """All ranks of an endless run, rank 0 in mid-run."""
        address = f"--coordinator=127.0.0.1:{free_port()}"
        members = [self.start(*ENDLESS, f"--nodes={nodes}", f"--rank={rank}", address, *flags)
                   for rank in range(1, nodes)]
        return [self.start_endless(f"--nodes={nodes}", "--rank=0", address, *flags), *members]

    def run_ysb(self, *flags):
        """Runs to the end; exit code, standard output, standard error."""
        ysb = self.start(*flags)
        code = ysb.wait()
        return code, ysb.out.text, ysb.err.text

    def succeed(self, *flags):
        code, out, err = self.run_ysb(*flags)
        self.assertEqual(code, 0, f"ysb {' '.join(flags)}\n{err}{out}")
        return out, err

    def pids(self):
        """All living processes of this test's runs."""
        return pids_of(self.mark)

    def pid_of_rank(self, rank):
        for pid in self.pids():
            if f"--rank={rank}".encode() in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                return pid
        raise AssertionError(f"no process of rank {rank}")

    def start_verifying(self, *rank_flags):
        """A run of two nodes whose verification takes long; all of it computes that when this returns."""
        flags = ["--nodes=2", "--records=20000", "--keys=10", "--seconds=2s", "--verify", "--output=counts.csv"]
        ranks = [self.start(*flags, *more) for more in rank_flags or [()]]
        self.wait_until(lambda: len(self.pids()) == 2)
        pids = self.pids()
        most = dict.fromkeys(pids, 0)

        def has_run(pid):
            """Its executor and its sink's writer have come and gone; a sanitizer's thread may stay."""
            most[pid] = max(most[pid], thread_count(pid))
            return thread_count(pid) <= most[pid] - 2

        self.wait_until(lambda: all([has_run(pid) for pid in pids]))
        before = [cpu_seconds([pid]) for pid in pids]
        self.wait_until(lambda: all(cpu_seconds([pid]) > then + 0.1 for pid, then in zip(pids, before)))
        return ranks

    def wait_until(self, condition):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            self.assertLess(time.monotonic(), deadline, "it never came to that")
            time.sleep(0.01)

    def wait_until_gone(self, seconds=END_SECONDS):
        """Waits until no process of the test is left; those that are."""
        deadline = time.monotonic() + seconds
        while (left := self.pids()) and time.monotonic() < deadline:
            time.sleep(0.02)
        return left

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())


def pids_of(mark):
    """All living processes that were started with the mark, by their environment."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue  # it ended, or is not ours
    return found


def cpu_seconds(pids):
    """Processor time that the processes have used so far, in user and in kernel mode."""
    ticks = 0
    for pid in pids:
        # The fields after the name, which is in parentheses and may hold anything.
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def thread_count(pid):
    return len(list(pathlib.Path(f"/proc/{pid}/task").iterdir()))


def faults_of(try_case, cases):
    """Calls try_case(*case) for all cases, as many at a time as there are processors. Returns the faults; None is none."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [fault for fault in pool.map(lambda case: try_case(*case), cases) if fault is not None]


def help_of(query):
    """The text that --help prints."""
    return subprocess.run([BIN / query, "--help"], capture_output=True, text=True, check=True).stdout


def shared_memory_names():
    folder = pathlib.Path("/dev/shm")
    if not folder.is_dir():
        return set()
    return {path.name for path in folder.iterdir() if path.is_file() and not path.name.startswith("sem.")}


GIVEN_PORTS = set()


def free_port():
    """A TCP port that nobody listens at just now. Each only once: nodes of a run that was killed may still look for one."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if port not in GIVEN_PORTS:
            GIVEN_PORTS.add(port)
            return port
