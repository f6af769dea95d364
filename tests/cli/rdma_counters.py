"""What RDMA devices and lossy links count by themselves, to tell that packets really went through them."""

import json
import pathlib
import subprocess

DEVICES = pathlib.Path("/sys/class/infiniband")
# What the drivers call the packets that were sent: rxe's own counter, and the standard one of hardware.
SENT = ["hw_counters/sent_pkts", "counters/port_xmit_packets"]
# What rxe counts when packets were lost on the way.
RETRIES = ["hw_counters/rcvd_seq_err", "hw_counters/completer_retry_err", "hw_counters/out_of_seq_request",
           "hw_counters/duplicate_request", "hw_counters/retry_exceeded_err"]


def read(device, names):
    """The sum of the counters of that name that the device has, None when it has none."""
    found = [path for port in (DEVICES / device / "ports").iterdir() for name in names if (path := port / name).is_file()]
    return sum(int(path.read_text(encoding="ascii")) for path in found) if found else None


def sent_packets(device):
    """Packets that left the device; None of siw, which counts none."""
    return read(device, SENT)


def ip_counter(name):
    """A counter of all IP packets of this host."""
    lines = [line.split() for line in pathlib.Path("/proc/net/netstat").read_text(encoding="ascii").splitlines()]
    names, values = (line for line in lines if line[0] == "IpExt:")
    return int(values[names.index(name)])


def sent_ip_bytes():
    """Bytes of all IP packets of this host: what siw sends is among them."""
    return ip_counter("OutOctets")


def received_ect0():
    """IP packets whose type of service ends in the bits 10, ECT(0)."""
    return ip_counter("InECT0Pkts")


def retries(device):
    """Packets that rxe had to send or take again."""
    return read(device, RETRIES)


def dropped_packets(interface):
    """Packets that the queueing discipline of an interface (netem) threw away."""
    text = subprocess.run(["tc", "-s", "-j", "qdisc", "show", "dev", interface], check=True, capture_output=True).stdout
    return sum(qdisc.get("drops", 0) for qdisc in json.loads(text))
