"""Text files, made from generated lines: a query that reads them has to find the same words in them."""

import duckdb


def write(input_csv, folder):
    """Writes each executor's lines as one part, every second one compressed."""
    database = duckdb.connect()
    database.execute("CREATE TABLE input AS FROM read_csv(?, header = true)", [str(input_csv)])
    for (part,) in database.execute("SELECT DISTINCT executor FROM input ORDER BY ALL").fetchall():
        path = folder / f"part-{part:05}.txt{'.gz' if part % 2 else ''}"
        database.execute(f"""
            COPY (SELECT text FROM input WHERE executor = {part} ORDER BY number)
            TO '{path}' (HEADER false, QUOTE '', ESCAPE '', DELIMITER '\t'{', COMPRESSION gzip' if part % 2 else ''})""")


def renumber(input_csv, executors):
    """Leaves the input as it is: no window depends on who reads a line."""
