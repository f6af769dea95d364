"""The tutorial's run over an RDMA device: where this test runs there is one, as in a guest of scripts/softroce."""

import unittest

from tutorial import IN_A_GUEST, PAGES, TutorialTest, blocks


class TutorialDeviceTest(TutorialTest):
    def test_the_cluster_over_soft_roce_prints_what_the_page_says(self):
        of_a_device = [(page, text) for page in PAGES for kind, text in blocks(page) if kind == "console device"]
        self.assertEqual(len(of_a_device), 1)
        for page, text in of_a_device:
            self.assertIn(IN_A_GUEST, text)
            self.run_block(page, text, {IN_A_GUEST: ""})


if __name__ == "__main__":
    unittest.main()
