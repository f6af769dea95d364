"""Rules on text: small files, nothing unfinished, headers that introduce themselves, links that lead somewhere."""

import re

from source_tree import CODE, Finding

MAX_LINES = 450
LIMITED_SUFFIXES = [".h", ".cc", ".py", ".sh", ".cmake", ".txt"]
SCRIPT_FOLDERS = ["scripts", ".ci"]
UNFINISHED = re.compile("|".join([r"\bTO" r"DO\b", r"\bFIX" r"ME\b", r"\bX" r"XX\b", r"\bHA" r"CK\b"]))
BINARY_SUFFIXES = (".png", ".jpg", ".pdf")
BINARY_FOLDER = "tests/fuzz/corpus/"
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


def check_length(tree):
    """Files stay small."""
    findings = []
    for path in tree.select(CODE, LIMITED_SUFFIXES) + tree.select(SCRIPT_FOLDERS, [""]):
        lines = tree.text(path).count("\n")
        if lines > MAX_LINES:
            findings.append(Finding(path, lines, f"{lines} lines; a file has at most {MAX_LINES}: split it"))
    return findings


def check_unfinished(tree):
    """Nothing is left for later in the sources."""
    findings = []
    for path in tree.select(CODE + SCRIPT_FOLDERS + ["docs", "README.md", "CMakeLists.txt"], [""]):
        if path.endswith(BINARY_SUFFIXES) or path.startswith(BINARY_FOLDER):
            continue
        for number, line in enumerate(tree.text(path).splitlines(), start=1):
            match = UNFINISHED.search(line)
            if match:
                findings.append(Finding(path, number, f"{match.group()}: finish it, or file an issue"))
    return findings


def check_headers(tree):
    """A header opens with a comment on what it is, and guards itself with #pragma once."""
    findings = []
    for path in tree.select(CODE, [".h"]):
        text = tree.text(path)
        if not text.startswith("//"):
            findings.append(Finding(path, 1, "a header opens with a comment: what it is, who owns it, what it costs"))
        if not re.search(r"^#pragma once$", text, re.MULTILINE):
            findings.append(Finding(path, 1, "a header has #pragma once"))
    return findings


def heading_anchors(text):
    """The anchors of a Markdown page's headings, as GitHub makes them."""
    anchors = set()
    for heading in re.findall(r"^#+\s+(.*?)\s*$", FENCE.sub("", text), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", words))
        repeated = 0
        while slug + (f"-{repeated}" if repeated else "") in anchors:
            repeated += 1
        anchors.add(slug + (f"-{repeated}" if repeated else ""))
    return anchors


def check_links(tree):
    """Relative links of Markdown pages lead to files and headings that exist."""
    findings = []
    for path in [path for path in tree.paths if path.endswith(".md")]:
        text = tree.text(path)
        searchable = FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
        for match in LINK.finditer(searchable):
            target, _, anchor = match.group(1).partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            line = searchable.count("\n", 0, match.start()) + 1
            file = (tree.root / path).parent / target if target else tree.root / path
            if not file.exists():
                findings.append(Finding(path, line, f"the link {match.group(1)} leads to no file"))
            elif anchor and file.suffix == ".md" and anchor not in heading_anchors(file.read_text(encoding="utf-8")):
                findings.append(Finding(path, line, f"the link {match.group(1)} leads to no heading"))
    return findings
