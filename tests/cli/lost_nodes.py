"""Runs in which a node is killed or stopped, and what is to be true of all others then.

A cell is a signal, whom it hits and when. Each is run GLAIVE_LOST_NODE_ROUNDS times, one half of all runs with results
that appear at the end, the other half with results that are published while the run goes on. Runs go side by side: they
mostly wait.
"""

import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import tempfile
import time
import uuid

from ysb_process import SANITIZED, YSB, Ysb, free_port, pids_of, shared_memory_names

# All rounds are for one kind of device; iWARP differs in how connections end.
IS_IWARP = os.environ.get("GLAIVE_SOFTROCE_PROFILE") == "siw"
ONE_ROUND = SANITIZED or IS_IWARP
ROUNDS = int(os.environ.get("GLAIVE_LOST_NODE_ROUNDS", "1" if ONE_ROUND else "3"))
AT_ONCE = 3
PEER_TIMEOUT_SECONDS = 1
# The time-out and two seconds more; what a sanitizer or a busy machine adds is no fault of the protocol.
END_SECONDS = PEER_TIMEOUT_SECONDS + 2 + (20 if SANITIZED else 1)
# What a run's end may take longer at start-up: ranks that never met wait for --join-timeout. Over iWARP the kernel keeps
# a process that asked a stopped one for a connection until the request has timed out (siw's MPAREP_TIMEOUT).
START_UP_SECONDS = 4 + (10 if IS_IWARP else 0)
PATIENCE_SECONDS = 120 if SANITIZED else 60

NODES = 3
RECORDS, KEYS = 20_000, 1_000
COMMON = [f"--nodes={NODES}", f"--peer-timeout={PEER_TIMEOUT_SECONDS}s", "--join-timeout=4s", "--output=rows.csv",
          "--progress=always", f"--records={RECORDS}"]
IN_MID_RUN = re.compile(r"records/s, watermark 2")
# How a run is prepared for the moment, the pattern on rank 0's standard error that tells it has come; none: the
# run is hit as it starts. Rounds of a cell hit at different times, up to the given seconds after that.
MOMENTS = {
    "start-up": ([f"--keys={KEYS}", "--seconds=10m"], None, 0.3),
    "mid-epoch": ([f"--keys={KEYS}", "--seconds=10m"], IN_MID_RUN, 0.2),
    # Windows of a million keys fire all the time.
    "mid-trigger": (["--keys=1000000", "--seconds=10m", "--window=1s", "--event-rate=20000"],
                    IN_MID_RUN, 0.2),
    # A second of input, whose end is somewhere in the time from the first progress line on.
    "end": ([f"--keys={KEYS}", "--seconds=1s"], IN_MID_RUN, 1.2),
}
SIGNALS = [signal.SIGKILL, signal.SIGSTOP]
VICTIMS = ["launcher", "child 1", "rank 0", "rank 1"]  # the first two of a launcher's run, the others of one by hand
# A surviving process names who was lost, and how it noticed.
SAID = re.compile(r"ysb: rank \d+: .*(process \d+.*(was lost|was killed|has been stopped)|coordinator at .* was lost|"
                  r"node \d+ .*seen by executor \d+ in epoch)")
# One that is lost before it has joined cannot be told from one that was never started.
NEVER_CAME = re.compile(r"ysb: rank \d+: (ranks? .* did not join|found no coordinator|"
                        r"the coordinator at .* has not said a word)")


class Run:
    """One run, in a folder of its own, and what is left of it."""

    def __init__(self, transport, publish):
        self.common = [*COMMON, f"--transport={transport}", f"--publish={publish}"]
        self.publish = publish
        self.mark = uuid.uuid4().hex
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="glaive_lost_"))
        self.processes = []

    def start(self, victim, flags):
        """The ranks' processes by rank, where this test has started them itself."""
        if not victim.startswith("rank"):
            self.processes = [Ysb(self.mark, [*self.common, *flags], self.folder, YSB)]
            return
        coordinator = f"--coordinator=127.0.0.1:{free_port()}"
        self.processes = [Ysb(self.mark, [*self.common, *flags, f"--rank={rank}", coordinator], self.folder, YSB)
                          for rank in range(NODES)]

    def pid_of(self, victim):
        if victim.startswith("child"):
            return next((pid for pid in self.left() if f"--rank={victim[-1]}" in command_line(pid)), None)
        return self.processes[int(victim[-1]) if victim.startswith("rank") else 0].process.pid

    def left(self):
        return pids_of(self.mark)

    def end(self):
        for pid in self.left():
            os.kill(pid, signal.SIGKILL)
        for ysb in self.processes:
            ysb.process.wait()
        shutil.rmtree(self.folder)


def wait_until(condition, seconds, every_seconds=0.05):
    """Looking costs a guest with one processor more than all else."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(every_seconds)
    return True


def command_line(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8").split("\0")
    except OSError:
        return []


def ends_of(run):
    """How the processes of a run have ended, or None of those that run, and what each has said."""
    return "\n".join(f"exit code {ysb.process.poll()}: {ysb.err.text}" for ysb in run.processes)


def state_of(pid):
    """The line of a process's status that tells its state: D is a wait in the kernel that nothing ends early."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return "has ended"
    return next(line for line in status.splitlines() if line.startswith("State"))


