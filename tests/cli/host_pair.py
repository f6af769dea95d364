"""Two hosts, each a kernel of its own with an RDMA device on eth0, joined by an Ethernet (scripts/softroce pair)."""

import os
import pathlib
import shlex
import subprocess
import tempfile
import unittest
import uuid

from ysb_process import SOURCE, YSB

LIMIT_SECONDS = 100
ADDRESSES = ("10.0.0.1", "10.0.0.2")
PORT = 7700


class HostPairTest(unittest.TestCase):
    """A test of runs over two hosts, with a folder that both share and a secret in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="glaive_pair_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        secret = self.folder / "run.secret"
        secret.write_text(uuid.uuid4().hex + "\n", encoding="ascii")
        secret.chmod(0o600)

    def rank(self, rank, host, *flags, addresses=ADDRESSES, bind=True):
        """The shell's line that runs a rank on host 1 or 2; rank 0 is on host 1."""
        coordinator = f"[{addresses[0]}]" if ":" in addresses[0] else addresses[0]
        bound = [f"--bind={addresses[host - 1]}"] if bind else []
        return shlex.join([str(YSB.resolve()), "--secret-file=run.secret", f"--rank={rank}",
                           f"--coordinator={coordinator}:{PORT}", *bound, *flags])

    def start_hosts(self, first, second, profile="rxe"):
        """Starts a shell's text on each host; what they print comes on one output."""
        pair = [SOURCE / "scripts/softroce", "pair", "--profile", profile, "-t", str(LIMIT_SECONDS)]
        return subprocess.Popen([*pair, first, second],
                                cwd=self.folder, env=dict(os.environ), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def run_hosts(self, first, second, profile="rxe"):
        """Runs a shell's text on each host; exit code, and what was printed."""
        with self.start_hosts(first, second, profile) as hosts:
            printed = hosts.stdout.read()
        return hosts.returncode, printed
