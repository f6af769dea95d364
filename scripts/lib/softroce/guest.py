"""One guest: a User-Mode Linux kernel as a process of this host, and the pipes to its consoles.

The guest leaves no file on the host: its memory is one that is unlinked as soon as it is open, and the job goes in and
the exit code comes out over a console. It ends with the launcher, also when that is killed: the kernel process asks for
SIGKILL at its parent's death, and its own processes die with their tracer.
"""

import os
import resource
import shlex
import signal
import subprocess
import time

INIT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "init")
LOG_BYTES = 65536
# How long a guest that was told to end may take to flush its output and files.
END_SECONDS = 3
FAILED = 125


def memory_folder(size):
    """A folder where the guest's memory fits and may be executed: in memory if possible."""
    folders = [os.environ.get("TMPDIR"), "/dev/shm", "/tmp", "/var/tmp"]
    for folder in folders[1:] + folders[:1]:
        if not folder or not os.access(folder, os.W_OK | os.X_OK):
            continue
        status = os.statvfs(folder)
        if not status.f_flag & os.ST_NOEXEC and status.f_bavail * status.f_frsize >= size:
            return folder
    raise OSError(f"no place for {size >> 20} MB of memory in /dev/shm, /tmp or /var/tmp; try a smaller -m")


def processor_mhz():
    """The processor's speed as this host tells it, which the guest doesn't."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("cpu MHz")), "")


class Job:
    """What the guest shall do."""

    def __init__(self, command, folder, shared, profile, host):
        self.command = command
        self.folder = folder
        self.shared = shared
        self.profile = profile
        self.host = host  # 1 or 2 in a pair, otherwise 0

    def script(self):
        """The shell text that sets init's variables."""
        environment = {**os.environ, "GLAIVE_SOFTROCE_PROFILE": self.profile}
        command = ["env", "-i", *(f"{name}={value}" for name, value in environment.items()), *self.command]
        return "\n".join([
            f"profile={shlex.quote(self.profile)} host={self.host} mhz={shlex.quote(processor_mhz())}",
            f"shared=({shlex.join(self.shared)})",
            f"folder={shlex.quote(self.folder)}",
            f"command=({shlex.join(command)})\n",
        ]).encode(errors="surrogateescape")


class Guest:
    """A running guest. Its owner reads output, errors, log and answers, and hands on what came by the last two."""

    def __init__(self, kernel, job, memory, wire=None):
        self.job = job
        self.status = None  # the command's exit code, or FAILED
        self.problem = ""  # why FAILED
        self.log_text = b""
        self.answer = b""
        self.kill_at = float("inf")
        # Each pipe: this end, and the kernel's.
        self.output, output = os.pipe()
        self.errors, errors = os.pipe()
        self.log, log = os.pipe()
        self.answers, answers = os.pipe()
        orders, self.orders = os.pipe()
        arguments = [
            "setpriv", "--pdeathsig=KILL", kernel, f"mem={memory}", "quiet",
            # There is nobody to reach this kernel by its name, so it gets a folder that cannot be.
            "uml_dir=/dev/null", "umid=none",
            "rootfstype=hostfs", "root=/dev/root", "hostfs=/", "ro", f'init="{INIT}"',
            "con0=null,fd:1", f"con1=null,fd:{output}", f"con2=null,fd:{errors}", f"con3=fd:{orders},fd:{answers}",
        ]
        inherited = [output, errors, orders, answers]
        if wire is not None:
            arguments.append(f"vec0:transport=fd,fd={wire},mac=02:00:00:00:00:0{job.host},mtu=9000,depth=128")
            inherited.append(wire)
        # A kernel that panics dumps core.
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        # A session of its own: the terminal's Ctrl-C reaches the launcher alone, which ends all in order.
        self.process = subprocess.Popen(
            arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=inherited, cwd="/",
            env={"PATH": os.environ.get("PATH", os.defpath), "TMPDIR": memory_folder(memory)}, start_new_session=True)
        for end in [output, errors, log, orders, answers]:
            os.close(end)

    def running(self):
        return self.status is None

    def keep_log(self, data):
        self.log_text = (self.log_text + data)[-LOG_BYTES:]

    def heed(self, data):
        """What init says; nothing means that the kernel has ended."""
        if not data:
            self.finish(FAILED, "the guest's kernel ended early")
        *lines, self.answer = (self.answer + data).split(b"\n")
        for line in lines:
            word, _, rest = line.decode(errors="replace").strip().partition(" ")
            if word == "ready":
                script = self.job.script()
                self.tell(b"%08d" % len(script) + script)
            elif word == "exit" and rest.isdecimal():
                self.finish(int(rest))
            else:
                self.finish(FAILED, f"the guest could not be set up: {rest}")

    def tell(self, text):
        try:
            os.write(self.orders, text)
        except BrokenPipeError:
            pass  # its end shows in the answers

    def ask_to_end(self):
        """The command's processes get SIGTERM and then SIGKILL; files and output still reach the host."""
        if self.running() and self.kill_at == float("inf"):
            self.kill_at = time.monotonic() + END_SECONDS
            self.tell(b"end\n")

    def finish(self, status, problem=""):
        """Ends the kernel and all its processes, and keeps the first exit code."""
        if self.running():
            self.status = status
            self.problem = problem
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            os.close(self.orders)
