"""The README's sample of a run's output: every line of it is one that the command prints, in this order."""

import re
import unittest

from ysb_process import SOURCE, CliTest

# What differs from run to run and from machine to machine.
VARIABLE = [(r"commit [0-9a-f]+(-dirty)?, \w+", "COMMIT"), (r"\d[\d,.]*", "N"), (r"N(KiB|MiB|GiB|TiB)", "SIZE"),
            (r"N (us|ms|s)\b", "TIME"), (r"^processors: .*?(?=  |$)", "PROCESSORS")]


def shape(line):
    for pattern, word in VARIABLE:
        line = re.sub(pattern, word, line)
    return line


class ReadmeTest(CliTest):
    def test_the_sample_is_what_the_command_prints(self):
        page = (SOURCE / "README.md").read_text(encoding="utf-8")
        command = re.search(r"^scripts/run ysb (--nodes=2 .*?) +#", page, re.MULTILINE).group(1)
        section = page.split("\n## Reading the output\n")[1]
        sample = re.search(r"^```\n(.*?)^```$", section, re.MULTILINE | re.DOTALL).group(1).splitlines()
        out, _ = self.succeed(*command.split(), "--records=20000")
        printed = [shape(line) for line in out.splitlines()]
        at, lines_left_out = 0, False
        for line in sample:
            if line.strip().startswith("…"):
                lines_left_out = True
                continue
            # A line may have an explanation on its right.
            places = [i for i in range(at, len(printed)) if re.match(re.escape(printed[i]) + r"($|  )", shape(line))]
            self.assertTrue(places if lines_left_out else places[:1] == [at], f"a run does not print there: {line}\n{out}")
            at, lines_left_out = places[0] + 1, False
        self.assertTrue(lines_left_out or at == len(printed), f"lines are missing at the end\n{out}")


if __name__ == "__main__":
    unittest.main()
