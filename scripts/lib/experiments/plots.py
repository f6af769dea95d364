"""Draws the figures of experiments from their results: an SVG and a PNG each, and one HTML page of all."""

import html
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # behind the choice of the backend

import paper
import results
from catalogue import ALL, FULL_RATE, SHORT_EPOCHS
from comparison import shown

STYLE = """
body { font-family: sans-serif; max-width: 60em; margin: 2em auto; line-height: 1.4; }
table { border-collapse: collapse; margin: 1em 0; } td, th { border: 1px solid #bbb; padding: 0.2em 0.6em; text-align: right; }
td:first-child, th:first-child { text-align: left; } .paper { color: #555; } svg { max-width: 100%; height: auto; }
"""
COLORS = {"slash": "tab:blue", "uppar": "tab:orange"}


def points_of(by_x):
    """The points of a series but for those that only others are compared with."""
    return [(x, spread) for x, spread in by_x.items() if x not in (FULL_RATE, SHORT_EPOCHS)]


def draw(experiment, series, folder):
    """Draws an experiment, with medians and the range of the turns. Returns the SVG as text."""
    figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
    for name, by_x in series.items():
        points = points_of(by_x)
        medians = [spread.median for _, spread in points]
        errors = [[spread.median - spread.least for _, spread in points], [spread.most - spread.median for _, spread in points]]
        if all(isinstance(x, (int, float)) for x, _ in points):
            axes.errorbar([x for x, _ in points], medians, yerr=errors, marker="o", capsize=3, label=name, color=COLORS.get(name))
        else:
            axes.bar([f"{name}, {x}" if str(x) != name else name for x, _ in points], medians, yerr=errors, capsize=3,
                     color=COLORS.get(name), label=name)
    if experiment.log_x:
        axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(experiment.x_axis)
    axes.set_ylabel(experiment.y_axis)
    axes.set_title(experiment.title)
    axes.grid(True, alpha=0.3)
    axes.legend()
    for ending in ("svg", "png"):
        figure.savefig(folder / f"{experiment.name}.{ending}", dpi=150)
    plt.close(figure)
    text = (folder / f"{experiment.name}.svg").read_text(encoding="utf-8")
    return text[text.index("<svg"):]


def table_of(header, rows):
    def row(cells, tag):
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"
    return "<table>" + row(header, "th") + "".join(row(cells, "td") for cells in rows) + "</table>"


def figures_table(experiment, series):
    """A row for each x, with each series' median and range; of two series also the first by the second."""
    names = list(series)
    header = [experiment.x_axis, *(f"{name}, {experiment.y_axis}" for name in names)]
    ratio = names == ["slash", "uppar"] and experiment.name != "table1"
    rows = []
    for x in dict.fromkeys(x for by_x in series.values() for x in by_x):
        spreads = [series[name].get(x) for name in names]
        row = [x, *("–" if spread is None else f"{shown(spread.median)} ({shown(spread.least)} to {shown(spread.most)}, "
                    f"{spread.turns} turns)" for spread in spreads)]
        if ratio:
            row.append(f"{spreads[0].median / spreads[1].median:.2f}" if all(spreads) and spreads[1].median > 0 else "–")
        rows.append(row)
    return table_of(header + (["slash / uppar"] if ratio else []), rows)


def provenance(lines):
    """What the results were made by, as rows of a table."""
    reports = [line["report"] for line in lines if "report" in line]

    def values(*names):
        found = []
        for report in reports:
            value = report
            for name in names:
                value = value.get(name, "") if isinstance(value, dict) else ""
            found.append(str(value))
        return ", ".join(dict.fromkeys(value for value in found if value))
    times = sorted(line["at"] for line in lines)
    return [("commit", values("commit")), ("compiler", values("compiler")), ("flags", values("compiler_flags")),
            ("processor", values("machine", "cpu_model")), ("processors of a host", values("machine", "cores")),
            ("kernel", values("machine", "kernel")), ("transport", values("transport")), ("setting", lines[0]["setting"]),
            ("measured", f"{times[0]} to {times[-1]}"), ("runs", f"{len(reports)}, and {len(lines) - len(reports)} that failed")]


def section(experiment, lines, folder):
    series = results.series_of(lines, experiment.name, experiment.metric)
    where = f" ({experiment.paper})" if experiment.paper else ""
    parts = [f'<h2 id="{experiment.name}">{html.escape(experiment.title + where)}</h2>']
    if any(points_of(by_x) for by_x in series.values()):
        parts += [draw(experiment, series, folder), figures_table(experiment, series)]
    else:
        errors = dict.fromkeys(line["error"] for line in lines if line["experiment"] == experiment.name and "error" in line)
        parts.append(f"<p>No figures: {html.escape('; '.join(errors) or 'the runs measured none')}</p>")
    claims = paper.CLAIMS.get(experiment.name, ())
    if claims:
        parts.append(f'<p class="paper">Taken from the paper ({html.escape(paper.SETTING)}), not measured here:</p><ul class="paper">'
                     + "".join(f"<li>{html.escape(claim)}</li>" for claim in claims) + "</ul>")
    flags = dict.fromkeys(" ".join([line["query"], f"--nodes={line['nodes']}", f"--executors={line['executors']}",
                                    *line.get("flags_used", line["flags"])]) for line in lines if line["experiment"] == experiment.name)
    parts.append("<details><summary>commands</summary><pre>" + html.escape("\n".join(flags)) + "</pre></details>")
    return "".join(parts)


def plot(path, folder):
    """Draws everything of a file of results into a folder. Returns the HTML page's path."""
    lines = results.load(path)
    measured = [experiment for experiment in ALL.values() if any(line["experiment"] == experiment.name for line in lines)]
    if not measured:
        raise results.ResultsError(f"{path} has no results; make some with `scripts/experiments run`")
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    sections = [section(experiment, lines, folder) for experiment in measured]
    page = folder / "report.html"
    page.write_text(f"<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Glaive: experiments</title><style>{STYLE}"
                    f"</style></head><body><h1>Experiments</h1>{table_of(('', ''), provenance(lines))}"
                    f"<p>Medians, with the least and the largest of the turns. Curves of compared engines are of runs in turns.</p>"
                    + "".join(sections) + "</body></html>", encoding="utf-8")
    return page
