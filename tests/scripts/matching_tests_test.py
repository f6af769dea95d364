"""What `scripts/test -R` builds and runs: the sources of the tests that match, and the programs that scripts run."""

import os
import pathlib
import subprocess
import unittest

SOURCE = pathlib.Path(os.environ.get("GLAIVE_SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent.parent))
QUERIES = " ".join(sorted(main.parent.name for main in SOURCE.glob("queries/*/main.cc")))


def matching(expression, preset="dev"):
    done = subprocess.run([SOURCE / "scripts/lib/matching_tests.py", expression, preset], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


class MatchingTestsTest(unittest.TestCase):
    def test_cases_are_found_in_their_source(self):
        self.assertEqual(matching(r"^SameElements\.(Count|NameAFew)"), [
            "case\tstate.same_elements_test\tSameElements.CountHowOftenAnElementOccurs:SameElements.NameAFewOfMany"])
        [line] = matching("^PartitionedStores.HoldTogetherWhatOne")
        self.assertEqual(line.split("\t")[1:], [
            "state.partitioned_store_test", "PartitionedStores.HoldTogetherWhatOneSequentialRunHolds/*:"
                                            "*/PartitionedStores.HoldTogetherWhatOneSequentialRunHolds/*"])

    def test_a_script_needs_the_programs_that_it_runs(self):
        self.assertEqual(matching("cli.failure_test"), ["script\tcli.failure_test\tysb"])
        self.assertEqual(matching("cli.joins_test"), ["script\tcli.joins_test\tnb11 nb8 ysb ysb_star"])
        self.assertEqual(matching("sim.simulate_test"), ["script\tsim.simulate_test\tsimulate"])
        self.assertEqual(matching("cli.every_flag_test"), [f"script\tcli.every_flag_test\tchannel {QUERIES}"],
                         "a value of --ingest is also the name of a benchmark")
        self.assertEqual(matching("lint.symbol_rules_test"), [f"script\tlint.symbol_rules_test\t{QUERIES}"])

    def test_a_script_that_runs_no_program_needs_none(self):
        self.assertEqual(matching("lint.text_rules_test"), ["script\tlint.text_rules_test\t"])
        self.assertEqual(matching("scripts.run_test"), ["script\tscripts.run_test\t"])

    def test_a_script_needs_no_program_that_the_preset_lacks(self):
        self.assertEqual(matching("cli.joins_test", "asan"), ["script\tcli.joins_test\tysb"])
        self.assertEqual(matching("cli.exhaustion_test", "release"),
                         ["script\tcli.exhaustion_test\tchannel scaling_bench store ysb"])

    def test_cases_scripts_and_benchmarks_are_found_together(self):
        lines = matching(r"^SameElements\.Name|cli\.joins_test|bench\.store")
        self.assertEqual([line.split("\t")[:2] for line in lines], [
            ["case", "state.same_elements_test"], ["script", "cli.joins_test"], ["script", "bench.store"]])

    def test_an_expression_may_match_nothing(self):
        self.assertEqual(matching("NoTestHasThisName"), [])


if __name__ == "__main__":
    unittest.main()
