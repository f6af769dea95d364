"""Queries read files: parts are split among executors, and a bad line is named or skipped as the user wants."""

import collections
import contextlib
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest
import uuid
from random import Random

from ysb_process import BIN, PATIENCE_SECONDS, SANITIZED, SECRET, WAITS, free_port

GOOD = "600000000,,7,0,12,1,user,2,9,0.0625,0.03125,0.0001,0\n"
AFTER_THE_TRACE = "9223372036854775807,,7,0,12,1,user,2,9,0.0625,0.03125,0.0001,0\n"
EMPTY_FIELDS = "601000000,,7,0,,0,,0,9,,,,\n"


class FilesTest(unittest.TestCase):
    """A test with a folder for its files."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="glaive_input_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_query(self, name, *flags):
        """Runs the query in the folder, to its end."""
        return subprocess.run([BIN / name, *flags], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=PATIENCE_SECONDS)


@unittest.skipIf(SANITIZED, "the sanitizers' presets build ysb alone")
class InputTest(FilesTest):
    def cm(self, *flags):
        return self.run_query("cm", *flags)

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

    def test_what_other_tools_leave_in_files_and_folders_is_passed_over(self):
        trace = self.folder / "trace"
        trace.mkdir()
        (trace / "part-0.csv").write_bytes(b"\xef\xbb\xbf" + GOOD.encode() + b"\r\n\n")
        (trace / "part-1.csv").write_text("")
        (trace / "part-2.csv.gz").write_bytes(gzip.compress(GOOD.encode()) + bytes(500) + gzip.compress(b"") + bytes(9))
        (trace / "part-3.csv.gz").write_bytes(gzip.compress(b""))
        for marker in ["_SUCCESS", "._part-0.csv", ".part-0.csv.crc", "_metadata"]:
            (trace / marker).write_text("no record\n")
        done = self.cm("--nodes=2", "--input=trace", "--output=means.csv", "--join-output")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("4 parts among 2 executors", done.stdout)
        rows = (self.folder / "means.csv").read_text().splitlines()[1:]
        self.assertEqual(rows, ["600000,602000,7,0.0625"])

    def test_numbers_are_rounded_once_to_the_nearest_float(self):
        numbers = {1: "0.5000000298023224", 2: "1e-400", 3: "3.4028235677973362e38"}
        (self.folder / "in.csv").write_text("".join(GOOD.replace(",7,", f",{job},").replace("0.0625", number)
                                                    for job, number in numbers.items()))
        done = self.cm("--input=in.csv", "--output=means.csv", "--join-output")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = sorted((self.folder / "means.csv").read_text().splitlines()[1:])
        self.assertEqual([float(row.split(",")[3]) for row in rows], [0.5 + 2 ** -24, 0, (2 - 2 ** -23) * 2.0 ** 127])
        (self.folder / "in.csv").write_text(GOOD.replace("0.0625", "1e39"))
        done = self.cm("--input=in.csv")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("in.csv:1:30: CPU request is '1e39'; a number of at most 3.40282e+38 is expected", done.stderr)

    def test_a_missing_file_is_refused(self):
        done = self.cm("--input=nowhere/*.csv")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("nowhere", done.stderr)

    def test_what_needs_generated_input_is_refused(self):
        (self.folder / "good.csv").write_text(GOOD)
        for flag in ["--verify", "--export-input=a.csv"]:
            done = self.cm("--input=good.csv", flag)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("generated input", done.stderr)


@unittest.skipIf(SANITIZED, "the sanitizers' presets build ysb alone")
class TextTest(FilesTest):
    """wordcount reads text files."""

    def setUp(self):
        super().setUp()
        random = Random(1)
        words = ["the", "of", "Naïve", "naïve", "x86", "incomprehensibilities", *(f"word{number}" for number in range(500))]
        lines = [" ".join(random.choices(words, k=random.randrange(12))) for _ in range(20_000)]
        (self.folder / "texts").mkdir()
        (self.folder / "texts" / "plain.txt").write_text("\n".join(lines), encoding="utf-8")
        with gzip.open(self.folder / "texts" / "packed.gz", "wt", encoding="utf-8") as file:
            file.write("\r\n".join(lines))
        self.counts = collections.Counter(word for line in lines for word in line.split())

    def wordcount(self, *flags):
        return self.run_query("wordcount", *flags)

    def rows(self, header="window_start_ms,window_end_ms,key,value"):
        lines = (self.folder / "counts.csv").read_text(encoding="utf-8").splitlines()
        self.assertEqual(lines[0], header)
        return sorted(lines[1:])

    def test_words_of_plain_and_compressed_files_are_counted_whoever_reads_them(self):
        for path, times in [("texts/plain.txt", 1), ("texts/packed.gz", 1), ("texts", 2)]:
            for form in ("associative", "plain"):
                for nodes, executors in [(1, 1), (2, 2), (3, 1)]:
                    with self.subTest(path, form=form, nodes=nodes, executors=executors):
                        done = self.wordcount(f"--input={path}", f"--form={form}", f"--nodes={nodes}",
                                              f"--executors={executors}", "--verify", "--output=counts.csv", "--join-output")
                        self.assertEqual(done.returncode, 0, done.stderr)
                        self.assertRegex(done.stdout, r"verification +passed")
                        self.assertEqual(self.rows(), sorted(f",,{word},{times * count}"
                                                             for word, count in self.counts.items()))
                        (self.folder / "counts.csv").unlink()

    def test_count_windows_have_ten_occurrences_of_a_word(self):
        expected = []
        for word, count in self.counts.items():
            for number in range(1 if count < 10 else (count - 10) // 5 + 2):
                records = min(10, count - 5 * number)
                expected.append(f"{number},{records},{word},{records}")
        for path in ("texts/plain.txt", "texts/packed.gz"):
            for nodes, executors in [(1, 1), (2, 2)]:
                with self.subTest(path, nodes=nodes, executors=executors):
                    done = self.wordcount(f"--input={path}", "--form=count-window", f"--nodes={nodes}",
                                          f"--executors={executors}", "--verify", "--output=counts.csv", "--join-output")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertRegex(done.stdout, r"verification +passed")
                    self.assertEqual(self.rows("window,records,key,value"), sorted(expected))
                    (self.folder / "counts.csv").unlink()

    def test_what_files_cannot_have_is_refused(self):
        for flags, message in [(["--form=windowed"], "lines of files do not have"), (["--export-input=a.csv"], "--export-input"),
                               (["--keys=7"], "--keys"), (["--window=3s"], "--form=windowed alone")]:
            done = self.wordcount("--input=texts", *flags)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)

    def test_a_line_of_more_than_a_mebibyte_is_a_bad_record(self):
        (self.folder / "long.txt").write_text("word\n" + "x" * (1 << 20) + "x word\nword\n")
        done = self.wordcount("--input=long.txt", "--output=counts.csv")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("long.txt:2:1: the line is longer than 1048576 bytes", done.stderr)
        done = self.wordcount("--input=long.txt", "--on-bad-record=skip", "--verify", "--output=counts.csv", "--join-output")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.rows(), [",,word,2"])


class YahooTest(FilesTest):
    """Events, and their ads' campaigns, as the benchmark's own generator writes them."""

    def setUp(self):
        super().setUp()
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
        return self.run_query("ysb", "--profile=yahoo", *flags)

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

    def test_a_pipe_whose_reader_stalls_does_not_outlast_a_failed_run(self):
        lines = [f'{{ "{ad}": "{campaign}"}}\n' for ad, campaign in self.ads.items()]
        (self.folder / "ads.txt").write_text("".join(lines))
        (self.folder / "events" / "part-9.json").write_text("no event\n")
        os.mkfifo(self.folder / "pipe")
        reader, writer = (os.open(self.folder / "pipe", mode | os.O_NONBLOCK) for mode in (os.O_RDONLY, os.O_WRONLY))
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, bytes(4096))
        os.close(writer)
        done = self.ysb("--input=events", "--ads=ads.txt", "--output=pipe", "--epoch-bytes=64KiB")
        os.close(reader)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"epoch ([2-9]|[1-9][0-9]+): events/part-9\.json:1:2: ")  # windows have fired
        self.assertNotIn("ended at once", done.stderr)

    def run_apart(self, *flags, change=lambda: False):
        """Two ranks in folders of their own, "rank-0" and "rank-1"; calls `change` until they end, or it returns False. Exit
        codes, and standard errors."""
        address = f"--coordinator=127.0.0.1:{free_port()}"
        ranks = [subprocess.Popen([BIN / "ysb", "--nodes=2", f"--rank={rank}", address, "--output=views.csv", *flags],
                                  cwd=self.folder / f"rank-{rank}", env=os.environ | SECRET, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                 for rank in range(2)]
        while change() and any(rank.poll() is None for rank in ranks):
            time.sleep(0.001)
        errors = [WAITS.sub("", rank.communicate(timeout=PATIENCE_SECONDS)[1]) for rank in ranks]
        return [rank.returncode for rank in ranks], errors

    def results(self):
        return sorted(path.name for path in self.folder.glob("rank-*/views.csv*"))

    def test_nodes_whose_inputs_differ_do_not_start(self):
        parts = {path.name: path.read_text() for path in (self.folder / "events").iterdir()}
        ads = [f'{{"{ad}": "{campaign}"}}\n' for ad, campaign in self.ads.items()]

        def copy(rank, changes):
            """Gives the rank its own copy of the input, with some files changed or left out."""
            shutil.rmtree(self.folder / f"rank-{rank}", ignore_errors=True)
            (self.folder / f"rank-{rank}" / "in").mkdir(parents=True)
            for name, text in {**{f"in/{part}": text for part, text in parts.items()}, "ads.txt": "".join(ads),
                               **changes}.items():
                if text is not None:
                    (self.folder / f"rank-{rank}" / name).write_text(text)

        flags = ["--profile=yahoo", "--input=in", "--ads=ads.txt"]
        size = len(parts["part-1.json"])
        swapped = "".join([ads[0].replace(ads[0][-40:], ads[1][-40:]), ads[1].replace(ads[1][-40:], ads[0][-40:]), *ads[2:]])
        self.assertEqual(len(swapped), len("".join(ads)))
        copy(0, {})
        for changes, expected in [
                ({"in/part-1.json": None}, f"of 'in/part-1.json', rank 0 has {size} bytes and rank 1 does not have it"),
                ({"in/part-1.json": parts["part-1.json"][:-9]},
                 f"of 'in/part-1.json', rank 0 has {size} bytes and rank 1 has {size - 9} bytes"),
                ({"in/part-3.json": ""}, "of 'in/part-3.json', rank 0 does not have it and rank 1 has 0 bytes"),
                ({"ads.txt": swapped}, "of 'ads.txt', rank 0 has 30 ads with the checksum ")]:
            copy(1, changes)
            codes, errors = self.run_apart(*flags)
            self.assertEqual(codes, [1, 1], errors)
            for error in errors:
                self.assertIn(expected, error)
        self.assertEqual(self.results(), [])
        copy(1, {"in/_SUCCESS": ""})
        self.assertEqual(self.run_apart(*flags), ([0, 0], ["", ""]))

    def test_an_input_that_is_still_being_written_ends_the_run(self):
        for rank in range(2):
            shutil.copytree(self.folder / "events", self.folder / f"rank-{rank}" / "in")
        line = (self.folder / "events" / "part-0.json").read_text().splitlines()[0]
        with open(self.folder / "rank-1" / "in" / "part-1.json", "a", encoding="utf-8") as part:
            codes, errors = self.run_apart("--profile=slash", "--input=in",
                                           change=lambda: part.write(f"{line}\n") and not part.flush())
        self.assertEqual(codes, [1, 1], errors)
        for error in errors:
            self.assertRegex(error, "inputs differ: of 'in/part-1.json'|in/part-1.json: was written to")
        self.assertEqual(self.results(), [])

    def test_the_ads_have_to_be_known(self):
        done = self.ysb("--input=events")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--ads=", done.stderr)
        (self.folder / "ads.txt").write_text("no ad\n")
        done = self.ysb("--nodes=2", "--input=events", "--ads=ads.txt")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("--ads: ads.txt:1:1: ", done.stderr)
        self.assertNotIn("--ads: node", done.stderr)  # a node that is told of it says so, and not that its file is at fault
        done = self.ysb("--ads=ads.txt")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("goes with", done.stderr)


if __name__ == "__main__":
    unittest.main()
