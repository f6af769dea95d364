"""Results that are visible while a run goes on: whole windows, never a row twice, and what is published stays."""

import json
import os
import signal
import time
import unittest

from ysb_process import MID_RUN, CliTest

# Some seconds of reading, whose input is a function of the seed; each window has rows of most keys.
SLOW = ["--records=60000", "--rate=20000", "--keys=500", "--seed=3"]
PART = "o.csv"


class PublishTest(CliTest):
    def progress(self, part=PART):
        """What the part's progress file says; None without one."""
        try:
            return json.loads((self.folder / f".{part}.progress").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None

    def wait_for_rows(self, part=PART):
        self.wait_until(lambda: (self.progress(part) or {"rows": 0})["rows"] > 0)

    def published(self, part=PART):
        """The progress, and the bytes that are published; None once the result is whole."""
        while progress := self.progress(part):
            try:
                with open(self.folder / part, "rb") as file:
                    if os.fstat(file.fileno()).st_ino != progress["inode"]:
                        continue  # the file that the part replaces
                    text = file.read()
            except FileNotFoundError:
                continue
            self.assertGreaterEqual(len(text), progress["bytes"])
            return progress, text[:progress["bytes"]]
        return None

    def expect_whole(self, progress, text):
        """The bytes are a header and as many whole rows, each key once in a window, of complete windows."""
        lines = text.decode().split("\n")
        self.assertEqual(lines[0], "window_start_ms,window_end_ms,key,value")
        self.assertEqual(lines[-1], "", "a row is cut")
        rows = [tuple(map(int, line.split(","))) for line in lines[1:-1]]
        self.assertEqual(len(rows), progress["rows"])
        self.assertEqual(len({row[:3] for row in rows}), len(rows), "a row is there twice")
        self.assertLessEqual(max(row[1] for row in rows), progress["complete_until_ms"])
        return rows

    def test_rows_are_visible_soon_after_their_window_has_fired(self):
        ysb = self.start(*SLOW, "--output=o.csv")
        self.wait_for_rows()
        seen = [self.published()]
        self.wait_until(lambda: (self.progress() or {"rows": 0})["rows"] != seen[0][0]["rows"])
        seen.append(self.published())
        self.assertIsNone(ysb.process.poll(), "or this tests little")
        self.assertEqual(ysb.wait(), 0, ysb.err.text)
        self.assertEqual(self.files(), [PART], "a whole result has no progress file")
        whole = (self.folder / PART).read_bytes()
        self.succeed(*SLOW[:1], *SLOW[2:], "--output=end.csv", "--publish=end")
        wanted = sorted((self.folder / "end.csv").read_bytes().splitlines())
        self.assertEqual(sorted(whole.splitlines()), wanted, "the same rows as at the end")
        for progress, text in filter(None, seen):
            rows = self.expect_whole(progress, text)
            self.assertTrue(whole.startswith(text), "what is published does not change")
            all_rows = [tuple(map(int, line.split(b","))) for line in whole.splitlines()[1:]]
            self.assertEqual(sorted(rows), sorted(row for row in all_rows if row[1] <= progress["complete_until_ms"]))

    def test_an_interrupted_run_keeps_what_it_has_published(self):
        for nodes in (1, 2):
            with self.subTest(nodes=nodes):
                name = f"n{nodes}.csv"
                parts = [name] if nodes == 1 else [f"{name}.part-00{rank}-of-002" for rank in range(2)]
                ysb = self.start_endless(f"--nodes={nodes}", f"--output={name}")
                for part in parts:
                    self.wait_for_rows(part)
                os.killpg(ysb.process.pid, signal.SIGINT)
                self.assertEqual(ysb.wait(), 130, ysb.err.text)
                self.assertEqual(self.wait_until_gone(), [])
                for part in parts:
                    progress, text = self.published(part)
                    self.assertEqual((self.folder / part).stat().st_size, progress["bytes"], "the rest is cut off")
                    self.expect_whole(progress, text)
                self.assertRegex(ysb.err.text,
                                 rf"interrupted by SIGINT.*; published: {parts[0]} has \d+ rows, complete until 20\d\d-")

    def test_the_loss_of_a_node_leaves_what_is_published(self):
        ysb = self.start_endless("--nodes=2", "--output=o.csv")
        parts = [f"o.csv.part-00{rank}-of-002" for rank in range(2)]
        for part in parts:
            self.wait_for_rows(part)
        os.kill(self.pid_of_rank(1), signal.SIGKILL)
        self.assertEqual(ysb.wait(), 3, ysb.err.text)
        self.assertEqual(self.wait_until_gone(), [])
        for part in parts:  # the killed node could not cut its own
            self.expect_whole(*self.published(part))
        progress, text = self.published(parts[0])
        self.assertEqual((self.folder / parts[0]).read_bytes(), text)
        self.assertIn(f"; published: {parts[0]} has {progress['rows']} rows", ysb.err.text)
        self.succeed("--records=20000", "--keys=500", "--nodes=2", "--output=o.csv")
        self.assertEqual([name for name in self.files() if not name.endswith(".tmp")], parts, "the next run replaces it")

    def test_before_its_first_window_a_run_leaves_the_earlier_result(self):
        self.succeed("--records=2000", "--keys=500", "--output=o.csv")
        before = (self.folder / PART).read_bytes()
        # In mid-run, with its first window open for minutes.
        ysb = self.start("--records=60000", "--rate=100", "--keys=500", "--output=o.csv", "--progress=always")
        self.assertTrue(ysb.err.wait_for(MID_RUN), ysb.err.text)
        ysb.send(signal.SIGINT)
        self.assertEqual(ysb.wait(), 130, ysb.err.text)
        self.assertEqual((self.folder / PART).read_bytes(), before)

    def test_a_result_that_is_published_at_the_end_is_not_there_before(self):
        for flags in (["--publish=end"], ["--verify"]):
            with self.subTest(flags=flags):
                ysb = self.start_endless("--output=o.csv", *flags)
                time.sleep(0.5)
                self.assertFalse([name for name in self.files() if not name.endswith(".tmp")])
                ysb.send(signal.SIGINT)
                self.assertEqual(ysb.wait(), 130, ysb.err.text)
                self.assertNotIn("published", ysb.err.text)
                self.assertEqual(self.files(), [])

    def test_parts_that_were_published_are_joined(self):
        flags = ["--records=60000", "--keys=500", "--executors=2", "--seed=3", "--join-output"]
        self.succeed(*flags, "--output=o.csv")
        self.succeed(*flags, "--output=end.csv", "--publish=end")
        self.assertEqual(self.files(), ["end.csv", "o.csv"])
        self.assertEqual(*(sorted((self.folder / name).read_bytes().splitlines()) for name in ("o.csv", "end.csv")))


if __name__ == "__main__":
    unittest.main()
