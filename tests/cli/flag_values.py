"""Values at the limits of flags and beyond, and how a run with them may end."""

import os
import pathlib
import re
import subprocess
import tempfile

from ysb_process import BIN, PATIENCE_SECONDS, SECRET

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
FOLDERS = ["folder", "new", "new/", "lines", ".", "/", "no/such/folder", "lines/x"]
PLACES = ["127.0.0.1:1", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1", ":1", ":", "[::1]:1", "[", "::1", "300.0.0.1:1",
          "no.such.host.invalid:1"]
POOLS = {"N": NUMBERS, "SIZE": SIZES, "TIME": TIMES, "X": REALS, "LAW": LAWS, "FILE": FILES, "PATH": PATHS,
         "FOLDER": FOLDERS,
         "HOST:PORT": PLACES, "HOST[:PORT]": PLACES, "NAME": ["nothing"], "": ["true", "false", "2"]}
BEYOND = ["18446744073709551616", "-1", "x", "", "1.5"]


def fault_of(program, base, arguments, may_talk=False):
    """What is wrong with how the program ends with these arguments behind those of `base`, if anything is. One that may talk
    may write to standard error though it succeeds."""
    shown = f"{program} {' '.join(map(str, arguments))}"
    with tempfile.TemporaryDirectory(prefix="glaive_cli_") as name:
        folder = pathlib.Path(name)
        (folder / "folder").mkdir()
        (folder / "folder" / "part").write_text("no record\n", encoding="utf-8")
        (folder / "lines").write_text("no record\n", encoding="utf-8")
        (folder / "empty").touch()
        try:
            done = subprocess.run([BIN / program, *base, *arguments], cwd=folder, env=os.environ | SECRET,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return f"{shown}: still runs after {PATIENCE_SECONDS} s"
    error = done.stderr.decode(errors="replace")
    if done.returncode not in (0, 1, 2, 3):  # not 4: results that are wrong
        return f"{shown}: exit code {done.returncode}\n{error}"
    if b"--nothing=1" in arguments and done.returncode != 2:
        return f"{shown}: an unknown flag ends with {done.returncode}"
    if done.returncode == 0 and error and not may_talk:
        return f"{shown}: succeeds, and says\n{error}"
    if done.returncode == 2 and len(re.findall(r"^(?:\S+Z \S+ )?\w+: ", error, re.MULTILINE)) != 1:
        return f"{shown}: more or less than one complaint\n{error}"
    if re.search("check failed|defect|runtime error|Sanitizer", error):
        return f"{shown}: exit code {done.returncode}\n{error}"
    return None
