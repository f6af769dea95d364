"""scripts/run: what it says of queries that there are, and of one that there is not."""

import os
import pathlib
import subprocess
import unittest

SOURCE = pathlib.Path(os.environ.get("GLAIVE_SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent.parent))


def run(*arguments):
    return subprocess.run([SOURCE / "scripts" / "run", *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=60, check=False)


class RunTest(unittest.TestCase):
    def setUp(self):
        self.queries = sorted(main.parent.name for main in SOURCE.glob("queries/*/main.cc"))
        self.assertIn("ysb", self.queries)

    def listed(self, usage):
        return usage.split("Queries:\n")[1].split("\n\n")[0].split()

    def test_help_lists_the_queries(self):
        done = run("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.listed(done.stdout), self.queries)

    def test_an_unknown_query_is_refused_with_those_that_there_are(self):
        for name in ["nothing", "common", "ys", "ysb.*"]:
            done = run(name)
            self.assertEqual((done.returncode, done.stdout), (2, ""), name)
            self.assertIn(f"there is no query '{name}'", done.stderr)
            self.assertEqual(self.listed(done.stderr), self.queries)

    def test_without_a_query_the_usage_is_shown(self):
        done = run()
        self.assertEqual(done.returncode, 2)
        self.assertEqual(self.listed(done.stderr), self.queries)


if __name__ == "__main__":
    unittest.main()
