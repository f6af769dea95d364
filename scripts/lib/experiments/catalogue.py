"""The experiments: each figure or table of the Slash paper (SIGMOD'22, section 8), the sweeps around them, AIR's workloads,
and NEXMark's queries.

An experiment has points. A point is one run of a query: its series ("slash"), its place on the x axis, and its flags.
Points that share x are compared, so they take turns (runner.py).
"""

import dataclasses
import typing

from machine import Deployment

KIB = 1024


@dataclasses.dataclass(frozen=True)
class Size:
    """How much each run reads, and how often it is repeated."""

    name: str
    input_bytes: int                 # of an executor
    seconds: float                   # of a run at a rate
    turns: int
    most_x: int | None = None        # points of a sweep, spread over it; None: all
    largest_keys: int = 100_000_000  # of the largest key ranges


SIZES = {size.name: size for size in (
    Size("tiny", 2 << 20, 0.5, 1, most_x=2, largest_keys=100_000),
    Size("small", 256 << 20, 5, 3),
    Size("paper", 1_000_000_000, 30, 5),
)}


class Point(typing.NamedTuple):
    """A run."""

    series: str
    x: typing.Any
    query: str
    nodes: int
    executors: int
    flags: tuple
    rate_share: float | None = None  # of the experiment's FULL_RATE point: the rate at which records are offered
    counts: bool = False             # whether processor events are counted, too


FULL_RATE = "full"  # the x of the run that reads without a limit


@dataclasses.dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    paper: str   # where in the paper; empty: not of it
    x_axis: str
    y_axis: str
    metric: str  # of a run (results.py)
    points: typing.Callable  # (Setting) -> list of points, those of one x one after the other
    log_x: bool = False
    needs_one_host: bool = False