def says_why(text, moment):
    """Whether a process named who was lost; at first it may not know."""
    return bool(SAID.search(text) or (moment == "start-up" and NEVER_CAME.search(text)))


def succeeded(run):
    """Whether the run has ended already, and well: to be hit at its end it was too quick."""
    codes = lambda: [ysb.process.poll() for ysb in run.processes]
    return wait_until(lambda: None not in codes(), END_SECONDS) and not any(codes())


def wrong_with_published(path):
    """What is wrong with a part that a run may have published in part only, or None."""
    text = path.read_bytes()
    try:
        progress = json.loads((path.parent / f".{path.name}.progress").read_text(encoding="utf-8"))
    except FileNotFoundError:
        progress = {"inode": path.stat().st_ino, "bytes": len(text), "rows": text.count(b"\n") - 1}  # it is whole
    final = text[:progress["bytes"]]
    is_right = (progress["inode"] == path.stat().st_ino and len(final) == progress["bytes"] and
                final.endswith(b"\n") and final.count(b"\n") == progress["rows"] + 1)
    return None if is_right else f"{path.name} of {len(text)} bytes is not what {progress} says"


def check(run, signal_number, victim, moment, delay):
    """What is wrong with how one run ended, or None."""
    flags, ready, _ = MOMENTS[moment]
    run.start(victim, flags)
    first = run.processes[0]
    if ready is not None and not first.err.wait_for(ready):
        return None if moment == "end" and succeeded(run) else f"it never came to {moment}:\n{ends_of(run)}"
    if ready is None and not wait_until(lambda: len(run.left()) == NODES and run.pid_of(victim), PATIENCE_SECONDS, 0.01):
        return f"not all nodes were started:\n{first.err.text}"
    time.sleep(delay)
    pid = run.pid_of(victim)
    if pid is None:
        return None if moment == "end" and succeeded(run) else f"no process of {victim}:\n{first.err.text}"
    try:
        os.kill(pid, signal_number)  # one that this test has started and that has ended is a zombie still
    except ProcessLookupError:
        pass
    deadline = END_SECONDS + (START_UP_SECONDS if moment == "start-up" else 0)
    others = lambda: [other for other in run.left() if other != pid]
    if not wait_until(lambda: not others(), deadline):
        states = [f"{state_of(other)}: {' '.join(command_line(other))}" for other in others()]
        return "\n".join(["processes hang:", *states, *(ysb.err.text for ysb in run.processes)])
    if signal_number == signal.SIGSTOP:
        try:
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            pass  # its launcher has killed it
        if not wait_until(lambda: not run.left(), deadline):
            return f"the stopped process goes on when it wakes up:\n{first.err.text}"
    for ysb in run.processes:
        ysb.wait(END_SECONDS)
    texts = "".join(ysb.err.text for ysb in run.processes)
    for ysb in run.processes:
        if ysb.process.pid != pid and ysb.process.returncode == 3 and not says_why(ysb.err.text, moment):
            return f"a survivor does not say why:\n{texts}"
    said = says_why(texts, moment)
    codes = {ysb.process.returncode for ysb in run.processes if ysb.process.pid != pid}
    if not codes:  # what a killed launcher's children exit with, nobody can tell; at first the kernel ends them
        codes = {3} if said else set() if moment == "start-up" else {0}
    if codes - ({0, 3} if moment == "end" else {3}):
        return f"exit codes {codes}:\n{texts}"
    if 3 in codes and not said:
        return f"nobody says why:\n{texts}"
    results = list(run.folder.glob("rows.csv*"))
    if run.publish == "fired":
        broken = [problem for path in results if (problem := wrong_with_published(path))]
        if broken:
            return f"{broken}:\n{texts}"
    elif results and (moment != "end" or len(results) != NODES):
        return f"what looks like a result is none: {[path.name for path in results]}"
    return f"no result after success:\n{texts}" if 0 in codes and not results else None


def lose_nodes(transport):
    """Runs all cells; what went wrong in each run in which something did."""
    cells = [cell for cell in itertools.product(SIGNALS, VICTIMS, MOMENTS) for _ in range(ROUNDS)]

    def one(numbered):
        number, (signal_number, victim, moment) = numbered
        run = Run(transport, ("end", "fired")[(number + number // len(MOMENTS)) % 2])  # all cells have both
        try:
            delay = MOMENTS[moment][2] * (number % ROUNDS + 1) / ROUNDS
            wrong = check(run, signal_number, victim, moment, delay)
            return f"{signal_number.name} of the {victim} at {moment} after {delay:.2f} s: {wrong}" if wrong else None
        finally:
            run.end()

    shared_before = shared_memory_names()
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        wrong = [text for text in pool.map(one, enumerate(cells)) if text]
    if left := shared_memory_names() - shared_before:
        wrong.append(f"shared memory outlived its run: {left}")
    print(f"{len(cells)} runs of {len(cells) // ROUNDS} cells over {transport}, {len(wrong)} wrong")
    return wrong
