"""Processor events of a run: instructions and cycles by `perf` where the processor's counters are there, else
instructions by callgrind.

Both count whole processes, and so the generation of the input, too. Two runs over the same input are counted, of which
one reads it once and the other one repeats it: their difference is that of the repeated records alone.
"""

import pathlib
import re
import shutil
import subprocess
import tempfile


class CountersError(Exception):
    """There is nothing to count with."""


def has_perf():
    """Whether `perf` counts instructions here; virtual machines often have no counters."""
    if shutil.which("perf") is None:
        return False
    done = subprocess.run(["perf", "stat", "-x,", "-e", "instructions", "true"], capture_output=True, text=True, check=False)
    return done.returncode == 0 and re.search(r"^\d+,.*instructions", done.stderr, re.MULTILINE) is not None


def tool(binary):
    """"perf" or "callgrind": what can count a binary's events."""
    if has_perf():
        return "perf"
    if shutil.which("valgrind") is None:
        raise CountersError("neither perf with the processor's counters nor valgrind is here; install valgrind")
    done = subprocess.run(["valgrind", "--quiet", "--tool=none", "--", binary, "--version"], capture_output=True, text=True,
                          timeout=300, check=False)
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if re.search(r"== \S", line)]
        raise CountersError(f"valgrind cannot run {binary}: {' '.join(said[:1]) or done.returncode}")
    return "callgrind"


def counted(name, command, run):
    """Runs a command under a tool with `run(command)`; its events, {"instructions": N, "cycles": N} or less."""
    with tempfile.TemporaryDirectory(prefix="glaive_counters_") as folder:
        if name == "perf":
            output = pathlib.Path(folder) / "perf"
            run(["perf", "stat", "-x,", "-o", output, "-e", "instructions:u,cycles:u", "--", *command])
            found = re.findall(r"^(\d+),[^,]*,(instructions|cycles)", output.read_text(encoding="utf-8"), re.MULTILINE)
            return {event: int(count) for count, event in found}
        run(["valgrind", "--quiet", "--tool=callgrind", "--trace-children=yes", f"--callgrind-out-file={folder}/%p", "--",
             *command])
        total = 0
        for file in pathlib.Path(folder).iterdir():
            total += sum(int(count) for count in re.findall(r"^(?:summary|totals): (\d+)", file.read_text(encoding="utf-8"),
                                                            re.MULTILINE)[-1:])
        return {"instructions": total}


def per_record(once, more):
    """Events of a record: of two runs, as (events, records)."""
    (few_events, few), (many_events, many) = once, more
    if many <= few:
        raise CountersError("the repeated input had no more records; give the run more time")
    return {f"{event}_per_record": (many_events[event] - few_events[event]) / (many - few)
            for event in few_events if event in many_events}
