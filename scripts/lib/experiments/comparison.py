"""Compares two files of results: the ratio of each point, with its spread, and which moved beyond noise.

A point has moved if both files have three turns of it, all turns of the one are above all of the other one, and the medians
differ by 3 % at least. With three turns each, chance puts them apart once in ten times, so a point that moved is to be
measured again.
"""

import results
from catalogue import ALL

LEAST_MOVE = 0.03
LEAST_TURNS = 3


def moved(old, new):
    """"more", "less" or "": whether the figure moved beyond noise."""
    if min(old.turns, new.turns) < LEAST_TURNS or abs(new.median / old.median - 1) < LEAST_MOVE:
        return ""
    if new.least > old.most:
        return "more"
    return "less" if new.most < old.least else ""


def compare(old_path, new_path):
    """Rows (experiment, series, x, old, new, move) of the points that both files have."""
    old_lines, new_lines = results.load(old_path), results.load(new_path)
    for path, lines in ((old_path, old_lines), (new_path, new_lines)):
        if not lines:
            raise results.ResultsError(f"{path} has no results")
    rows = []
    for experiment in ALL.values():
        old = results.series_of(old_lines, experiment.name, experiment.metric)
        new = results.series_of(new_lines, experiment.name, experiment.metric)
        for series, by_x in old.items():
            for x, spread in by_x.items():
                other = new.get(series, {}).get(x)
                if other is not None and spread.median > 0:
                    rows.append((experiment, series, x, spread, other, moved(spread, other)))
    if not rows:
        raise results.ResultsError(f"{old_path} and {new_path} have no point in common")
    return rows


def text_of(rows):
    lines = ["| experiment | series | x | unit | old | new | new / old | moved |", "|---|---|---|---|---|---|---|---|"]
    for experiment, series, x, old, new, move in rows:
        ratio = f"{new.median / old.median:.2f} ({new.least / old.most:.2f} to {new.most / max(old.least, 1e-12):.2f})"
        lines.append(f"| {experiment.name} | {series} | {x} | {experiment.y_axis} | {shown(old.median)} | {shown(new.median)} "
                     f"| {ratio} | {move} |")
    count = sum(1 for row in rows if row[-1])
    lines.append(f"\n{count} of {len(rows)} points moved beyond noise")
    return "\n".join(lines)


def shown(value):
    """A figure in three digits, with a letter for thousands, millions or billions."""
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"
