"""Runs over two hosts, each a kernel of its own with an RDMA device, joined by an Ethernet (scripts/softroce pair)."""

import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest
import uuid

from ysb_process import SOURCE, YSB

RECORDS = ["--records=20000", "--keys=500", "--verify"]
LIMIT_SECONDS = 100
# The device's own count of packets that left it, inside a guest.
SENT = "/sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts"


class PairTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="glaive_pair_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        secret = self.folder / "run.secret"
        secret.write_text(uuid.uuid4().hex + "\n", encoding="ascii")
        secret.chmod(0o600)

    def run_ranks(self, *hosts):
        """Runs the ranks of a run on two hosts, given as lists of ranks; the report of rank 0 and what was printed."""
        nodes = sum(len(ranks) for ranks in hosts)
        commands = []
        for host, ranks in enumerate(hosts, start=1):
            lines = [shlex.join([str(YSB.resolve()), "--secret-file=run.secret", f"--nodes={nodes}", f"--rank={rank}", f"--bind=10.0.0.{host}",
                                 "--coordinator=10.0.0.1:7700", *RECORDS, *(["--json=report.json"] if rank == 0 else [])])
                     for rank in ranks]
            # The other ranks of a host run beside the first, and all have to succeed.
            commands.append(f"start=$(cat {SENT}); " + " & ".join(lines) + ' & for job in $(jobs -p); do wait "$job" || '
                            f"exit; done; echo sent $(($(cat {SENT}) - start)) packets")
        done = subprocess.run([SOURCE / "scripts/softroce", "pair", "-t", str(LIMIT_SECONDS), *commands], cwd=self.folder,
                              env=dict(os.environ), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for host in (1, 2):
            sent = re.search(rf"^{host}: sent (\d+) packets$", done.stdout, re.MULTILINE)
            self.assertTrue(sent, done.stdout)
            self.assertGreater(int(sent[1]), 10)
        return json.loads((self.folder / "report.json").read_text(encoding="utf-8")), done.stdout

    def test_one_node_on_each_of_two_hosts_runs_over_rdma(self):
        report, printed = self.run_ranks([0], [1])
        self.assertEqual(report["transport"], "verbs")
        self.assertEqual(report["verification"], "passed")
        self.assertIn("transport verbs: each of the 2 nodes is on a host of its own", printed)
        self.assertRegex(printed, r"node 0: rxe0 port 1 .* at 10\.0\.0\.1, .*\n.*node 1: rxe0 port 1 .* at 10\.0\.0\.2, ")

    def test_two_nodes_on_each_host_mix_shared_memory_and_rdma(self):
        report, printed = self.run_ranks([0, 1], [2, 3])
        self.assertEqual(report["transport"], "shm+verbs")
        self.assertEqual(report["verification"], "passed")
        self.assertIn("(2 nodes on this host", printed)
        self.assertIn("verbs between the 2 hosts, shm between the nodes of one", printed)


if __name__ == "__main__":
    unittest.main()
