"""The progress line: as long as the terminal is wide, and lines of text where there is none."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
import unittest

from ysb_process import ENDLESS, MARK, MID_RUN, PATIENCE_SECONDS, CliTest

BEGIN = "\r\x1b[K"  # to the first column, and clear the line
A_SECOND = [*ENDLESS, "--seconds=1s"]


class ProgressTest(CliTest):
    def run_on_terminal(self, columns, *flags, interrupt=False):
        """What a run writes to a terminal as its standard error; it is interrupted in its middle on request."""
        terminal, end = pty.openpty()
        fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([self.binary, *A_SECOND, *flags], cwd=self.folder, env=os.environ | {MARK: self.mark},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=end,
                                   start_new_session=True)
        os.close(end)
        written, interrupted = b"", False
        try:
            while data := os.read(terminal, 65536):
                written += data
                if interrupt and not interrupted and MID_RUN.search(written.decode()):
                    os.killpg(process.pid, signal.SIGINT)
                    interrupted = True
        except OSError:
            pass  # how Linux says that nobody has the terminal's other end
        os.close(terminal)
        self.assertEqual(process.wait(PATIENCE_SECONDS), 130 if interrupt else 0)
        return written.decode()

    def test_the_line_is_cut_to_the_terminal(self):
        for columns, length in [(40, 39), (0, 79), (1, 0)]:  # a terminal of no known width has 80 columns
            with self.subTest(columns=columns):
                before, *lines, last = self.run_on_terminal(columns).split(BEGIN)
                self.assertEqual((before, last), ("", ""), "it is cleared at the end")
                self.assertGreater(len(lines), 1)
                for line in lines:
                    self.assertTrue(line.startswith("node 0: "[:length]), line)
                    self.assertLessEqual(len(line), length)
        lines = self.run_on_terminal(300).split(BEGIN)
        self.assertRegex(lines[2], r"^node 0: .* M records, .* M records/s, watermark .*, \d+ epochs")

    def test_messages_take_the_place_of_the_line(self):
        written = self.run_on_terminal(300, "--nodes=3", "--seconds=10m", interrupt=True)
        for rank in range(3):
            self.assertRegex(written, rf"\r\x1b\[K[^ \r]+Z \S+ ysb: rank {rank}: .*interrupted by SIGINT")

    def test_without_a_terminal_there_are_plain_lines_and_only_on_request(self):
        _, err = self.succeed(*A_SECOND, "--progress=always")
        lines = err.splitlines()
        self.assertGreater(len(lines), 1)
        for line in lines:
            self.assertRegex(line, r"^node 0: [^\r\x1b]* epochs$")
        self.assertEqual(self.succeed(*A_SECOND)[1], "")
        self.assertEqual(self.run_on_terminal(80, "--progress=never"), "")


if __name__ == "__main__":
    unittest.main()
