"""scripts/softroce: bad usage, and, where its kernel has been built, what a command in the guest sees and leaves."""

import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest
import unittest.mock

SOURCE = pathlib.Path(os.environ.get("GLAIVE_SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent.parent))
SOFTROCE = SOURCE / "scripts/softroce"
PATIENCE_SECONDS = 60
# Enough for the commands here, and quicker to boot than the default.
RUN = ["run", "-m", "512M"]


def start(*arguments, **options):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    return subprocess.Popen([SOFTROCE, *arguments], stdin=subprocess.DEVNULL, **options)


def call(*arguments, **options):
    """The exit status, standard output and standard error."""
    with start(*arguments, **options) as process:
        try:
            out, err = process.communicate(timeout=PATIENCE_SECONDS)
        finally:
            process.kill()
    return process.returncode, out, err


def without_cache(folder):
    return {**os.environ, "XDG_CACHE_HOME": folder}


def processes(pattern):
    """The command lines of this host's processes in which the pattern stands."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # it ended
        if re.search(pattern, line) and int(path.parent.name) != os.getpid():
            found.append(line)
    return found


class UsageTest(unittest.TestCase):
    def refuse(self, message, *arguments, status=2, **options):
        code, out, err = call(*arguments, **options)
        self.assertEqual((code, out), (status, ""), err)
        self.assertIn(message, err)

    def test_the_cache_may_lie_in_any_folder(self):
        script = 'source scripts/lib/softroce/source.sh; source_name "a_folder of mine/linux-source-6.12_6.12.48-1_all.deb"'
        done = subprocess.run(["bash", "-c", script], cwd=SOURCE, capture_output=True, text=True, check=True, timeout=60)
        self.assertEqual(done.stdout, "linux-source-6.12\n")

    def test_help_names_every_command(self):
        status, out, err = call("--help")
        self.assertEqual((status, err), (0, ""))
        for command in ["build", "run", "pair", "up", "down"]:
            self.assertRegex(out, rf"scripts/softroce {command}\b")

    def test_bad_usage_is_refused(self):
        self.refuse("Usage:")
        self.refuse("unknown command 'boot'", "boot")
        self.refuse("build takes no arguments, not 'all'", "build", "all")
        self.refuse("down takes no arguments, not 'eth0'", "down", "eth0")
        self.refuse("up takes one network device, not 'b'", "up", "a", "b")
        self.refuse("run needs a command", "run")
        self.refuse("run needs a command", "run", "-m", "1G")
        self.refuse("'1' is no size", "run", "-m", "1", "true")
        self.refuse("'32M' is no size", "run", "-m", "32M", "true")
        self.refuse("'-3' is no number of seconds", "run", "-t", "-3", "true")
        self.refuse("'0' is no number of seconds", "run", "-t", "0", "true")
        self.refuse("invalid choice: 'roce'", "run", "--profile", "roce", "true")
        self.refuse("'/nowhere' is no folder", "run", "-w", "/nowhere", "true")
        self.refuse("'/proc' cannot be shared", "run", "-w", "/proc", "true")
        self.refuse("start it in another folder: '/' cannot be shared", "run", "true", cwd="/")
        self.refuse("pair needs two commands, each one argument, and got 1", "pair", "true")
        self.refuse("pair needs two commands, each one argument, and got 3", "pair", "true", "true", "true")

    def test_a_missing_kernel_is_named_with_the_remedy(self):
        with tempfile.TemporaryDirectory() as folder:
            for arguments in [["run", "true"], ["pair", "true", "true"]]:
                self.refuse("run scripts/softroce build first", *arguments, status=1, env=without_cache(folder))
            self.assertEqual(os.listdir(folder), [])

    def test_a_build_without_a_source_package_says_so_with_an_exit_code_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            for tool, status in [("apt-cache", 0), ("apt-get", 1)]:
                path = pathlib.Path(folder, tool)
                path.write_text(f"#!/bin/sh\nexit {status}\n", encoding="ascii")
                path.chmod(0o755)
            env = {**without_cache(folder), "PATH": f"{folder}:{os.environ['PATH']}"}
            self.refuse("apt offers no package linux-source-6.x", "build", status=69, env=env)

    def test_a_network_device_that_is_not_there_is_refused(self):
        if os.geteuid() != 0:
            self.skipTest("needs root")
        self.refuse("there is no network device 'nosuchdev'", "up", "nosuchdev")


class GuestTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        status, _, err = call(*RUN, "true")
        if "run scripts/softroce build first" in err:
            raise unittest.SkipTest("no kernel: run scripts/softroce build")
        if status != 0:
            raise AssertionError(err)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="glaive softroce, test ")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_guest(self, *arguments):
        return call(*RUN, *arguments, cwd=self.folder)

    def test_the_command_gets_its_folder_environment_and_two_outputs(self):
        (self.folder / "in").write_text("from the host\n", encoding="utf-8")
        script = r'''cat in; echo "$PWD|$GLAIVE_SOFTROCE_PROFILE|$1|$ODD"; echo problem >&2
            echo "from the guest" >out; ulimit -l; [[ ! -t 1 && ! -t 2 ]] || echo a terminal
            touch /usr/kept /tmp/kept /dev/shm/kept; ls /usr/kept; read -r line || echo no input; exit 7'''
        with unittest.mock.patch.dict(os.environ, {"ODD": "a 'b' \"c\"\n$d"}):
            status, out, err = self.run_guest("bash", "-c", script, "name", "an 'odd'  \"argument\"\n$")
        self.assertEqual((status, err), (7, "problem\n"))
        self.assertEqual(out, f"from the host\n{self.folder}|rxe|an 'odd'  \"argument\"\n$|a 'b' \"c\"\n$d\n"
                              "unlimited\n/usr/kept\nno input\n")
        self.assertEqual((self.folder / "out").read_text(encoding="utf-8"), "from the guest\n")
        for path in ["/usr/kept", "/tmp/kept", "/dev/shm/kept"]:
            self.assertFalse(os.path.exists(path), path)

    def test_exit_codes_are_those_of_a_shell(self):
        self.assertEqual(self.run_guest("bash", "-c", "kill -9 $$")[0], 128 + signal.SIGKILL)
        status, _, err = self.run_guest("no-such-command")
        self.assertEqual(status, 127)
        self.assertIn("no-such-command", err)

    def test_every_byte_of_a_long_output_arrives(self):
        script = "import sys, random; random.seed(1); sys.stdout.buffer.write(random.randbytes(3000001))"
        expected = subprocess.run(["python3", "-c", script], capture_output=True, check=True).stdout
        with start(*RUN, "python3", "-c", script, text=False, cwd=self.folder) as process:
            out, err = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual((process.returncode, err), (0, b""))
        self.assertEqual(out, expected)

    def test_each_profile_has_its_devices(self):
        for profile, devices in [("rxe", ["rxe0"]), ("siw", ["siw0"]), ("lossy", ["rxea", "rxeb"]),
                                 ("reorder", ["rxe0"])]:
            with self.subTest(profile=profile):
                status, out, err = self.run_guest("--profile", profile, "bash", "-c", "rdma link; ibv_devices")
                self.assertEqual((status, err), (0, ""))
                self.assertEqual(re.findall(r"^link (\w+)/1 state ACTIVE", out, re.MULTILINE), devices)
                self.assertEqual(re.findall(r"^ +((?:rxe|siw)\w+)\s+[0-9a-f]+$", out, re.MULTILINE), devices)

    def test_the_time_limit_ends_the_guest(self):
        started = time.monotonic()
        # Long enough for a guest to start on a busy host.
        status, out, err = self.run_guest("-t", "10", "bash", "-c", "echo started; sleep 1000")
        self.assertEqual((status, out), (124, "started\n"))
        self.assertEqual(err, "scripts/softroce: the time limit of 10 s is over (-t)\n")
        self.assertLess(time.monotonic() - started, 30)

    def test_signals_end_the_guest_and_nothing_is_left(self):
        for number, status in [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)]:
            with self.subTest(signal=number), tempfile.TemporaryDirectory() as temporary:
                memory = set(os.listdir("/dev/shm"))
                # The kernel is found by the limit of memory, which nobody else has.
                size = f"{300 + number}M"
                process = start("run", "-m", size, "bash", "-c", "echo started; exec sleep 1000", cwd=self.folder,
                                env={**os.environ, "TMPDIR": temporary})
                with process:
                    self.assertEqual(process.stdout.readline(), "started\n")
                    kernel = rf" mem={(300 + number) << 20} "
                    self.assertTrue(processes(kernel))
                    process.send_signal(number)
                    self.assertEqual(process.wait(PATIENCE_SECONDS), status)
                time.sleep(0.3)
                self.assertEqual(processes(kernel), [])
                self.assertEqual(os.listdir(temporary), [])
                left = set(os.listdir("/dev/shm")) - memory
                # Simulations that other tests run at the same time have folders of this name.
                self.assertEqual({name for name in left if not name.startswith("glaive-simulate-")}, set())

    def test_up_makes_a_device_and_down_removes_it(self):
        # The guest is a host that has Soft-RoCE, built in where modprobe doesn't see it.
        script = f"""printf '#!/bin/sh\n' >/sbin/modprobe; chmod +x /sbin/modprobe; rdma link delete rxe0
            for arguments in 'up eth0' 'up eth0' down down; do
              '{SOFTROCE}' $arguments; echo "exit code $?"; rdma link
            done 2>&1"""
        status, out, err = self.run_guest("bash", "-c", script)
        self.assertEqual((status, err), (0, ""))
        link = "link glaive_rxe0/1 state ACTIVE physical_state LINK_UP netdev eth0 \n"
        self.assertRegex(out, r"(?s)--bind=ADDRESS .*\n10\.0\.0\.4\n.*exit code 0\n" + link +
                         r"softroce: the device glaive_rxe0 is there already; .*\nexit code 1\n" + link +
                         r"glaive_rxe0 is removed\nexit code 0\n"
                         r"softroce: there is no device glaive_rxe0 to remove\nexit code 1\n$")

    def test_lost_packets_are_sent_again(self):
        script = """ib_write_bw -F -d rxea -x 1 -s 65536 -n 100 >server &
            sleep 1; ib_write_bw -F -d rxeb -x 1 -s 65536 -n 100 10.1.0.1 && wait $! &&
            tc -s qdisc show dev vb"""
        status, out, err = self.run_guest("--profile", "lossy", "bash", "-c", script)
        self.assertEqual(status, 0, out + err)
        self.assertGreater(int(re.search(r"dropped (\d+)", out).group(1)), 0)

    def test_two_guests_reach_each_other(self):
        rping = "rping -v -C 3 -a 10.0.0.1"
        client = f"until {rping} -c; do sleep 1; done; printf unfinished"  # the other guest may boot later
        status, out, err = call("pair", "-m", "512M", f"{rping} -s", client, cwd=self.folder)
        self.assertEqual(status, 0, out + err)
        self.assertEqual(len(re.findall(r"^1: server ping data: rdma-ping-\d", out, re.MULTILINE)), 3, out)
        self.assertEqual(len(re.findall(r"^2: ping data: rdma-ping-\d", out, re.MULTILINE)), 3, out)
        self.assertRegex(out, r"(?m)^2: unfinished$")

    def test_a_pair_ends_when_one_has_failed(self):
        status, out, err = call("pair", "-m", "512M", "echo one; exec sleep 1000", "echo two >&2; exit 9",
                                cwd=self.folder)
        self.assertEqual((status, out), (9, "1: one\n"))
        self.assertEqual(err, "2: two\nscripts/softroce: host 2: failed with exit code 9 10 s ago; ending the other\n")


if __name__ == "__main__":
    unittest.main()
