"""Tests that the project keeps the include rules, and that each rule can fail."""

import unittest

import include_rules
from source_tree import assert_kept, temporary_tree, this_project


class IncludeRulesTest(unittest.TestCase):
    def test_the_project_keeps_the_layers(self):
        assert_kept(self, include_rules.check_layers(this_project()))

    def test_the_project_keeps_the_order_of_folders(self):
        assert_kept(self, include_rules.check_folders(this_project()))

    def test_an_include_of_a_folder_to_the_left_is_refused(self):
        tree = temporary_tree(self, {
            "engine/graph/a.h": '#include "engine/api/b.h"\n#include "engine/fiber/c.h"\n#include "state/d.h"\n',
            "engine/fiber/c.h": '#include "engine/base/e.h"\n#include "engine/graph/a.h"\n',
            "engine/odd/f.h": '#include "engine/base/e.h"\n',
        })
        self.assertEqual([(finding.path, finding.line) for finding in include_rules.check_folders(tree)],
                         [("engine/odd/f.h", 1), ("engine/fiber/c.h", 2), ("engine/graph/a.h", 1)])

    def test_the_project_confines_its_libraries(self):
        assert_kept(self, include_rules.check_confinement(this_project()))

    def test_the_project_names_headers_from_its_root(self):
        assert_kept(self, include_rules.check_names(this_project()))

    def test_an_include_to_the_left_is_refused(self):
        tree = temporary_tree(self, {
            "rdma/a/a.h": '#pragma once\n#include "state/b.h"\n',
            "state/b.h": "",
            "state/c.cc": '#include "engine/d.h"\n',
            "engine/d.h": '#include "queries/ysb/e.h"\n',
        })
        findings = include_rules.check_layers(tree)
        self.assertEqual([(finding.path, finding.line) for finding in findings],
                         [("engine/d.h", 1), ("rdma/a/a.h", 2), ("state/c.cc", 1)])

    def test_an_include_of_a_test_in_a_program_is_refused(self):
        tree = temporary_tree(self, {"queries/ysb/main.cc": '#include "tests/state/helper.h"\n#include "bench/loop.h"\n'})
        self.assertEqual(len(include_rules.check_layers(tree)), 2)

    def test_an_include_to_the_right_is_allowed(self):
        tree = temporary_tree(self, {
            "queries/ysb/main.cc": '#include "rdma/a.h"\n#include "queries/ysb/b.h"\n#include "engine/c.h"\n',
            "tests/state/d_test.cc": '#include "engine/c.h"\n',
            "bench/e.cc": '#include "queries/ysb/b.h"\n',
        })
        self.assertEqual(include_rules.check_layers(tree), [])

    def test_libraries_outside_their_place_are_refused(self):
        lines = ["<infiniband/verbs.h>", "<rdma/rdma_cma.h>", "<boost/context/fiber.hpp>", '"CLI/CLI.hpp"',
                 '"nlohmann/json.hpp"', "<nlohmann/json_fwd.hpp>", "<zlib.h>", "<simdjson.h>"]
        text = "".join(f"#include {line}\n" for line in lines)
        tree = temporary_tree(self, {"rdma/transport/a.h": text, "tests/rdma/b_test.cc": text})
        findings = include_rules.check_confinement(tree)
        self.assertEqual([finding.line for finding in findings], list(range(1, len(lines) + 1)))

    def test_libraries_in_their_place_are_allowed(self):
        tree = temporary_tree(self, {
            "rdma/verbs/a.cc": "#include <infiniband/verbs.h>\n#include <rdma/rdma_cma.h>\n",
            "engine/fiber/b.cc": "#include <boost/context/fiber.hpp>\n",
            "engine/flags/c.cc": '#include "CLI/CLI.hpp"\n',
            "engine/source/e.cc": "#include <zlib.h>\n",
            "queries/ysb/ysb_json.cc": '#include "nlohmann/json.hpp"\n',
            "rdma/bootstrap/d.cc": '#include "nlohmann/json.hpp"\n#include "rdma/rdma_names.h"\n',
        })
        self.assertEqual(include_rules.check_confinement(tree), [])

    def test_a_header_that_is_not_named_from_the_root_is_refused(self):
        tree = temporary_tree(self, {
            "rdma/a/a.h": "",
            "rdma/a/a.cc": '#include "a.h"\n#include "../a/a.h"\n#include <rdma/a/a.h>\n#include "rdma/a/a.h"\n',
        })
        self.assertEqual([finding.line for finding in include_rules.check_names(tree)], [1, 2, 3])


if __name__ == "__main__":
    unittest.main()
