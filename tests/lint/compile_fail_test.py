"""Queries whose steps are out of order do not compile, and the compiler says why in few words.

Each source in compile_fail/ names in its first comment how the error must begin. It has to be the only error, few lines may
follow it, and all of the compiler's output has to fit on a screen: a message that drowns in template instantiations helps
nobody.

Loading the precompiled header takes the compiler ten times as long as a case. So many cases are compiled as one source, in
which each has a namespace of its own. A case whose error there is not the expected one is compiled alone: two cases may
instantiate the same template, and the compiler refuses that once.
"""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

SOURCE_DIR = pathlib.Path(os.environ["GLAIVE_SOURCE_DIR"])
CASES = sorted((SOURCE_DIR / "tests/engine/compile_fail").glob("*.cc"))
COMPILER = "g++"  # of the preset release, with which scripts/run compiles a query
MAX_ERRORS = 1
MAX_OUTPUT_LINES = 25  # of a text screen
MAX_LINES_BEHIND = 15  # behind the error
# Such a message has the step's name, from a list in a macro: the compiler prints three lines for each macro, twice. Those of
# KeyBy, To, LateTo and AllowedLateness are written out.
STEP_IN_WRONG_PLACE = re.compile(r"^(?!key_|sink_|late_to_|lateness_).*_after_(key|window|count_window)\.cc$")
MAX_LINES_BEHIND_A_STEP = 17
NOTHING = "nothing"  # expected of a case that compiles
CASES_OF_BATCH = 32


def precompile(folder):
    """Compiles the header that all cases begin with into a folder to be searched first; parsing it is most of the work."""
    header = "tests/engine/compile_fail/query.h"
    target = pathlib.Path(folder) / f"{header}.gch"
    target.parent.mkdir(parents=True)
    subprocess.run([COMPILER, "-std=c++20", "-w", f"-I{SOURCE_DIR}", "-x", "c++-header",
                    str(SOURCE_DIR / header), "-o", str(target)], timeout=120, check=True)


def compile_source(source, folder):
    """Compiles one file without producing code; returns the exit code and what the compiler wrote."""
    command = [COMPILER, "-std=c++20", "-fsyntax-only", f"-I{folder}", f"-I{SOURCE_DIR}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False,
                          env={**os.environ, "LC_ALL": "C"})
    return done.returncode, done.stderr


def in_namespace(source, name):
    """The text of a case in a namespace of its own, with the lines' numbers as they are; None if it cannot be in one."""
    text = source.read_text(encoding="utf-8")
    opening, closing = "namespace glaive::engine {", "}  // namespace glaive::engine"
    if text.count(opening) != 1 or text.count(closing) != 1 or "#define" in text:
        return None
    text = re.sub(r"^#include .*$", "", text, flags=re.MULTILINE)
    text = text.replace(closing, "}}").replace(opening, f"{opening} namespace {name} {{")
    return f'#line 1 "{source}"\n{text}'


def compile_batch(sources, folder):
    """Compiles cases as one source: what the compiler wrote of each, or nothing if an error names none of them."""
    texts = {source: in_namespace(source, f"case_{number}") for number, source in enumerate(sources)}
    includes = dict.fromkeys(re.findall(r"^#include .*$", "\n".join(source.read_text(encoding="utf-8")
                                                                   for source in sources), flags=re.MULTILINE))
    batch = pathlib.Path(folder) / "batch.cc"
    batch.write_text("\n".join([*includes, *filter(None, texts.values())]), encoding="utf-8")
    written = {source: "" for source in sources}
    for error in split_by_error(compile_source(batch, folder)[1]):
        source = next((source for source in sources if f"{source}:" in error), None)
        if source is None:
            return {}
        written[source] += error
    return {source: output for source, output in written.items() if texts[source] is not None}


def split_by_error(output):
    """The compiler's output in pieces of one error each, with the lines before it that lead to it."""
    pieces, leads = [[]], True
    for line in output.splitlines(keepends=True):
        begins = bool(re.match(r"In file included from|\S+: In (instantiation|substitution|member function|function)", line))
        if not leads and (begins or " error: " in line):
            pieces.append([])
            leads = True
        pieces[-1].append(line)
        leads = leads and " error: " not in line
    return ["".join(piece) for piece in pieces]


def expected_of(source):
    """How the error must begin: a comment of one line or several."""
    comment = re.match(r"// expect: (.*(?:\n// .*)*)", source.read_text(encoding="utf-8")).group(1)
    return comment.replace("\n// ", " ")


def complaint(source, code, output):
    """What is wrong with the compiler's output; nothing if it is as expected."""
    if expected_of(source) == NOTHING:
        return "" if (code, output) == (0, "") else f"it does not compile:\n{output}"
    lines = output.splitlines()
    errors = [number for number, line in enumerate(lines) if " error: " in line]
    if code == 0 or not errors:
        return "it compiled"
    behind = MAX_LINES_BEHIND_A_STEP if STEP_IN_WRONG_PLACE.search(source.name) else MAX_LINES_BEHIND
    if not re.search(f" error: (static assertion failed: )?{re.escape(expected_of(source))}", lines[errors[0]]):
        return f"another error:\n{output}"
    if len(errors) > MAX_ERRORS or len(lines) > MAX_OUTPUT_LINES or len(lines) - errors[0] - 1 > behind:
        return f"too much output:\n{output}"
    return ""


class CompileFailTest(unittest.TestCase):
    def test_there_are_cases(self):
        self.assertGreater(len(CASES), 10)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="glaive_compile_fail_")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_each_case_fails_with_its_message_and_little_else(self):
        precompile(self.folder)
        as_expected = set()
        wrong = [source for source in CASES if expected_of(source) != NOTHING]
        for first in range(0, len(wrong), CASES_OF_BATCH):
            for source, output in compile_batch(wrong[first:first + CASES_OF_BATCH], self.folder).items():
                if not complaint(source, 1, output):
                    as_expected.add(source)
        for source in CASES:
            with self.subTest(source.name):
                if source not in as_expected:
                    self.assertEqual(complaint(source, *compile_source(source, self.folder)), "")
        self.assertGreater(len(as_expected), len(CASES) / 2, "most cases can be compiled together")


if __name__ == "__main__":
    unittest.main()
