"""collisions reads the file that New York publishes, and writes a file for each question."""

import gzip
import pathlib
import subprocess
import tempfile
import unittest

from ysb_process import BIN, PATIENCE_SECONDS, SANITIZED, SOURCE

SAMPLE = SOURCE / "tests/queries/collisions.csv"
HEADERS = {"weeks": "week,lethal_accidents",
           "factors": "factor,accidents,lethal_accidents,lethal_percent",
           "boroughs": "borough,week,accidents,lethal_accidents,lethal_accidents_a_week"}
SOME_ROWS = {"weeks": "2021-12-27,2", "factors": "Unsafe Speed,3,2,66.66666666666667",
             "boroughs": "BROOKLYN,2022-01-10,1,0,0.5"}


@unittest.skipIf(SANITIZED, "the sanitizers' presets build ysb alone")
class CollisionsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="glaive_collisions_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_query(self, *flags, code=0):
        done = subprocess.run([BIN / "collisions", *flags], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=PATIENCE_SECONDS, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def rows(self, name):
        """The rows of a result, and its header."""
        rows, headers = [], set()
        for part in sorted(self.folder.glob(f"{name}*")):
            header, *lines = part.read_text(encoding="utf-8").splitlines()
            headers.add(header)
            rows += lines
            part.unlink()
        self.assertEqual(len(headers), 1)
        return sorted(rows), headers.pop()

    def test_each_question_has_a_file(self):
        (self.folder / "crashes").mkdir()
        (self.folder / "crashes" / "sample.csv").write_text(SAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
        with gzip.open(self.folder / "twice.csv.gz", "wt", encoding="utf-8") as packed:
            packed.write(SAMPLE.read_text(encoding="utf-8"))
        outputs = [f"--{name}-output={name}.csv" for name in HEADERS]
        for path in ("crashes", "twice.csv.gz"):
            for shape in (["--executors=1"], ["--executors=2"], ["--nodes=2"]):
                with self.subTest(path, shape=shape):
                    done = self.run_query(f"--input={path}", "--verify", *shape, *outputs)
                    self.assertRegex(done.stdout, r"verification +passed")
                    for name, header in HEADERS.items():
                        rows, found = self.rows(f"{name}.csv")
                        self.assertEqual(found, header)
                        self.assertIn(SOME_ROWS[name], rows)

    def test_one_question_has_the_output(self):
        for name, header in HEADERS.items():
            with self.subTest(name):
                self.run_query(f"--input={SAMPLE}", f"--question={name}", "--verify", "--output=rows.csv", "--executors=2",
                               "--join-output")
                rows, found = self.rows("rows.csv")
                self.assertEqual(found, header)
                self.assertIn(SOME_ROWS[name], rows)

    def test_exported_collisions_have_the_answers_of_those_that_were_generated(self):
        self.run_query("--records=3000", "--nodes=2", "--verify", "--export-input=crashes.csv", "--factors-output=made.csv")
        self.assertEqual((self.folder / "crashes.csv").read_text(encoding="utf-8").count("\n"), 6001)
        self.run_query("--input=crashes.csv", "--executors=2", "--verify", "--factors-output=read.csv")
        self.assertEqual(self.rows("made.csv"), self.rows("read.csv"))

    def test_a_bad_line_ends_the_run_or_is_skipped(self):
        text = SAMPLE.read_text(encoding="utf-8").replace("01/03/2022", "03.01.2022")
        (self.folder / "bad.csv").write_text(text, encoding="utf-8")
        done = self.run_query("--input=bad.csv", code=1)
        self.assertIn("bad.csv:4:1: 'CRASH DATE' has '03.01.2022': a day is expected, as MM/DD/YYYY", done.stderr)
        done = self.run_query("--input=bad.csv", "--on-bad-record=skip", "--question=weeks", "--output=weeks.csv")
        self.assertRegex(done.stdout, r"1 skipped, first: bad\.csv:4:1: ")
        done = self.run_query("--input=bad.csv", "--on-bad-record=skip", "--verify", code=2)
        self.assertIn("--verify reads every line of the files", done.stderr)

    def test_what_does_not_go_together_is_refused(self):
        for flags, message in [(["--output=a.csv"], "--output takes the rows of one --question"),
                               (["--question=weeks", "--weeks-output=a.csv"], "--weeks-output goes with --question=all"),
                               ([f"--input={SAMPLE}", "--records=7"], "--records is about generated records"),
                               ([f"--input={SAMPLE}", "--export-input=a.csv"], "--export-input is about generated records"),
                               (["--on-bad-record=skip"], "--on-bad-record is about the lines of --input"),
                               (["--input=nowhere.csv"], "nowhere.csv")]:
            with self.subTest(flags):
                self.assertIn(message, self.run_query(*flags, code=2).stderr)


if __name__ == "__main__":
    unittest.main()
