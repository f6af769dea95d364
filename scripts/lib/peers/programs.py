"""The programs that scripts/peers measures: how Glaive runs each, and which rows of both must be the same."""

import collections
import csv
import datetime
import json


def read(path):
    """The records of a CSV file with a header."""
    with open(path, encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines)


class Program:
    """One program. Renoir's knows it by its name; `binary` is Glaive's."""

    unit = "MB/s"
    rows_apart = False  # whether rows are most of the work: they are compared in runs of their own, and dropped in others

    def __init__(self, name, binary):
        self.name = name
        self.binary = binary

    def export_flags(self, records):
        """With which Glaive makes the input."""
        return [f"--records={records}"]

    def amount(self, file, records):
        """How much is read, in the unit's multiples."""
        del records
        return file.stat().st_size / 1e6

    def flags(self, file, executors, folder):
        """With which Glaive reads `file` and writes its results into `folder`."""
        return [f"--executors={executors}", f"--input={file}", f"--json={folder / 'glaive.json'}"]

    def seconds(self, folder):
        """How long Glaive's run took, by its report."""
        return json.loads((folder / "glaive.json").read_text(encoding="utf-8"))["seconds"]

    def rows_of_renoir(self, path):
        """How often each row comes."""
        with open(path, encoding="utf-8", newline="") as lines:
            return collections.Counter(tuple(row) for row in csv.reader(lines))


class Words(Program):
    """Counts of words; the name is the form of the query."""

    def __init__(self, form):
        super().__init__(form, "wordcount")

    def file_of(self, exported):
        """The text of the lines that Glaive has exported."""
        text = exported.with_suffix(".txt")
        with open(text, "w", encoding="utf-8") as out:
            out.writelines(row["text"] + "\n" for row in read(exported))
        exported.unlink()
        return text

    def flags(self, file, executors, folder):
        return [*super().flags(file, executors, folder), f"--form={self.name}", "--join-output",
                f"--output={folder / 'glaive.csv'}"]

    def rows(self, folder):
        """How often each row of Glaive's comes."""
        return collections.Counter((row["key"], row["value"]) for row in read(folder / "glaive.csv"))


class Collisions(Program):
    """The three questions about collisions. Weeks of Renoir's are days since 1970."""

    QUESTIONS = {"weeks": ["week", "lethal_accidents"], "factors": ["factor", "accidents", "lethal_accidents"],
                 "boroughs": ["borough", "week", "accidents", "lethal_accidents"]}

    def __init__(self):
        super().__init__("collisions", "collisions")

    def file_of(self, exported):
        """The file as it is."""
        return exported

    def flags(self, file, executors, folder):
        for part in folder.glob("glaive-*"):
            part.unlink()
        outputs = [f"--{question}-output={folder / f'glaive-{question}.csv'}" for question in self.QUESTIONS]
        return [*super().flags(file, executors, folder), *outputs]

    def rows(self, folder):
        """How often each row of Glaive's comes: of a result there may be a part of each executor."""
        counts = collections.Counter()
        for question, columns in self.QUESTIONS.items():
            for part in folder.glob(f"glaive-{question}.csv*"):
                for row in read(part):
                    days = datetime.date.fromisoformat(row["week"]).toordinal() if "week" in row else 0
                    row["week"] = str(days - datetime.date(1970, 1, 1).toordinal())
                    counts[(question, *(row[column] for column in columns))] += 1
        return counts


class Nexmark(Program):
    """A query of NEXMark. Glaive makes the same events again, in memory, as Renoir has them; columns are those of its rows
    that are compared, or none where its windows begin elsewhere."""

    unit = "M events/s"
    rows_apart = True

    def __init__(self, query, columns):
        super().__init__(query, "nexmark")
        self.columns = columns

    def settings(self):
        return [f"--query={self.name}", "--profile=renoir"]

    def export_flags(self, records):
        return [*self.settings(), f"--records={records}"]

    def file_of(self, exported):
        """The file as it is."""
        return exported

    def amount(self, file, records):
        return records / 1e6

    def flags_of_rows(self, records, executors, folder):
        """With which Glaive writes the rows of so many events."""
        return [*self.flags_of_events(records, executors, folder), "--join-output", f"--output={folder / 'glaive.csv'}"]

    def flags_of_events(self, records, executors, folder):
        """With which Glaive drops them. Each executor has its share of the events."""
        return [*self.settings(), f"--executors={executors}", f"--records={records // executors}",
                f"--json={folder / 'glaive.json'}"]

    def rows(self, folder):
        """How often each row of Glaive's comes."""
        return collections.Counter(tuple(row[column] for column in self.columns) for row in read(folder / "glaive.csv"))


BID = ["auction", "bidder", "price", "date_time", "extra"]
NEXMARK = [Nexmark("q0", BID), Nexmark("q1", BID), Nexmark("q2", ["auction", "price"]),
           Nexmark("q3", ["name", "city", "state", "id"]), Nexmark("q4", ["category", "avg_price"]), Nexmark("q5", []),
           Nexmark("q6", ["seller", "avg_price"]), Nexmark("q7", []), Nexmark("q8", [])]
ALL = [Words("associative"), Words("plain"), Words("count-window"), Collisions(), *NEXMARK]
