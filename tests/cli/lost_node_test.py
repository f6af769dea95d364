"""Nodes that are lost end the run at all others, over shared memory; nodes that are merely busy do not."""

import json
import os
import subprocess
import unittest

from lost_nodes import lose_nodes
from ysb_process import SANITIZED, CliTest

SPINNERS = 4 * (os.cpu_count() or 1)
# The shortest that there is, but for programs that are several times slower.
SHORT = "--peer-timeout=5s" if SANITIZED else "--peer-timeout=500ms"


class LostNodeTest(unittest.TestCase):
    def test_every_process_ends_in_time_and_leaves_nothing(self):
        wrong = lose_nodes("shm")
        self.assertEqual(len(wrong), 0, "\n\n".join(wrong))


class BusyNodeTest(CliTest):
    def test_nodes_of_a_starved_machine_are_not_taken_for_dead(self):
        spinners = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(SPINNERS)]
        try:
            self.succeed("--nodes=3", "--executors=2", "--records=20000", "--keys=1000", "--seconds=4s", SHORT)
        finally:
            for spinner in spinners:
                spinner.kill()
                spinner.wait()

    def test_a_long_trigger_and_a_growing_index_are_not_taken_for_death(self):
        records = 200_000 if SANITIZED else 2_000_000
        self.succeed("--nodes=2", f"--records={records}", f"--keys={records}", "--event-rate=0", "--window=1h", SHORT,
                     "--json=report.json")
        report = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))
        self.assertGreater(report["index_growths"], 0)
        print(f"longest round {report['longest_round_ns'] / 1e6:.0f} ms")


if __name__ == "__main__":
    unittest.main()
