"""gdb's command `fibers`: which fibers it finds, of a process and of a core file, and what their backtraces say."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("GLAIVE_SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent.parent))
COMMAND = SOURCE / "scripts/lib/gdb/fibers.py"

# Two fibers suspend, in functions of their own; one ends; one calls StopInFiber in its third turn; and one that it
# spawns there has had no turn. Between two rounds the scheduler's thread calls StopInScheduler.
PROGRAM = """
#include "engine/fiber/fiber.cc"
#include "engine/fiber/pick_policy.cc"
#include "engine/fiber/scheduler.cc"
#include "engine/fiber/stack.cc"
#include "rdma/base/check.cc"
#include "rdma/base/exhaustion.cc"

using glaive::engine::Fiber;
using glaive::engine::FiberKind;
using glaive::engine::Scheduler;

bool has_input = false;

[[gnu::noinline]] void StopInFiber() { asm volatile(""); }
[[gnu::noinline]] void StopInScheduler() { asm volatile(""); }

void AwaitInput(Fiber& fiber, int depth) {
  if (depth > 0) return AwaitInput(fiber, depth - 1);
  fiber.WaitUntil([] { return has_input; });
}

void MergeDeltas(Fiber& fiber) {
  for (;;) fiber.Yield();
}

struct Machine {
  Scheduler scheduler{{}};
};

int main() {
  Machine machine;
  Scheduler& scheduler = machine.scheduler;
  bool ok = scheduler.Spawn("source", FiberKind::kCompute, [](Fiber& fiber) { AwaitInput(fiber, 2); }).ok();
  ok = scheduler.Spawn("merge 1", FiberKind::kRdma, &MergeDeltas).ok() && ok;
  ok = scheduler.Spawn("short", FiberKind::kRdma, [](Fiber&) {}).ok() && ok;
  ok = scheduler.Spawn("stops", FiberKind::kCompute, [&](Fiber& fiber) {
    fiber.Yield();
    fiber.Yield();
    if (!scheduler.Spawn("late", FiberKind::kCompute, [](Fiber&) {}).ok()) return;
    StopInFiber();
    fiber.Yield();
  }).ok() && ok;
  for (int round = 0; round < 3 && ok; ++round) scheduler.RunRound();
  StopInScheduler();
  return ok ? 0 : 1;
}
"""


def gdb(*arguments):
    """What gdb and the program print, after the commands among the arguments."""
    return subprocess.run(["gdb", "-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex", f"source {COMMAND}",
                           *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240,
                          check=False)


class FibersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="glaive_gdb_")
        cls.addClassCleanup(folder.cleanup)
        cls.core = pathlib.Path(folder.name, "core")
        cls.program = pathlib.Path(folder.name, "program")
        libraries = subprocess.run(["pkg-config", "--libs", "absl_statusor", "absl_strings"], capture_output=True,
                                   text=True, timeout=60, check=True).stdout.split()
        subprocess.run([os.environ.get("GLAIVE_CXX", "g++"), "-std=c++20", "-O0", "-g", f"-I{SOURCE}", "-x", "c++", "-",
                        "-o", cls.program, *libraries, "-lboost_context", "-pthread"],
                       input=PROGRAM, text=True, timeout=240, check=True)

    def setUp(self):
        self.fibers = {}

    def run_fibers(self, *arguments):
        """Fills `fibers`: by the fiber's name its state, and the functions of its backtrace."""
        done = gdb(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("Error", done.stderr)
        listed = done.stdout[done.stdout.index("scheduler 0x"):]
        for text in listed.split("\nfiber ")[1:]:
            name, state = re.match(r'"(.*?)": (.*)', text).groups()
            self.fibers[name] = state, re.findall(r"^#\d+ +(?:0x\w+ in )?([\w:]+)", text, re.MULTILINE)
        return listed.split("\n")[0]

    def expect_suspended(self):
        state, functions = self.fibers["source"]
        self.assertTrue(state.startswith("parked, 1 turns"), state)
        self.assertEqual(functions.count("AwaitInput"), 3, functions)
        self.assertLess(functions.index("AwaitInput"), functions.index("glaive::engine::Fiber::RunBody"))
        self.assertIn("glaive::engine::Fiber::WaitUntil", functions)
        state, functions = self.fibers["merge 1"]
        self.assertTrue(state.startswith("ready, 3 turns"), state)
        self.assertEqual(functions.count("MergeDeltas"), 1, functions)
        self.assertEqual(self.fibers["late"], ("not started, 0 turns", []))
        self.assertNotIn("short", self.fibers)

    def test_they_are_found_from_the_scheduler_s_thread(self):
        header = self.run_fibers("-ex", "break StopInScheduler", "-ex", "run", "-ex", "fibers", self.program)
        self.assertRegex(header, r"^scheduler 0x\w+ \(thread 1\): 4 fibers, 1 more have finished$")
        self.expect_suspended()
        self.assertTrue(self.fibers["stops"][0].startswith("ready, 3 turns"))

    def test_they_are_found_while_one_of_them_runs(self):
        self.run_fibers("-ex", "break StopInFiber", "-ex", "run", "-ex", "fibers", self.program)
        self.expect_suspended()
        self.assertEqual(self.fibers["stops"], ("running, 3 turns", []))

    def test_they_are_found_in_a_core_file(self):
        done = gdb("-ex", "break StopInFiber", "-ex", "run", "-ex", f"generate-core-file {self.core}", self.program)
        self.assertTrue(self.core.exists(), done.stderr)
        self.run_fibers("-ex", "fibers", self.program, self.core)
        self.expect_suspended()

    def test_a_scheduler_is_named_by_an_expression(self):
        header = self.run_fibers("-ex", "break StopInScheduler", "-ex", "run", "-ex", "up", "-ex", "fibers machine",
                                 self.program)
        self.assertIn("(machine)", header)
        self.expect_suspended()

    def test_nothing_changes_in_the_program(self):
        show = ["-ex", "echo <", "-ex", "frame", "-ex", "info registers", "-ex", "echo >"]
        done = gdb("-ex", "break StopInFiber", "-ex", "run", "-ex", "up", *show, "-ex", "fibers", *show, "-ex",
                   "continue", self.program)
        before, after = re.findall(r"<(#1 .*?)>", done.stdout, re.DOTALL)
        self.assertEqual(before, after)
        self.assertIn("exited normally", done.stdout)

    def test_a_program_without_schedulers_is_refused_with_the_remedy(self):
        done = gdb("-ex", "break main", "-ex", "run", "-ex", "fibers 1 + 1", "-ex", "fibers", "/bin/true")
        self.assertIn("fibers: there is no process and no core file", done.stderr)
        done = gdb("-ex", "break main", "-ex", "run", "-ex", "fibers 1 + 1", self.program)
        self.assertIn("fibers: 1 + 1 is no scheduler and has none as a member", done.stderr)

    def test_another_architecture_is_refused(self):
        text = COMMAND.read_text(encoding="utf-8")
        self.assertIn('"i386:x86-64"', text)
        elsewhere = pathlib.Path(self.program.parent, "elsewhere.py")
        elsewhere.write_text(text.replace('"i386:x86-64"', '"aarch64"'), encoding="utf-8")
        done = gdb("-ex", f"source {elsewhere}", "-ex", "break StopInFiber", "-ex", "run", "-ex", "fibers",
                   self.program)
        self.assertIn("fibers: this program is for i386:x86-64; ", done.stderr)


if __name__ == "__main__":
    unittest.main()
