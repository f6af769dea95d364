"""Rules on #include lines: layer direction, confinement of libraries, and how project headers are named."""

import re

from source_tree import CODE, FOLDERS, LAYERS, Finding

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)

# What may only be included below some folders: pattern of the included name, folders, what it is.
CONFINED = [
    (re.compile(r"infiniband/|rdma/rdma_"), ["rdma/verbs/"], "verbs and rdma_cm"),
    (re.compile(r"boost/"), ["engine/fiber/"], "Boost"),
    (re.compile(r"CLI/"), ["engine/flags/"], "CLI11"),
    (re.compile(r"nlohmann/"), ["rdma/bootstrap/", "engine/metrics/", "engine/cluster/", "engine/format/", "queries/ysb/"],
     "nlohmann::json"),
    (re.compile(r"simdjson\.h"), ["engine/format/"], "simdjson"),
    (re.compile(r"zlib\.h"), ["engine/source/", "queries/common/"], "zlib"),
    (re.compile(r"openssl/"), ["rdma/bootstrap/"], "OpenSSL"),
    (re.compile(r"re2/"), ["queries/nexmark/"], "RE2"),
]
# Folders of other libraries' headers that are included with quotes.
LIBRARIES = ["absl", "benchmark", "gmock", "gtest", "nlohmann", "CLI", "boost", "xxhash.h", "simdjson.h"]


def includes(tree, folders):
    """(path, line, quote or bracket, included name) of every include of the folders' code."""
    for path in tree.code(folders):
        text = tree.text(path)
        for match in INCLUDE.finditer(text):
            yield path, text.count("\n", 0, match.start()) + 1, match.group(1), match.group(2)


def check_layers(tree):
    """A layer includes itself and the layers to its right; nothing of a program includes tests or benchmarks."""
    findings = []
    for path, line, mark, name in includes(tree, LAYERS):
        layer, target = path.split("/")[0], name.split("/")[0]
        if mark == "<" or target not in CODE:
            continue
        if target not in LAYERS or LAYERS.index(target) < LAYERS.index(layer):
            allowed = ", ".join(LAYERS[LAYERS.index(layer):])
            findings.append(Finding(path, line, f'"{name}": {layer}/ may only include {allowed}'))
    return findings


def check_folders(tree):
    """Within a layer whose folders have an order, a folder includes itself and those to its right; each has its place."""
    findings = []
    for layer, order in FOLDERS.items():
        unknown = {path for path in tree.code([layer]) if path.split("/")[1] not in order}
        findings += [Finding(path, 1, f"{path.split('/')[1]}/ has no place in the order of {layer}/: source_tree.FOLDERS")
                     for path in sorted(unknown)]
        for path, line, mark, name in includes(tree, [layer]):
            if mark == "<" or path in unknown or not name.startswith(layer + "/"):
                continue
            folder, target = path.split("/")[1], name.split("/")[1]
            allowed = order[order.index(folder):]
            if target not in allowed:
                findings.append(Finding(path, line, f'"{name}": {layer}/{folder}/ may only include {", ".join(allowed)}'))
    return findings


def check_confinement(tree):
    """Some libraries are included in one place only; tests and benchmarks are free."""
    findings = []
    for path, line, mark, name in includes(tree, LAYERS):
        for pattern, folders, what in CONFINED:
            # "rdma/rdma_..." in quotes is a file of the project.
            if not pattern.match(name) or (mark == '"' and name.startswith("rdma/")):
                continue
            if not path.startswith(tuple(folders)):
                findings.append(Finding(path, line, f"{name}: {what} may only be included below {', '.join(folders)}"))
    return findings


def check_names(tree):
    """A project header is included in quotes by its path from the root."""
    findings = []
    for path, line, mark, name in includes(tree, CODE):
        top = name.split("/")[0]
        if mark == '"' and top not in LIBRARIES and not tree.exists(name):
            findings.append(Finding(path, line, f'"{name}" is no file from the project\'s root'))
        if mark == "<" and tree.exists(name):
            findings.append(Finding(path, line, f"<{name}> is a file of the project, which is included in quotes"))
    return findings
