"""Runs that cannot go on: each ends at every node, in time, with a message that says what to do, leaving nothing."""

import json
import os
import signal
import socket
import subprocess
import time
import unittest
import unittest.mock

from ysb_process import END_SECONDS, PATIENCE_SECONDS, SANITIZED, CliTest, free_port

SMALL = ["--records=20000", "--keys=500"]
# Results that appear as a whole at the end; publish_test.py has the others.
ALL_OR_NONE = ["--output=counts.csv", "--publish=end"]
# Well below the time that the verification of start_verifying takes: the end must not wait for its end.
VERIFICATION_END_SECONDS = 0.25 * END_SECONDS
PRELOADS = "a sanitizer's library has to be loaded first"
# A disk that does not answer, from one call of fsync on, when it is to read a file, or when it is to remove a part; it
# says when, and goes on when it is told to.
DISK_THAT_HANGS = """
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <atomic>
#include <cstdlib>
#include <string>
static std::string Value(const char* name) { return std::getenv(name) == nullptr ? "" : std::getenv(name); }
static void Hang() {
  close(open(Value("HANGS").c_str(), O_CREAT | O_WRONLY, 0666));
  while (Value("GOES_ON").empty() || access(Value("GOES_ON").c_str(), F_OK) != 0) usleep(1000);
}
extern "C" int fsync(int) {
  static std::atomic<int> calls{0};
  if (!Value("FIRST_THAT_HANGS").empty() && ++calls >= std::stoi(Value("FIRST_THAT_HANGS"))) Hang();
  return 0;
}
extern "C" ssize_t read(int fd, void* bytes, size_t count) {
  char path[4096];
  const ssize_t length = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path, sizeof(path));
  const std::string file = Value("READ_THAT_HANGS");
  if (length > 0 && !file.empty() && std::string(path, static_cast<size_t>(length)).ends_with(file)) Hang();
  return syscall(SYS_read, fd, bytes, count);
}
extern "C" int unlink(const char* path) noexcept {
  const std::string name = path;
  const bool is_part = name.find("/.") == std::string::npos && !name.starts_with(".") && name.find(".csv") != std::string::npos;
  if (is_part && !Value("UNLINK_HANGS").empty()) Hang();
  return static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}
"""


