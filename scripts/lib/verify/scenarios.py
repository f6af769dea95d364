"""The runs that scripts/verify compares: each query with disorder, late records, skew, and over several nodes."""

import dataclasses

RECORDS = 60_000  # of an executor
KEYS = 2_000
WATERMARK_EVERY = 256
HOUR_MS = 3_600_000
NEVER_LATE = ("ro", "wordcount/all", "wordcount/count-window")  # results without event time take every record


@dataclasses.dataclass
class Scenario:
    """A run of a query, the statement that says what it has to emit, and the statement's parameters."""

    query: str
    statement: str  # the SQL's name in queries/README.md
    flags: list[str]
    parameters: dict[str, int]
    late: bool  # whether records have to be late
    output: str = "output"  # the flag that takes the result's file
    partitioned: bool = False  # whether the result is a folder, with columns in the names of folders
    # Nodes of a second run that reads the first one's input from files; 0: there is none.
    file_readers: int = 0
    flags_over_files: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()  # further ones that the query exports, each by the flag --export-NAME
    written: tuple[str, ...] = ()  # further ones that the run writes, each by the flag --NAME
    given: dict[str, str] = dataclasses.field(default_factory=dict)  # CSV texts that it reads, each by the flag --NAME
    # Whether the input is a file as its publisher has it: without flows and event times, and all columns are texts.
    published: bool = False

    @property
    def title(self):
        return " ".join([*self.statement.split("/"), *["late"] * self.late, *["from files"] * bool(self.file_readers)])

    def unmet(self, report):
        """What the run was to show and did not, by its report: records that are late, executors that fell idle."""
        findings = []
        late = report["late_records"] + report["partly_late_records"]
        if bool(late) != (self.late and self.statement not in NEVER_LATE):
            findings.append(f"{late} records were late")
        if any(flag.startswith("--idle-flows") for flag in self.flags) and not report["idle_periods"]:
            findings.append("no executor was idle")
        return findings


# Every third key of q13, with values that have quotes around them.
SIDE_INPUT = "key,value\n" + "".join(f'{key},"value, ""{key}"""\n' for key in range(0, 10_000, 3))


def both(statement, *flags, window_ms, slide_ms=None, nodes=3, event_rate=0, records=RECORDS, keys=KEYS, **others):
    """The query in order of event time, and with disorder so that some records are late."""
    slide_ms = slide_ms or window_ms
    lateness_ms = window_ms // 4
    common = [f"--records={records}", f"--keys={keys}", f"--event-rate={event_rate}", *flags]
    disorder = ["--seed=2", f"--watermark-every={WATERMARK_EVERY}", f"--disorder={2 * window_ms}ms",
                f"--allowed-lateness={lateness_ms}ms"]
    windows = {"window_ms": window_ms, "slide_ms": slide_ms, "watermark_every": WATERMARK_EVERY}
    query = statement.split("/")[0]
    return [
        Scenario(query, statement, ["--nodes=2", *common], windows | {"allowed_lateness_ms": 0}, late=False, **others),
        Scenario(query, statement, [f"--nodes={nodes}", "--executors=2", *common, *disorder],
                 windows | {"allowed_lateness_ms": lateness_ms}, late=True, **others),
    ]


def both_joined(statement, *flags, **others):
    """The same of a join, with fewer records: its result is the larger, the more of them a key has in a window."""
    return both(statement, *flags, records=20_000, tables=("sellers",), **others)


def nexmark(statement, *flags, **others):
    """A query of NEXMark's suite in order of event time, and with events out of order, made while the run reads them."""
    common = [f"--query={statement.split('-')[0]}", "--records=5000", *flags]
    parameters = {"watermark_every": WATERMARK_EVERY, "allowed_lateness_ms": 0} | others
    disorder = ["--disorder-group=1000", "--seed=2", "--generate=live", "--format=lean"]
    return [Scenario("nexmark", f"nexmark/{statement}", ["--nodes=2", *common], parameters, late=False),
            Scenario("nexmark", f"nexmark/{statement}", ["--nodes=3", "--executors=2", *common, *disorder], parameters,
                     late=False)]


