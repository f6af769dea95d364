"""Tests that the project keeps the rules on clocks, thread-locals and waiting, and that each rule can fail."""

import unittest

import code_rules
from source_tree import assert_kept, temporary_tree, this_project


class CodeRulesTest(unittest.TestCase):
    def test_the_project_reads_no_clock_below_main(self):
        assert_kept(self, code_rules.check_clocks(this_project()))

    def test_the_project_has_no_thread_locals(self):
        assert_kept(self, code_rules.check_thread_locals(this_project()))

    def test_the_project_waits_in_the_engine_only(self):
        assert_kept(self, code_rules.check_blocking(this_project()))

    def test_the_project_s_comparisons_show_what_differs(self):
        assert_kept(self, code_rules.check_silent_comparisons(this_project()))

    def assert_each_line_is_found(self, rule, path, lines):
        for line in lines:
            with self.subTest(line):
                self.assertEqual(len(rule(temporary_tree(self, {path: line + "\n"}))), 1)

    def assert_no_line_is_found(self, rule, path, lines):
        for line in lines:
            with self.subTest(line):
                self.assertEqual(rule(temporary_tree(self, {path: line + "\n"})), [])

    def test_reads_of_clocks_and_randomness_are_refused(self):
        self.assert_each_line_is_found(code_rules.check_clocks, "engine/a/a.cc", [
            "auto now = std::chrono::steady_clock::now();",
            "auto now = std::chrono::system_clock :: now();",
            "clock_gettime(CLOCK_MONOTONIC, &now);",
            "gettimeofday(&now, nullptr);",
            "return std::time(nullptr);",
            "return time(0);",
            "return std::clock();",
            "return rand();",
            "std::mt19937 generator(std::random_device{}());",
            "getrandom(buffer, 8, 0);",
            "auto now = absl::Now();",
            "absl::BitGen generator;",
            "return __rdtsc();",
            "return std::this_thread::get_id();",
            "return pthread_self();",
        ])

    def test_code_that_only_looks_like_a_clock_is_allowed(self):
        self.assert_no_line_is_found(code_rules.check_clocks, "engine/a/a.cc", [
            "// Unlike std::chrono::steady_clock::now(), this is injected.",
            'Fail("std::random_device is not allowed");',
            "return clock.NowNanos();",
            "window.time(0);",
            "const std::int64_t event_time = record.time();",
            "std::mt19937_64 generator(seed);",
            "options.clock();",
        ])

    def test_main_and_the_one_clock_are_free(self):
        text = "return std::chrono::steady_clock::now();\n"
        for path in ["queries/ysb/main.cc", "engine/cluster/main.cc", "rdma/base/steady_clock.h", "tests/rdma/a_test.cc", "bench/a.cc"]:
            self.assertEqual(code_rules.check_clocks(temporary_tree(self, {path: text})), [])

    def test_thread_locals_are_refused(self):
        self.assert_each_line_is_found(code_rules.check_thread_locals, "state/a.h", [
            "thread_local int depth = 0;", "static __thread int depth;", "pthread_key_create(&key, nullptr);"])

    def test_waiting_below_the_engine_is_refused(self):
        lines = ["std::this_thread::sleep_for(1ms);", "usleep(1);", "std::condition_variable changed;",
                 "std::this_thread::yield();"]
        self.assert_each_line_is_found(code_rules.check_blocking, "state/store/a.cc", lines)
        self.assert_no_line_is_found(code_rules.check_blocking, "rdma/bootstrap/a.cc", lines)
        self.assert_no_line_is_found(code_rules.check_blocking, "engine/executor/a.cc", lines)

    def test_comparisons_that_show_nothing_are_refused(self):
        lines = ["EXPECT_TRUE(rows == expected);", 'ASSERT_TRUE(Joined({rows}) == expected[0]) << "executor";']
        self.assert_each_line_is_found(code_rules.check_silent_comparisons, "tests/engine/a_test.cc", lines)
        self.assert_no_line_is_found(code_rules.check_silent_comparisons, "tests/state/crdt_laws.h", lines)
        self.assert_no_line_is_found(code_rules.check_silent_comparisons, "tests/engine/a_test.cc", [
            "EXPECT_EQ(rows, expected);",
            "EXPECT_TRUE(SameElements(rows, expected));",
            "EXPECT_TRUE(taken == 0 || taken == 3);",
            "EXPECT_TRUE(std::ranges::all_of(seen, [](int bits) { return bits == 3; }));",
        ])

    def test_a_finding_names_file_line_and_text(self):
        tree = temporary_tree(self, {"rdma/a.cc": "/* one\n two */\nint f() { return rand(); }\n"})
        self.assertTrue(str(code_rules.check_clocks(tree)[0]).startswith("rdma/a.cc:3: rand("))


if __name__ == "__main__":
    unittest.main()
