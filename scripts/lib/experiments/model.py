"""The scale model: predicts the throughput of N nodes of T executors from the costs of a record on this machine.

With P = N T executors, a record of a query costs processor time

    c(P) = base + entry d(P) + message (m(P) - m(2))        d(P) = e (1 - 1/P)

where e is the number of entries (updates and forms) that a record makes, of which the share 1 - 1/P moves, and m(P) the
number of messages of a record: those that its entries fill, or one to each other executor in each epoch if these are more.
`base`, `entry` and `message` are fitted to runs on 2, 4 and 8 executors of one node, and to one with short epochs; all
counters come from the runs' reports (docs/metrics.md). Sending, receiving and merging are all paid by the same executors, so
leaders share the work evenly: a hot key costs its leader one entry of each executor and epoch. A node's records are limited
by its processors, T / c, and by its network: each record sends entry bytes and a footer for each message to other nodes.
"""

import dataclasses
import math
import statistics

import results
from catalogue import SCALED_QUERIES, SHORT_EPOCHS

FOOTER_BYTES = 64
NETWORK_SHARE = 0.95       # of a link, that channels use (Slash, section 8.3.2)
SLOT_BYTES = 64 << 10
CREDITS = 8
RING_BUDGET_BYTES = 1 << 30
LEAST_SLOT_BYTES = 1 << 10
LEAST_CREDITS = 2


