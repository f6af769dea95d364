"""scripts/experiments at its smallest size with the real queries: every experiment has figures, and is drawn."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from ysb_process import BIN, SANITIZED, SOURCE

MAIN = SOURCE / "scripts/lib/experiments/main.py"
PYTHON = SOURCE / "build/python/bin/python3"
MOST_SECONDS = 300


@unittest.skipIf(SANITIZED, "the sanitizers' presets build ysb alone")
class EveryExperimentTest(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="glaive_experiments_")
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        sys.path.insert(0, str(MAIN.parent))
        self.addCleanup(sys.path.remove, str(MAIN.parent))

    def run_main(self, *arguments):
        done = subprocess.run([PYTHON, "-B", MAIN, *map(str, arguments)], capture_output=True, text=True,
                              timeout=MOST_SECONDS, env=os.environ | {"MPLCONFIGDIR": str(self.folder)}, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_every_experiment_has_figures(self):
        import catalogue
        import counters
        import results
        # Valgrind knows neither all instructions of a processor nor all debugging information.
        names = [name for name in catalogue.ALL if name != "table1" or counters.has_perf()]
        file = self.folder / "results.jsonl"
        self.run_main("run", *names, "--size=tiny", f"--bin={BIN.resolve()}", f"--results={file}")
        lines = results.load(file)
        for name in names:
            experiment = catalogue.ALL[name]
            with self.subTest(name):
                series = results.series_of(lines, name, experiment.metric)
                self.assertGreater(min(spread.least for by_x in series.values() for spread in by_x.values()), 0)
                if name == "fig11":
                    self.assertLessEqual({"loop", "slash, 1 node"}, set(series))
                elif name.startswith("fig"):
                    self.assertEqual(set(series), {"slash", "uppar"})
        pairs = {}
        for line in lines:
            if line["experiment"].startswith("fig9"):
                self.assertEqual(line["report"]["settings"]["engine"], line["series"])
                pairs.setdefault(line["experiment"], set()).add(line["report"]["records"])
        for name, records in pairs.items():
            self.assertLessEqual(max(records) - min(records), 2, f"{name}: engines read {records} records")
        self.assertIn("report.html", self.run_main("plot", f"--results={file}", f"--folder={self.folder}"))


if __name__ == "__main__":
    unittest.main()
