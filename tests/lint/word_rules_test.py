"""Tests that the project keeps the rules on words, and that each rule can fail."""

import unittest

import word_rules
from source_tree import assert_kept, temporary_tree, this_project


class WordRulesTest(unittest.TestCase):
    def test_the_words_of_the_project_have_one_meaning(self):
        assert_kept(self, word_rules.check_words(this_project()))

    def assert_names(self, path, refused, allowed):
        for count, names in ((1, refused), (0, allowed)):
            for name in names:
                with self.subTest(name, path=path):
                    tree = temporary_tree(self, {path: f"#pragma once\nvoid {name}();\n"})
                    self.assertEqual([finding.line for finding in word_rules.check_words(tree)], count * [2])

    def test_nothing_looks(self):
        self.assert_names("rdma/a/a.h", ["Look", "LookFn", "look_at", "kLooksPerTimeout", "looked_ns_"],
                          ["LookUp", "LookUpDevice", "IsLookedUp", "lookup", "look_up_", "Outlook"])

    def test_nothing_settles(self):
        self.assert_names("engine/graph/a.h", ["Settle", "settled_bytes"], ["Flush", "resettlement"])

    def test_what_waits_is_not_staged(self):
        self.assert_names("engine/stage/a.h", ["StagedUpdates", "staged_", "most_staged"],
                          ["Stage", "stages", "AggregationStage", "PendingUpdates"])

    def test_slots_are_of_rings(self):
        self.assert_names("state/store/a.h", ["SlotTable", "slots_", "kSlots", "slot_bytes_of"],
                          ["slot_bytes", "kMinSlotBytes", "CellTable"])
        self.assert_names("rdma/channel/a.h", [], ["SlotFooter", "slot_end"])

    def test_only_joins_keep(self):
        for path in ["engine/graph/a.h", "engine/stage/session_results.h", "state/store/a.h", "rdma/base/a.h"]:
            self.assert_names(path, ["Keep", "kept_", "KeptState", "kKeepsLate"], ["kKeepAliveProbes", "kept_tuples"])
        for path in ["engine/api/join.h", "engine/stage/window_join_results.h", "queries/nb8/a.h"]:
            self.assert_names(path, [], ["Keep", "kept_", "KeptTuples"])

    def test_a_graph_has_vertices(self):
        self.assert_names("engine/graph/a.h", ["Node", "SourceNode", "node_"], ["Vertex", "nodes"])
        self.assert_names("engine/cluster/a.h", [], ["NodeSession", "node"])

    def test_names_of_files_count(self):
        tree = temporary_tree(self, {"state/store/slot_table.h": "#pragma once\n", "engine/graph/node.h": "#pragma once\n"})
        self.assertEqual([(finding.path, finding.line) for finding in word_rules.check_words(tree)],
                         [("engine/graph/node.h", 1), ("state/store/slot_table.h", 1)])

    def test_comments_strings_and_includes_are_free(self):
        tree = temporary_tree(self, {
            "state/store/a.h": '#include "rdma/channel/slot_footer.h"\n// A slot of the ring.\nFail("no slot");\n'})
        self.assertEqual(word_rules.check_words(tree), [])


if __name__ == "__main__":
    unittest.main()
