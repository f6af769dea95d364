"""The programs that scripts/peers measures: how Glaive runs each, which peers have it, and which rows must be equal."""

import collections
import csv
import datetime
import json
import pathlib
import typing

PEERS = ["renoir", "timely", "duckdb", "flink"]


class Job(typing.NamedTuple):
    """What a program does: it reads `file`, or so many records, with so many executors, and writes into `folder`."""

    records: int
    executors: int
    file: pathlib.Path
    folder: pathlib.Path


def read(path):
    """The records of a CSV file with a header."""
    with open(path, encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines)


class Program:
    """One program. Peers know it by its name; `binary` is Glaive's."""

    unit = "MB/s"
    peers = ["renoir"]  # that have it
    incomparable = ()   # peers whose rows are others
    rows_apart = False  # whether rows are most of the work: they are compared in runs of their own, and dropped in others
    flows_apart = False  # whether the input depends on the number of executors, each of which has a flow of its own
    span_ms = None       # by how much event times move on when records are read again; None: they are read once

    def __init__(self, name, binary):
        self.name = name
        self.binary = binary

    def export_flags(self, records, executors, folder):
        """With which Glaive makes the input, and tables beside it in the folder."""
        return [f"--records={records}"]

    def file_of(self, exported):
        """What the peers read of what Glaive has exported: the file as it is."""
        return exported

    def amount(self, job):
        """How much is read, in the unit's multiples."""
        return job.file.stat().st_size / 1e6

    def flags_of_rows(self, job):
        """With which Glaive reads the file and writes its rows."""
        return [f"--executors={job.executors}", f"--input={job.file}", f"--json={job.folder / 'glaive.json'}"]

    def report(self, job):
        """Glaive's report of its last run."""
        return json.loads((job.folder / "glaive.json").read_text(encoding="utf-8"))

    def rate(self, job):
        """How much Glaive read in a second, by its report."""
        return self.amount(job) / self.report(job)["seconds"]

    def rows_of_peer(self, path):
        """How often each row comes."""
        with open(path, encoding="utf-8", newline="") as lines:
            return collections.Counter(tuple(row) for row in csv.reader(lines))


class Words(Program):
    """Counts of words; the name is the form of the query."""

    def __init__(self, form):
        super().__init__(form, "wordcount")
        if form == "associative":
            self.peers = ["renoir", "duckdb", "flink"]

    def file_of(self, exported):
        """The text of the lines that Glaive has exported."""
        text = exported.with_suffix(".txt")
        with open(text, "w", encoding="utf-8") as out:
            out.writelines(row["text"] + "\n" for row in read(exported))
        exported.unlink()
        return text

    def flags_of_rows(self, job):
        return [*super().flags_of_rows(job), f"--form={self.name}", "--join-output",
                f"--output={job.folder / 'glaive.csv'}"]

    def rows(self, job):
        """How often each row of Glaive's comes."""
        return collections.Counter((row["key"], row["value"]) for row in read(job.folder / "glaive.csv"))


class Collisions(Program):
    """The three questions about collisions. Weeks of peers are days since 1970."""

    QUESTIONS = {"weeks": ["week", "lethal_accidents"], "factors": ["factor", "accidents", "lethal_accidents"],
                 "boroughs": ["borough", "week", "accidents", "lethal_accidents"]}
    peers = ["renoir", "duckdb"]

    def __init__(self):
        super().__init__("collisions", "collisions")

    def flags_of_rows(self, job):
        for part in job.folder.glob("glaive-*"):
            part.unlink()
        outputs = [f"--{question}-output={job.folder / f'glaive-{question}.csv'}" for question in self.QUESTIONS]
        return [*super().flags_of_rows(job), *outputs]

    def rows(self, job):
        """How often each row of Glaive's comes: of a result there may be a part of each executor."""
        counts = collections.Counter()
        for question, columns in self.QUESTIONS.items():
            for part in job.folder.glob(f"glaive-{question}.csv*"):
                for row in read(part):
                    days = datetime.date.fromisoformat(row["week"]).toordinal() if "week" in row else 0
                    row["week"] = str(days - datetime.date(1970, 1, 1).toordinal())
                    counts[(question, *(row[column] for column in columns))] += 1
        return counts


