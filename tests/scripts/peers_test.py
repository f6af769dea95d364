"""scripts/lib/peers with made-up programs: what it compares, prints and refuses."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("GLAIVE_SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent.parent))

# Exports two lines, or reports half a second and the rows of a text.
GLAIVE = """#!/bin/sh
for each; do case "$each" in
  --export-input=*) printf 'executor,number,text\\n0,0,a b\\n0,1,a\\n' > "${each#*=}"; exit;;
  --output=*) printf 'window_start,window_end,key,value\\n0,1,a,2\\n0,1,b,1\\n' > "${each#*=}";;
  --json=*) echo '{"seconds": 0.5}' > "${each#*=}";;
esac; done
"""
# Takes 2 s, if one believes it.
RENOIR = """#!/bin/sh
[ "$(cat "$3")" = 'a b
a' ] || { echo "other lines" >&2; exit 1; }
printf '%(rows)s' > "$4"
echo 2.0
"""


class PeersTest(unittest.TestCase):
    def compare(self, *arguments, rows="b,1\\na,2\\n"):
        with tempfile.TemporaryDirectory() as name:
            for program, text in (("glaive", GLAIVE), ("renoir", RENOIR % {"rows": rows})):
                path = pathlib.Path(name, program)
                path.write_text(text, encoding="utf-8")
                path.chmod(0o755)
            return subprocess.run([sys.executable, "-B", SOURCE / "scripts/lib/peers/main.py", f"--glaive={name}/glaive",
                                   f"--renoir={name}/renoir", "--turns=3", *arguments], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=60)

    def test_a_ratio_is_of_times_that_were_measured_in_turns(self):
        done = self.compare("plain")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("plain, 1 processor: glaive ", done.stdout)
        self.assertIn("ratio 4.00 (4.00 to 4.00)", done.stdout)

    def test_all_forms_run_unless_some_are_named(self):
        self.assertEqual([form in self.compare().stdout for form in ("associative", "plain", "count-window")], [True] * 3)

    def test_rows_that_differ_are_told_and_no_rate_is(self):
        done = self.compare("plain", rows="b,1\\na,3\\n")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("plain: rows differ, such as [(('a', '2'), 1), (('a', '3'), 1)]", done.stderr)
        self.assertNotIn("ratio", done.stdout)

    def test_unknown_forms_and_no_turns_are_refused(self):
        for arguments, message in ((["fast"], "no form 'fast': associative, plain or count-window"),
                                   (["--turns=0"], "--records and --turns must be at least 1")):
            done = self.compare(*arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
