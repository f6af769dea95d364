"""The hosts of an experiment: this one, or those of a file, and which deployments of nodes and executors fit them."""

import dataclasses
import os
import pathlib
import platform
import typing


class Deployment(typing.NamedTuple):
    """Nodes of some executors each."""

    nodes: int
    executors: int

    @property
    def all(self):
        return self.nodes * self.executors

    def __str__(self):
        return f"{self.nodes} x {self.executors}"


class Host(typing.NamedTuple):
    """A host of the hosts file: the address that the other hosts reach it at, and its name for ssh."""

    address: str
    ssh: str


@dataclasses.dataclass(frozen=True)
class Hosts:
    """Where nodes run. Without remote hosts, all are processes of this one."""

    remote: tuple = ()
    processors: int = 1

    def __str__(self):
        where = f"hosts {', '.join(host.address for host in self.remote)}" if self.remote else f"nodes on this host ({cpu_model()})"
        return f"{where}, {self.processors} processors"

    @property
    def are_remote(self):
        return bool(self.remote)

    def deployments(self, most_per_processor=1):
        """Deployments of weak scaling: 2, 4, 8, ... nodes, as in the paper. On one host, where a node is a process, an
        executor has a processor of its own, or a part of one if `most_per_processor` is greater."""
        if self.are_remote:
            return [Deployment(nodes, self.processors) for nodes in powers_of_two(2, len(self.remote))]
        return [Deployment(nodes, 1) for nodes in powers_of_two(2, max(self.processors * most_per_processor, 2))]

    def executors(self, most_per_processor=1):
        """Numbers of executors of one node: 1, 2, 4, ..."""
        return powers_of_two(1, max(self.processors * most_per_processor, 1))


def powers_of_two(first, most):
    numbers = []
    while first <= most:
        numbers.append(first)
        first *= 2
    return numbers


def read_hosts(path):
    """The hosts of a file: `ADDRESS [SSH-NAME]` a line; empty lines and those that begin with # do not count. Raises
    ValueError that names the line."""
    hosts = []
    for number, line in enumerate(pathlib.Path(path).read_text(encoding="utf-8").splitlines(), 1):
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        if len(words) > 2:
            raise ValueError(f"{path}:{number}: '{line.strip()}' is not ADDRESS [SSH-NAME]")
        hosts.append(Host(words[0], words[-1]))
    if len(hosts) < 2:
        raise ValueError(f"{path}: names {len(hosts)} hosts, and an experiment over hosts needs two or more")
    return tuple(hosts)


def cpu_model():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def local_processors():
    return len(os.sched_getaffinity(0))
