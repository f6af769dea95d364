"""The parts of scripts/test: what counts as passed, failed, skipped and left out, with and without CI."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("GLAIVE_SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent.parent))
# One test has run: without any, every summary fails.
PROLOGUE = f'set -euo pipefail; source "{SOURCE}/scripts/lib/common.sh"; source "{SOURCE}/scripts/lib/sections.sh"; TESTS_RUN=1; '


def run(script, ci=""):
    """Exit code, and the lines of the summary."""
    done = subprocess.run(["bash", "-c", PROLOGUE + script + "; summary"], env={**os.environ, "CI": ci},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.split("=== Summary\n")[-1].splitlines()


class SectionsTest(unittest.TestCase):
    def test_sections_that_pass_pass(self):
        for ci in ("", "true"):
            code, lines = run("section one true; section two true", ci)
            self.assertEqual(code, 0)
            self.assertRegex(lines[0], r"^one +passed ")
            self.assertIn("2 sections, 0 failed", lines[-1])

    def test_a_failure_is_counted_and_the_next_section_still_runs(self):
        code, lines = run("section one bash -c 'exit 3'; section two true")
        self.assertEqual(code, 1)
        self.assertRegex(lines[0], r"^one +FAILED ")
        self.assertRegex(lines[1], r"^two +passed ")
        self.assertIn("2 sections, 1 failed", lines[-1])

    def test_a_command_that_fails_inside_a_section_ends_it(self):
        code, lines = run("part() { false; true; }; section one part")
        self.assertEqual(code, 1)
        self.assertRegex(lines[0], r"^one +FAILED ")

    def test_what_cannot_run_here_is_skipped_and_in_ci_that_fails(self):
        for script in ("section one bash -c 'exit 69'", "skip_section one 'for a reason'"):
            for ci, expected in (("", 0), ("true", 1)):
                with self.subTest(script, ci=ci):
                    code, lines = run(script, ci)
                    self.assertEqual(code, expected)
                    self.assertRegex(lines[0], r"^one +skipped: ")
                    self.assertIn(f"{expected} failed", lines[-1])

    def test_what_was_not_asked_for_is_left_out_and_never_fails(self):
        code, lines = run("leave_out one 'not asked for'", "true")
        self.assertEqual(code, 0)
        self.assertRegex(lines[0], r"^one +left out: not asked for$")

    def test_what_a_failed_test_said_is_told_once_more(self):
        cases = {"quiet": ("run", "all well"), "loud": ("fail", "\n".join(f"line {i}" for i in range(100)))}
        with tempfile.TemporaryDirectory() as folder:
            for log in ("ctest.log", "ctest-beside.log"):
                pathlib.Path(folder, log).touch()
            pathlib.Path(folder, "ctest.xml").write_text("<testsuite>" + "".join(
                f'<testcase name="{name}" status="{status}"><system-out>{text}</system-out></testcase>'
                for name, (status, text) in cases.items()) + "</testsuite>")
            text = subprocess.run([SOURCE / "scripts/lib/failures.py", "dev: test", folder], capture_output=True,
                                  text=True, check=True).stdout
        self.assertIn("dev: test: loud failed", text)
        self.assertIn("dev: test: ctest-beside.log ends before its tests do", text)
        self.assertIn("line 99", text)
        self.assertNotIn("line 50", text)
        self.assertNotIn("quiet", text)

    def test_a_skip_without_a_listed_reason_is_named(self):
        said = {
            "case": "[ RUN      ] Suite.Case\n[  SKIPPED ] Suite.Case (0 ms)\n"
                    "[  SKIPPED ] 1 test, listed below:\n[  SKIPPED ] Suite.Case\n",
            "script": "test_a (__main__.SomeTest.test_a)\nSays what. ... skipped 'for now'\n"
                      "test_b (__main__.SomeTest.test_b) ... ok\n",
            "listed": "test_cpu (__main__.IdleTest.test_cpu) ... skipped 'listed'\n",
        }
        for preset, names in (("asan", ["SomeTest.test_a", "Suite.Case"]),
                              ("dev", ["IdleTest.test_cpu", "SomeTest.test_a", "Suite.Case"])):
            with self.subTest(preset), tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder, "ctest.xml").write_text("<testsuite>" + "".join(
                    f'<testcase name="{name}" status="run"><system-out>{text}</system-out></testcase>'
                    for name, text in said.items()) + "</testsuite>")
                done = subprocess.run([SOURCE / "scripts/lib/skips.py", preset, folder], capture_output=True, text=True,
                                      check=False)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertEqual([line.rsplit(" ", 1)[1] for line in done.stdout.splitlines()], names)

    def test_a_skip_that_fails_a_section_is_named_beside_the_failures(self):
        report = ('<testsuite><testcase name=\\"case\\" status=\\"run\\"><system-out>'
                  "[  SKIPPED ] Suite.Case (0 ms)</system-out></testcase></testsuite>")
        for ci, expected in (("", 0), ("true", 1)):
            with self.subTest(ci=ci), tempfile.TemporaryDirectory() as root:
                pathlib.Path(root, "build/dev").mkdir(parents=True)
                pathlib.Path(root, "scripts").symlink_to(SOURCE / "scripts")
                ctest = f'ctest() {{ echo "{report}" >"$PROJECT_ROOT/build/dev/ctest.xml"; }}'
                done = subprocess.run(["bash", "-c", PROLOGUE + f"PROJECT_ROOT={root}; {ctest}; test_section one dev; "
                                       "echo === Failures; summary"], env={**os.environ, "CI": ci}, stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, expected, done.stderr)
                told = done.stdout.split("=== Failures\n")[1]
                self.assertEqual("not listed in tests/skips.txt: Suite.Case" in told, bool(expected))

    def test_tests_that_run_beside_others_are_counted_and_judged_with_them(self):
        for failing, expected in (("none", 0), ("one", 1), ("two", 1)):
            with self.subTest(failing), tempfile.TemporaryDirectory() as root:
                pathlib.Path(root, "build/dev").mkdir(parents=True)
                pathlib.Path(root, "scripts").symlink_to(SOURCE / "scripts")
                # Each waits for the other, so both have to run at the same time.
                ctest = """ctest() {
                    local name="${@: -1}" other=one failed=0
                    [[ $name != one ]] || other=two
                    touch "$PROJECT_ROOT/$name"
                    timeout 20 bash -c "until [[ -e $PROJECT_ROOT/$other ]]; do sleep 0.01; done"
                    [[ $name != "$FAILING" ]] || failed=1
                    echo "50% tests passed, $failed tests failed out of 2"
                    return $failed
                }"""
                code, lines = run(f"PROJECT_ROOT={root}; FAILING={failing}; {ctest}; "
                                  "test_section both dev -R one --beside -R two")
                self.assertEqual(code, expected)
                self.assertRegex(lines[0], "^both +" + ("FAILED" if expected else "passed"))
                self.assertIn(f"5 tests, {expected} failed", lines[-1])

    def test_the_time_of_the_background_build_is_a_line_of_its_own(self):
        with tempfile.TemporaryDirectory() as root:
            # Two seconds of a processor, not with the priority of the background, which a busy machine has no time for.
            burn = "burn() { bash -c 'ulimit -t 2; while :; do :; done'; }; chrt() { :; }; "
            code, lines = run(f'source "{SOURCE}/scripts/lib/build.sh"; PROJECT_ROOT={root}; {burn}'
                              'start_building_ahead burn; section wait bash -c '
                              f"'until [[ -s {root}/build/built-ahead ]]; do sleep 0.1; done'; "
                              'until ! kill -0 "$BUILDER" 2>/dev/null; do sleep 0.1; done; section after true')
        self.assertEqual(code, 0)
        self.assertRegex(lines[-2], r"^built in the background +[1-9] s of processors$")
        for line in lines[:2]:
            self.assertRegex(line, r"^(wait|after) +passed .* [01] s of processors$")

    def test_no_test_at_all_is_a_failure(self):
        code, _ = run("TESTS_RUN=0; section one true")
        self.assertEqual(code, 1)


if __name__ == "__main__":
    unittest.main()
