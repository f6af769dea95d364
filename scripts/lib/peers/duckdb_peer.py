"""A program on DuckDB, as the peers in bench/peers are: duckdb_peer.py PROGRAM EXECUTORS FILE OUTPUT.

Runs the statement of queries/README.md with so many threads, and prints how many seconds that took. Events of NEXMark and
records of the windowed queries are loaded before the clock starts, since the other engines have them in memory, too; words
and collisions are read from the file while it runs. The result is a table in memory, whose rows go to OUTPUT afterwards;
"-": nowhere. Bounded input alone: DuckDB is no stream processor, and has all records before it begins.
"""

import csv
import pathlib
import sys
import time

import duckdb

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts/lib/verify"))
import sql  # noqa: E402

# Windows of event time over input in order, of which no record is late.
TUMBLING = """
CREATE MACRO windowed_of(flows) AS TABLE
SELECT *, event_time_ms // getvariable('window_ms') * getvariable('window_ms') AS window_start_ms,
       window_start_ms + getvariable('window_ms') AS window_end_ms
FROM query_table(flows)
"""
SLIDING = """
CREATE MACRO windowed_of(flows) AS TABLE
SELECT *, unnest(range((event_time_ms - getvariable('window_ms')) // getvariable('slide_ms') + 1,
                       event_time_ms // getvariable('slide_ms') + 1)) * getvariable('slide_ms') AS window_start_ms,
       window_start_ms + getvariable('window_ms') AS window_end_ms
FROM query_table(flows)
"""
SLIDES = {"q5": 2_000}  # ms, of windows of 10 s; all others are tumbling
COLUMNS = {"q0": "auction, bidder, price, date_time, extra", "q1": "auction, bidder, price, date_time, extra",
           "q2": "auction, price", "q3": "name, city, state, id", "q4": "category, avg_price",
           "q5": "auction, num, window_start_ms, window_end_ms", "q6": "seller, avg_price",
           "q7": "auction, bidder, price, date_time, extra", "q8": "id, name, starttime"}
# The statement's name, the windows in ms, and the tables that stand beside the file.
WINDOWED = {"ysb-yahoo": ("ysb/yahoo", 10_000, ["ads"]), "ysb": ("ysb/slash", 600_000, []), "nb7": ("nb7", 60_000, []),
            "cm": ("cm/slash", 2_000, []), "nb8": ("nb8/inner", 43_200_000, ["sellers"])}
COLLISIONS = {"weeks": "date_diff('day', DATE '1970-01-01', week::DATE), lethal_accidents",
              "factors": "factor, accidents, lethal_accidents",
              "boroughs": "borough, date_diff('day', DATE '1970-01-01', week::DATE), accidents, lethal_accidents"}


def lines_of(file):
    """A table of a text file's lines."""
    return f"""(SELECT text FROM read_csv('{file}', columns = {{'text': 'VARCHAR'}}, header = false, auto_detect = false,
                                         delim = '\x01', quote = '', escape = ''))"""


def words(database, statements, file):
    """What prepares the program, and the statement."""
    database.execute(f"CREATE VIEW timed AS FROM {lines_of(file)}")
    return f"SELECT key, value FROM ({statements['wordcount/all']})"


def collisions(database, statements, file):
    database.execute(f"CREATE VIEW input AS FROM read_csv('{file}', header = true, all_varchar = true)")
    return " UNION ALL BY NAME ".join(
        f"SELECT '{question}' AS question, {numbered(columns)} FROM ({statements[f'collisions/{question}']})"
        for question, columns in COLLISIONS.items())


def numbered(columns):
    """The columns as texts, by numbers: questions have other columns."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(columns + ","):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append(columns[begin:at])
            begin = at + 1
    return ", ".join(f"({part.strip()})::VARCHAR AS column_{number}" for number, part in enumerate(parts))


def load(database, table, file):
    """Makes a table of a file of Glaive's. Ids of all 64 bits, for which DuckDB takes a wider type, get the one that fits."""
    database.execute(f"""CREATE TABLE {table} AS
                         FROM read_csv('{file}', header = true, delim = ',', quote = '"', escape = '"')""")
    for column, kind in database.execute(f"SELECT column_name, column_type FROM (DESCRIBE {table})").fetchall():
        if kind == "HUGEINT":
            database.execute(f"ALTER TABLE {table} ALTER {column} TYPE UBIGINT")


def make_windows(database, window_ms, slide_ms):
    database.execute(f"SET VARIABLE window_ms = {window_ms}")
    database.execute(f"SET VARIABLE slide_ms = {slide_ms}")
    database.execute(TUMBLING if window_ms == slide_ms else SLIDING)
    database.execute("CREATE VIEW windowed AS FROM windowed_of('input')")


def nexmark(database, statements, file, query):
    load(database, "input", file)
    database.execute("SET VARIABLE any_price = false")
    make_windows(database, 10_000, SLIDES.get(query, 10_000))
    return f"SELECT {COLUMNS[query]} FROM ({statements[f'nexmark/{query}-one' if query == 'q5' else f'nexmark/{query}']})"


def windowed(database, statements, file, program):
    statement, window_ms, tables = WINDOWED[program]
    load(database, "input", file)
    for table in tables:
        load(database, table, pathlib.Path(file).with_name(f"{table}.csv"))
    make_windows(database, window_ms, window_ms)
    return f"SELECT * EXCLUDE (window_end_ms) FROM ({statements[statement]})"


def main():
    program, threads, file, output = sys.argv[1:]
    statements = sql.read(ROOT / "queries" / "README.md")
    database = duckdb.connect()
    database.execute(f"SET threads = {int(threads)}")
    database.execute("SET preserve_insertion_order = false")
    if program == "associative":
        statement = words(database, statements, file)
    elif program == "collisions":
        statement = collisions(database, statements, file)
    elif program in COLUMNS:
        statement = nexmark(database, statements, file, program)
    elif program in WINDOWED:
        statement = windowed(database, statements, file, program)
    else:
        sys.exit(f"there is no program '{program}' on DuckDB")
    begin = time.monotonic()
    database.execute(f"CREATE TABLE result AS {statement}")
    seconds = time.monotonic() - begin
    if output != "-":
        with open(output, "w", encoding="utf-8", newline="") as out:
            csv.writer(out).writerows([value for value in row if value is not None]
                                      for row in database.sql("FROM result").fetchall())
    print(seconds)


if __name__ == "__main__":
    main()
