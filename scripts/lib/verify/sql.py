"""The SQL statements of queries/README.md: each fenced block whose info string is "sql NAME"."""

import re

BLOCK = re.compile(r"^```sql (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def read(path):
    """Statements by name."""
    statements = {}
    for name, text in BLOCK.findall(path.read_text()):
        if name in statements:
            raise ValueError(f"{path}: two SQL blocks are named {name}")
        statements[name] = text
    return statements
