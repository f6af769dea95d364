"""docs/tutorial, followed as its reader does: every block of code is a file of the project, and every command prints what
the page says. The page of the template runs it as this build's test of a project of its own does (project_test.py)."""

import re
import socket
import unittest

from tutorial import PAGES, SOURCE_DIR, TutorialTest, blocks, commands


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class PagesTest(TutorialTest):
    def test_every_block_of_code_is_a_file(self):
        self.assertGreater(len(PAGES), 5)
        shown = set()
        for page in PAGES:
            for kind, text in blocks(page):
                self.assertRegex(kind, r"^(cpp queries/(examples/\w+|template/clicks)\.cc|console|console device|sh)$", page.name)
                if kind.startswith("cpp "):
                    name = kind.split()[1]
                    self.assertEqual(text, (SOURCE_DIR / name).read_text(encoding="utf-8"), f"{page.name}: {name}")
                    shown.add(name)
        self.assertGreaterEqual(len(shown), 15)

    def test_pages_lead_from_the_smallest_program_to_soft_roce(self):
        texts = [page.read_text(encoding="utf-8") for page in PAGES]
        for page, text, following in zip(PAGES, texts, PAGES[1:]):
            self.assertIn(f"]({following.name}).\n", text.splitlines(keepends=True)[-1], page.name)
        for text in texts:
            self.assertRegex(text, r"^# \d\. .*\n(?s:.*?)\nStart: ")
        self.assertIn("queries/examples/squares.cc", texts[0])
        self.assertIn("scripts/softroce", texts[-1])

    def test_every_command_prints_what_the_page_says(self):
        run = 0
        for page in PAGES:
            self.begin_in_a_new_folder()  # without what other pages have left: each starts from the first page's build
            for kind, text in blocks(page):
                if kind == "console" and "clicks/build/clicks" not in text:
                    self.run_block(page, self.in_one_shell(text), {"7713": str(free_port())})
                    run += len(commands(text))
        self.assertGreater(run, 30)

    @staticmethod
    def in_one_shell(text):
        """A block that starts something in the background, as one command with the output of its last one."""
        if not re.search(r" &$", text, re.MULTILINE):
            return text
        lines = commands(text)
        joined = " ".join(command if command.endswith("&") else f"{command};" for command, _ in lines)
        return f"$ {joined}\n{lines[-1][1]}"


if __name__ == "__main__":
    unittest.main()
