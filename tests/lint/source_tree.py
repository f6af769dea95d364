"""The files that lint rules look at, and what a rule returns.

A rule is a function from a SourceTree (or, for symbols, from archives) to a list of Findings; empty means that the rule
is kept. Each rule's test runs it on this project and on a small bad tree that it has to refuse.
"""

import os
import pathlib
import re
import tempfile
import typing

LAYERS = ["queries", "engine", "state", "rdma"]  # each may include itself and those to its right
# The folders of a layer whose folders have an order of their own; each may include itself and those to its right.
FOLDERS = {
    "engine": ["cluster", "flags", "api", "stage", "ingest", "exchange", "graph", "executor", "sink", "source", "format", "metrics", "files", "progress",
               "window", "flow", "steps", "fiber", "base"],
}
PROGRAM = LAYERS
CODE = LAYERS + ["bench", "tests"]
IGNORED_FOLDERS = {".git", ".cache", "build", "__pycache__"}
COMMENT_OR_STRING = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^()\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)


class Finding(typing.NamedTuple):
    path: str
    line: int
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.message}"


class SourceTree:
    """All text files below a root, by their paths relative to it, with forward slashes."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.paths = []
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(set(folders) - IGNORED_FOLDERS)
            relative = pathlib.Path(folder).relative_to(self.root)
            self.paths += [(relative / name).as_posix() for name in sorted(names)]

    def select(self, folders, suffixes):
        """The paths below one of the folders that end in one of the suffixes."""
        return [path for path in self.paths if path.split("/")[0] in folders and path.endswith(tuple(suffixes))]

    def code(self, folders):
        return self.select(folders, [".h", ".cc"])

    def text(self, path):
        return (self.root / path).read_text(encoding="utf-8")

    def exists(self, path):
        return (self.root / path).exists()


def without_comments_and_strings(text):
    """C++ text with every comment and literal replaced by blanks, lines kept."""
    return COMMENT_OR_STRING.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def search_code(tree, paths, pattern, message):
    """A finding for each match of the pattern in the code of the paths; {0} in the message is what matched."""
    findings = []
    for path in paths:
        code = without_comments_and_strings(tree.text(path))
        for match in re.finditer(pattern, code):
            findings.append(Finding(path, code.count("\n", 0, match.start()) + 1, message.format(match.group().strip())))
    return findings


def this_project():
    """The project that this file belongs to."""
    return SourceTree(pathlib.Path(__file__).resolve().parent.parent.parent)


def temporary_tree(test, files):
    """A tree of the given files (path -> text), removed at the end of the test case."""
    folder = tempfile.TemporaryDirectory()
    test.addCleanup(folder.cleanup)
    for path, text in files.items():
        target = pathlib.Path(folder.name, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return SourceTree(folder.name)


def assert_kept(test, findings):
    """Fails the test case with all findings, one a line."""
    if findings:
        test.fail("\n" + "\n".join(str(finding) for finding in findings))
