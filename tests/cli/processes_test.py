"""A run's processes as ps and top show them, and the processors that they are pinned to."""

import os
import pathlib
import re
import subprocess
import unittest

from ysb_process import ENDLESS, MARK, PATIENCE_SECONDS, CliTest


def allowed_cpus(task):
    """The processors of a thread, as the kernel writes them."""
    return re.search(r"^Cpus_allowed_list:\s*(\S+)", (task / "status").read_text(encoding="utf-8"), re.MULTILINE).group(1)


class ProcessesTest(CliTest):
    def test_all_nodes_bear_the_name_of_the_query(self):
        self.start_endless("--nodes=3")
        self.assertEqual([pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="utf-8") for pid in self.pids()], ["ysb\n"] * 3)

    def test_closed_standard_streams_are_not_mistaken_for_others(self):
        flags = [*ENDLESS, "--seconds=1s", "--progress=always", "--output=counts.csv", "--join-output"]
        for nodes, closed in [(1, ">&- 2>&-"), (2, "<&- >&- 2>&-")]:
            with self.subTest(nodes=nodes, closed=closed):
                command = ["sh", "-c", f'exec "$@" {closed}', "sh", self.binary, f"--nodes={nodes}", *flags]
                subprocess.run(command, cwd=self.folder, env=os.environ | {MARK: self.mark}, timeout=PATIENCE_SECONDS,
                               check=True)
                header, *rows = (self.folder / "counts.csv").read_text(encoding="utf-8").splitlines()
                self.assertEqual(header, "window_start_ms,window_end_ms,key,value")
                self.assertGreater(len(rows), 1000)
                self.assertEqual([row for row in rows if not re.fullmatch(r"\d+,\d+,\d+,\d+", row)], [])

    def pinned_cpus(self, ysb):
        """Those of a run of one node whose threads differ from its main thread's, and those that it has told of."""
        process = pathlib.Path(f"/proc/{ysb.process.pid}")
        pinned = {allowed_cpus(task) for task in (process / "task").iterdir()} - {allowed_cpus(process)}
        line = re.compile(r"^processors: (.*)\n", re.MULTILINE)
        self.assertTrue(ysb.out.wait_for(line), ysb.out.text)  # standard error may be read before it
        told = line.search(ysb.out.text).group(1)
        self.assertRegex(told, r"^(node 0's executors are pinned to \d+( \(NUMA node \d+\))?|not pinned, .*)$")
        if "," not in allowed_cpus(process) and "-" not in allowed_cpus(process):
            return set(), told  # of a single processor all threads have the same
        self.assertEqual(pinned, set(re.findall(r"pinned to (\d+)", told)), told)
        return pinned, told

    def test_runs_at_the_same_time_are_pinned_to_processors_of_their_own(self):
        runs = [self.pinned_cpus(self.start_endless()) for _ in range(3)]
        for first in range(3):
            for second in range(first):
                self.assertEqual(runs[first][0] & runs[second][0], set(), runs)


if __name__ == "__main__":
    unittest.main()
