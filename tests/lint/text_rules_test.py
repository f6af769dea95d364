"""Tests that the project keeps the rules on text, and that each rule can fail."""

import unittest

import text_rules
from source_tree import assert_kept, temporary_tree, this_project


class TextRulesTest(unittest.TestCase):
    def test_the_project_has_small_files(self):
        assert_kept(self, text_rules.check_length(this_project()))

    def test_the_project_leaves_nothing_unfinished(self):
        assert_kept(self, text_rules.check_unfinished(this_project()))

    def test_the_project_introduces_its_headers(self):
        assert_kept(self, text_rules.check_headers(this_project()))

    def test_the_project_links_to_what_exists(self):
        assert_kept(self, text_rules.check_links(this_project()))

    def test_a_long_file_is_refused(self):
        tree = temporary_tree(self, {
            "engine/long.cc": "\n" * (text_rules.MAX_LINES + 1),
            "engine/short.cc": "\n" * text_rules.MAX_LINES,
            "scripts/long": "\n" * (text_rules.MAX_LINES + 1),
        })
        self.assertEqual([finding.path for finding in text_rules.check_length(tree)], ["engine/long.cc", "scripts/long"])

    def test_unfinished_work_is_refused(self):
        for word in ["TO" "DO", "FIX" "ME", "X" "XX"]:
            tree = temporary_tree(self, {"state/a.h": f"int x;\n// {word}: later\n", "rdma/b.h": f"{word}LIST"})
            self.assertEqual([(finding.path, finding.line) for finding in text_rules.check_unfinished(tree)],
                             [("state/a.h", 2)])

    def test_a_header_without_introduction_or_guard_is_refused(self):
        tree = temporary_tree(self, {
            "rdma/a.h": "#pragma once\n",
            "rdma/b.h": "// A thing.\nint x;\n",
            "rdma/c.h": "// A thing.\n#pragma once\n",
        })
        self.assertEqual([finding.path for finding in text_rules.check_headers(tree)], ["rdma/a.h", "rdma/b.h"])

    def test_a_dead_link_is_refused(self):
        tree = temporary_tree(self, {
            "README.md": "[a](docs/a.md)\n[b](docs/b.md)\n[c](docs/a.md#the-end-of-it)\n[d](docs/a.md#no-such)\n"
                         "[e](https://example.org/x)\n[f](#here)\n# Here\n```\n[g](no/file)\n```\n![h](picture.png)\n",
            "docs/a.md": "# The end, of it\n[up](../README.md)\n[down](down.md)\n",
        })
        self.assertEqual([(finding.path, finding.line) for finding in text_rules.check_links(tree)],
                         [("README.md", 2), ("README.md", 4), ("README.md", 11), ("docs/a.md", 3)])


if __name__ == "__main__":
    unittest.main()
