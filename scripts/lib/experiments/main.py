"""Reproduces the figures of the Slash paper, on this host or on those of a file.

  scripts/experiments list
  scripts/experiments run fig9a fig10d        all experiments without a name
  scripts/experiments plot                    figures and one HTML page from the results
  scripts/experiments compare OLD NEW         ratios of two files of results
  scripts/experiments model                   throughput of larger clusters, from the costs that `run costs` measures

An interrupted `run` goes on where it stopped. Results are lines of JSON in build/experiments/results.jsonl.
"""

import argparse
import pathlib
import sys

import machine
import results
from catalogue import ALL, SIZES, Setting

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDER = ROOT / "build/experiments"


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def numbers(text):
    return tuple(positive(part) for part in text.split(","))


def parse(arguments):
    parser = argparse.ArgumentParser(prog="scripts/experiments", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", action="store_true", help=argparse.SUPPRESS)  # for scripts/experiments: what to build
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="the experiments")
    run = commands.add_parser("run", help="measures experiments")
    run.add_argument("names", nargs="*", metavar="NAME", help="experiments; none: all")
    run.add_argument("--size", choices=SIZES, default="small", help="tiny: some seconds, to try it; small: minutes; paper: 1 GB "
                     "for each executor, as in the paper; default small")
    run.add_argument("--hosts", type=pathlib.Path, metavar="FILE", help="hosts for the nodes, over ssh: ADDRESS [SSH-NAME] a line; "
                     "none: all nodes on this host")
    run.add_argument("--executors", type=positive, help="executors of a node, with --hosts")
    run.add_argument("--nodes", type=numbers, metavar="N,N,...", help="numbers of nodes; default 2, 4, 8, ... as the hosts have them")
    run.add_argument("--per-processor", type=positive, default=1, help="executors of a processor of this host, at most; default 1")
    run.add_argument("--patience", type=float, default=1800, help="seconds that a run may take; default 1800")
    run.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin", help="the queries' binaries")
    plot = commands.add_parser("plot", help="draws results")
    plot.add_argument("--folder", type=pathlib.Path, default=FOLDER, help="for the figures; default build/experiments")
    model = commands.add_parser("model", help="predicts the throughput of larger clusters")
    model.add_argument("--nodes", type=numbers, default=(16, 100, 1000), metavar="N,N,...", help="default 16,100,1000")
    model.add_argument("--executors", type=positive, default=10, help="of each node; default 10, as in the paper")
    model.add_argument("--link", type=float, default=100, metavar="GBITS", help="of each node, in Gb/s; default 100")
    for command in (run, plot, model):
        command.add_argument("--results", type=pathlib.Path, default=FOLDER / "results.jsonl", help="the file of results")
    compare = commands.add_parser("compare", help="compares two files of results")
    compare.add_argument("old", type=pathlib.Path, metavar="OLD")
    compare.add_argument("new", type=pathlib.Path, metavar="NEW")
    options = parser.parse_args(arguments)
    for name in getattr(options, "names", ()):
        if name not in ALL:
            parser.error(f"there is no experiment '{name}'; scripts/experiments list shows them")
    return options


def setting_of(options):
    remote = machine.read_hosts(options.hosts) if options.hosts else ()
    if bool(remote) != (options.executors is not None):
        raise ValueError("--hosts and --executors go together: the hosts, and how many executors a node has there")
    hosts = machine.Hosts(remote, options.executors or machine.local_processors())
    if options.nodes and remote and max(options.nodes) > len(remote):
        raise ValueError(f"--nodes={max(options.nodes)}: {options.hosts} names {len(remote)} hosts")
    return Setting(SIZES[options.size], hosts, options.per_processor, options.nodes)


def chosen(options):
    """The experiments that are asked for. Those of one host are none of "all" over several."""
    for name in options.names:
        if options.hosts and ALL[name].needs_one_host:
            raise ValueError(f"{name} measures this host alone; leave --hosts out")
    if options.names:
        return [ALL[name] for name in options.names]
    return [experiment for experiment in ALL.values() if not (options.hosts and experiment.needs_one_host)]


def show_list():
    for experiment in ALL.values():
        print(f"{experiment.name:14} {experiment.title}{f' ({experiment.paper})' if experiment.paper else ''}")


def show_binaries(options):
    """The queries that a command runs."""
    if options.command == "run":
        setting = setting_of(options)
        print(*sorted({point.query for experiment in chosen(options) for point in experiment.points(setting)}))


def run(options):
    # Behind the arguments: these modules need packages that the other commands do without.
    from deploy import Deployer
    from runner import Runner
    setting = setting_of(options)
    experiments = chosen(options)
    succeeded = Runner(setting, Deployer(options.bin, setting.hosts, options.patience), options.results).run(experiments)
    print(f"results are in {options.results}; scripts/experiments plot draws them")
    return 0 if succeeded else 1


def main(arguments):
    options = parse(arguments)
    if options.binaries:
        show_binaries(options)
    elif options.command == "list":
        show_list()
    elif options.command == "run":
        return run(options)
    elif options.command == "plot":
        from plots import plot
        print(plot(options.results, options.folder))
    elif options.command == "model":
        from model import table
        print(table(results.load(options.results), [(nodes, options.executors) for nodes in options.nodes], options.link * 1e9))
    else:
        from comparison import compare, text_of
        print(text_of(compare(options.old, options.new)))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (ValueError, OSError, results.ResultsError) as error:
        sys.exit(f"scripts/experiments: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