def rings(nodes, executors):
    """The size of a slot, and how many a ring has: as rdma::PlanChannels has them; None if the budget holds no rings."""
    count = executors * (nodes * executors - 1)
    slot = SLOT_BYTES
    while count and RING_BUDGET_BYTES // (count * slot) < LEAST_CREDITS and slot // 2 >= LEAST_SLOT_BYTES:
        slot //= 2
    credits = min(CREDITS, RING_BUDGET_BYTES // (count * slot)) if count else CREDITS
    return (slot, credits) if credits >= LEAST_CREDITS else None


@dataclasses.dataclass(frozen=True)
class Sample:
    """A run on some executors: of each record its processor time and what it made."""

    executors: int
    nanoseconds: float
    entries: float       # made
    moved: float         # of these, to other executors
    bytes_moved: float
    messages: float
    epochs: float        # of all executors, by all records: those of one executor in a record of its own

    @staticmethod
    def of(executors, reports):
        def median(value):
            return statistics.median(value(report) / report["records"] for report in reports)
        return Sample(executors, median(lambda r: r["processor_ns"]), median(lambda r: r["own_entries"] + r["delta_entries"]),
                      median(lambda r: r["delta_entries"]), median(lambda r: r["delta_bytes"]), median(lambda r: r["messages"]),
                      median(lambda r: r["epochs"]))


def fit_line(xs, ys):
    """The intercept and the slope, not below 0, of a line through points."""
    if len(set(xs)) < 2:
        return statistics.mean(ys), 0.0
    slope = max(statistics.covariance(xs, ys) / statistics.variance(xs), 0.0)
    return statistics.mean(ys) - slope * statistics.mean(xs), slope


@dataclasses.dataclass(frozen=True)
class Prediction:
    records_per_second: float  # of all nodes
    nanoseconds: float         # of a record
    limit: str
    slot_bytes: int
    credits: int


class Model:
    """A query's."""

    def __init__(self, samples, short_epochs):
        """`samples` by executors, of 2 executors among others; `short_epochs` of 2."""
        several = [sample for sample in samples if sample.executors > 1]
        two = next(sample for sample in several if sample.executors == 2)
        self.alone = next((sample.nanoseconds for sample in samples if sample.executors == 1), two.nanoseconds)
        self.base, self.entry = fit_line([sample.moved for sample in several], [sample.nanoseconds for sample in several])
        self.entries = statistics.median(sample.entries for sample in several)
        self.entry_bytes = two.bytes_moved / two.moved if two.moved else 0.0
        self.epochs = two.epochs
        self.messages_of_two = two.messages
        # Shorter epochs also fold less, so that more entries move.
        more = short_epochs.messages - two.messages
        of_messages = short_epochs.nanoseconds - two.nanoseconds - self.entry * (short_epochs.moved - two.moved)
        self.message = max(of_messages, 0.0) / more if more > 0 else 0.0

    def messages(self, executors, slot_bytes):
        """Of a record."""
        filled = self.entries * (1 - 1 / executors) * self.entry_bytes / max(slot_bytes - FOOTER_BYTES, 1)
        return max(filled, (executors - 1) * self.epochs)

    def nanoseconds(self, executors, slot_bytes=SLOT_BYTES):
        if executors == 1:
            return self.alone
        more = max(self.messages(executors, slot_bytes) - self.messages_of_two, 0.0)
        return self.base + self.entry * self.entries * (1 - 1 / executors) + self.message * more

    def predict(self, nodes, executors, link_bits_per_second):
        """Of nodes of so many executors, each on a processor of its own; None if a node's rings do not fit."""
        planned = rings(nodes, executors)
        if planned is None:
            return None
        slot, credits = planned
        count = nodes * executors
        cost = self.nanoseconds(count, slot)
        by_processors = executors / cost * 1e9
        sent = 0.0
        if nodes > 1:
            share = (1 - 1 / nodes) / (1 - 1 / count)
            messages = self.messages(count, slot)
            sent = share * (self.entries * (1 - 1 / count) * self.entry_bytes + messages * FOOTER_BYTES)
        by_network = link_bits_per_second / 8 * NETWORK_SHARE / sent if sent else math.inf
        of_messages = self.message * max(self.messages(count, slot) - self.messages_of_two, 0.0)
        limit = "network" if by_network < by_processors else "messages" if of_messages > cost / 2 else "processors"
        return Prediction(nodes * min(by_processors, by_network), cost, limit, slot, credits)


def reports_of(lines, query):
    """{x: reports} of a query's runs for the model."""
    found = {}
    for line in lines:
        if line["experiment"] == "costs" and line["series"] == query and "report" in line:
            found.setdefault(line["x"], []).append(line["report"])
    return found


def model_of(lines, query, without=()):
    """The model of a query, fitted without the runs on some numbers of executors; None if runs are missing."""
    by_x = reports_of(lines, query)
    if 2 not in by_x or SHORT_EPOCHS not in by_x:
        return None
    samples = [Sample.of(x, reports) for x, reports in by_x.items() if x != SHORT_EPOCHS and x not in without]
    return Model(samples, Sample.of(2, by_x[SHORT_EPOCHS]))


def checks(lines, query):
    """(executors, measured, by the model) processor time of a record, in ns. That of 8 executors is predicted from runs on 2
    and 4; those of fewer are what the model was fitted to."""
    by_x = reports_of(lines, query)
    rows = []
    for executors in sorted(x for x in by_x if x != SHORT_EPOCHS):
        later = [x for x in by_x if x != SHORT_EPOCHS and x >= executors] if executors > 4 else ()
        model = model_of(lines, query, later)
        if model is not None:
            rows.append((executors, Sample.of(executors, by_x[executors]).nanoseconds, model.nanoseconds(executors)))
    return rows


def table(lines, shapes, link_bits_per_second):
    """Text: the check of each query, and the predictions for shapes (nodes, executors)."""
    text = ["| query | executors of one node | measured, ns a record | by the model | ratio |", "|---|---|---|---|---|"]
    for query in SCALED_QUERIES:
        for executors, measured, predicted in checks(lines, query):
            text.append(f"| {query} | {executors} | {measured:.1f} | {predicted:.1f} | {predicted / measured:.2f} |")
    if len(text) == 2:
        raise results.ResultsError("there are no costs to predict from: scripts/experiments run costs")
    text += ["", f"| query | nodes x executors | M records/s | of one executor alone, times | ns a record | limit | slots of a ring |",
             "|---|---|---|---|---|---|---|"]
    for query in SCALED_QUERIES:
        model = model_of(lines, query)
        for nodes, executors in shapes if model is not None else ():
            found = model.predict(nodes, executors, link_bits_per_second)
            if found is None:
                text.append(f"| {query} | {nodes} x {executors} | – | – | – | memory: rings exceed --ring-budget | – |")
                continue
            gain = found.records_per_second * model.alone * 1e-9
            text.append(f"| {query} | {nodes} x {executors} | {found.records_per_second / 1e6:,.0f} | {gain:,.0f} "
                        f"| {found.nanoseconds:.1f} | {found.limit} | {found.credits} of {found.slot_bytes >> 10} KiB |")
    return "\n".join(text)
