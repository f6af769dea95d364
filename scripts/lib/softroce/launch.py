"""`scripts/softroce run` and `pair`: reads the options, starts guests, passes on output and exit codes."""

import argparse
import os
import re
import selectors
import signal
import socket
import sys
import time

from guest import FAILED, Guest, Job

NAME = "scripts/softroce"
PROFILES = ["rxe", "siw", "lossy", "reorder"]
UNITS = {"M": 1 << 20, "G": 1 << 30}
LEAST_MEMORY = 64 << 20
TIMED_OUT = 124
# How long a guest may go on after the other of its pair has failed.
GRACE_SECONDS = 10
# A frame is up to 9 KB, and a window of them has to fit.
WIRE_BYTES = 8 << 20
# Folders that are the guest's own.
UNSHARED = re.compile(r"/|/(proc|sys|run|dev)(/.*)?|/dev/shm")


def note(*message):
    print(f"{NAME}:", *message, file=sys.stderr, flush=True)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        note(message)
        print(f"{NAME} --help says more", file=sys.stderr)
        sys.exit(2)


def memory_size(text):
    match = re.fullmatch(r"([1-9][0-9]{0,5})([MG])", text)
    if not match or (size := int(match[1]) * UNITS[match[2]]) < LEAST_MEMORY:
        raise argparse.ArgumentTypeError(f"'{text}' is no size from 64M on, like 512M or 4G")
    return size


def positive_seconds(text):
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no number of seconds, like 60")
    return int(text)


def shared_folder(text):
    path = os.path.realpath(text)
    if not os.path.isdir(path):
        raise argparse.ArgumentTypeError(f"'{text}' is no folder")
    if "/dev/shm/" not in path and UNSHARED.fullmatch(path):
        raise argparse.ArgumentTypeError(f"'{path}' cannot be shared: the guest has its own")
    return path


def parse(kernel, action, *arguments):
    parser = Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("--profile", default="rxe", choices=PROFILES)
    parser.add_argument("-m", dest="memory", default="4G", type=memory_size, metavar="MEMORY")
    parser.add_argument("-t", dest="seconds", default="1800", type=positive_seconds, metavar="SECONDS")
    parser.add_argument("-w", dest="shared", default=[], action="append", type=shared_folder, metavar="FOLDER")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    options.kernel, options.action = kernel, action
    if options.command[:1] == ["--"]:
        options.command.pop(0)
    if action == "pair" and len(options.command) != 2:
        parser.error(f"pair needs two commands, each one argument, and got {len(options.command)}")
    if not options.command:
        parser.error("run needs a command")
    try:
        options.shared.insert(0, shared_folder(os.getcwd()))
    except argparse.ArgumentTypeError as error:
        parser.error(f"start it in another folder: {error}")
    return options


def write_all(descriptor, data):
    """Writes to the launcher's own output, which may be a slow pipe that somebody has set to not wait."""
    while data:
        try:
            data = data[os.write(descriptor, data):]
        except BlockingIOError:
            time.sleep(0.001)


class Stream:
    """One output of a guest on its way to the launcher's. With a prefix, it goes line by line."""

    def __init__(self, descriptor, prefix):
        self.descriptor = descriptor
        self.prefix = prefix
        self.rest = b""

    def pass_on(self, data):
        """Passes on what has come; nothing means that no more will."""
        if self.prefix:
            data = self.rest + data if data else self.rest + b"\n" * bool(self.rest)
            *lines, self.rest = data.split(b"\n")
            data = b"".join(self.prefix + line + b"\n" for line in lines)
        write_all(self.descriptor, data)


class Interrupted(Exception):
    """A signal came that ends the launcher."""

    def __init__(self, number):
        super().__init__()
        self.status = 128 + number