class FailureTest(CliTest):
    def expect_end(self, ysb, *texts, seconds=END_SECONDS):
        """The process ends in time, not with 0, and says each of the texts."""
        code = ysb.wait(seconds)
        self.assertNotEqual(code, 0)
        for text in texts:
            self.assertIn(text, ysb.err.text)
        return code

    def assert_at_most_a_temporary_file_of_rank_1(self):
        for name in self.files():
            self.assertRegex(name, r"^\.counts\.csv\.part-001-of-002\.\d+-\d+\.tmp$")

    # ---- a node that dies ----

    def test_a_killed_node_ends_the_run_and_is_named(self):
        ysb = self.start_endless("--nodes=3")
        victim = self.pid_of_rank(2)
        os.kill(victim, signal.SIGKILL)
        self.assertEqual(self.expect_end(ysb, "rank 0: ", "rank 1: ", f"node 2 (process {victim}) was lost"), 3)
        self.assertEqual(self.wait_until_gone(), [])

    def test_a_killed_node_of_those_started_by_hand_is_named_by_all_others(self):
        ranks = self.start_by_hand(3)
        victim = ranks[1].process.pid
        ranks[1].send(signal.SIGKILL)
        for ysb in (ranks[0], ranks[2]):
            self.assertEqual(self.expect_end(ysb, f"node 1 (process {victim}) was lost"), 3)

    def test_a_killed_coordinator_started_by_hand_is_named_by_all_others(self):
        ranks = self.start_by_hand(3)
        victim = ranks[0].process.pid
        ranks[0].send(signal.SIGKILL)
        for ysb in ranks[1:]:
            self.assertEqual(self.expect_end(ysb, f"node 0 (process {victim})", "was lost"), 3)

    def test_nodes_do_not_outlive_the_process_that_started_them(self):
        ysb = self.start_endless("--nodes=3")
        self.assertEqual(len(self.pids()), 3)
        ysb.send(signal.SIGKILL)
        ysb.process.wait(END_SECONDS)
        self.assertEqual(self.wait_until_gone(), [])

    def test_a_killed_node_ends_the_verification(self):
        [ysb] = self.start_verifying()
        victim = self.pid_of_rank(1)
        os.kill(victim, signal.SIGKILL)
        self.assertEqual(self.expect_end(ysb, f"node 1 (process {victim}) was lost",
                                         seconds=VERIFICATION_END_SECONDS), 3)
        self.assertEqual(self.wait_until_gone(), [])
        self.assert_at_most_a_temporary_file_of_rank_1()

    def test_a_killed_coordinator_ends_the_verification(self):
        address = f"--coordinator=127.0.0.1:{free_port()}"
        coordinator, ysb = self.start_verifying(["--rank=0", address], ["--rank=1", address])
        coordinator.send(signal.SIGKILL)
        victim = coordinator.process.pid
        self.assertEqual(self.expect_end(ysb, f"node 0 (process {victim}), the coordinator, was lost",
                                         seconds=VERIFICATION_END_SECONDS), 3)

    def test_no_result_stands_under_its_name_when_a_node_died(self):
        ysb = self.start_endless("--nodes=2", *ALL_OR_NONE, "--join-output", "--json=report.json")
        os.kill(self.pid_of_rank(1), signal.SIGKILL)
        self.expect_end(ysb)
        self.assertEqual(self.wait_until_gone(), [])
        # Only the killed node can leave something behind, and that still bears a temporary name.
        self.assert_at_most_a_temporary_file_of_rank_1()

    # ---- the user ----

    def test_an_interrupt_ends_the_whole_run_cleanly(self):
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup would have the runs ignore it
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for target in ("group", "rank 0", "rank 1"):
                with self.subTest(signal=number, target=target):
                    ysb = self.start_endless("--nodes=2", *ALL_OR_NONE)
                    if target == "group":  # what a terminal does
                        os.killpg(ysb.process.pid, number)
                    else:
                        os.kill(ysb.process.pid if target == "rank 0" else self.pid_of_rank(1), number)
                    self.assertEqual(self.expect_end(ysb, "interrupted by"), 130)
                    self.assertEqual(self.wait_until_gone(), [])
                    self.assertEqual(self.files(), [])

    def test_an_interrupt_ends_the_wait_for_others(self):
        ysb = self.start("--nodes=2", "--rank=0", f"--bind=127.0.0.1:{free_port()}", *SMALL)
        member = self.start("--nodes=2", "--rank=1", f"--coordinator=127.0.0.1:{free_port()}", *SMALL)
        for waiting in (ysb, member):
            self.wait_until_it_handles_signals(waiting.process.pid)
            waiting.send(signal.SIGINT)
            self.assertEqual(self.expect_end(waiting, "interrupted"), 130)

    def test_an_interrupt_ends_the_verification(self):
        for target in ("group", "rank 0", "rank 1"):
            with self.subTest(target=target):
                [ysb] = self.start_verifying()
                if target == "group":
                    os.killpg(ysb.process.pid, signal.SIGINT)
                else:
                    os.kill(ysb.process.pid if target == "rank 0" else self.pid_of_rank(1), signal.SIGINT)
                self.assertEqual(self.expect_end(ysb, "interrupted by", seconds=VERIFICATION_END_SECONDS), 130)
                self.assertEqual(self.wait_until_gone(), [])
                self.assertEqual(self.files(), [])

    # ---- a disk that does not answer ----

    def start_on_disk(self, *flags, output=ALL_OR_NONE, **disk):
        """A run whose disk hangs as the variables say."""
        library = self.folder / "disk.so"
        if not library.exists():
            subprocess.run([os.environ.get("GLAIVE_CXX", "c++"), "-std=c++20", "-shared", "-fPIC", "-o", library,
                            "-x", "c++", "-"], input=DISK_THAT_HANGS, text=True, check=True, timeout=PATIENCE_SECONDS)
        with unittest.mock.patch.dict(os.environ, {"LD_PRELOAD": str(library), **disk}):
            return self.start(*output, *flags)

    def results(self):
        return [name for name in self.files() if name.startswith("counts.csv")]

    @unittest.skipIf(SANITIZED, PRELOADS)
    def test_an_interrupt_ends_a_node_whose_disk_does_not_answer(self):
        # The part is synced, synced once more before it gets its name, and its folder after that.
        for first, unlink_hangs in (("1", ""), ("2", ""), ("3", ""), ("3", "yes")):
            with self.subTest(first_that_hangs=first, unlink_hangs=unlink_hangs):
                hung = self.folder / f"hung{first}{unlink_hangs}"
                ysb = self.start_on_disk(*SMALL, FIRST_THAT_HANGS=first, UNLINK_HANGS=unlink_hangs, HANGS=str(hung))
                self.wait_until(hung.exists)
                ysb.send(signal.SIGINT)
                self.assertEqual(self.expect_end(ysb, "interrupted by SIGINT", "(ended at once: it was busy)"), 130)
                self.assertEqual(self.results(), ["counts.csv"] if unlink_hangs else [])

    @unittest.skipIf(SANITIZED, PRELOADS)
    def test_a_node_that_ends_at_once_says_what_it_has_published(self):
        hung = self.folder / "hung"
        ysb = self.start_on_disk(*SMALL, output=["--output=counts.csv"], FIRST_THAT_HANGS="1", HANGS=str(hung))
        self.wait_until(hung.exists)
        ysb.send(signal.SIGINT)
        self.assertEqual(self.expect_end(ysb, "interrupted by SIGINT"), 130)
        rows = len((self.folder / "counts.csv").read_text().splitlines()) - 1
        self.assertIn(f"(ended at once: it was busy); published: counts.csv has {rows} rows, all of the stream",
                      ysb.err.text)

    @unittest.skipIf(SANITIZED, PRELOADS)
    def test_an_interrupt_ends_a_node_that_waits_for_its_input(self):
        (self.folder / "views.json").write_text("{}\n", encoding="utf-8")
        hung = self.folder / "hung"
        ysb = self.start_on_disk("--input=views.json", READ_THAT_HANGS="/views.json", HANGS=str(hung))
        self.wait_until(hung.exists)
        time.sleep(0.2)  # main looks for the signal while the executor reads
        ysb.send(signal.SIGINT)
        self.assertEqual(self.expect_end(ysb, "interrupted by SIGINT", "(ended at once: it was busy)"), 130)

    @unittest.skipIf(SANITIZED, PRELOADS)
    def test_a_node_that_waits_for_its_disk_names_the_launcher_that_was_lost(self):
        hung = self.folder / "hung"
        ysb = self.start_on_disk("--nodes=2", *SMALL, FIRST_THAT_HANGS="1", HANGS=str(hung))
        self.wait_until(hung.exists)
        ysb.send(signal.SIGKILL)
        self.assertEqual(self.wait_until_gone(), [])
        ysb.err.thread.join(END_SECONDS)
        self.assertRegex(ysb.err.text, r"rank 1: .* was lost.*\(ended at once: it was busy\)")
        self.assertNotIn("interrupted", ysb.err.text)

    @unittest.skipIf(SANITIZED, PRELOADS)
    def test_all_nodes_or_none_keep_their_results_when_one_is_interrupted_behind_the_naming(self):
        address = f"--coordinator=127.0.0.1:{free_port()}"
        hung, removes, goes_on = (self.folder / name for name in ("hung", "removes", "goes_on"))
        flags = ["--nodes=2", address, *SMALL]
        ranks = [self.start_on_disk("--rank=0", *flags, FIRST_THAT_HANGS="3", HANGS=str(hung), GOES_ON=str(goes_on)),
                 self.start_on_disk("--rank=1", *flags, UNLINK_HANGS="yes", HANGS=str(removes), GOES_ON=str(goes_on))]
        self.wait_until(lambda: hung.exists() and "counts.csv.part-001-of-002" in self.files())
        time.sleep(0.3)  # rank 1 waits for rank 0, whose folder is not synced yet
        ranks[1].send(signal.SIGINT)
        time.sleep(0.3)
        goes_on.touch()
        self.assertEqual([ysb.wait(END_SECONDS) for ysb in ranks], [130, 130], ranks[0].err.text + ranks[1].err.text)
        self.assertEqual(self.results(), [])

    def wait_until_it_handles_signals(self, pid):
        deadline = time.monotonic() + END_SECONDS
        while time.monotonic() < deadline:
            with open(f"/proc/{pid}/status", encoding="utf-8") as status:
                blocked = next(line for line in status if line.startswith("SigBlk:"))
            if int(blocked.split()[1], 16) & (1 << (signal.SIGINT - 1)):
                return
            time.sleep(0.01)
        self.fail("it never came to handle signals")

    # ---- nodes that do not find each other ----

    def test_a_node_that_never_comes_is_named_to_all_that_did(self):
        address = f"127.0.0.1:{free_port()}"
        ranks = [self.start("--nodes=3", f"--rank={rank}", f"--coordinator={address}", f"--join-timeout={timeout}",
                            *SMALL) for rank, timeout in ((0, "2s"), (1, "30s"))]
        for ysb in ranks:
            self.assertEqual(self.expect_end(ysb, "rank 2 of 3 nodes did not join", address, "--join-timeout"), 3)

    def test_a_coordinator_that_never_comes_is_named(self):
        address = f"127.0.0.1:{free_port()}"
        ysb = self.start("--nodes=2", "--rank=1", f"--coordinator={address}", "--join-timeout=1s", *SMALL)
        self.assertEqual(self.expect_end(ysb, f"found no coordinator at {address}", "start rank 0 there"), 3)

    def test_a_port_in_use_is_named(self):
        with socket.socket() as holder:
            holder.bind(("127.0.0.1", 0))
            holder.listen()
            address = f"127.0.0.1:{holder.getsockname()[1]}"
            for flags in (["--nodes=2", f"--bind={address}"], ["--nodes=2", "--rank=0", f"--coordinator={address}"]):
                self.expect_end(self.start(*flags, *SMALL), address, "the port is in use", "take another one")

    def test_flags_that_differ_are_refused_by_name_at_every_node(self):
        address = f"--coordinator=127.0.0.1:{free_port()}"
        common = ["--nodes=3", address, "--join-timeout=30s", *SMALL]
        ranks = [self.start("--rank=0", *common), self.start("--rank=1", *common),
                 self.start("--rank=2", *common, "--slot-bytes=32KiB")]
        for ysb in ranks:
            self.expect_end(ysb, "rank 2 was started with --slot-bytes=32KiB but rank 0 with --slot-bytes=64KiB",
                            "start all ranks with the same flags")

    def test_a_geometry_that_differs_is_refused_by_name(self):
        address = f"--coordinator=127.0.0.1:{free_port()}"
        ranks = [self.start("--nodes=2", "--rank=0", address, *SMALL),
                 self.start("--nodes=2", "--rank=1", address, "--executors=2", *SMALL)]
        for ysb in ranks:
            self.expect_end(ysb, "rank 1 was started with --executors=2 but rank 0 with --executors=1")

    def test_strangers_at_the_port_do_no_harm(self):
        port = free_port()
        first = self.start("--nodes=2", "--rank=0", f"--coordinator=127.0.0.1:{port}", *SMALL)
        deadline = time.monotonic() + END_SECONDS
        strangers = []
        while len(strangers) < 2 and time.monotonic() < deadline:
            try:
                strangers.append(socket.create_connection(("127.0.0.1", port)))
            except ConnectionRefusedError:
                time.sleep(0.01)  # it does not listen yet
        strangers[0].sendall(b"GET / HTTP/1.1\r\n\r\n")  # the other one says nothing
        second = self.start("--nodes=2", "--rank=1", f"--coordinator=127.0.0.1:{port}", *SMALL)
        for ysb in (first, second):
            self.assertEqual(ysb.wait(), 0, ysb.err.text)
        for stranger in strangers:
            stranger.close()

    def test_a_library_that_computes_no_proof_is_named(self):
        (self.folder / "openssl.cnf").write_text("openssl_conf = init\n[init]\nproviders = chosen\n"
                                                 "[chosen]\nbase = base\n[base]\nactivate = 1\n", encoding="utf-8")
        with unittest.mock.patch.dict(os.environ, {"OPENSSL_CONF": str(self.folder / "openssl.cnf")}):
            ysb = self.start("--nodes=2", *SMALL)
        self.assertEqual(self.expect_end(ysb, "OpenSSL computes no HMAC-SHA256", "OPENSSL_CONF"), 1)

    # ---- resources ----

    def test_too_little_memory_is_said_before_the_run(self):
        ysb = self.start("--nodes=2", "--memory-limit=1MiB", *SMALL)
        self.expect_end(ysb, "memory", "--memory-limit")
        self.assertEqual(self.wait_until_gone(), [])

    def test_a_result_that_cannot_be_written_ends_the_run(self):
        (self.folder / "counts.csv.part-001-of-002").mkdir()
        ysb = self.start("--nodes=2", "--output=counts.csv", *SMALL)
        self.assertEqual(self.expect_end(ysb, "cannot write counts.csv.part-001-of-002"), 1)
        self.assertEqual(self.wait_until_gone(), [])
        self.assertEqual(self.files(), ["counts.csv.part-001-of-002"])

    def test_an_older_result_stays_whole_when_a_run_fails(self):
        (self.folder / "report.json").write_text("{}\n", encoding="utf-8")
        ysb = self.start_endless("--nodes=2", "--json=report.json")
        ysb.send(signal.SIGINT)
        self.expect_end(ysb)
        self.assertEqual(json.loads((self.folder / "report.json").read_text(encoding="utf-8")), {})


if __name__ == "__main__":
    unittest.main()
