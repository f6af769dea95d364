"""Rules on words that have one meaning each in the names of a program: look, settle, stage, slot, keep, node."""

import pathlib
import re
import typing

from source_tree import PROGRAM, Finding, without_comments_and_strings

IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


class Rule(typing.NamedTuple):
    words: str        # a pattern of the lower-case words that are refused
    unless: str       # a pattern of identifiers that are allowed all the same
    below: list       # folders
    free: str         # a pattern of paths below them that are allowed all the words
    message: str


NEVER = r"(?!)"
RULES = [
    Rule("look(s|ed|ing)?", r"\w*[lL]ook(ed)?_?[uU]p\w*", PROGRAM, NEVER,
         "nothing looks: a device is polled, a cell probed, a name looked up, a turn ended (Pace)"),
    Rule("settle[sd]?", NEVER, PROGRAM, NEVER, "nothing settles: pending work is flushed"),
    Rule("staged|staging", NEVER, PROGRAM, NEVER, "a stage is a vertex with state; records that wait are pending"),
    Rule("slots?", r"\w*([sS]lot|SlotGranularity)_?[bB]ytes", ["queries", "engine", "state"], NEVER,
         "a slot is a message's place in a channel's ring; a table has cells, a bucket has tags"),
    Rule("keeps?|kept", r"\w*KeepAlive\w*|kept_tuple\w*", ["engine", "state", "rdma"],
         r"engine/(api|graph|stage)/(\w*join\w*|kept_tuples|wrong_order)\.h",
         "only a join keeps tuples; others store, retain, accept or select"),
    Rule("node", NEVER, ["engine/api", "engine/steps", "engine/stage", "engine/graph", "engine/exchange", "engine/ingest"], NEVER,
         "a node is a process of the cluster; a query's graph has vertices"),
]


def words_of(identifier):
    return [word.lower() for word in WORD.findall(identifier)]


def check_words(tree):
    """In identifiers and names of files a word has one meaning."""
    findings = []
    for path in tree.code(PROGRAM):
        rules = [rule for rule in RULES
                 if path.startswith(tuple(folder + "/" for folder in rule.below)) and not re.fullmatch(rule.free, path)]
        names = [(1, pathlib.PurePosixPath(path).stem)]
        for number, line in enumerate(without_comments_and_strings(tree.text(path)).splitlines(), start=1):
            if not line.lstrip().startswith("#include"):
                names += [(number, name) for name in IDENTIFIER.findall(line)]
        for number, name in names:
            for rule in rules:
                if any(re.fullmatch(rule.words, word) for word in words_of(name)) and not re.fullmatch(rule.unless, name):
                    findings.append(Finding(path, number, f"{name}: {rule.message}"))
    return findings
