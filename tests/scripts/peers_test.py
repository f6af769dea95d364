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
# Two executors have a part each.
COLLISIONS = """#!/bin/sh
for each; do case "$each" in
  --export-input=*) echo 'CRASH DATE' > "${each#*=}"; exit;;
  --weeks-output=*) printf 'week,lethal_accidents\\n2021-12-27,2\\n' > "${each#*=}";;
  --factors-output=*)
    printf 'factor,accidents,lethal_accidents,lethal_percent\\nGlare,3,1,33.3\\n' > "${each#*=}.part-000-of-002"
    printf 'factor,accidents,lethal_accidents,lethal_percent\\n"A, B",1,0,0\\n' > "${each#*=}.part-001-of-002";;
  --boroughs-output=*)
    printf 'borough,week,accidents,lethal_accidents,lethal_accidents_a_week\\nBRONX,1970-01-05,1,0,0\\n' > "${each#*=}";;
  --json=*) echo '{"seconds": 0.5}' > "${each#*=}";;
esac; done
"""
# Rows only where they are asked for.
NEXMARK = """#!/bin/sh
for each; do case "$each" in
  --query=*) query="${each#*=}";;
  --export-input=*) echo 'executor,number' > "${each#*=}"; exit;;
  --output=*) case "$query" in
    q0 | q7) printf 'auction,bidder,price,date_time,extra\\n1,2,3,4,x\\n' > "${each#*=}";;
    q1) printf 'auction,bidder,price,date_time,extra\\n1,2,2.724,4,x\\n' > "${each#*=}";;
    q2) printf 'auction,price\\n1,3\\n' > "${each#*=}";;
    q3) printf 'name,city,state,id\\na,b,or,1\\n' > "${each#*=}";;
    q4) printf 'category,avg_price\\n10,3\\n' > "${each#*=}";;
    q5) printf 'auction,num,window_start_ms,window_end_ms\\n1,2,0,10\\n' > "${each#*=}";;
    q6) printf 'seller,avg_price\\n7,3\\n' > "${each#*=}";;
    q8) printf 'id,name,starttime\\n1,a,0\\n' > "${each#*=}";;
  esac;;
  --json=*) echo '{"seconds": 0.5}' > "${each#*=}";;
esac; done
"""
# The input is another one for two executors. Tables stand beside it. Reads twice as fast with --seconds as in a single pass.
WINDOWED = """#!/bin/sh
executors=1
seconds=0.5
for each; do case "$each" in
  --seconds=*) seconds=1.0;;
  --records=*) records="${each#*=}";;
  --executors=*) executors="${each#*=}";;
  --export-ads=*) echo 'ad_id,campaign' > "${each#*=}";;
  --export-sellers=*) echo 'executor,number,event_time_ms,seller' > "${each#*=}";;
  --export-input=*)
    printf 'executor,number,event_time_ms,auction,bidder,price\\n0,0,5,7,1,3\\n%%d,1,6,7,1,2\\n' $((executors - 1)) \\
      > "${each#*=}"
    exit;;
  --output=*) case "$0" in
    */cm) printf 'window_start_ms,window_end_ms,key,value\\n0,2000,7,%(mean)s\\n' > "${each#*=}";;
    */nb8) printf 'window_start_ms,window_end_ms,key,value_1,value_2\\n0,10,7,3,4\\n' > "${each#*=}";;
    *) printf 'window_start_ms,window_end_ms,key,value\\n0,10,7,3\\n' > "${each#*=}";;
  esac;;
  --json=*) report="${each#*=}";;
esac; done
[ $seconds = 0.5 ] || records=$((records * 4))
echo "{\\"seconds\\": $seconds, \\"records\\": $((records * executors))}" > "$report"
"""
# Takes 2 s, if one believes it.
RENOIR = """#!/bin/sh
[ "$4" = - ] || case "$1" in
  q0) echo '1,2,3,4,x' > "$4";;
  q1) echo '1,2,2.724,4,x' > "$4";;
  q2) echo '1,3' > "$4";;
  q3) echo 'a,b,or,1' > "$4";;
  q4) echo '10,3' > "$4";;
  q6) echo '7,4' > "$4";;
  q*) echo "rows of $1 are not compared" >&2; exit 1;;
  collisions)
    printf 'factors,"A, B",1,0\\nfactors,Glare,3,1\\nboroughs,BRONX,4,1,0\\nweeks,18988,2\\n' > "$4";;
  *)
    [ "$(cat "$3")" = 'a b
a' ] || { echo "other lines" >&2; exit 1; }
    printf '%(rows)s' > "$4";;
esac
echo 2.0
"""
# Takes 1 s for a single pass, and half a second for each of several. Windows of nb7 span ten minutes.
TIMELY = """#!/bin/sh
case "$1" in
  q*) ;;
  *) [ "$(tail -n 1 "$3" | cut -d , -f 1)" = $(($2 - 1)) ] || { echo "other flows than $2" >&2; exit 1; };;
esac
folder="$(dirname "$3")"
[ "$4" = - ] || case "$1" in
  q0 | q7) echo '1,2,3,4,x' > "$4";;
  q5) echo '%(hot)s' > "$4";;
  q6) echo '7,3' > "$4";;
  q8) echo '1,a,0' > "$4";;
  cm) echo '0,7,2.5e-1' > "$4";;
  nb8) [ -f "$folder/sellers.csv" ] && echo '0,7,3,4' > "$4";;
  ysb-yahoo) [ -f "$folder/ads.csv" ] && echo '0,7,3' > "$4";;
  ysb | nb7) echo '0,7,3' > "$4";;
  *) echo "timely does not have $1, or this test does not ask for it" >&2; exit 1;;
esac
case "$1 $6" in 'nb7 ' | 'nb7 600000') ;; nb7*) echo "passes of $6 ms" >&2; exit 1;; esac
[ -z "$5" ] || { awk "BEGIN { print $5 / 2 }"; exit; }
echo 1.0
"""
# Flink's JVM, which runs timely's program.
JAVA = """#!/bin/sh
while [ "$1" != -jar ]; do shift; done
shift 2
exec "$(dirname "$0")/glaive_peer_timely" "$@"
"""


