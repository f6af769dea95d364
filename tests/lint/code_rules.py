"""Rules on what code below a main does not use: clocks, randomness, thread identity, thread-locals, and, below the
engine, anything that blocks. A rule on what tests compare."""

from source_tree import PROGRAM, search_code

# Reading one of these makes a run depend on more than its flags and its seed.
CLOCKS_AND_RANDOMNESS = "|".join([
    r"\w*_clock\s*::\s*now\b",
    r"\b(?:clock_gettime|clock_getres|gettimeofday|timespec_get|ftime|times)\s*\(",
    r"(?<![\w.>:])(?:std\s*::\s*|::\s*)?(?:time|clock|rand|random|srand|srandom|[delmn]rand48)\s*\(\s*(?:\)|NULL|nullptr|0\s*\)|&)",
    r"\brandom_device\b",
    r"\b(?:getrandom|getentropy|arc4random\w*)\s*\(",
    r"\babsl\s*::\s*(?:Now|GetCurrentTimeNanos|BitGen|InsecureBitGen)\b",
    r"\b_*(?:builtin_ia32_)?rdtscp?\s*\(",
    r"\b_?_?rdrand\w*\s*\(",
    r"\bthis_thread\s*::\s*get_id\b",
    r"\b(?:pthread_self|gettid)\s*\(",
])
# rdma/base/steady_clock.h is the one clock. A main makes it: that of all programs is engine/cluster/main.cc.
CLOCK_FILES = ["rdma/base/processor_clock.h", "rdma/base/steady_clock.h"]

THREAD_LOCALS = r"\bthread_local\b|\b__thread\b|\bpthread_key_create\b"

BLOCKING = r"\b(?:sleep_for|sleep_until|usleep|nanosleep|clock_nanosleep|sched_yield|condition_variable\w*)\b|\bthis_thread\s*::\s*yield\b"
# Finding the other nodes is done by a main, before the run, with deadlines.
BLOCKING_ALLOWED = "rdma/bootstrap/"

# A comparison that stands by itself. Conditions of several parts, and functions, are no comparison of two values.
SILENT_COMPARISON = r"\b(?:EXPECT|ASSERT)_TRUE\((?![^\n]*(?:\|\||&&|\[[&=]?\]))[^\n;]* == "
# The laws compare values that have no text.
SILENT_ALLOWED = "tests/state/crdt_laws.h"


def below_main(tree, folders):
    return [path for path in tree.code(folders) if not path.endswith("/main.cc")]


def check_clocks(tree):
    """Time, randomness and thread identity are injected."""
    paths = [path for path in below_main(tree, PROGRAM) if path not in CLOCK_FILES]
    return search_code(tree, paths, CLOCKS_AND_RANDOMNESS,
                       "{0}: below a main, time and randomness are handed in (Clock, seeds)")


def check_thread_locals(tree):
    """Several executors live in one thread."""
    return search_code(tree, below_main(tree, PROGRAM), THREAD_LOCALS,
                       "{0}: several executors may share a thread, so nothing belongs to a thread")


def check_blocking(tree):
    """Below the engine nothing waits; only the engine yields."""
    paths = [path for path in below_main(tree, ["rdma", "state"]) if not path.startswith(BLOCKING_ALLOWED)]
    return search_code(tree, paths, BLOCKING, "{0}: rdma/ and state/ return at once; only the engine waits")


def check_silent_comparisons(tree):
    """A failed comparison shows what differs."""
    return search_code(tree, [path for path in tree.code(["tests"]) if path != SILENT_ALLOWED], SILENT_COMPARISON,
                       "{0}: a failure shows no value; use EXPECT_EQ, or SameElements or SameSequence for collections")
