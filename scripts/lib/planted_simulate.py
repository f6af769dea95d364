#!/usr/bin/env python3
"""Builds the simulator with a planted defect: planted_simulate.py PATCH FOLDER makes FOLDER/bin/simulate.

Needs the build of the preset dev, which has the program without the defect, and leaves it and the sources as they are. An
overlay of the compiler's file system has the patched files in the place of the others. Objects that read one of them are
compiled again by dev's commands, and so are made the libraries and the program that have them; all of it in FOLDER. No
file of the project is in a precompiled header; if one were, clang would refuse the header with its patch.
"""

import concurrent.futures
import fcntl
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build" / "dev"
PROGRAM = "bin/simulate"
NOT_BUILT = "the preset dev has no simulator as the sources are now: scripts/simulate --planted builds it first"


def ninja_tool(*arguments):
    """What one of ninja's tools prints."""
    done = subprocess.run(["ninja", "-C", str(BUILD), "--quiet", "-t", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{done.stderr}{NOT_BUILT}")
    return done.stdout


def commands():
    """(output, command) of all that is made for the program, each behind what it reads. A command that ninja's other list
    spells differently is none of a compiler or linker."""
    outputs = {each["command"]: each["output"] for each in json.loads(ninja_tool("compdb"))}
    return [(outputs[line], line) for line in ninja_tool("commands", PROGRAM).splitlines() if line in outputs]


def readers(objects, files):
    """Those of the objects that were compiled of one of the files, or include one."""
    found = set()
    for paragraph in ninja_tool("deps", *objects).strip().split("\n\n"):
        head, *lines = paragraph.splitlines()
        if not head.endswith("(VALID)"):
            sys.exit(f"{head}\n{NOT_BUILT}")
        if files & {os.path.normpath(BUILD / line.strip()) for line in lines}:
            found.add(head.split(":")[0])
    return found


def apply_patch(patch, folder):
    """Writes the files that the patch changes, as it changes them, below the folder; a file's path -> its path there."""
    text = patch.read_text(encoding="utf-8")
    files = {str(ROOT / name): folder / name for name in re.findall(r"^\+\+\+ b/(\S+)", text, re.MULTILINE)}
    for original, copy in files.items():
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(original, copy)
    done = subprocess.run(["patch", "--quiet", "--strip=1", "--directory", str(folder)], input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}{patch} does not fit the code any more: mend it")
    return files


def run(command):
    """Runs a command of the build, without ccache, which does not see the overlay."""
    done = subprocess.run(["sh", "-c", command], cwd=BUILD, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, env={**os.environ, "CCACHE_DISABLE": "1"})
    if done.returncode != 0:
        sys.exit(done.stdout)


def build(patch, folder):
    files = apply_patch(patch, folder / "sources")
    overlay = folder / "overlay.json"
    overlay.write_text(json.dumps({"version": 0, "use-external-names": False, "roots": [
        {"type": "file", "name": original, "external-contents": str(copy)} for original, copy in files.items()]}))
    every = commands()
    compiled = readers([output for output, _ in every if output.endswith(".o")], set(files))
    if not compiled:
        sys.exit(f"{patch}: no source of the simulator reads {' or '.join(files)}")
    moved = {}  # what is made again: its name in the commands -> its path in the folder
    compiles, links = [], []
    for output, command in every:
        if output in compiled or not moved.keys().isdisjoint(command.split()):
            path = folder / output
            path.parent.mkdir(parents=True, exist_ok=True)
            moved |= {output: str(path), f"{output}.d": f"{path}.d"}
            again = re.sub(r"\S+", lambda word: moved.get(word.group(), word.group()), command)
            if output in compiled:
                compiles.append(again.replace(" -c ", f" -ivfsoverlay {overlay} -c ", 1))
            else:
                links.append(again)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(run, compiles))
    for command in links:
        run(command)
    if not (folder / PROGRAM).exists():
        sys.exit(f"{patch}: no command of the build links {PROGRAM}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    BUILD.mkdir(parents=True, exist_ok=True)
    with open(BUILD / ".lock", "w", encoding="utf-8") as lock:  # of build_preset (build.sh)
        fcntl.flock(lock, fcntl.LOCK_EX)
        build(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve())
