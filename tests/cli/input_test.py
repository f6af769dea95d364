"""Queries read files: parts are split among executors, and a bad line is named or skipped as the user wants."""

import collections
import gzip
import json
import pathlib
import subprocess
import tempfile
import unittest
import uuid
from random import Random

from ysb_process import BIN, PATIENCE_SECONDS, SANITIZED

GOOD = "600000000,,7,0,12,1,user,2,9,0.0625,0.03125,0.0001,0\n"
AFTER_THE_TRACE = "9223372036854775807,,7,0,12,1,user,2,9,0.0625,0.03125,0.0001,0\n"
EMPTY_FIELDS = "601000000,,7,0,,0,,0,9,,,,\n"


@unittest.skipIf(SANITIZED, "the sanitizers' presets build ysb alone")
class InputTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="glaive_input_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def cm(self, *flags):
        return subprocess.run([BIN / "cm", *flags], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=PATIENCE_SECONDS)

    def test_a_folder_of_parts_is_split_among_the_executors(self):
        trace = self.folder / "trace"
        trace.mkdir()
        (trace / "part-0.csv").write_text(GOOD + EMPTY_FIELDS)
        with gzip.open(trace / "part-1.csv.gz", "wt") as part:
            part.write(GOOD)
        (trace / "part-2.csv").write_text(GOOD.replace("0.0625", "0.25") + AFTER_THE_TRACE)
        done = self.cm("--nodes=2", "--input=trace", "--output=means.csv", "--join-output")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("3 parts among 2 executors", done.stdout)
        self.assertIn("1 skipped: outside the input's time", done.stdout)
        rows = sorted((self.folder / "means.csv").read_text().splitlines()[1:])
        self.assertEqual(rows, ["600000,602000,7,0.09375"])  # (0.0625 + 0 + 0.0625 + 0.25) / 4

    def test_a_bad_line_ends_the_run_and_is_named(self):
        (self.folder / "bad.csv").write_text(GOOD + GOOD.replace("0.0625", "much"))
        done = self.cm("--input=bad.csv", "--output=means.csv")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("bad.csv:2:30: ", done.stderr)
        self.assertFalse(list(self.folder.glob("means.csv*")))

    def test_bad_lines_are_skipped_and_counted_on_request(self):
        (self.folder / "bad.csv").write_text(GOOD + "600000000,,7\n" + GOOD + "600000")
        done = self.cm("--input=bad.csv", "--on-bad-record=skip")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 skipped, first: bad.csv:2:", done.stdout)

    def test_an_empty_and_a_missing_file_are_refused(self):
        (self.folder / "empty.csv").write_text("")
        done = self.cm("--input=empty.csv")
        self.assertEqual((done.returncode, "empty.csv" in done.stderr and "empty" in done.stderr), (1, True), done.stderr)
        done = self.cm("--input=nowhere/*.csv")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("nowhere", done.stderr)

    def test_what_needs_generated_input_is_refused(self):
        (self.folder / "good.csv").write_text(GOOD)
        for flag in ["--verify", "--export-input=a.csv"]:
            done = self.cm("--input=good.csv", flag)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("generated input", done.stderr)


class YahooTest(unittest.TestCase):
    """Events, and their ads' campaigns, as the benchmark's own generator writes them."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="glaive_input_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        random = Random(1)
        campaigns = [self.uuid(random) for _ in range(3)]
        self.ads = {self.uuid(random): campaigns[i % 3] for i in range(30)}
        self.counts = collections.Counter()
        (self.folder / "events").mkdir()
        for part in range(3):
            with open(self.folder / "events" / f"part-{part}.json", "w", encoding="utf-8") as file:
                for number in range(2_000):
                    self.write_event(file, random, time_ms=1_480_452_800_000 + 10 * number)

    @staticmethod
    def uuid(random):
        return str(uuid.UUID(int=random.getrandbits(128), version=4))

    def write_event(self, file, random, time_ms):
        ad = random.choice([*self.ads, self.uuid(random)])  # some ads are nobody's
        kind = random.choice(["view", "click", "purchase"])
        print(json.dumps({"user_id": self.uuid(random), "page_id": self.uuid(random), "ad_id": ad, "ad_type": "mail",
                          "event_type": kind, "event_time": str(time_ms), "ip_address": "1.2.3.4"}), file=file)
        if kind == "view" and ad in self.ads:
            start_ms = time_ms // 10_000 * 10_000
            campaign = int.from_bytes(uuid.UUID(self.ads[ad]).bytes[:8], "little")
            self.counts[start_ms, start_ms + 10_000, campaign] += 1

    def ysb(self, *flags):
        return subprocess.run([BIN / "ysb", "--profile=yahoo", *flags], cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE_SECONDS)

    def test_views_are_counted_by_campaign(self):
        lines = [f'{{ "{ad}": "{campaign}"}}\n' for ad, campaign in self.ads.items()]
        (self.folder / "ad-to-campaign-ids.txt").write_text("".join(lines))
        done = self.ysb("--nodes=3", "--input=events", "--ads=ad-to-campaign-ids.txt", "--output=views.csv",
                        "--join-output")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = (self.folder / "views.csv").read_text().splitlines()[1:]
        self.assertEqual({tuple(map(int, row.split(","))) for row in rows},
                         {(*group, count) for group, count in self.counts.items()})
        self.assertEqual(len(rows), 6)

    def test_the_ads_have_to_be_known(self):
        done = self.ysb("--input=events")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--ads=", done.stderr)
        (self.folder / "ads.txt").write_text("no ad\n")
        done = self.ysb("--nodes=2", "--input=events", "--ads=ads.txt")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("--ads: ads.txt:1:1: ", done.stderr)
        done = self.ysb("--ads=ads.txt")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("goes with", done.stderr)


if __name__ == "__main__":
    unittest.main()
