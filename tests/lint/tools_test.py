"""Tests that all C++ is formatted and all shell code passes shellcheck, and that both tools would complain."""

import pathlib
import subprocess
import unittest

from source_tree import temporary_tree, this_project

SHELL_SCRIPTS = [
    "scripts/run", "scripts/test", "scripts/verify", "scripts/fuzz", "scripts/simulate", "scripts/soak", "scripts/format",
    "scripts/coverage", "scripts/peers", "scripts/experiments", "scripts/softroce", "scripts/lib/softroce/init", ".ci/run"]


def run(*command, cwd):
    """The exit status and the output; a tool that is missing is an error that says what to install."""
    try:
        done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except FileNotFoundError:
        raise AssertionError(f"{command[0]} is not installed; run: apt-get install {command[0]}") from None
    return done.returncode, done.stdout + done.stderr


class ToolsTest(unittest.TestCase):
    def shellcheck(self, cwd, scripts):
        # Follows the sourced files, and reports on them too.
        return run("shellcheck", "--external-sources", "--check-sourced", *scripts, cwd=cwd)

    def format(self, cwd, sources):
        style = pathlib.Path(this_project().root, ".clang-format")
        return run("clang-format-19", "--dry-run", "--Werror", f"--style=file:{style}", *sources, cwd=cwd)

    def test_the_project_is_formatted(self):
        tree = this_project()
        status, output = self.format(tree.root, tree.code(["rdma", "state", "engine", "queries", "bench", "tests"]))
        self.assertEqual(status, 0, output + "Run scripts/format")

    def test_the_shell_scripts_pass_shellcheck(self):
        status, output = self.shellcheck(this_project().root, SHELL_SCRIPTS)
        self.assertEqual(status, 0, output)

    def test_every_shell_script_is_checked(self):
        tree = this_project()
        for path in tree.select(["scripts", ".ci"], [""]):
            first = tree.text(path).split("\n", 1)[0]
            if first.startswith("#!") and "sh" in first:
                self.assertIn(path, SHELL_SCRIPTS)

    def test_an_unformatted_source_is_refused(self):
        tree = temporary_tree(self, {"a.cc": "int  f( ){return 1 ;}\n"})
        self.assertNotEqual(self.format(tree.root, ["a.cc"])[0], 0)

    def test_a_careless_script_is_refused(self):
        tree = temporary_tree(self, {"a": "#!/usr/bin/env bash\nrm -rf $1/*\n"})
        self.assertNotEqual(self.shellcheck(tree.root, ["a"])[0], 0)


if __name__ == "__main__":
    unittest.main()
