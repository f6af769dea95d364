"""Files that a run writes: no run harms another's, none is written by two flags, and what cannot be written is refused."""

import array
import fcntl
import json
import os
import signal
import stat
import struct
import subprocess
import termios
import threading
import unittest

from ysb_process import BIN, ENDLESS, FORM, SANITIZED, WAITS, CliTest, Ysb, free_port

SMALL = ["--records=20000", "--keys=500"]
# Some seconds of reading, whose input is a function of the seed.
SLOW = ["--records=60000", "--rate=30000", "--keys=500"]


class OutputTest(CliTest):
    def refuse(self, code, *flags):
        """A run that ends with the code before it has begun; its one complaint."""
        got, out, err = self.run_ysb(*flags)
        self.assertEqual(got, code, f"{flags}: {err}")
        self.assertNotIn("throughput", out, f"{flags} was found out after the run")
        return err

    def read(self, name):
        return (self.folder / name).read_bytes()

    def rows(self, name):
        """In an order of their own: each run draws its own hash, by which they lie."""
        return sorted(self.read(name).splitlines())

    def shell(self, command):
        """Runs in a shell, as $YSB with small input."""
        small = f"{BIN.resolve() / 'ysb'} {' '.join(SMALL)}"
        return subprocess.run(["bash", "-c", command], cwd=self.folder, env=os.environ | {"YSB": small}, timeout=60,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    def is_locked(self, name):
        """Whether a run has locked the file. The question takes no lock, so that it cannot stop a run from locking."""
        try:
            with open(self.folder / name, "rb") as file:
                lock = fcntl.fcntl(file, fcntl.F_GETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
        except FileNotFoundError:  # renamed or removed since it was listed
            return False
        return struct.unpack("hhqqi4x", lock)[0] != fcntl.F_UNLCK

    def stop_with_locks_on(self, ysb, name, files=1):
        """Stops a run once it has locked so many files whose names contain the name; it keeps its locks meanwhile."""
        self.wait_until(lambda: sum(name in there and self.is_locked(there) for there in self.files()) == files)
        os.kill(ysb.process.pid, signal.SIGSTOP)

    # ---- two runs ----

    def test_of_two_runs_with_one_output_the_second_is_refused_and_the_first_is_whole(self):
        two = ["--executors=2"]
        self.succeed(*SMALL, "--seed=1", "--records=60000", *two, "--output=want.csv", "--join-output")
        first = self.start(*SLOW, "--seed=1", *two, "--output=o.csv")
        self.stop_with_locks_on(first, "o.csv", files=2)
        for more in ([], two):
            self.assertIn("another run writes it", self.refuse(1, *SLOW, "--seed=2", "--output=o.csv", *more))
        os.kill(first.process.pid, signal.SIGCONT)
        self.assertEqual(first.wait(), 0, first.err.text)
        parts = ["o.csv.part-000-of-002", "o.csv.part-001-of-002"]
        header = b"window_start_ms,window_end_ms,key,value"
        rows = sorted(row for part in parts for row in self.rows(part) if row != header)
        self.assertEqual(rows, [row for row in self.rows("want.csv") if row != header])
        self.assertEqual(self.files(), [*parts, "want.csv"])

    def start_before_its_input(self, *flags, export="--export-input"):
        """A run that has claimed its results and cannot begin with its input: nobody reads its export. A function that
        lets it go on."""
        os.mkfifo(self.folder / "pipe")
        hold = os.open(self.folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        fcntl.fcntl(hold, fcntl.F_SETPIPE_SZ, 4096)  # less than any export
        first = self.start("--records=20000", "--keys=500", "--seed=1", f"{export}=pipe", *flags)
        unread = array.array("i", [0])
        self.wait_until(lambda: fcntl.ioctl(hold, termios.FIONREAD, unread) == 0 and unread[0] > 0)

        def go_on():
            reader = threading.Thread(target=lambda: self.read("pipe"))
            reader.start()
            code = first.wait()
            os.close(hold)
            reader.join()
            os.unlink(self.folder / "pipe")
            return code, first.err.text

        return go_on

    def test_a_run_claims_its_results_before_its_input(self):
        self.succeed(*SMALL, "--seed=1", "--executors=2", "--output=want.csv", "--join-output")
        go_on = self.start_before_its_input("--executors=2", "--output=o.csv", "--join-output", "--json=r.json")
        for flags in (["--output=o.csv"], ["--output=o.csv", "--executors=2"], ["--json=r.json"],
                      ["--output=o.csv", "--executors=2", "--nodes=2"]):
            self.assertIn("another run writes it", self.refuse(1, *SMALL, "--seed=2", *flags))
        self.assertEqual(go_on(), (0, ""))
        self.assertEqual(self.rows("o.csv"), self.rows("want.csv"))
        self.assertEqual(self.files(), ["o.csv", "r.json", "want.csv"])

    def test_a_run_claims_its_exports_with_its_results(self):
        yahoo = "--profile=yahoo"
        self.succeed(*SMALL, "--seed=1", yahoo, "--export-input=want.csv", "--export-ads=want_ads.csv")
        go_on = self.start_before_its_input(yahoo, "--export-input=i.csv", export="--export-ads")
        for flag in ("--export-input=i.csv", "--export-ads=i.csv", "--json=i.csv"):
            error = self.refuse(1, *SMALL, "--seed=2", yahoo, flag)
            self.assertIn(f"{flag}: cannot write i.csv: another run writes it, as ./.i.csv.", error)
        self.assertEqual(go_on(), (0, ""))
        self.assertEqual(self.read("i.csv"), self.read("want.csv"))

    def test_an_export_is_its_runs_until_the_run_ends(self):
        yahoo = "--profile=yahoo"
        self.succeed(*SMALL, yahoo, "--export-ads=want_ads.csv")
        go_on = self.start_before_its_input(yahoo, "--export-ads=ads.csv")
        self.wait_until(lambda: "ads.csv" in self.files())
        for flag in ("--export-input=ads.csv", "--export-ads=ads.csv", "--json=ads.csv"):
            self.assertIn(f"{flag}: cannot write ads.csv: another run writes it and has not ended yet",
                          self.refuse(1, *SMALL, "--seed=2", yahoo, flag))
        self.assertEqual(self.read("ads.csv"), self.read("want_ads.csv"))
        self.assertEqual(go_on(), (0, ""))
        self.succeed(*SMALL, "--seed=2", "--export-input=ads.csv")

    def test_a_finished_export_outlasts_an_interrupt(self):
        yahoo = "--profile=yahoo"
        self.succeed(*SMALL, yahoo, "--export-ads=want_ads.csv")
        ysb = self.start(*SLOW, yahoo, "--export-ads=ads.csv", "--output=o.csv", "--publish=end")
        self.wait_until(lambda: "ads.csv" in self.files())
        ysb.send(signal.SIGINT)
        self.assertEqual(ysb.wait(), 130, ysb.err.text)
        self.assertEqual(self.files(), ["ads.csv", "want_ads.csv"])
        self.assertEqual(self.read("ads.csv"), self.read("want_ads.csv"))

    def test_a_result_that_has_come_meanwhile_stays(self):
        """As of a run on another host, where the file system does not pass locks on."""
        for name, old in (("o.csv", None), ("o.csv", "old"), ("r.json", "old")):
            with self.subTest(name=name, old=old):
                if old:
                    (self.folder / name).write_text(old)
                go_on = self.start_before_its_input("--output=o.csv", "--json=r.json")
                (self.folder / "new").write_text("another's")
                os.rename(self.folder / "new", self.folder / name)
                code, error = go_on()
                self.assertEqual(code, 1, error)
                self.assertIn(f"cannot write {name}: another program has written a file of this name since this run "
                              "began", error)
                self.assertEqual(self.read(name), b"another's")
                for left in self.files():
                    os.unlink(self.folder / left)

    def test_a_part_that_cannot_be_written_is_found_before_the_input(self):
        (self.folder / "o.csv.part-000-of-002").symlink_to("target")
        (self.folder / "p.csv.part-000-of-002").write_text("old")
        before = self.files()
        for name, executors, why in (("o.csv", 2, "what lies there is no file"),
                                     ("p.csv", 1, "is of an earlier result of 2 executors")):
            self.assertIn(why, self.refuse(1, *SMALL, f"--output={name}", f"--executors={executors}", "--export-input=input"))
        self.assertEqual(self.files(), before, "no input was generated")

    def test_of_two_runs_with_one_report_the_second_is_refused(self):
        first = self.start(*SLOW, "--json=r.json")
        self.stop_with_locks_on(first, "r.json")
        self.assertIn("--json=r.json: cannot write r.json: another run writes it", self.refuse(1, *SMALL, "--json=r.json"))
        os.kill(first.process.pid, signal.SIGCONT)
        self.assertEqual(first.wait(), 0, first.err.text)
        self.assertEqual(self.files(), ["r.json"])

    def test_a_failed_run_leaves_the_result_of_an_earlier_one(self):
        self.succeed(*SMALL, "--output=o.csv", "--nodes=2")
        before = [self.read(name) for name in self.files()]
        ysb = self.start_endless("--output=o.csv", "--publish=end", "--nodes=2")
        os.kill(self.pid_of_rank(1), signal.SIGKILL)
        self.assertEqual(ysb.wait(), 3)
        self.wait_until_gone()
        kept = [name for name in self.files() if not name.endswith(".tmp")]
        self.assertEqual([self.read(name) for name in kept], before)

    def test_files_under_temporary_names_are_nobodys_to_write(self):
        (self.folder / "victim").write_text("precious")
        (self.folder / "o.csv.tmp").symlink_to("victim")
        (self.folder / "r.json.tmp").write_text("somebody's")
        self.succeed(*SMALL, "--output=o.csv", "--json=r.json")
        self.assertEqual(self.read("victim"), b"precious")
        self.assertEqual(self.read("r.json.tmp"), b"somebody's")

    def test_parts_of_two_results_do_not_lie_side_by_side(self):
        self.succeed(*SMALL, "--executors=2", "--output=o.csv")
        before = self.files()
        self.assertRegex(self.refuse(1, *SMALL, "--output=o.csv"),
                         r"o\.csv\.part-00[01]-of-002 is of an earlier result of 2 executors; remove its parts")
        self.assertEqual(self.files(), before)
        self.succeed(*SMALL, "--executors=2", "--output=o.csv")

    # ---- flags that name one file ----

    def test_two_flags_never_name_one_file(self):
        for flags in (["--output=o", "--join-output", "--json=./o"], ["--export-input=o", "--json=o"],
                      ["--output=o", "--json=o.part-000-of-001"], ["--profile=yahoo", "--export-ads=o", "--output=o"]):
            self.assertIn("is the same file", self.refuse(2, *SMALL, *flags))
        (self.folder / "events").write_text("{}\n")
        os.link(self.folder / "events", self.folder / "hard")
        self.assertIn("is the same file", self.refuse(2, "--input=events", "--output=o", "--json=hard"))
        ads = ["--profile=yahoo", "--input=events", "--ads=hard", "--json=events"]
        self.assertIn("is the same file", self.refuse(2, *ads))
        self.assertEqual(self.files(), ["events", "hard"])
        self.assertEqual(self.read("events"), b"{}\n")

    def test_results_do_not_become_input(self):
        (self.folder / "events").mkdir()
        (self.folder / "events/part-0").write_text("{}\n")
        for name in ("events", "events/*"):
            self.assertIn("would be part of the input", self.refuse(2, f"--input={name}", "--output=events/o.csv"))

    @unittest.skipIf(SANITIZED, "the sanitizers' presets build ysb alone")
    def test_late_records_have_a_file_of_their_own(self):
        swa = Ysb(self.mark, ["--records=1000", "--output=o", "--late-output=o"], self.folder, (BIN / "swa").resolve())
        self.started.append(swa)
        self.assertEqual(swa.wait(), 2)
        self.assertIn("is the same file", swa.err.text)

    @unittest.skipIf(SANITIZED, "the sanitizers' presets build ysb alone")
    def test_the_files_of_late_records_are_claimed_before_the_input(self):
        (self.folder / "late.part-000-of-002").symlink_to("target")
        swa = Ysb(self.mark, ["--records=1000", "--executors=2", "--late-output=late", "--export-input=input"], self.folder,
                  (BIN / "swa").resolve())
        self.started.append(swa)
        self.assertEqual(swa.wait(), 1)
        self.assertIn("--late-output=late: cannot write late.part-000-of-002: what lies there is no file", swa.err.text)
        self.assertEqual(self.files(), ["late.part-000-of-002"], "no input was generated")

    def test_a_report_is_not_written_over_the_file_of_standard_output(self):
        done = self.shell("$YSB --json=log > log")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(b"standard output goes to the same file", done.stderr)

    def test_a_part_is_not_written_over_the_file_of_a_standard_stream(self):
        for redirection, stream in (("> w.part-000-of-001", "output"), (">> w.part-001-of-002", "output"),
                                    ("2> w.part-000-of-001", "error")):
            with self.subTest(redirection):
                done = self.shell(f"$YSB --records=100 --output=w {redirection}")
                self.assertEqual(done.returncode, 2, done.stderr)
                text = done.stderr or self.read("w.part-000-of-001")
                self.assertRegex(text.decode(), rf"--output=w: standard {stream} goes to its file \S*w\.part-00")
                for name in self.files():
                    os.unlink(self.folder / name)

    # ---- devices, pipes, links ----

    def test_devices_stay_devices(self):
        self.succeed(*SMALL, "--json=/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        self.assertIn("--output=/dev/null: this is a device or a pipe",
                      self.refuse(2, *SMALL, "--output=/dev/null", "--executors=2"))
        self.succeed(*SMALL, "--output=/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    def test_a_terminal_that_is_not_there_is_told_as_such(self):
        done = subprocess.run([BIN / "ysb", *SMALL, "--json=/dev/tty"], cwd=self.folder, start_new_session=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                              check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"--json=/dev/tty: cannot write /dev/tty: there is no device behind this name; /dev/tty needs a "
                      b"process with a terminal", done.stderr)
        self.assertNotIn(b"throughput", done.stdout)

    def test_a_report_on_standard_output_follows_the_table(self):
        for redirection in ("| cat > log", "> log", ">> log"):
            with self.subTest(redirection):
                done = self.shell(f"$YSB --json=/dev/stdout {redirection}")
                self.assertEqual(done.returncode, 0, done.stderr)
                text = self.read("log").decode()
                self.assertEqual(json.loads(text.splitlines()[-1])["program"], "ysb")
                self.assertEqual(text.count("throughput"), 1)
                os.unlink(self.folder / "log")

    def test_a_report_goes_through_a_named_pipe(self):
        os.mkfifo(self.folder / "pipe")
        self.assertIn("no process reads from this pipe", self.refuse(1, *SMALL, "--json=pipe"))
        got = []
        hold = os.open(self.folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        reader = threading.Thread(target=lambda: got.append(self.read("pipe")))
        reader.start()
        self.succeed(*SMALL, "--json=pipe")
        reader.join()
        os.close(hold)
        self.assertEqual(json.loads(got[0])["program"], "ysb")

    def test_a_pipe_whose_reader_sleeps_does_not_outlast_ctrl_c(self):
        os.mkfifo(self.folder / "pipe")
        hold = os.open(self.folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        ysb = self.start("--records=1000000", "--export-input=pipe")
        unread = array.array("i", [0])
        self.wait_until(lambda: fcntl.ioctl(hold, termios.FIONREAD, unread) == 0 and unread[0] > 30_000)
        ysb.send(signal.SIGINT)
        self.assertEqual(ysb.wait(10), 130, ysb.err.text)
        os.close(hold)

    def test_a_link_is_written_through(self):
        (self.folder / "data").mkdir()
        (self.folder / "whole.csv").symlink_to("data/whole.csv")
        (self.folder / "r.json").symlink_to("data/r.json")
        (self.folder / "data/r.json").write_text("old")
        self.succeed(*SMALL, "--executors=2", "--output=whole.csv", "--join-output", "--json=r.json")
        self.assertEqual(self.files(), ["data", "r.json", "whole.csv"])
        self.assertTrue((self.folder / "r.json").is_symlink() and (self.folder / "whole.csv").is_symlink())
        self.assertEqual(json.loads(self.read("data/r.json"))["program"], "ysb")
        self.assertTrue(self.read("data/whole.csv").startswith(b"window_start_ms,"))

    # ---- standard output ----

    def test_a_reader_that_has_seen_enough_is_no_failure(self):
        done = self.shell("$YSB --nodes=2 --json=r.json --output=o.csv | head -1; exit ${PIPESTATUS[0]}")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(done.stdout.count(b"\n"), 1)
        self.assertEqual(json.loads(self.read("r.json"))["program"], "ysb")
        self.assertEqual(self.files(), ["o.csv.part-000-of-002", "o.csv.part-001-of-002", "r.json"])
        done = self.shell("$YSB --json=/dev/stdout --export-input=/dev/stdout | head -1; exit ${PIPESTATUS[0]}")
        self.assertEqual((done.returncode, done.stderr), (0, b""), "also of what goes to the same pipe")
        self.assertEqual(self.shell("$YSB --help | true; exit ${PIPESTATUS[0]}").returncode, 0)
        if not SANITIZED:  # a sanitizer's library has to be loaded first
            self.assertEqual(self.shell("stdbuf -oL $YSB --help | true; exit ${PIPESTATUS[0]}").returncode, 0)

    def test_a_full_standard_output_is_told(self):
        done = self.shell("$YSB --json=r.json --output=o.csv > /dev/full")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(), FORM)
        self.assertIn("rank 0: the results are complete, but cannot write standard output: No space left on device\n",
                      done.stderr.decode())
        self.assertEqual(self.files(), ["o.csv", "r.json"])
        done = self.shell("$YSB --help > /dev/full")
        self.assertEqual((done.returncode, done.stderr),
                         (1, b"ysb: cannot write standard output: No space left on device\n"))

    def test_a_closed_standard_output_is_as_good_as_dev_null(self):
        self.assertEqual(self.shell("$YSB --output=want.csv").returncode, 0)
        done = self.shell("$YSB --output=o.csv <&- >&- 2>&-")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.rows("o.csv"), self.rows("want.csv"))

    # ---- found before the run, or told of behind it ----

    def test_a_report_that_cannot_be_written_is_found_before_the_run(self):
        self.assertIn("--json=/proc/report.json: cannot create /proc/.report.json", self.refuse(1, *ENDLESS,
                                                                                             "--json=/proc/report.json"))

    def test_a_report_that_fails_at_the_end_does_not_hide_that_the_results_are_complete(self):
        code, _, err = self.run_ysb("--nodes=2", "--json=/dev/full", "--output=o.csv", *SMALL)
        self.assertEqual(code, 1)
        self.assertRegex(err, FORM)
        self.assertIn("rank 0: the results are complete, but --json=/dev/full: cannot write /dev/full: No space left on "
                      "device\n", err)
        self.assertEqual(self.files(), ["o.csv.part-000-of-002", "o.csv.part-001-of-002"])

    def start_ranks(self, *flags_by_rank, folders=("", "")):
        coordinator = f"--coordinator=127.0.0.1:{free_port()}"
        for rank, flags in enumerate(flags_by_rank):
            (self.folder / folders[rank]).mkdir(exist_ok=True)
            self.started.append(Ysb(self.mark, ["--nodes=2", f"--rank={rank}", coordinator, *flags],
                                    self.folder / folders[rank], self.binary.resolve()))
        return self.started[-2:]

    def test_a_joined_result_needs_a_folder_of_all(self):
        flags = ["--output=o.csv", "--join-output"]
        for ysb in self.start_ranks([*ENDLESS, *flags], [*ENDLESS, *flags], folders=("a", "b")):
            self.assertEqual(ysb.wait(), 1)
            self.assertIn("--join-output needs a folder that all nodes share, but rank 1 does not find", ysb.err.text)
        self.assertEqual(os.listdir(self.folder / "a") + os.listdir(self.folder / "b"), [])
        for ysb in self.start_ranks([*SMALL, *flags], [*SMALL, *flags]):
            self.assertEqual(ysb.wait(), 0, ysb.err.text)

    def test_a_report_asked_of_another_rank_alone_is_refused(self):
        for ysb in self.start_ranks(ENDLESS, [*ENDLESS, "--json=r.json"]):
            self.assertEqual(ysb.wait(), 1)
            self.assertIn("--json=r.json was given to rank 1, but rank 0 writes the report and has no --json",
                          ysb.err.text)
        for ysb in self.start_ranks([*SMALL, "--json=r.json"], [*SMALL, "--json=r.json"]):
            self.assertEqual((ysb.wait(), WAITS.sub("", ysb.err.text)), (0, ""))

    def test_the_report_names_the_result_files(self):
        out, _ = self.succeed("--nodes=2", "--output=o.csv", "--json=r.json", *SMALL)
        report = json.loads(self.read("r.json"))
        self.assertEqual([file["path"] for file in report["files"]], ["o.csv.part-000-of-002", "o.csv.part-001-of-002"])
        self.assertEqual(sum(file["rows"] for file in report["files"]), report["results"])
        for file in report["files"]:
            self.assertEqual(file["bytes"], len(self.read(file["path"])))
            self.assertEqual(file["rows"], self.read(file["path"]).count(b"\n") - 1)
            self.assertRegex(out, rf"result file +{file['path']}: [\d,]+ rows, ")
        self.succeed("--nodes=2", "--output=o.csv", "--join-output", "--json=r.json", *SMALL)
        self.assertEqual(json.loads(self.read("r.json"))["files"],
                         [{"path": "o.csv", "rows": report["results"], "bytes": len(self.read("o.csv"))}])


if __name__ == "__main__":
    unittest.main()
