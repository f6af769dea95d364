"""Nodes that are lost end the run at all others, over RDMA."""

import unittest

from lost_nodes import lose_nodes


class LostNodeTest(unittest.TestCase):
    def test_every_process_ends_in_time_and_leaves_nothing(self):
        wrong = lose_nodes("verbs")
        self.assertEqual(len(wrong), 0, "\n\n".join(wrong))


if __name__ == "__main__":
    unittest.main()
