"""One comparison of a query's result with what DuckDB computes from its input."""

import duckdb

SHOWN = 3

Error = duckdb.Error


class Comparison:
    """Tables of one scenario: result (the query's), input and others, and expected (DuckDB's); a context manager."""

    def __init__(self, files, parameters, all_are_texts=False):
        self.database = duckdb.connect()
        self.database.execute("SET threads = 2")
        for name, value in parameters.items():
            self.database.execute(f"SET VARIABLE {name} = {value}")
        for table, paths in files.items():
            as_text = "true" if table == "result" or all_are_texts else "false"
            # Texts may have any byte: without these DuckDB guesses what quotes and escapes them.
            self.database.execute(f"""CREATE TABLE {table} AS FROM read_csv(?, header = true, all_varchar = {as_text},
                                      delim = ',', quote = '"', escape = '"', hive_partitioning = true,
                                      hive_types_autocast = false)""", [[str(path) for path in paths]])
        self.types = {}
        self.columns = [row[0] for row in self.database.execute("DESCRIBE result").fetchall()]
        self.input_rows = self.count("input")
        self.result_rows = self.count("result")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.database.close()

    def count(self, table):
        return self.database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]

    def expect(self, progress, statement):
        """Computes `expected`: the view `timed` first, if there is one, then the query's own statement, whose columns are
        the result's."""
        if progress:
            self.database.execute(progress)
        self.database.execute(f"CREATE TABLE expected AS {statement}")
        # A CSV file has no types: the result gets those of what is expected. A list is one field, separated by spaces;
        # an empty field is NULL.
        self.types = dict(row[:2] for row in self.database.execute("DESCRIBE expected").fetchall())
        if self.columns != list(self.types):
            raise Error(f"the result's columns are {', '.join(self.columns)}; expected are {', '.join(self.types)}")
        for column, wanted in self.types.items():
            if wanted.endswith(("INT", "INTEGER")) and self.scalar(
                    f"SELECT count(*) FROM result WHERE NOT regexp_full_match(\"{column}\", '-?[0-9]+')"):
                raise Error(f"the result's column {column} has other values than integers")
            text = f"string_split(\"{column}\", ' ')" if wanted.endswith("[]") else f'"{column}"'
            self.database.execute(f'ALTER TABLE result ALTER "{column}" TYPE {wanted} USING {text}::{wanted}')

    def differences(self):
        """What is wrong with the result, as lines; empty when every row is right."""
        findings = []
        for title, there, elsewhere in [("missing", "expected", "result"),
                                        ("wrong or unexpected", "result", "expected")]:
            rows = self.database.execute(f"FROM {there} EXCEPT ALL FROM {elsewhere} ORDER BY ALL").fetchall()
            if rows:
                findings.append(f"{len(rows)} {title} of {self.count(there)}, the first: "
                                + "; ".join(str(row) for row in rows[:SHOWN]))
        if not findings and not self.count("expected"):
            findings.append("there is nothing to compare: DuckDB expects no row")
        return findings

    def scalar(self, statement):
        return self.database.execute(statement).fetchone()[0]

    def missed_plants(self):
        """Plants wrong results, one at a time; returns those that the comparison does not find."""
        some_row = "(SELECT max(rowid) // 2 FROM result)"
        plants = {f"a changed {column}": f'UPDATE result SET "{column}" = {self.another(column)} WHERE rowid = {some_row}'
                  for column in self.columns}
        for column in self.columns:
            if 0 < self.scalar(f'SELECT count("{column}") FROM result') < self.result_rows:  # some rows have none
                plants |= {f"a filled {column}": self.planted_first(column, "0", "IS NULL"),
                           f"an emptied {column}": self.planted_first(column, "NULL", "IS NOT NULL")}
        plants["a missing row"] = f"DELETE FROM result WHERE rowid = {some_row}"
        plants["an extra row"] = f"INSERT INTO result SELECT * FROM result WHERE rowid = {some_row}"
        missed = []
        for title, statement in plants.items():
            self.database.execute("BEGIN")
            self.database.execute(statement)
            if not self.differences():
                missed.append(f"planted and not found: {title}")
            self.database.execute("ROLLBACK")
        return missed

    @staticmethod
    def planted_first(column, value, condition):
        """Sets the column in the first row for which the condition on it holds."""
        return (f'UPDATE result SET "{column}" = {value} '
                f'WHERE rowid = (SELECT min(rowid) FROM result WHERE "{column}" {condition})')

    def another(self, column):
        """An expression for another value than the column's."""
        if self.types[column].endswith("[]"):
            return f'list_append("{column}", 1)'
        return f'"{column}" || \'x\'' if self.types[column] == "VARCHAR" else f'coalesce("{column}", 0) + 1'