class Session:
    """The guests of one call, from their start to the exit code."""

    def __init__(self, options):
        self.options = options
        self.guests = []
        self.failed = None  # the first guest that did
        self.status = 0
        self.deadline = time.monotonic() + options.seconds
        self.grace_end = float("inf")
        self.selector = selectors.DefaultSelector()

    def start(self, command, host=0, wire=None):
        job = Job(command, self.options.shared[0], self.options.shared, self.options.profile, host)
        guest = Guest(self.options.kernel, job, self.options.memory, wire)
        self.guests.append(guest)
        prefix = b"%d: " % host if host else b""
        output, errors = Stream(1, prefix), Stream(2, prefix)
        for channel, receiver in [(guest.output, output.pass_on), (guest.errors, errors.pass_on),
                                  (guest.log, guest.keep_log), (guest.answers, guest.heed)]:
            self.selector.register(channel, selectors.EVENT_READ, receiver)

    def run(self):
        """Returns the exit code."""
        try:
            self.pass_on_everything()
        except Interrupted as interrupted:
            self.status = interrupted.status
            self.end()
            self.pass_on_everything()
        for guest in self.guests:
            if guest.problem:
                self.note(guest, guest.problem)
                write_all(2, guest.log_text)
        return self.status

    def pass_on_everything(self):
        """Until all guests have ended and everything they wrote has been read."""
        while self.selector.get_map():
            moment = min(self.deadline, self.grace_end, *(guest.kill_at for guest in self.guests if guest.running()))
            wait = None if moment == float("inf") else max(moment - time.monotonic(), 0)
            for key, _ in self.selector.select(wait):
                data = os.read(key.fd, 65536)
                key.data(data)
                if not data:
                    self.selector.unregister(key.fd)
            self.check_clock()
            self.check_guests()

    def check_clock(self):
        now = time.monotonic()
        if not any(guest.running() for guest in self.guests):
            self.deadline = self.grace_end = float("inf")
        elif now >= self.deadline:
            note(f"the time limit of {self.options.seconds} s is over (-t)")
            self.deadline = float("inf")
            self.status = self.status or TIMED_OUT
            self.end()
        elif now >= self.grace_end:
            self.grace_end = float("inf")
            code = self.failed.status
            self.note(self.failed, f"failed with exit code {code} {GRACE_SECONDS} s ago; ending the other")
            self.end()
        for guest in self.guests:
            if now >= guest.kill_at:
                guest.finish(128 + signal.SIGKILL)

    def check_guests(self):
        for guest in self.guests:
            if guest.status and not self.failed:
                self.failed = guest
                self.status = self.status or guest.status
                self.grace_end = time.monotonic() + GRACE_SECONDS

    def end(self):
        for guest in self.guests:
            guest.ask_to_end()

    def kill(self):
        for guest in self.guests:
            guest.finish(FAILED)

    def note(self, guest, message):
        note(f"host {guest.job.host}: {message}" if guest.job.host else message)


def start_pair(session, commands):
    """Two guests at the two ends of a socket pair that carries Ethernet frames."""
    wires = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    for wire in wires:
        for buffer in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            wire.setsockopt(socket.SOL_SOCKET, buffer, WIRE_BYTES)
    for host, (command, wire) in enumerate(zip(commands, wires), start=1):
        session.start(["bash", "-c", command], host, wire.fileno())
        wire.close()


def interrupt(number, _):
    raise Interrupted(number)


def main():
    options = parse(*sys.argv[1:])
    if not options.kernel:
        note("there is no kernel yet, or none for this checkout: run scripts/softroce build first")
        return 1
    session = Session(options)
    signals = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    for number in signals:
        signal.signal(number, interrupt)
    try:
        if options.action == "pair":
            start_pair(session, options.command)
        else:
            session.start(options.command)
        return session.run()
    except Interrupted as interrupted:
        return interrupted.status
    except BrokenPipeError:
        return 128 + signal.SIGPIPE
    except OSError as error:
        note(error)
        return FAILED
    finally:
        for number in signals:
            signal.signal(number, signal.SIG_IGN)
        session.kill()


if __name__ == "__main__":
    sys.exit(main())
