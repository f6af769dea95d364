"""Every flag of every query, with values at its limits and beyond: no run ends by a signal or a failed check, none hangs,
and what is refused is refused with one line."""

import itertools
import random
import re
import unittest

from flag_values import POOLS, TEXTS, fault_of
from ysb_process import SANITIZED, SOURCE, faults_of, help_of

QUERIES = ["ysb"] if SANITIZED else sorted(main.parent.name for main in SOURCE.glob("queries/*/main.cc"))
SEED = 14
COMBINATIONS = 60  # of each query

# So little that a run takes some hundredths of a second.
TINY = ["--join-timeout=200ms", "--records=200", "--keys=20", "--idle-for=10ms"]
TINY_OF_FILES = TINY[:1]
WITHOUT_KEYS = ("nexmark", "collisions")
TINY_WITHOUT_KEYS = TINY[:2]

# What the flags of a query's windows have to be tried with together.
LENGTHS = ["1ms", "600s", "24h", "8760h"]
# Flags with values that are right, and take long or much: only some of them.
FEW = {"nodes": ["0", "1", "2", "3", "1025", "-1", "4294967297"],
       "executors": ["0", "1", "2", "5", "257", "-1", "4294967297"],
       "seconds": ["0", "1ns", "1ms", "50ms", "-1ms", "8761h", "inf"],
       "rate": ["0", "1e12", "1e13", "-1", "nan", "1e308"],
       "idle-for": ["0", "1ns", "10ms", "-1ms", "8761h"],
       "progress": ["auto", "never", "sometimes"],  # the others show it
       "join-timeout": ["99ms", "100ms", "25h", "-1s"],
       "prefault-state": ["0", "1", "2MiB", "16MiB", "1TiB", "1025TiB", "-1"]}


class Flag:
    def __init__(self, name, placeholder, group):
        self.name = name
        self.group = group
        self.is_switch = placeholder == ""
        self.takes_text = placeholder in ("LAW", "FILE", "FOLDER", "PATH", "NAME", "HOST:PORT", "HOST[:PORT]")
        self.choices = placeholder.split("|") if "|" in placeholder else []
        self.is_length = placeholder == "TIME"
        self.values = FEW.get(name) or self.choices or POOLS[placeholder]

    def draw(self, random_):
        """One argument; mostly of the flag's own kind."""
        if self.is_switch and random_.random() < 0.5:
            return random_.choice([f"--{self.name}", f"--no-{self.name}"]).encode()
        value = random_.choice(self.values if random_.random() < 0.85 else TEXTS)
        return self.argument(value)

    def all_values(self):
        """Those of its own kind, and others."""
        return [*self.values, *(TEXTS if self.takes_text else TEXTS[:3])]

    def argument(self, value):
        return f"--{self.name}=".encode() + (value if isinstance(value, bytes) else value.encode())


def flags_of(query):
    flags = []
    for group, lines in re.findall(r"^(\S.*):\n((?:  .*\n)+)", help_of(query), re.MULTILINE):
        flags += [Flag(name, value, group) for name, value in re.findall(r"^  --([a-z-]+)(?:=(\S+))?", lines, re.MULTILINE)]
    return [flag for flag in flags if flag.group != "Help"]


def run(query, arguments):
    """What is wrong with how a short run of the query with these arguments ends, if anything is."""
    base = TINY_OF_FILES if any(argument.startswith(b"--input") for argument in arguments) else TINY
    return fault_of(query, TINY_WITHOUT_KEYS if query in WITHOUT_KEYS and base is TINY else base, arguments)


class FlagFuzzTest(unittest.TestCase):
    def expect_good_ends(self, cases):
        wrong = faults_of(run, cases)
        self.assertEqual(wrong, [], "\n\n".join(wrong[:20]))

    def test_every_value_of_every_flag_by_itself(self):
        cases = []
        seen = set()
        for query in QUERIES:
            for flag in flags_of(query):
                # The flags of the engine and of the input are the same in all queries: they take one of them in turn.
                values = [value for value in flag.all_values() if (flag.name, value) not in seen]
                seen |= {(flag.name, value) for value in values}
                cases += [(query, [flag.argument(value)]) for value in values]
        self.expect_good_ends(cases)

    def test_windows_of_every_kind_and_length(self):
        cases = []
        for query in QUERIES:
            own = [flag for flag in flags_of(query)
                   if flag.group.startswith("Query") and (flag.choices or flag.is_length)]
            cases += [(query, [flag.argument(value) for flag, value in zip(own, values)])
                      for values in itertools.product(*(flag.choices or LENGTHS for flag in own))]
        self.expect_good_ends(cases)

    def test_several_flags_together(self):
        random_ = random.Random(SEED)
        cases = []
        for query in QUERIES:
            flags = flags_of(query)
            cases += [(query, [flag.draw(random_) for flag in random_.sample(flags, random_.randint(2, 5))])
                      for _ in range(COMBINATIONS)]
        self.expect_good_ends(cases)


if __name__ == "__main__":
    unittest.main()
