"""tests/skips.txt: each line names tests that there are, and a preset in which a whole run has them and does not skip them."""

import ast
import json
import os
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(os.environ.get("GLAIVE_SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent.parent))
sys.path.insert(0, str(SOURCE / "scripts/lib"))
import matching_tests  # noqa: E402
import skips  # noqa: E402

PRESETS = ("dev", "asan", "tsan", "release")
TARGETS = (SOURCE / "scripts/cmake/Targets.cmake").read_text()
LEFT_OUT_OF_DEV = re.search("^LEFT_OUT_OF_DEV='(.*)'$", (SOURCE / "scripts/test").read_text(), re.MULTILINE)[1]
PLAIN_TEST = re.compile(re.search(r'set\(GLAIVE_PLAIN_TEST "(.*)"\)', TARGETS)[1])
OPTIMIZED = re.search(r"set\(GLAIVE_OPTIMIZED_TESTS\s([^)]*)\)", TARGETS)[1].split()
WITHOUT_TSAN = re.search(r"set\(GLAIVE_TESTS_WITHOUT_TSAN\s([^)]*)\)", TARGETS)[1].split()


def settings_of(preset):
    """The cache variables of a preset of CMake, those that it inherits too."""
    presets = {each["name"]: each for each in json.loads((SOURCE / "CMakePresets.json").read_text())["configurePresets"]}
    found = {}
    while preset:
        found = presets[preset].get("cacheVariables", {}) | found
        preset = presets[preset].get("inherits")
    return found


SETTINGS = {preset: settings_of(preset) for preset in PRESETS}


def runs(preset, source):
    """Whether a whole run has the tests of a source or script in the preset: as scripts/cmake/Targets.cmake and scripts/test
    say, but for tests that need a device."""
    folder, script = source.parent.name, source.suffix == ".py"
    has = {name: SETTINGS[preset].get(f"GLAIVE_{name}", default) == "ON"
           for name, default in [("LINT", "OFF"), ("SIMULATOR", "OFF"), ("UNIT_TESTS", "ON")]}
    sanitizer = SETTINGS[preset].get("GLAIVE_SANITIZE", "")
    labels = ["flag-fuzz" if source.stem == "flag_fuzz_test" else folder]
    if not script and source.stem not in OPTIMIZED and not PLAIN_TEST.search(source.read_text(encoding="utf-8")):
        labels.append("sanitized")
    if preset == "dev" and any(re.search(LEFT_OUT_OF_DEV, label) for label in labels):
        return False
    if (folder in ("library", "lint", "scripts") and not has["LINT"]) or (folder == "sim" and not has["SIMULATOR"]):
        return False
    if script:
        return (source.stem != "flag_fuzz_test" or preset in ("dev", "asan")) and not (folder == "sim" and sanitizer)
    if sanitizer == "thread" and (folder in ("bench", "queries", "sim", "state") or source.stem in WITHOUT_TSAN):
        return False
    return has["UNIT_TESTS"]


def tests_of(source):
    """suite.test of each test in a source or script."""
    text = source.read_text(encoding="utf-8")
    if source.suffix == ".cc":
        return [f"{suite}.{case}" for _, suite, case in matching_tests.CASE.findall(text)]
    return [f"{suite.name}.{case.name}" for suite in ast.parse(text).body if isinstance(suite, ast.ClassDef)
            for case in suite.body if isinstance(case, ast.FunctionDef) and case.name.startswith("test_")]


def sanitizers_skip(definition):
    """Whether a class or a method is skipped whenever a sanitizer is built in: @unittest.skipIf(SANITIZED, ...)."""
    return any(isinstance(each, ast.Call) and ast.unparse(each.func).endswith("skipIf") and ast.unparse(each.args[0]) == "SANITIZED"
               for each in definition.decorator_list)


def skipped_by_sanitizers(script):
    """suite.test of each test of a script that no run with a sanitizer has."""
    return [f"{suite.name}.{case.name}" for suite in ast.parse(script.read_text(encoding="utf-8")).body
            if isinstance(suite, ast.ClassDef)
            for case in suite.body if isinstance(case, ast.FunctionDef) and case.name.startswith("test_")
            if sanitizers_skip(suite) or sanitizers_skip(case)]


TESTS = [(test, source) for kind in ("cc", "py") for source in sorted(SOURCE.glob(f"tests/*/*_test.{kind}"))
         for test in tests_of(source)]


class SkipsTest(unittest.TestCase):
    def test_each_line_is_of_tests_that_a_whole_run_has_where_it_says(self):
        for skipped_in, pattern, preset in skips.listed_skips():
            with self.subTest(pattern.pattern):
                sources = {source for test, source in TESTS if pattern.fullmatch(test)}
                self.assertTrue(sources, "no test has this name")
                self.assertLessEqual(set(skipped_in), set(PRESETS))
                if preset != "host":
                    self.assertNotIn(preset, skipped_in)
                    self.assertEqual([source.name for source in sources if not runs(preset, source)], [])

    def test_each_test_that_sanitizers_skip_has_a_line(self):
        found = [test for script in sorted(SOURCE.glob("tests/*/*_test.py")) for test in skipped_by_sanitizers(script)]
        self.assertGreater(len(found), 20, "the scripts name their skips in another way")
        for preset in ("asan", "tsan"):
            listed = [pattern for presets, pattern, _ in skips.listed_skips() if preset in presets]
            self.assertEqual([test for test in found if not any(pattern.fullmatch(test) for pattern in listed)], [])

    def test_a_line_of_another_preset_is_noticed(self):
        cli = SOURCE / "tests/cli"
        for script, presets in [("joins_test", ["asan", "tsan", "release"]), ("flag_fuzz_test", ["dev", "asan"])]:
            self.assertEqual([preset for preset in PRESETS if runs(preset, cli / f"{script}.py")], presets)
        tests = SOURCE / "tests"
        self.assertEqual([preset for preset in PRESETS if runs(preset, tests / "sim/simulate_test.py")], ["dev"])
        self.assertEqual([preset for preset in PRESETS if runs(preset, tests / "state/bucket_test.cc")], ["asan"])
        self.assertEqual([preset for preset in PRESETS if runs(preset, tests / "engine/join_test.cc")], ["dev", "asan"])
        self.assertEqual([preset for preset in PRESETS if runs(preset, tests / "engine/fold_test.cc")], ["asan"])
        self.assertEqual([preset for preset in PRESETS if runs(preset, tests / "rdma/bytes_test.cc")], ["asan", "tsan"])

    def test_each_script_and_source_has_a_preset(self):
        for source in sorted({source for _, source in TESTS}):
            self.assertTrue(any(runs(preset, source) for preset in PRESETS), source)


if __name__ == "__main__":
    unittest.main()