class PeersTest(unittest.TestCase):
    def compare(self, *arguments, rows="b,1\\na,2\\n", hot="1,2,0,10", mean="0.25", peers="renoir,timely"):
        with tempfile.TemporaryDirectory() as name:
            for program, text in (("wordcount", GLAIVE), ("collisions", COLLISIONS), ("nexmark", NEXMARK),
                                  *((query, WINDOWED % {"mean": mean}) for query in ("ysb", "nb7", "cm", "nb8")),
                                  ("glaive_peer_renoir", RENOIR % {"rows": rows}),
                                  ("glaive_peer_timely", TIMELY % {"hot": hot}), ("java", JAVA)):
                path = pathlib.Path(name, program)
                path.write_text(text, encoding="utf-8")
                path.chmod(0o755)
            return subprocess.run([sys.executable, "-B", SOURCE / "scripts/lib/peers/main.py", f"--bin={name}",
                                   f"--peer-bin={name}", "--turns=3", f"--peers={peers}", *arguments], stdin=subprocess.DEVNULL,
                                  env={**os.environ, "PATH": f"{name}:{os.environ['PATH']}"}, capture_output=True, text=True,
                                  timeout=60)

    def test_a_ratio_is_of_times_that_were_measured_in_turns(self):
        done = self.compare("plain", peers="renoir")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| program | processors | unit | glaive | renoir | glaive/renoir |\n| --- |", done.stdout)
        self.assertRegex(done.stdout, r"\| plain \| 1 \| MB/s \| .* \| 4\.00 \(4\.00 to 4\.00\) \|\n")

    def test_all_programs_run_unless_some_are_named(self):
        done = self.compare(peers="renoir")
        self.assertEqual(done.returncode, 1, done.stdout)
        for name in ("associative", "plain", "count-window", "collisions", "q0", "q1", "q2", "q3", "q4", "q5"):
            self.assertIn(f"| {name} | 1 | ", done.stdout)
        self.assertIn("q6: rows differ from those of renoir, such as [(('7', '3'), 1), (('7', '4'), 1)]", done.stderr,
                      "the last that ran")

    def test_rows_of_nexmark_are_compared_in_a_run_of_their_own(self):
        done = self.compare("q0", "q5", "q7", "q8", "--records=4000000")
        self.assertEqual(done.returncode, 0, done.stderr)
        figures = ["8.00 (8.00 to 8.00)", "2.00 (2.00 to 2.00)", "4.00 (4.00 to 4.00)", "4.00 (4.00 to 4.00)",
                   "2.00 (2.00 to 2.00)"]
        for name in ("q0", "q5", "q7", "q8"):
            self.assertIn(f"| {name} | 1 | M events/s | {' | '.join(figures)} |\n", done.stdout)

    def test_windows_are_compared_with_those_of_timely(self):
        done = self.compare("q5", hot="1,3,0,10")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("q5: rows differ from those of timely, such as", done.stderr)

    def test_each_executor_of_a_windowed_query_has_records_of_its_own(self):
        names = ("ysb-yahoo", "ysb", "nb7", "cm", "nb8")
        done = self.compare(*names, "--records=4000000", peers="timely")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in names:
            self.assertIn(f"| {name} | 1 | M records/s | 16.00 (16.00 to 16.00) | 8.00 (8.00 to 8.00) | 2.00 ", done.stdout)
            if len(os.sched_getaffinity(0)) > 1:
                self.assertIn(f"| {name} | 2 | M records/s | 32.00 (32.00 to 32.00) | 16.00 (16.00 to 16.00) | ", done.stdout)

    def test_means_are_equal_as_numbers_and_exactly(self):
        done = self.compare("cm", mean="0.25000000000000006", peers="timely")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("cm: rows differ from those of timely, such as [(('0', '7', 0.25000000000000006), 1)", done.stderr)

    def test_a_peer_without_a_program_has_dashes(self):
        done = self.compare("collisions")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\| collisions \| 1 \| MB/s \| .* \| 4\.00 \(4\.00 to 4\.00\) \| - \| - \|\n")

    def test_only_the_chosen_peers_run(self):
        done = self.compare("q6", "--records=4000000", peers="timely")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("renoir", done.stdout)
        self.assertIn("| q6 | 1 | M events/s | 8.00 (8.00 to 8.00) | 4.00 (4.00 to 4.00) | 2.00 ", done.stdout)

    def test_rows_that_differ_are_told_and_no_rate_is(self):
        done = self.compare("plain", rows="b,1\\na,3\\n")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("plain: rows differ from those of renoir, such as [(('a', '2'), 1), (('a', '3'), 1)]",
                      done.stderr)
        self.assertNotIn("| plain |", done.stdout)

    def test_duckdb_computes_the_rows(self):
        done = self.compare("associative", peers="duckdb")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\| associative \| 1 \| MB/s \| .* \| \d+\.\d\d \(")
        done = self.compare("nb7", peers="duckdb")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\| nb7 \| 1 \| M records/s \| .* \| \d+\.\d\d \(")
        self.assertRegex(self.compare("plain", peers="duckdb").stdout, r"\| plain \| 1 \| MB/s \| .* \| - \| - \|")

    def test_flink_runs_in_a_jvm(self):
        done = self.compare("nb7", "q3", "--records=4000000", peers="flink")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| nb7 | 1 | M records/s | 16.00 (16.00 to 16.00) | 4.00 (4.00 to 4.00) | 4.00 ", done.stdout,
                      "in one pass, unlike Glaive")
        self.assertIn("| q3 | 1 | M events/s | 8.00 (8.00 to 8.00) | - | - |", done.stdout, "which it does not have")

    def test_unknown_forms_and_no_turns_are_refused(self):
        for arguments, message in ((["fast"], "no program 'fast': associative, plain, count-window, collisions, q0,"),
                                   (["--peers=spark"], "there is no peer 'spark': renoir, timely, duckdb or flink"),
                                   (["--turns=0"], "--records and --turns must be at least 1"),
                                   (["--seconds=0"], "--seconds above 0 and at most 60")):
            done = self.compare(*arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
