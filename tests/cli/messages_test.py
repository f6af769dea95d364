"""What processes say of themselves: when and where, for whom they wait, that they were stopped, that they have no rank."""

import datetime
import os
import re
import signal
import time
import unittest
import unittest.mock

from ysb_process import FORM, SANITIZED, SOURCE, CliTest, free_port

SMALL = ["--records=20000", "--keys=500"]
PEER_TIMEOUT_SECONDS = 5 if SANITIZED else 1


class MessagesTest(CliTest):
    def test_every_message_has_its_time_and_host(self):
        code, _, err = self.run_ysb("--nodes=2", "--memory-limit=1MiB", *SMALL)
        self.assertEqual(code, 1)
        for line in err.splitlines():
            self.assertRegex(line, FORM)
            written, host = line.split(" ")[:2]
            age = datetime.datetime.now(datetime.timezone.utc) - datetime.datetime.fromisoformat(written[:-1] + "+00:00")
            self.assertLess(abs(age.total_seconds()), 600)
            self.assertEqual(host, os.uname().nodename)

    def test_the_documented_form_is_that_of_messages_and_of_flag_errors(self):
        page = (SOURCE / "docs/operations.md").read_text(encoding="utf-8")
        self.assertRegex(re.search(r"^    (\d{4}-.*)$", page, re.MULTILINE).group(1), FORM)
        self.assertIn("`QUERY: MESSAGE (QUERY --help lists all flags)`", page)
        _, _, err = self.run_ysb("--nodes=0")
        self.assertRegex(err, r"^ysb: \S.* \(ysb --help lists all flags\)\n$")

    def test_the_documented_exit_codes_are_all_that_there_are(self):
        page = (SOURCE / "docs/operations.md").read_text(encoding="utf-8")
        table = page.split("\n## Exit codes\n\n")[1].split("\n\n")[0]
        codes = {int(code) for line in re.findall(r"^\| ([\d, ]+) \|", table, re.MULTILINE) for code in line.split(",")}
        header = (SOURCE / "engine/cluster/run_program.h").read_text(encoding="utf-8")
        returned = {int(code) for code in re.findall(r"^  k\w+ = (\d+),", header, re.MULTILINE)}
        self.assertGreater(len(returned), 5)
        killed = {128 + number for number in (signal.SIGABRT, signal.SIGKILL, signal.SIGSEGV, signal.SIGPIPE,
                                              signal.SIGTERM)}
        self.assertEqual(codes, returned | killed)

    def test_rank_0_says_for_whom_it_waits_and_where(self):
        address = f"127.0.0.1:{free_port()}"
        ranks = {rank: self.start("--nodes=3", f"--rank={rank}", f"--coordinator={address}", *SMALL) for rank in (0, 2)}
        waits = re.compile(rf"ysb: rank 0: waits at {re.escape(address)} for rank 1 of 3 nodes, .*--join-timeout")
        self.assertTrue(ranks[0].err.wait_for(waits), ranks[0].err.text)
        ranks[1] = self.start("--nodes=3", "--rank=1", f"--coordinator={address}", *SMALL)
        for ysb in ranks.values():
            self.assertEqual(ysb.wait(), 0, ysb.err.text)

    def test_a_rank_says_where_it_calls_rank_0(self):
        address = f"127.0.0.1:{free_port()}"
        member = self.start("--nodes=2", "--rank=1", f"--coordinator={address}", *SMALL)
        calls = re.compile(rf"ysb: rank 1: calls the coordinator at {re.escape(address)} \(Connection refused\)")
        self.assertTrue(member.err.wait_for(calls), member.err.text)
        first = self.start("--nodes=2", "--rank=0", f"--coordinator={address}", *SMALL)
        for ysb in (first, member):
            self.assertEqual(ysb.wait(), 0, ysb.err.text)

    def stop_and_wake(self, ranks, rank):
        """Stops one of two ranks until the other has given it up, and wakes it up: it says that it was stopped."""
        victim, other = ranks[rank], ranks[1 - rank]
        victim.send(signal.SIGSTOP)
        self.assertEqual(other.wait(), 3)
        time.sleep(PEER_TIMEOUT_SECONDS)  # the other may have counted from an earlier sign of life
        victim.send(signal.SIGCONT)
        self.assertEqual(victim.wait(), 3)
        self.assertRegex(victim.err.text,
                         rf"ysb: rank {rank}: node {rank} \(process {victim.process.pid}\) was stopped, or kept from running, "
                         rf"for [\d.]+s, longer than --peer-timeout={PEER_TIMEOUT_SECONDS}s, and the others have ended the run "
                         r"without it")

    def test_a_rank_that_was_stopped_says_so_when_it_wakes_up(self):
        for rank in (0, 1):
            with self.subTest(rank=rank):
                self.stop_and_wake(self.start_by_hand(2, f"--peer-timeout={PEER_TIMEOUT_SECONDS}s"), rank)

    def test_a_rank_that_was_stopped_before_the_run_began_says_so_too(self):
        for rank in (0, 1):
            with self.subTest(rank=rank):
                address = f"--coordinator=127.0.0.1:{free_port()}"
                flags = ["--nodes=3", f"--peer-timeout={PEER_TIMEOUT_SECONDS}s", address, *SMALL]
                ranks = [self.start(*flags, f"--rank={number}") for number in (0, 1)]
                # Once rank 2 alone is missing, rank 1 has joined.
                self.assertTrue(ranks[0].err.wait_for(re.compile("waits at .* for rank 2 of 3 nodes")))
                self.stop_and_wake(ranks, rank)

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
