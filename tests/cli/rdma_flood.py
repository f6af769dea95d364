"""A program that asks for connections of rdma_cm, as fast as it can, until it is told to end: a stranger at the doors of
all runs of a host. Prints how many requests were answered in which way.

    rdma_flood.py ADDRESS
"""

import ctypes
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

PROGRAM = "ysb"  # whose ports are asked
RESOLVE_MILLIS = 2000
TCP_PORT_SPACE = 0x0106
# Of rdma_cma.h, in its order.
EVENTS = ["ADDR_RESOLVED", "ADDR_ERROR", "ROUTE_RESOLVED", "ROUTE_ERROR", "CONNECT_REQUEST", "CONNECT_RESPONSE",
          "CONNECT_ERROR", "UNREACHABLE", "REJECTED", "ESTABLISHED", "DISCONNECTED"]
# All that a node shows, but for the token: magic, version, reserved, from, to, token (rdma/verbs/connect_message.h).
NEARLY_RIGHT = struct.pack("<IHHIIQ", 0x43564C47, 2, 0, 1, 0, 0x1234567890ABCDEF)
SHOWN = [b"", b"G", bytes(24), b"\xff" * 56, NEARLY_RIGHT[:-1], NEARLY_RIGHT]


class Event(ctypes.Structure):
    """The part of rdma_cm_event that is read here."""
    _fields_ = [("id", ctypes.c_void_p), ("listen_id", ctypes.c_void_p), ("event", ctypes.c_int), ("status", ctypes.c_int)]


class Parameters(ctypes.Structure):
    """rdma_conn_param."""
    _fields_ = [("private_data", ctypes.c_char_p), ("private_data_len", ctypes.c_uint8),
                ("responder_resources", ctypes.c_uint8), ("initiator_depth", ctypes.c_uint8),
                ("flow_control", ctypes.c_uint8), ("retry_count", ctypes.c_uint8), ("rnr_retry_count", ctypes.c_uint8),
                ("srq", ctypes.c_uint8), ("qp_num", ctypes.c_uint32)]


rdma = ctypes.CDLL("librdmacm.so.1", use_errno=True)
rdma.rdma_create_event_channel.restype = ctypes.c_void_p


def internet_address(host, port):
    """A sockaddr_in."""
    packed = struct.pack("=H", socket.AF_INET) + struct.pack("!H", port) + socket.inet_aton(host) + bytes(8)
    return ctypes.create_string_buffer(packed, len(packed))


class Stranger(threading.Thread):
    """Asks for one connection after the other."""

    def __init__(self, host, ports, number):
        super().__init__(daemon=True)
        self.host, self.ports, self.number = host, ports, number
        self.answers = {}
        self.channel = ctypes.c_void_p(rdma.rdma_create_event_channel())

    def run(self):
        turn = self.number
        while True:
            ports = list(self.ports)
            if not ports:
                time.sleep(0.01)
                continue
            answer = self.ask(ports[turn % len(ports)], SHOWN[turn % len(SHOWN)], turn)
            self.answers[answer] = self.answers.get(answer, 0) + 1
            turn += 1

    def event(self):
        event = ctypes.POINTER(Event)()
        if rdma.rdma_get_cm_event(self.channel, ctypes.byref(event)) != 0:
            return "none"
        name = EVENTS[event.contents.event] if event.contents.event < len(EVENTS) else "other"
        rdma.rdma_ack_cm_event(event)
        return name

    def ask(self, port, private_data, turn):
        """The last event of a request."""
        identifier = ctypes.c_void_p()
        if rdma.rdma_create_id(self.channel, ctypes.byref(identifier), None, TCP_PORT_SPACE) != 0:
            return "no id"
        try:
            here, there = internet_address(self.host, 0), internet_address(self.host, port)
            if rdma.rdma_resolve_addr(identifier, here, there, RESOLVE_MILLIS) != 0:
                return "not resolved"
            if (name := self.event()) != "ADDR_RESOLVED":
                return name
            if rdma.rdma_resolve_route(identifier, RESOLVE_MILLIS) != 0:
                return "no route"
            if (name := self.event()) != "ROUTE_RESOLVED":
                return name
            # Of no queue pair; the kernel wants another number each time.
            parameters = Parameters(private_data=private_data, private_data_len=len(private_data), responder_resources=1,
                                    initiator_depth=1, qp_num=0x700000 + (self.number << 12) + turn % 4096)
            if rdma.rdma_connect(identifier, ctypes.byref(parameters)) != 0:
                return "not sent"
            return self.event()
        finally:
            rdma.rdma_destroy_id(identifier)


def ports_of_runs(host):
    """The ports of all connections of runs on this host, and of those who wait for some."""
    shown = subprocess.run(["rdma", "--json", "resource", "show", "cm_id"], capture_output=True, text=True, check=False)
    if shown.returncode != 0 or not shown.stdout.strip():
        return set()
    addresses = [entry.get("src-addr", "") for entry in json.loads(shown.stdout) if entry.get("comm") == PROGRAM]
    return {int(port) for at, _, port in (address.rpartition(":") for address in addresses) if at == host}


def main():
    host = sys.argv[1]
    ports = set()
    strangers = [Stranger(host, ports, number) for number in range(4)]

    def end(*_):
        answers = {}
        for stranger in strangers:
            for name, count in dict(stranger.answers).items():
                answers[name] = answers.get(name, 0) + count
        print(json.dumps({"answers": answers, "ports": len(ports)}), flush=True)
        os._exit(0)  # the strangers may wait for an answer

    signal.signal(signal.SIGTERM, end)
    for stranger in strangers:
        stranger.start()
    print("at the doors", flush=True)
    while True:
        ports.update(ports_of_runs(host))
        time.sleep(0.01)


if __name__ == "__main__":
    main()
