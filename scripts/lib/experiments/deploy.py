"""Starts one run of a query: on this host, where rank 0 starts the other nodes, or on the hosts of a file over ssh.

Over ssh the binary has the same path on all hosts. The secret of the run goes to each node's standard input, and stands
in no command line.
"""

import json
import pathlib
import re
import secrets
import shlex
import subprocess
import tempfile


class RunFailed(Exception):
    """A run that ended otherwise than well, and what it said."""


PORT = 17171
SSH = ["ssh", "-o", "BatchMode=yes"]
READ_SECRET = "IFS= read -r GLAIVE_SECRET; export GLAIVE_SECRET; exec "


def end_of(process, patience):
    """Its exit code and what it wrote to standard error. Kills it, with those that it has started, when it takes too long."""
    try:
        _, error = process.communicate(timeout=patience)
        return process.returncode, error.strip()
    except subprocess.TimeoutExpired:
        process.terminate()
        try:
            process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        return -1, f"did not end within {patience:g} s"


def check(name, code, error):
    if code != 0:
        said = error.splitlines()[-1] if error else f"exit code {code}"
        raise RunFailed(f"{name}: {said}")


def run_local(command, patience):
    """Runs a command on this host that has to succeed."""
    process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    try:
        check(pathlib.Path(command[0]).name, *end_of(process, patience))
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()


def run_remote(command, hosts, patience):
    """Runs a node of the command on each of the hosts. The node of the first host is rank 0. A node whose ssh ends has no
    terminal that would tell it, so `timeout` ends it there."""
    secret = secrets.token_hex(32)
    nodes = []
    try:
        for rank, host in enumerate(hosts):
            own = ["timeout", "--kill-after=10", f"{patience:g}", *command, f"--rank={rank}",
                   f"--coordinator={hosts[0].address}:{PORT}", f"--bind={host.address}"]
            shell = READ_SECRET + shlex.join(str(part) for part in own)
            node = subprocess.Popen([*SSH, host.ssh, shell], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, text=True)
            nodes.append(node)
            node.stdin.write(secret + "\n")
            node.stdin.flush()
        for host, node in zip(hosts, nodes):
            check(f"the node on {host.ssh}", *end_of(node, patience + 15))
    finally:
        for node in nodes:
            if node.poll() is None:
                node.terminate()
                node.wait()


class Deployer:
    """Runs queries and reads their reports."""

    def __init__(self, binaries, hosts, patience):
        self.binaries = binaries
        self.hosts = hosts
        self.patience = patience

    def command(self, point, flags):
        return [self.binaries / point.query, f"--nodes={point.nodes}", f"--executors={point.executors}", "--progress=never", *flags]

    def commit_of(self, query):
        """The commit that a binary was built from."""
        done = subprocess.run([self.binaries / query, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60, check=False)
        found = re.search(r"\(commit (\S+?)\)", done.stdout)
        if found is None:
            raise OSError(f"{self.binaries / query} does not say its commit: {done.stdout}{done.stderr}")
        return found.group(1)

    def report(self, point, flags, start=None):
        """As read_report; whatever goes wrong is a RunFailed."""
        try:
            return self.read_report(point, flags, start)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise RunFailed(f"{point.query}: {error}") from error

    def read_report(self, point, flags, start):
        """The report of a run, without its executors. `start(command)` runs the command on this host in another way."""
        with tempfile.TemporaryDirectory(prefix="glaive_experiment_") as folder:
            report = pathlib.Path(folder) / "report.json"
            command = self.command(point, flags)
            if self.hosts.are_remote:
                report = pathlib.Path(f"/tmp/glaive_experiment_{secrets.token_hex(8)}.json")
                run_remote([*command, f"--json={report}"], self.hosts.remote[:point.nodes], self.patience)
                text = self.fetch(report)
            else:
                (start or (lambda started: run_local(started, self.patience)))([*command, f"--json={report}"])
                text = report.read_text(encoding="utf-8")
        parsed = json.loads(text)
        parsed.pop("executors", None)
        return parsed

    def fetch(self, path):
        """Reads a file of rank 0's host and removes it."""
        quoted = shlex.quote(str(path))
        done = subprocess.run([*SSH, self.hosts.remote[0].ssh, f"cat {quoted} && rm {quoted}"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=self.patience, check=False)
        check(f"ssh {self.hosts.remote[0].ssh}", done.returncode, done.stderr.strip())
        return done.stdout
