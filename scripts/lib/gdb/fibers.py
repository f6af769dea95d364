"""gdb's command `fibers`: the fibers of a program or of its core file, and where each of them is suspended.

    (gdb) source scripts/lib/gdb/fibers.py
    (gdb) fibers                    of all schedulers that a variable on a thread's stack refers to
    (gdb) fibers *executors[0]      of one scheduler, or of an object that has one as a member

Variables have to be visible: the preset debug has them all, and release enough of them.
"""

import re
import struct

import gdb
import gdb.unwinder

SCHEDULER = "glaive::engine::Scheduler"
FIBER = "glaive::engine::Fiber"

# What Boost.Context leaves on the stack of a suspended fiber (jump_x86_64_sysv_elf_gas.S): 8 bytes of
# floating-point state at the context's address, these registers, and behind them the stack of the caller.
SAVED_REGISTERS = ("r12", "r13", "r14", "r15", "rbx", "rbp", "rip")
STATE_BYTES = 8
CONTEXT_BYTES = STATE_BYTES + 8 * len(SAVED_REGISTERS)


class FrameId:
    """The identity of a frame, as gdb wants it."""

    def __init__(self, sp, pc):
        self.sp = sp
        self.pc = pc


class SuspendedStack(gdb.unwinder.Unwinder):
    """While a context is set, the caller of the selected thread's innermost frame is that context's code.

    Neither registers nor memory change, so this works for core files too.
    """

    def __init__(self):
        super().__init__("glaive-fibers")
        self.context = None
        self.innermost = None

    def __call__(self, pending_frame):
        position = self._position(pending_frame)
        if self.context is None or position != self.innermost:
            return None
        try:
            words = gdb.selected_inferior().read_memory(self.context + STATE_BYTES, CONTEXT_BYTES - STATE_BYTES)
        except gdb.MemoryError:  # an optimized program's variable may have another value by now
            return None
        values = struct.unpack(f"<{len(SAVED_REGISTERS)}Q", words)
        # gdb takes a frame below its caller's for a broken stack: this one lies right above the context's.
        info = pending_frame.create_unwind_info(FrameId(gdb.Value(self.context), gdb.Value(position[1])))
        word = gdb.lookup_type("unsigned long")
        for name, value in zip(SAVED_REGISTERS + ("rsp",), values + (self.context + CONTEXT_BYTES,)):
            info.add_saved_register(name, gdb.Value(value).cast(word))
        return info

    @staticmethod
    def _position(frame):
        return int(frame.read_register("rsp")), int(frame.read_register("rip"))

    def frames_of(self, context, function):
        """What `function()` returns while the context's frames follow the innermost one."""
        self.innermost = self._position(gdb.newest_frame())
        self.context = context
        gdb.invalidate_cached_frames()
        try:
            return function()
        finally:
            self.context = None
            gdb.invalidate_cached_frames()


def type_name(value_type):
    return str(value_type.strip_typedefs().unqualified())


def referred(value):
    """The object that a pointer or a reference refers to; the value itself if it is neither."""
    kind = value.type.strip_typedefs().code
    if kind in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        return value.referenced_value()
    if kind == gdb.TYPE_CODE_PTR and int(value) != 0:
        return value.dereference()
    return value


def scheduler_in(value):
    """The value if it is a scheduler, or its member that is one; None if there is none."""
    if type_name(value.type) == SCHEDULER:
        return value
    if value.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
        for field in value.type.strip_typedefs().fields():
            if not field.is_base_class and hasattr(field, "bitpos") and type_name(field.type) == SCHEDULER:
                return value[field]
    return None


def frames(first):
    frame = first
    while frame is not None and frame.is_valid():
        yield frame
        try:
            frame = frame.older()
        except gdb.error:
            return


def variables(frame):
    """The objects that the frame's arguments and variables are or refer to."""
    try:
        block = frame.block()
    except RuntimeError:  # without debug information
        return
    while block is not None and not block.is_static and not block.is_global:
        for symbol in block:
            if symbol.is_argument or symbol.is_variable:
                try:
                    value = symbol.value(frame) if symbol.needs_frame else symbol.value()
                    if not value.is_optimized_out:
                        yield referred(value)
                except gdb.error:  # not there yet, or no more
                    pass
        if block.function is not None:
            return
        block = block.superblock


def context_of(boost_fiber):
    """The address of a suspended context, 0 while it runs or once it has ended."""
    return int(boost_fiber["fctx_"])


def outer_context_of(fiber):
    """The address of the scheduler's context while the fiber runs; 0 if there is none."""
    try:
        return context_of(fiber["context_"]["outer_"])
    except gdb.error:  # an optimized program's variable may have another value by now
        return 0


