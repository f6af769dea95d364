"""--verify of the queries that count and rank, as a user runs them: every form, on one node and on several."""

import unittest

from ysb_process import BIN, SANITIZED, CliTest

# A query, and the flags that give its input disorder or a shape of its own.
RUNS = [
    ("top_words", "--keys=200"),
    ("top_words", "--keys=200", "--slide=250ms", "--disorder=2s", "--allowed-lateness=500ms"),
    ("wordcount", "--keys=2000", "--form=associative"),
    ("wordcount", "--keys=2000", "--form=plain"),
    ("wordcount", "--keys=2000", "--form=windowed", "--disorder=2s"),
    ("wordcount", "--keys=2000", "--form=count-window"),
]


@unittest.skipIf(SANITIZED, "the sanitizers' presets build ysb alone")
class VerifyTest(CliTest):
    def test_each_form_is_exact_on_several_nodes(self):
        for query, *flags in RUNS:
            for nodes, executors in [(1, 1), (1, 2), (3, 2)]:
                with self.subTest(query, flags=flags, nodes=nodes, executors=executors):
                    self.binary = BIN / query
                    code, out, err = self.run_ysb("--verify", f"--nodes={nodes}", f"--executors={executors}",
                                                  "--records=5000", *flags)
                    self.assertEqual((code, err), (0, ""), out)
                    self.assertRegex(out, r"verification +passed")


if __name__ == "__main__":
    unittest.main()
