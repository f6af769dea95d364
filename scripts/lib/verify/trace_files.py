"""Files of the cluster trace, made from a generated input: a query that reads them has to find the same answer in them."""

import duckdb


def write(input_csv, folder):
    """Writes each executor's records as one part with the trace's columns, every second one compressed."""
    database = duckdb.connect()
    database.execute("CREATE TABLE input AS FROM read_csv(?, header = true)", [str(input_csv)])
    for (part,) in database.execute("SELECT DISTINCT executor FROM input ORDER BY ALL").fetchall():
        path = folder / f"part-{part:05}-of-00500.csv{'.gz' if part % 2 else ''}"
        database.execute(f"""
            COPY (SELECT timestamp_us, NULL AS missing_info, job_id, task_index,
                         CASE WHEN machine_id > 0 THEN machine_id END AS machine_id, event_type, 'user' AS user, category,
                         priority, cpu, NULL AS ram, NULL AS disk, NULL AS different_machines
                  FROM input WHERE executor = {part} ORDER BY number)
            TO '{path}' (HEADER false{', COMPRESSION gzip' if part % 2 else ''})""")


def renumber(input_csv, executors):
    """Rewrites the input as those executors read the parts: part p by executor p % executors, one after the other."""
    database = duckdb.connect()
    database.execute("CREATE TABLE input AS FROM read_csv(?, header = true)", [str(input_csv)])
    database.execute(f"""
        COPY (SELECT * REPLACE (executor % {executors} AS executor,
                                row_number() OVER (PARTITION BY executor % {executors} ORDER BY executor, number) - 1
                                  AS number)
              FROM input)
        TO '{input_csv}' (HEADER true)""")
