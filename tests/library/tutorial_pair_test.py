"""The tutorial's run on two hosts, which are two guests of scripts/softroce."""

import os
import re
import subprocess
import unittest
import uuid

from tutorial import PAGES, SOURCE_DIR, TutorialTest, blocks

PATIENCE_SECONDS = 120


class TutorialPairTest(TutorialTest):
    def test_the_cluster_of_two_hosts_counts_all_words(self):
        of_pairs = [text for kind, text in blocks(PAGES[-1]) if kind == "sh" and "softroce pair" in text]
        self.assertEqual(len(of_pairs), 1)
        secret = self.folder / "run.secret"
        secret.write_text(uuid.uuid4().hex + "\n", encoding="ascii")
        secret.chmod(0o600)
        done = subprocess.run(["bash", "-ec", of_pairs[0]], cwd=self.folder, env={**os.environ, "GLAIVE": str(SOURCE_DIR)},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"transport verbs: each of the 2 nodes is on a host of its own")
        rows = [line for part in sorted(self.folder.glob("words.csv*"))
                for line in part.read_text(encoding="utf-8").splitlines()]
        for row in (",,the,5", ",,fox,4"):
            self.assertIn(row, rows)
        words = re.findall(r"[a-z]+", (self.folder / "fable.txt").read_text(encoding="utf-8").lower())
        self.assertEqual(sum(int(row.rsplit(",", 1)[1]) for row in rows if row.startswith(",,")), len(words))


if __name__ == "__main__":
    unittest.main()
