"""Files of collisions, made from a generated one: a query that reads them has to find the same answers in them."""

import duckdb


def write(input_csv, folder):
    """Writes two parts of the collisions, which DuckDB quotes by its own rules, the second one compressed."""
    database = duckdb.connect()
    database.execute("CREATE TABLE input AS FROM read_csv(?, header = true, all_varchar = true)", [str(input_csv)])
    for part, ending in [(0, ""), (1, ".gz")]:
        compression = ", COMPRESSION gzip" if ending else ""
        database.execute(f"""
            COPY (SELECT * FROM input WHERE (rowid % 3 > 0)::INT = {part} ORDER BY rowid)
            TO '{folder / f"part-{part}.csv{ending}"}' (HEADER true{compression})""")


def renumber(input_csv, executors):
    """Leaves the input as it is: no answer depends on who reads a collision."""
