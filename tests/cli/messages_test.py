"""What processes say of themselves: when and where, for whom they wait, that they were stopped, that they have no rank."""

import datetime
import os
import re
import signal
import time
import unittest
import unittest.mock

from ysb_process import SANITIZED, CliTest, free_port

SMALL = ["--records=20000", "--keys=500"]
PEER_TIMEOUT_SECONDS = 5 if SANITIZED else 1


class MessagesTest(CliTest):
    def test_every_message_has_its_time_and_host(self):
        code, _, err = self.run_ysb("--nodes=2", "--memory-limit=1MiB", *SMALL)
        self.assertEqual(code, 1)
        for line in err.splitlines():
            self.assertRegex(line, r"^\S+ \S+ ysb: rank [01]: \S")
            written, host = line.split(" ")[:2]
            self.assertRegex(written, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
            age = datetime.datetime.now(datetime.timezone.utc) - datetime.datetime.fromisoformat(written[:-1] + "+00:00")
            self.assertLess(abs(age.total_seconds()), 600)
            self.assertEqual(host, os.uname().nodename)

    def test_rank_0_says_for_whom_it_waits_and_where(self):
        address = f"127.0.0.1:{free_port()}"
        ranks = {rank: self.start("--nodes=3", f"--rank={rank}", f"--coordinator={address}", *SMALL) for rank in (0, 2)}
        waits = re.compile(rf"ysb: rank 0: waits at {re.escape(address)} for rank 1 of 3 nodes, .*--join-timeout")
        self.assertTrue(ranks[0].err.wait_for(waits), ranks[0].err.text)
        ranks[1] = self.start("--nodes=3", "--rank=1", f"--coordinator={address}", *SMALL)
        for ysb in ranks.values():
            self.assertEqual(ysb.wait(), 0, ysb.err.text)

    def test_a_rank_says_where_it_looks_for_rank_0(self):
        address = f"127.0.0.1:{free_port()}"
        member = self.start("--nodes=2", "--rank=1", f"--coordinator={address}", *SMALL)
        looks = re.compile(rf"ysb: rank 1: looks for the coordinator at {re.escape(address)} \(Connection refused\)")
        self.assertTrue(member.err.wait_for(looks), member.err.text)
        first = self.start("--nodes=2", "--rank=0", f"--coordinator={address}", *SMALL)
        for ysb in (first, member):
            self.assertEqual(ysb.wait(), 0, ysb.err.text)

    def test_a_rank_that_was_stopped_says_so_when_it_wakes_up(self):
        for rank in (0, 1):
            with self.subTest(rank=rank):
                ranks = self.start_by_hand(2, f"--peer-timeout={PEER_TIMEOUT_SECONDS}s")
                victim, other = ranks[rank], ranks[1 - rank]
                victim.send(signal.SIGSTOP)
                self.assertEqual(other.wait(), 3)
                self.assertIn(f"node {rank} (process {victim.process.pid})", other.err.text)
                time.sleep(PEER_TIMEOUT_SECONDS)  # the other may have counted from an earlier sign of life
                victim.send(signal.SIGCONT)
                self.assertEqual(victim.wait(), 3)
                self.assertRegex(victim.err.text,
                                 rf"ysb: rank {rank}: node {rank} \(process {victim.process.pid}\) was stopped, or kept "
                                 rf"from running, for [\d.]+s, longer than --peer-timeout={PEER_TIMEOUT_SECONDS}s, and the "
                                 r"others have ended the run without it")

    def test_one_of_several_tasks_of_a_batch_system_does_not_run_alone(self):
        for rank, size, command in [("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "srun"),
                                    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "mpirun"),
                                    ("PMI_RANK", "PMI_SIZE", "mpiexec")]:
            with self.subTest(command), unittest.mock.patch.dict(os.environ, {rank: "1", size: "4"}):
                code, out, err = self.run_ysb(*SMALL, "--output=counts.csv")
                self.assertEqual((code, out), (2, ""))
                self.assertIn(f"ysb: this is one of 4 tasks that {command} has started ({rank}=1)", err)
                self.assertIn(f"--nodes=4 --rank=${rank} --coordinator=HOST:PORT", err)
                self.assertEqual(self.files(), [])
                self.succeed(*SMALL, "--rank=0")
            with unittest.mock.patch.dict(os.environ, {rank: "0", size: "1"}):
                self.succeed(*SMALL, "--nodes=2")


if __name__ == "__main__":
    unittest.main()
