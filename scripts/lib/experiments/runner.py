"""Runs the points of experiments in turns, and writes each result at once, so that an interrupted experiment resumes.

Points of one x are compared: in each turn they run one after the other, in an order that changes from turn to turn.
"""

import datetime
import itertools
import sys

import counters
import deploy
import results
from catalogue import FULL_RATE, flags_at_rate

import tqdm


def schedule(experiment, setting):
    """All (point, turn) of an experiment. A run at a share of the full rate comes after the runs at that rate."""
    groups = [list(group) for _, group in itertools.groupby(experiment.points(setting), key=lambda point: point.x)]
    full = [group for group in groups if group[0].x == FULL_RATE]
    others = [group for group in groups if group[0].x != FULL_RATE]
    for part in (full, others):
        for turn in range(setting.size.turns):
            for group in part:
                at = turn % len(group)
                for point in group[at:] + group[:at]:
                    yield point, turn


def line_of(experiment, point, turn, setting):
    return {"experiment": experiment.name, "series": point.series, "x": point.x, "turn": turn, "setting": str(setting),
            "query": point.query, "nodes": point.nodes, "executors": point.executors, "flags": list(point.flags)}


class Runner:
    """Runs experiments of one setting, and adds to the lines of a file of results."""

    def __init__(self, setting, deployer, path):
        self.setting = setting
        self.deployer = deployer
        self.path = path
        self.lines = results.load(path)
        self.check_setting()
        self.done = {results.key_of(line) for line in self.lines if "report" in line}
        self.failures = []

    def run(self, experiments):
        """Runs what is not in the file yet. Returns whether all runs succeeded."""
        todo = [(experiment, point, turn) for experiment in experiments for point, turn in schedule(experiment, self.setting)]
        left = [run for run in todo if results.key_of(line_of(*run, self.setting)) not in self.done]
        for query in sorted({point.query for _, point, _ in todo}):
            self.check_commit(query)
        if len(left) < len(todo):
            print(f"{len(todo) - len(left)} of {len(todo)} runs are in {self.path} already", file=sys.stderr)
        with tqdm.tqdm(left, unit="run", dynamic_ncols=True, file=sys.stderr) as progress:
            for experiment, point, turn in progress:
                progress.set_description(f"{experiment.name} {point.series} {point.x}")
                self.run_one(experiment, point, turn)
        for failure in self.failures:
            print(f"scripts/experiments: {failure}", file=sys.stderr)
        return not self.failures

    def run_one(self, experiment, point, turn):
        line = line_of(experiment, point, turn, self.setting)
        line["at"] = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        try:
            line["flags_used"] = self.flags_of(experiment, point)
            line["report"] = self.count(point, line["flags_used"]) if point.counts else self.deployer.report(point, line["flags_used"])
        except (deploy.RunFailed, counters.CountersError) as error:
            line["error"] = str(error)
            self.failures.append(f"{experiment.name}, {point.series}, {experiment.x_axis} {point.x}: {error}")
        results.append(self.path, line)
        self.lines.append(line)

    def flags_of(self, experiment, point):
        """Those of a point, with those of its rate."""
        if point.rate_share is None:
            return list(point.flags)
        full = results.series_of(self.lines, experiment.name, "records_per_second").get(point.series, {}).get(FULL_RATE)
        if full is None:
            raise deploy.RunFailed("the run at the full rate, whose share this one is, has failed")
        rate = point.rate_share * full.median / (point.nodes * point.executors)
        return [*point.flags, *flags_at_rate(self.setting, point.query, rate)]

    def count(self, point, flags):
        """A report with the events of a record (counters.py)."""
        tool = counters.tool(self.deployer.binaries / point.query)
        events = []
        reports = []
        for more in ([], [f"--seconds={self.setting.size.seconds}s"]):
            def start(command):
                events.append(counters.counted(tool, command, lambda full: deploy.run_local(full, self.deployer.patience)))
            reports.append(self.deployer.report(point, flags + more, start))
        per_record = counters.per_record((events[0], reports[0]["records"]), (events[1], reports[1]["records"]))
        return reports[1] | per_record | {"counted_by": tool}

    def check_setting(self):
        """Results of two settings do not go into one file."""
        for line in self.lines:
            if line["setting"] != str(self.setting):
                raise results.ResultsError(f"{self.path} has results of another setting: {line['setting']}; this is {self.setting}. "
                                           "Give another file with --results, or remove that one")

    def check_commit(self, query):
        """Nor do results of two versions."""
        commit = self.deployer.commit_of(query)
        for line in self.lines:
            other = line["report"]["commit"] if "report" in line else commit
            if other != commit:
                raise results.ResultsError(f"{self.path} has results of commit {other}, and the binaries are of {commit}: "
                                           "give another file with --results, or remove that one")