class Generated(Program):
    """Glaive makes the same records again, in memory, as the peers have them; columns are those of its rows that are
    compared, settings the flags that say which query it is."""

    rows_apart = True

    def __init__(self, name, binary, settings, columns):
        super().__init__(name, binary)
        self.settings = settings
        self.columns = columns

    def export_flags(self, records, executors, folder):
        return [*self.settings, f"--records={records}"]

    def records_of_executor(self, job):
        return job.records

    def amount(self, job):
        return self.records_of_executor(job) * job.executors / 1e6

    def flags_of_rows(self, job):
        return [*self.flags_of_events(job), "--join-output", f"--output={job.folder / 'glaive.csv'}"]

    def flags_of_events(self, job):
        """With which Glaive reads the records once and drops its rows."""
        return [*self.settings, f"--executors={job.executors}", f"--records={self.records_of_executor(job)}",
                f"--json={job.folder / 'glaive.json'}"]

    def rows(self, job):
        """How often each row of Glaive's comes."""
        rows = read(job.folder / "glaive.csv")
        return collections.Counter(tuple(row[column] for column in self.columns) for row in rows)


class Nexmark(Generated):
    """A query of NEXMark. All executors read one stream, whatever their number, so each has its share of the events."""

    unit = "M events/s"

    def __init__(self, query, columns, incomparable=()):
        super().__init__(query, "nexmark", [f"--query={query}", "--profile=renoir"], columns)
        self.incomparable = incomparable
        self.peers = PEERS if query in ("q0", "q1", "q2") else ["renoir", "timely", "duckdb"]

    def records_of_executor(self, job):
        return job.records // job.executors


class Windowed(Generated):
    """A windowed query of the Slash paper. Each executor has so many records of its own, and reads them again, with later
    event times, until it has read long enough for a rate. Tables are those that Glaive exports beside its input, each by
    the flag --export-NAME."""

    unit = "M records/s"
    peers = PEERS
    flows_apart = True

    def __init__(self, name, binary, window_ms, settings=(), values=("value",), tables=()):
        super().__init__(name, binary, list(settings), ["window_start_ms", "key", *values])
        self.tables = tables
        self.span_ms = 10 * window_ms  # of Glaive's records, unless a flag says otherwise

    def export_flags(self, records, executors, folder):
        tables = [f"--export-{table}={folder / table}.csv" for table in self.tables]
        return [*super().export_flags(records, executors, folder), f"--executors={executors}", *tables]

    def rate(self, job):
        report = self.report(job)
        return report["records"] / 1e6 / report["seconds"]


class Means(Windowed):
    """A windowed query with floating-point values. Engines write the same value in other ways, so values are compared as
    numbers, exactly: Glaive's requests are multiples of 2^-16, whose sums are exact in any order, so the means are equal."""

    def rows(self, job):
        return self.with_numbers(super().rows(job))

    def rows_of_peer(self, path):
        return self.with_numbers(super().rows_of_peer(path))

    @staticmethod
    def with_numbers(rows):
        counts = collections.Counter()
        for (*key, value), count in rows.items():
            counts[(*key, float(value))] += count
        return counts


BID = ["auction", "bidder", "price", "date_time", "extra"]
RENOIR = ["renoir"]  # its windows of event time begin with the first record of a key
NEXMARK = [Nexmark("q0", BID), Nexmark("q1", BID), Nexmark("q2", ["auction", "price"]),
           Nexmark("q3", ["name", "city", "state", "id"]), Nexmark("q4", ["category", "avg_price"]),
           Nexmark("q5", ["auction", "num", "window_start_ms", "window_end_ms"], incomparable=RENOIR),
           Nexmark("q6", ["seller", "avg_price"]), Nexmark("q7", BID, incomparable=RENOIR),
           Nexmark("q8", ["id", "name", "starttime"], incomparable=RENOIR)]
WINDOWED = [Windowed("ysb-yahoo", "ysb", 10_000, ["--profile=yahoo"], tables=["ads"]), Windowed("ysb", "ysb", 600_000),
            Windowed("nb7", "nb7", 60_000), Means("cm", "cm", 2_000),
            Windowed("nb8", "nb8", 43_200_000, values=["value_1", "value_2"], tables=["sellers"])]
ALL = [Words("associative"), Words("plain"), Words("count-window"), Collisions(), *NEXMARK, *WINDOWED]
