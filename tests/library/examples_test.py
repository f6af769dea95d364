"""Each of queries/examples, run as a user runs it: its rows are those that plain Python makes of the same input."""

import collections
import csv
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE_DIR = pathlib.Path(os.environ["GLAIVE_SOURCE_DIR"])
BIN = pathlib.Path(os.environ["GLAIVE_BIN_DIR"])
FOLDER = SOURCE_DIR / "queries" / "examples"
NAMES = sorted(source.stem for source in SOURCE_DIR.glob("queries/examples/*.cc"))
LEAST_EXAMPLES = 15
LINES = range(10, 41)  # of an example
MINUTE = 60_000

with open(FOLDER / "orders.csv", newline="", encoding="utf-8") as orders_file:
    ORDERS = list(csv.DictReader(orders_file))
FABLE = (FOLDER / "fable.txt").read_text(encoding="utf-8").split()
WORDS = (FOLDER / "words.txt").read_text(encoding="utf-8").split()


def counted(things):
    """A row without window for each thing, with its count."""
    return [["", "", thing, count] for thing, count in collections.Counter(things).items()]


def stable_headers():
    """The headers, and the folders of headers, that docs/using-glaive.md calls stable."""
    page = (SOURCE_DIR / "docs" / "using-glaive.md").read_text(encoding="utf-8")
    section = page.split("\n## What is stable\n")[1]
    names = set()
    for cell in re.findall(r"^\| ([^|]+) \|", section, re.MULTILINE):
        folder = re.search(r" in `([^`]+/)`$", cell)
        for name in re.findall(r"`([^`]+(?:\.h|/))`", cell):
            names.add(folder.group(1) + name if folder and "/" not in name else name)
    return names


class StableHeadersTest(unittest.TestCase):
    def test_they_exist(self):
        names = stable_headers()
        self.assertGreater(len(names), 25)
        for name in names:
            self.assertTrue((SOURCE_DIR / name).exists(), name)

    def test_examples_and_template_need_no_other(self):
        names = stable_headers()
        sources = [*FOLDER.glob("*.cc"), *SOURCE_DIR.glob("queries/template/*.cc")]
        for source in sources:
            for header in re.findall(r"^#include <glaive/([^>]+)>", source.read_text(encoding="utf-8"), re.MULTILINE):
                self.assertTrue(header in names or f"{pathlib.PurePosixPath(header).parent}/" in names,
                                f"{source.name}: {header}")


class ExamplesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="glaive_examples_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for data in [*FOLDER.glob("*.csv"), *FOLDER.glob("*.txt")]:
            if data.name != "CMakeLists.txt":
                shutil.copy(data, self.folder)

    def run_example(self, name, *flags):
        """What it prints; it must succeed."""
        done = subprocess.run([BIN / f"examples.{name}", *flags], cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def rows_of(self, path):
        """The rows of a CSV file, sorted, without the names of its columns."""
        with open(self.folder / path, newline="", encoding="utf-8") as file:
            return sorted(list(csv.reader(file))[1:])

    def check(self, name, expected, *flags):
        """Runs the example on one executor, on two and on two nodes, and compares its rows."""
        expected = sorted([str(value) for value in row] for row in expected)
        for shape in ([], ["--executors=2"], ["--nodes=2"]):
            with self.subTest(name, shape=shape):
                self.run_example(name, "--output=rows.csv", "--join-output", *shape, *flags)
                self.assertEqual(self.rows_of("rows.csv"), expected)

    def test_every_example_is_small_and_has_a_test(self):
        self.assertGreaterEqual(len(NAMES), LEAST_EXAMPLES)
        tests = {name for name in dir(self) if name.startswith("test_")}
        for name in NAMES:
            self.assertIn(f"test_{name}", tests)
            lines = (FOLDER / f"{name}.cc").read_text(encoding="utf-8").count("\n")
            self.assertIn(lines, LINES, name)

    def test_squares(self):
        self.check("squares", [[n * n] for n in range(1, 11)])

    def test_filter_to_file(self):
        self.check("filter_to_file", [list(order.values()) for order in ORDERS if int(order["amount"]) >= 100])

    def test_word_count(self):
        self.check("word_count", counted(FABLE))

    def test_top_words(self):
        top = sorted(((count, word) for word, count in collections.Counter(WORDS).items()), reverse=True)[:3]
        self.check("top_words", [["", "", " ".join(f"{word}={count}" for count, word in top)]])

    def test_join(self):
        views = [(n, n % 4, n * 1000) for n in range(300)]
        clicks = [(n * 3, n * 3000 + 20_000) for n in range(100)]
        self.check("join", [[at // MINUTE * MINUTE, (at // MINUTE + 1) * MINUTE, view, ad, clicked]
                            for view, ad, at in views for of, clicked in clicks
                            if of == view and at // MINUTE == clicked // MINUTE])

    def test_three_way_join(self):
        self.check("three_way_join", [[user] for user in range(60) if user % 2 == 0 and user % 3 == 0])

    def test_two_sinks(self):
        squares = [n * n for n in range(25)]
        self.check("two_sinks", counted(square % 10 for square in squares))
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        self.run_example("two_sinks")
        self.assertEqual(self.rows_of("odd.csv"), sorted([str(square)] for square in squares if square % 2 == 1))

    def test_stateful_map(self):
        last = collections.Counter()
        rows = []
        for n in range(12):
            rows.append([n * n - last[n % 3]])
            last[n % 3] = n * n
        self.run_example("stateful_map", "--output=rows.csv")  # one executor reads the readings in their order
        self.assertEqual(self.rows_of("rows.csv"), sorted([str(increase)] for [increase] in rows))

    def test_loop(self):
        values = [n if n % 10 == 0 else 400 + n % 10 for n in range(1000)]
        mean, before, iterations = 500, None, 0
        while mean != before:
            near = [value for value in values if abs(value - mean) <= 100]
            mean, before, iterations = int(sum(near) / len(near)), mean, iterations + 1
        self.assertGreater(iterations, 2, "or this tests little")
        self.check("loop", [[mean]])

    def test_sessions(self):
        rows = []
        for user in range(4):
            for block in range(3):
                times = [n * 1000 + n // 40 * MINUTE for n in range(40 * block, 40 * (block + 1)) if n % 4 == user]
                rows.append([times[0], times[-1] + 30_000, user, len(times)])
        self.check("sessions", rows)

    def test_late_records(self):
        events = [(n, n * 10 + (0 if n % 10_000 == 9_999 else MINUTE)) for n in range(30_000)]
        self.run_example("late_records", "--output=rows.csv")
        late = self.rows_of("late.csv")
        self.assertEqual([row[2] for row in late], ["19999", "29999", "9999"])
        for event_time, watermark, number, time in late:
            self.assertEqual((int(event_time), time), (int(number) * 10, event_time))
            self.assertGreater(int(watermark), int(event_time))
        counts = collections.Counter(time // 50_000 for n, time in events if n % 10_000 != 9_999)
        self.assertEqual(self.rows_of("rows.csv"), sorted([str(window * 50_000), str((window + 1) * 50_000), str(count)]
                                                         for window, count in counts.items()))

    def test_own_aggregate(self):
        keys = [[n for n in range(1000) if n % 7 == key] for key in range(7)]
        self.check("own_aggregate", [["", "", numbers[0] % 7, max(numbers) - min(numbers)] for numbers in keys])

    def test_own_source(self):
        self.run_example("own_source", "--output=rows.csv", "--executors=2", "--join-output")
        self.assertEqual(self.rows_of("rows.csv"), sorted([["0", "60000", "120"], ["60000", "120000", "120"]]))

    def test_own_sink(self):
        self.assertIn("the sum is 5050\n", self.run_example("own_sink"))
        sums = re.findall(r"^the sum is (\d+)$", self.run_example("own_sink", "--executors=2"), re.MULTILINE)
        self.assertEqual((len(sums), sum(map(int, sums))), (2, 5050))

    def test_exchange(self):
        self.check("exchange", [[n] for n in range(2, 201) if all(n % divisor for divisor in range(2, n))])

    def test_text_keys(self):
        spent = collections.Counter()
        for order in ORDERS:
            spent[order["customer"], order["product"]] += int(order["amount"])
        self.check("text_keys", [["", "", *purchase, amount] for purchase, amount in spent.items()])

    def test_sliding_windows(self):
        readings = [(n * 5000, n % 8 / 4) for n in range(60)]
        rows = []
        for start in range(-40_000, 300_000, 20_000):
            inside = [degrees for at, degrees in readings if start <= at < start + MINUTE]
            rows.append([start, start + MINUTE, sum(inside) / len(inside)])
        self.run_example("sliding_windows", "--output=rows.csv")
        self.assertEqual([[int(start), int(end), float(mean)] for start, end, mean in self.rows_of("rows.csv")],
                         sorted(rows, key=lambda row: [str(row[0]), str(row[1])]))

    def test_static_table(self):
        words = {0: "zero", 5: "five", 7: "seven"}
        self.check("static_table", [[n, words[n % 10]] for n in range(1, 31) if n % 10 in words])

    def test_own_flags(self):
        self.check("own_flags", [["", "", 5050]])
        self.check("own_flags", [["", "", 55]], "--last=10")
        self.assertIn("\nNumbers:\n  --last=N ", self.run_example("own_flags", "--help"))

    def test_csv_to_json(self):
        self.run_example("csv_to_json")
        lines = (self.folder / "orders.jsonl").read_text(encoding="utf-8").splitlines()
        self.assertEqual(sorted(lines), sorted(
            f'{{"time_ms":{order["time_ms"]},"customer":{order["customer"]},"product":"{order["product"]}",'
            f'"amount":{order["amount"]}}}' for order in ORDERS))


if __name__ == "__main__":
    unittest.main()