def nexmark_windows(statement, *flags, window_ms, slide_ms=None):
    """The same of a query with windows; of the events out of order some are late."""
    lateness = ["--allowed-lateness=1s", f"--watermark-every={WATERMARK_EVERY}"]
    in_order, disordered = nexmark(statement, "--event-rate=100", *flags)
    windows = {"window_ms": window_ms, "slide_ms": slide_ms or window_ms}
    return [dataclasses.replace(in_order, parameters=in_order.parameters | windows),
            dataclasses.replace(disordered, parameters=disordered.parameters | windows | {"allowed_lateness_ms": 1_000},
                                flags=[*disordered.flags, *lateness], late=True)]


def collisions(statement):
    """A question about collisions by itself, beside the others, and of collisions that are read from files."""
    name = f"collisions/{statement}"
    records = [f"--records={RECORDS}", "--seed=2"]
    alone, together = [f"--question={statement}"], f"{statement}-output"
    return [Scenario("collisions", name, ["--nodes=2", *records, *alone], {}, late=False, published=True),
            Scenario("collisions", name, ["--nodes=2", "--executors=2", *records], {}, late=False, output=together,
                     published=True),
            Scenario("collisions", name, [*records], {}, late=False, output=together, published=True, file_readers=3)]


ALL = [
    *both("swa/all", window_ms=10_000),
    *both("swa/all", "--windows=sliding", "--window=10s", "--slide=3s", window_ms=10_000, slide_ms=3_000),
    *both("swa/ad", "--group-by=ad", "--windows=sliding", "--slide=2500ms", "--key-distribution=zipf:1",
          window_ms=10_000, slide_ms=2_500),
    *both("swa/session", "--group-by=ad", "--windows=session", "--window=3s", window_ms=3_000, event_rate=1_000),
    both("swa/late", "--group-by=ad", "--windows=sliding", "--slide=5s", window_ms=10_000, slide_ms=5_000,
         output="late-output")[1],  # in order there is none
    *both("swa/unbounded", "--group-by=ad", "--windows=unbounded", window_ms=10_000),
    *both("ysb/slash", "--profile=slash", "--key-distribution=zipf:0.8", window_ms=600_000),
    *both("ysb/yahoo", "--profile=yahoo", window_ms=10_000, tables=("ads",)),
    *both("ysb_star", "--key-distribution=zipf:1.2", window_ms=10_000, tables=("ads",)),
    *both("top_words", keys=50, window_ms=1_000, slide_ms=500),
    *collisions("weeks"),
    *collisions("factors"),
    *collisions("boroughs"),
    *both("nb7", window_ms=60_000),
    both("nb7", "--idle-flows=2", "--idle-for=600ms", "--idle-timeout=100ms", window_ms=60_000)[1],
    *both("nb7", "--key-distribution=zipf:1.16", "--window=7s", window_ms=7_000),
    *both_joined("nb8/inner", keys=5_000, window_ms=12 * HOUR_MS),
    *both_joined("nb8/inner", "--profile=beam", keys=5_000, window_ms=10_000),
    *both_joined("nb8/inner", "--hot-key-share=0.5", keys=1_000, window_ms=12 * HOUR_MS),
    *both_joined("nb8/left", "--join=left", keys=5_000, window_ms=12 * HOUR_MS),
    *both_joined("nb8/full", "--join=full", keys=5_000, window_ms=12 * HOUR_MS),
    *both_joined("nb8/inner", "--windows=sliding", "--slide=5h", keys=5_000, window_ms=12 * HOUR_MS,
                 slide_ms=5 * HOUR_MS),
    *both_joined("nb11", keys=1_000, window_ms=10_000, event_rate=30),
    *both("cm/slash", window_ms=2_000),
    *both("cm/cm1", "--profile=cm1", window_ms=60_000, slide_ms=1_000),
    *both("cm/cm2", "--profile=cm2", window_ms=60_000, slide_ms=1_000, nodes=2),
    # Executors that read several parts go back in time at each: what has closed by then is late.
    both("cm/slash", window_ms=2_000, file_readers=4,
         flags_over_files=("--allowed-lateness=500ms", f"--watermark-every={WATERMARK_EVERY}"))[1],
    *both("cm/machines", "--profile=machines", window_ms=2_000),
    *both("cm/all", "--profile=all", window_ms=2_000),
    *nexmark("q0"),
    *nexmark("q1", "--profile=beam"),
    *nexmark("q2", "--records=20000"),
    # A round of 50 events begins with a person. At rates that are multiples of 5 each window ends where a round does, so
    # no bid comes at its very end; at 77 events a second some do.
    *nexmark_windows("q5", "--event-rate=77", window_ms=10_000, slide_ms=2_000),
    *nexmark_windows("q5", "--profile=beam", window_ms=10_000, slide_ms=5_000),
    *nexmark_windows("q5-one", "--profile=renoir", window_ms=10_000, slide_ms=2_000),
    *nexmark("q3", "--profile=renoir"),
    *nexmark("q4", any_price=True),
    *nexmark("q4", "--profile=beam", "--event-rate=1000", any_price=False),
    *nexmark("q6", "--event-rate=1000", any_price=True),
    *nexmark("q6", "--profile=renoir", any_price=False),
    # At this rate a group of events in disorder spans the ends of windows, so that some are late.
    *nexmark_windows("q7", "--event-rate=70", window_ms=10_000),
    *nexmark_windows("q7", "--event-rate=77", "--profile=original", window_ms=60_000),
    *nexmark_windows("q8", "--event-rate=77", "--profile=beam", "--active-people=10", window_ms=10_000),
    *nexmark("q8", "--profile=slash", "--active-people=10", window_ms=12 * HOUR_MS, slide_ms=12 * HOUR_MS),
    *nexmark("q9", any_price=True),
    *nexmark("q9", "--profile=renoir", "--event-rate=1000", any_price=False),
    *[dataclasses.replace(each, output="partitions", partitioned=True) for each in nexmark("q10", "--event-rate=20")],
    *[dataclasses.replace(each, tables=("side_input",)) for each in nexmark("q13")],
    *[dataclasses.replace(each, given={"side_input": SIDE_INPUT}) for each in nexmark("q13", "--profile=renoir")],
    # Read in some 0.3 s.
    *[dataclasses.replace(each, written=("read_times",), parameters=each.parameters | {"window_ms": 20})
      for each in nexmark("q12", "--window=20ms", "--rate=15000")],
    *nexmark("q18"),
    *nexmark("q19", "--profile=renoir"),
    *nexmark("q20", "--auction-bytes=300"),
    *nexmark_windows("q11", "--event-rate=77", window_ms=10_000),
    *nexmark_windows("q15", "--event-rate=1", "--records=20000", window_ms=24 * HOUR_MS),
    *nexmark_windows("q16", "--event-rate=1", "--records=20000", window_ms=24 * HOUR_MS),
    *nexmark_windows("q17", "--event-rate=1", "--records=20000", window_ms=24 * HOUR_MS),
    *nexmark("q14", "--profile=renoir", "--records=20000", "--event-rate=1"),  # half a day, and more
    *nexmark("q21"),
    *nexmark("q22", "--profile=renoir"),
    *both("ro", window_ms=60_000),
    *both("wordcount/all", records=10_000, window_ms=10_000),
    *both("wordcount/all", "--form=plain", "--key-distribution=zipf:1.3", records=10_000, window_ms=10_000),
    *both("wordcount/windowed", "--form=windowed", records=10_000, window_ms=10_000),
    *both("wordcount/count-window", "--form=count-window", records=10_000, window_ms=10_000),
    # One file that four executors share, and a compressed one.
    both("wordcount/all", records=10_000, window_ms=10_000, file_readers=4)[0],
    both("wordcount/all", records=10_000, window_ms=10_000, file_readers=4, flags_over_files=("--form=plain",))[0],
    both("wordcount/count-window", "--form=count-window", records=10_000, window_ms=10_000, file_readers=4,
         flags_over_files=("--form=count-window",))[0],
]