@dataclasses.dataclass(frozen=True)
class Setting:
    """What the points of an experiment depend on."""

    size: Size
    hosts: typing.Any
    most_per_processor: int = 1
    nodes: tuple | None = None  # asked for by the user

    def __str__(self):
        asked = "" if self.nodes is None else f", {','.join(map(str, self.nodes))} nodes"
        return f"size {self.size.name}, {self.hosts}, at most {self.most_per_processor} executors of a processor{asked}"

    def deployments(self):
        deployments = self.hosts.deployments(self.most_per_processor)
        if self.nodes is None:
            return deployments
        executors = deployments[0].executors
        return [Deployment(nodes, executors) for nodes in self.nodes]

    def widest(self):
        return max(self.deployments(), key=lambda deployment: deployment.nodes)

    def some(self, values):
        """Of a sweep's values so many as the size allows, the first and the last among them."""
        values = list(values)
        most = self.size.most_x
        if most is None or len(values) <= most:
            return values
        return [values[i * (len(values) - 1) // max(most - 1, 1)] for i in range(most)]

    def records(self, query):
        return max(self.size.input_bytes // RECORD_BYTES[query], 1000)

    def keys(self, wanted):
        return min(wanted, self.size.largest_keys)


# Of a record in memory; of a join, of the mean of both sides; of NEXMark, of an event without its texts.
RECORD_BYTES = {"ysb": 80, "cm": 64, "nb7": 32, "nb8": 257, "nb11": 67, "ro": 16, "swa": 136, "ysb_star": 80,
                "nexmark": 160}


def engines(deployment):
    """The engines that run on a deployment: UpPar needs two executors."""
    return ("slash", "uppar") if deployment.all > 1 else ("slash",)


CHANNEL = "--ingest=channel"  # half of the executors stream the input to the others, and in UpPar partition it


def can_ingest(deployment):
    """Whether a deployment can run with CHANNEL."""
    return (deployment.nodes if deployment.nodes > 1 else deployment.executors) % 2 == 0


def ingest_flags(deployment):
    return (CHANNEL,) if can_ingest(deployment) else ()


def readers_of(engine, deployment, flags=()):
    """How many executors read: in UpPar half of those of a node, or of the nodes if a node has one."""
    if CHANNEL in flags:
        return deployment.all // 2
    if engine != "uppar":
        return deployment.all
    group = deployment.executors if deployment.executors > 1 else deployment.nodes
    return deployment.all // group * (group // 2)


def engine_flags(engine):
    return () if engine == "slash" else (f"--engine={engine}",)


def run_of(engine, x, query, setting, deployment, *flags):
    """A run that reads as fast as it can. Where fewer executors read, each reads more, so that all runs read as many
    records."""
    records = setting.records(query) * deployment.all // readers_of(engine, deployment, flags)
    return Point(engine, x, query, deployment.nodes, deployment.executors,
                 (*engine_flags(engine), f"--records={records}", *flags))


WINDOWS_A_SECOND = 4  # of a run at a rate
WINDOW_AT_RATE = f"--window={1000 // WINDOWS_A_SECOND}ms"


def flags_at_rate(setting, query, rate):
    """Of a run in which each executor that reads is offered `rate` records a second, whose event times are as far apart.
    Some windows of them are in memory, a second's at most, and repeated."""
    rate = max(int(rate), 1000)
    windows = min(max(setting.records(query) * WINDOWS_A_SECOND // rate, 1), WINDOWS_A_SECOND)
    return (f"--rate={rate}", f"--event-rate={rate}", f"--records={rate * windows // WINDOWS_A_SECOND}",
            f"--seconds={setting.size.seconds}s", WINDOW_AT_RATE)


def keys_of(query, setting):
    """Flags of the key range that the paper gives a query."""
    return (f"--keys={setting.keys(10_000_000)}",) if query == "ysb" else ()


def weak_scaling(query, *flags):
    """Figures 9a to 9e: both engines on more and more nodes, each executor with its own part of the input."""
    def points(setting):
        return [run_of(engine, deployment.nodes, query, setting, deployment, *keys_of(query, setting), *flags)
                for deployment in setting.deployments() for engine in engines(deployment)]
    return points


def ro_keys(setting):
    return f"--keys={setting.keys(100_000_000)}"


def buffer_sizes(setting):
    return setting.some(size * KIB for size in (4, 8, 16, 32, 64, 128, 256, 512, 1024))


def latency_by_buffer_size(setting):
    """Figure 10b: both engines by the size of a channel's buffers, at the same moderate rate."""
    deployment = setting.widest()
    rate = 500_000  # of an executor of Slash
    return [Point(engine, size // KIB, "ysb", deployment.nodes, deployment.executors,
                  (*engine_flags(engine), *flags_at_rate(setting, "ysb", rate * deployment.all // readers_of(engine, deployment)),
                   "--keys=10000", f"--slot-bytes={size}"))
            for size in buffer_sizes(setting) for engine in engines(deployment)]


def by_buffer_size(query, *flags):
    """Figure 10a: both engines by the size of a channel's buffers."""
    def points(setting):
        more = (ro_keys(setting), *ingest_flags(setting.widest())) if query == "ro" else ()
        return [run_of(engine, size // KIB, query, setting, setting.widest(), f"--slot-bytes={size}", *more, *flags)
                for size in buffer_sizes(setting) for engine in engines(setting.widest())]
    return points


def parallelism(setting):
    """Figure 10c: both engines by the number of executors, half of which stream the input to the others."""
    most = setting.widest().nodes
    runs = []
    for executors in setting.hosts.executors(setting.most_per_processor):
        deployment = Deployment(most if setting.hosts.are_remote else 1, executors)
        for engine in engines(deployment) if can_ingest(deployment) else ():
            runs.append(run_of(engine, executors, "ro", setting, deployment, ro_keys(setting), CHANNEL))
    return runs


def skew(setting):
    """Figure 10d: both engines by the exponent of Zipf's law."""
    return [run_of(engine, z, "ro", setting, setting.widest(), ro_keys(setting), f"--key-distribution=zipf:{z}",
                   *ingest_flags(setting.widest()))
            for z in setting.some((0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)) for engine in engines(setting.widest())]


def cost(setting):
    """Figure 11: Slash on one node and on more beside the hand-written loop of each query, which is one thread."""
    several = setting.deployments()
    runs = []
    for query in ("ysb", "cm", "nb7"):
        keys = keys_of(query, setting)
        runs.append(run_of("loop", query, query, setting, Deployment(1, 1), *keys))
        for deployment in (several[0]._replace(nodes=1), *several):
            series = f"slash, {deployment.nodes} {'node' if deployment.nodes == 1 else 'nodes'}"
            runs.append(run_of("slash", query, query, setting, deployment, *keys)._replace(series=series))
    return runs


def instructions(setting):
    """Table 1: instructions and cycles of a record of YSB."""
    return [run_of(engine, engine, "ysb", setting, setting.widest(), f"--keys={setting.keys(10_000_000)}")
            ._replace(counts=True) for engine in engines(setting.widest())]


def sweep(query, flag, values, *flags):
    """Slash by the value of a flag."""
    def points(setting):
        return [run_of("slash", value, query, setting, setting.widest(), f"--{flag}={value}", *flags)
                for value in setting.some(values)]
    return points


def transports(setting):
    """Slash and UpPar by what carries their messages between processes of this host: the nodes of a run over shm, or the
    executors of one node over memory."""
    deployment = setting.widest()
    one_node = Deployment(1, deployment.all)
    keys = f"--keys={setting.keys(10_000_000)}"
    return [run_of(engine, name, "ysb", setting, where, keys, f"--transport={name}")
            for name, where in (("local", one_node), ("shm", deployment)) for engine in engines(deployment)]


def offered_rates(query, *flags):
    """Latency by offered rate, in shares of the rate at which the query reads without a limit. The runner adds the flags
    of the rate, once it has measured that one."""
    def points(setting):
        deployment = setting.widest()
        full = run_of("slash", FULL_RATE, query, setting, deployment, WINDOW_AT_RATE, *flags)
        return [full, *(full._replace(x=share, flags=flags, rate_share=share)
                        for share in setting.some((0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 1.0)))]
    return points


SCALED_QUERIES = ("ysb", "cm", "nb7", "nb8", "nb11")
SHORT_EPOCHS = "short epochs"  # the x of the run that sends more messages


def costs(setting):
    """What the scale model is made from (model.py): each query on 1, 2, 4 and 8 executors of one node, whatever the number
    of its processors, and on two with epochs that are so short that messages count."""
    runs = []
    for executors in (1, 2, 4, 8):
        deployment = Deployment(1, executors)
        for query in SCALED_QUERIES:
            keys = keys_of(query, setting)
            runs.append(run_of("slash", executors, query, setting, deployment, *keys)._replace(series=query))
            if executors == 2:
                short = run_of("slash", SHORT_EPOCHS, query, setting, deployment, *keys, "--epoch-bytes=64KiB")
                runs.append(short._replace(series=query))
    return runs


# Queries of NEXMark that have a hand-written loop.
NEXMARK_LOOPS = ("q1", "q2", "q5", "q7", "q8")
# Queries that read few texts, or none. A run of few events would measure its beginning and its end. So these queries read
# TIMES_THE_EVENTS as many events, in MOST_FAST_BYTES at most, without the texts that they do not use.
NEXMARK_FAST = ("q2", "q5", "q7", "q8", "q11", "q12", "q17")
TIMES_THE_EVENTS = 8
MOST_FAST_BYTES = 2 << 30


def nexmark_run(series, query, setting, executors, *flags):
    is_fast = query in NEXMARK_FAST and "--generate=live" not in flags
    records = setting.records("nexmark")
    if is_fast:
        records = max(records, min(records * TIMES_THE_EVENTS, MOST_FAST_BYTES // RECORD_BYTES["nexmark"]))
    lean = ("--format=lean",) if is_fast else ()
    return Point(series, query, "nexmark", 1, executors, (f"--query={query}", f"--records={records}", *lean, *flags))


def nexmark(setting):
    """All queries of NEXMark on one executor and on two, from memory, and on one that makes its events while it reads; the
    loops of those that have one. Page faults of the state are not counted, as in scaling_bench."""
    prefault = "--prefault-state=512MiB"
    runs = []
    for query in setting.some(f"q{number}" for number in range(23)):
        runs += [nexmark_run("one executor", query, setting, 1, prefault),
                 nexmark_run("two executors", query, setting, 2, prefault),
                 nexmark_run("one executor, live", query, setting, 1, prefault, "--generate=live")]
        if query in NEXMARK_LOOPS:
            runs.append(nexmark_run("loop", query, setting, 1, *engine_flags("loop")))
    return runs


ALL = {experiment.name: experiment for experiment in (
    *(Experiment(f"fig9{letter}", f"Weak scaling of {query.upper()}", f"Fig. 9{letter}", "nodes", "records/s", "records_per_second",
                 weak_scaling(query))
      for letter, query in zip("abcde", ("ysb", "cm", "nb7", "nb8", "nb11"))),
    Experiment("fig10a", "Throughput by buffer size, RO", "Fig. 10a", "buffer, KiB", "GB/s", "gigabytes_per_second",
               by_buffer_size("ro"), log_x=True),
    Experiment("fig10b", "Latency of windows by buffer size, YSB", "Fig. 10b", "buffer, KiB", "ms, median", "window_latency.p50_ms",
               latency_by_buffer_size, log_x=True),
    Experiment("fig10c", "Throughput by executors, RO", "Fig. 10c", "executors of a node", "GB/s", "gigabytes_per_second", parallelism),
    Experiment("fig10d", "Throughput by skew, RO", "Fig. 10d", "z of Zipf's law", "records/s", "records_per_second", skew),
    Experiment("fig11", "COST: Slash beside a hand-written loop in one thread", "Fig. 11", "query", "records/s", "records_per_second", cost),
    Experiment("table1", "Instructions of a record, YSB", "Table 1", "engine", "instructions/record", "instructions_per_record", instructions,
               needs_one_host=True),
    Experiment("costs", "Processor time of a record by executors of one node", "", "executors", "ns/record",
               "processor_ns_per_record", costs),
    Experiment("credits", "Throughput by credits, YSB", "section 8.3.2", "credits", "records/s", "records_per_second",
               sweep("ysb", "credits", (2, 4, 8, 16, 64)), log_x=True),
    Experiment("epochs", "Throughput by the length of epochs, YSB", "section 8.1.1", "epoch, MiB", "records/s", "records_per_second",
               lambda setting: [point._replace(x=int(point.x.removesuffix("MiB"))) for point in
                                sweep("ysb", "epoch-bytes", ("1MiB", "4MiB", "16MiB", "64MiB", "256MiB"))(setting)], log_x=True),
    Experiment("slots", "Throughput by buffer size, NB8", "", "buffer, KiB", "records/s", "records_per_second",
               by_buffer_size("nb8"), log_x=True),
    Experiment("transports", "Throughput by transport, YSB", "", "transport", "records/s", "records_per_second", transports,
               needs_one_host=True),
    Experiment("nexmark", "Throughput of NEXMark's queries, from memory and live, beside loops", "", "query", "events/s", "records_per_second",
               nexmark, needs_one_host=True),
    Experiment("air_swa", "Latency by offered rate, SWA", "AIR, section 5", "share of the full rate", "ms, 99th percentile",
               "window_latency.p99_ms", offered_rates("swa")),
    Experiment("air_ysb", "Latency by offered rate, Yahoo's benchmark", "AIR, section 5", "share of the full rate",
               "ms, 99th percentile", "window_latency.p99_ms", offered_rates("ysb", "--profile=yahoo")),
    Experiment("air_ysb_star", "Latency by offered rate, YSB*", "AIR, section 5", "share of the full rate", "ms, 99th percentile",
               "window_latency.p99_ms", offered_rates("ysb_star")),
)}