def fibers_of(scheduler):
    """All fibers ever spawned: a vector of std::unique_ptr, each of which is one pointer."""
    fibers = scheduler["fibers_"]["_M_impl"]
    pointer = gdb.lookup_type(FIBER).pointer().pointer()
    first, end = fibers["_M_start"].cast(pointer), fibers["_M_finish"].cast(pointer)
    for i in range(int(end - first)):
        yield first[i].dereference()


def is_scheduler(value):
    """Whether what an optimized program shows as a scheduler can be one: its variables may have other values by now."""
    try:
        return all(str(fiber["state_"]).startswith(FIBER) for fiber in fibers_of(value))
    except gdb.error:
        return False


def backtrace():
    """The backtrace without the innermost frame, numbered from 0, and without what called the fiber's RunBody."""
    text = gdb.execute("backtrace", to_string=True)
    frames_text = re.search(rf"^#1 .*?(^#\d+ [^\n]*{FIBER}::RunBody [^\n]*\n|\Z)", text, re.MULTILINE | re.DOTALL)
    if frames_text is None:
        return "no frames\n"
    return re.sub(r"^#(\d+)( *)", lambda match: f"#{int(match[1]) - 1}".ljust(len(match[0])), frames_text[0],
                  flags=re.MULTILINE)


class Fibers(gdb.Command):
    """List all fibers of the program, with a backtrace of each that is suspended.
Usage: fibers [EXPRESSION]
EXPRESSION is a scheduler, or an object that has one as a member, such as an executor; without it, the schedulers are
those that a variable on a thread's stack refers to."""

    def __init__(self):
        super().__init__("fibers", gdb.COMMAND_STACK, gdb.COMPLETE_EXPRESSION)
        self.suspended = SuspendedStack()
        gdb.unwinder.register_unwinder(None, self.suspended, replace=True)

    def invoke(self, argument, from_tty):
        if gdb.selected_thread() is None:
            raise gdb.GdbError("fibers: there is no process and no core file")
        architecture = gdb.newest_frame().architecture().name()
        if architecture != "i386:x86-64":
            raise gdb.GdbError(f"fibers: this program is for {architecture}; what a suspended fiber leaves on its "
                               "stack is described in scripts/lib/gdb/fibers.py for i386:x86-64 alone")
        selected, level = gdb.selected_thread(), gdb.selected_frame().level()
        try:
            schedulers = self.named(argument) if argument else self.found()
            for description, scheduler in schedulers:
                self.show(description, scheduler)
        finally:
            selected.switch()
            next(frame for frame in frames(gdb.newest_frame()) if frame.level() == level).select()

    def named(self, expression):
        scheduler = scheduler_in(referred(gdb.parse_and_eval(expression)))
        if scheduler is None:
            raise gdb.GdbError(f"fibers: {expression} is no scheduler and has none as a member")
        return [(expression, scheduler)]

    def found(self):
        """Each scheduler once, with the thread that runs it."""
        schedulers = {}
        for thread in sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num):
            thread.switch()
            for scheduler in filter(is_scheduler, self.of_stack(gdb.newest_frame())):
                schedulers.setdefault(int(scheduler.address), (f"thread {thread.num}", scheduler))
        if not schedulers:
            raise gdb.GdbError("fibers: no variable on any thread's stack refers to a scheduler. Was the program built "
                               "without variables (the presets debug and release have them), or does no executor run?")
        return list(schedulers.values())

    def of_stack(self, first):
        """Schedulers of a stack, and of the stack that is suspended while one of its fibers runs."""
        found, outer = [], set()
        for frame in frames(first):
            for value in variables(frame):
                scheduler = scheduler_in(value)
                if scheduler is not None:
                    found.append(scheduler)
                elif type_name(value.type) == FIBER:
                    outer.add(outer_context_of(value))
        for context in outer - {0}:
            found += self.suspended.frames_of(context, self.of_suspended)
        return found

    @staticmethod
    def of_suspended():
        caller = gdb.newest_frame().older()
        return [scheduler for frame in frames(caller) for scheduler in map(scheduler_in, variables(frame))
                if scheduler is not None]

    def show(self, description, scheduler):
        fibers = list(fibers_of(scheduler))
        finished = sum(str(fiber["state_"]).endswith("kFinished") for fiber in fibers)
        gdb.write(f"scheduler {int(scheduler.address):#x} ({description}): {len(fibers) - finished} fibers, "
                  f"{finished} more have finished\n")
        for fiber in fibers:
            state = str(fiber["state_"]).rsplit("::k", 1)[-1].lower()
            if state == "finished":
                continue
            name = fiber["name_"]["_M_dataplus"]["_M_p"].string()
            turns = int(fiber["stats_"]["switches"])
            gdb.write(f'\nfiber "{name}": {state if turns else "not started"}, {turns} turns\n')
            context = context_of(fiber["context_"]["fiber_"])
            if context and turns:
                gdb.write(self.suspended.frames_of(context, backtrace))


Fibers()
