"""Results of experiments: lines of JSON, each a run with its place in an experiment, its report, and what it was made by.

    {"experiment": "fig9a", "series": "slash", "x": 2, "turn": 0, "setting": "size small, nodes on this host, ...",
     "query": "ysb", "nodes": 2, "executors": 1, "flags": [...], "at": "2026-11-29T13:00:00Z", "report": {...}}

A run that failed has "error", and no "report". The report is that of the run (docs/metrics.md), without its executors. A
file has runs of one setting and of one commit: others are not compared by chance.
"""

import json
import pathlib
import statistics
import typing

PLACE = ("experiment", "series", "x", "turn", "setting", "query", "nodes", "executors", "flags")


class ResultsError(Exception):
    """A file of results that cannot be used."""


def key_of(line):
    """What tells runs apart."""
    return json.dumps([line[name] for name in PLACE])


def load(path):
    """The lines of a file; none if there is no file. The last line may be cut off by a kill: it does not count."""
    path = pathlib.Path(path)
    if not path.exists():
        return []
    lines = []
    texts = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for number, text in enumerate(texts, 1):
        try:
            line = json.loads(text)
            missing = [name for name in PLACE if name not in line]
        except (ValueError, TypeError):
            missing = None
        if missing == []:
            lines.append(line)
        elif number < len(texts) or text.endswith("\n"):
            raise ResultsError(f"{path}:{number}: is no result of an experiment; give another file")
    return lines


def append(path, line):
    """Adds a line to a file. A line that is cut off before goes."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = path.read_bytes() if path.exists() else b""
    if text and not text.endswith(b"\n"):
        path.write_bytes(text[:text.rfind(b"\n") + 1])
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


# Figures that are quotients of two counters.
QUOTIENTS = {"processor_ns_per_record": ("processor_ns", "records")}


def figure(report, metric):
    """A figure of a report by its name, such as "window_latency.p50_ms", or one of QUOTIENTS; None if it was not
    measured."""
    if metric in QUOTIENTS:
        dividend, divisor = (report.get(name) for name in QUOTIENTS[metric])
        return dividend / divisor if dividend is not None and divisor else None
    value = report
    for name in metric.split("."):
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    measured = report.get(metric.split(".")[0])
    if isinstance(measured, dict) and measured.get("measured") is False:
        return None
    return value


class Spread(typing.NamedTuple):
    """Figures of the turns of a point."""

    median: float
    least: float
    most: float
    turns: int

    @staticmethod
    def of(figures):
        return Spread(statistics.median(figures), min(figures), max(figures), len(figures))


def series_of(lines, experiment, metric):
    """{series: {x: Spread}} of an experiment: series by name, and numbers of x in their order behind other values."""
    figures = {}
    for line in lines:
        value = figure(line["report"], metric) if line["experiment"] == experiment and "report" in line else None
        if value is not None:
            figures.setdefault(line["series"], {}).setdefault(line["x"], []).append(value)
    def place(x):
        return (isinstance(x, (int, float)), x if isinstance(x, (int, float)) else 0)
    return {series: {x: Spread.of(figures[series][x]) for x in sorted(figures[series], key=place)} for series in sorted(figures)}
