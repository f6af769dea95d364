"""The rule against mutable globals, on compiled archives: nothing of ours lies in a writable section.

Constants lie in read-only sections, virtual tables in .data.rel.ro. An object that is constant but built at run time
(`static const std::string kName = ...`) is refused too: it is writable memory, and built in an unspecified order.
"""

import re
import subprocess

from source_tree import Finding

# Flags and section of a line of `objdump --syms`: "0000 l     O .bss 0008 name", also ".hidden name".
SYMBOL = re.compile(r"^[0-9a-f]+ (?P<flags>.{7}) (?P<section>\S+)\t[0-9a-f]+ +(?:\.hidden )?(?P<name>.+)$")
WRITABLE = re.compile(r"^\.(?:bss|data|tbss|tdata|ldata|lbss)(?:\.|$)")
READ_ONLY_AFTER_START = re.compile(r"^\.data\.rel\.ro")
# What other libraries' headers and the compiler put into our objects.
NOT_OURS = re.compile(
    r"^(?:guard variable for |reference temporary |typeinfo |vtable |VTT |construction vtable |DW\.ref\.|\.L|__(?:odr|asan|gcov|tsan)"
    r"|std::|__gnu_cxx::|absl::|boost::|nlohmann::|simdjson::|CLI::|testing::|benchmark::)")


def check_mutable_globals(archives):
    """A finding for each writable object in the archives (or object files) that is ours."""
    findings = []
    for archive in archives:
        listing = subprocess.run(["objdump", "--syms", "--demangle", str(archive)],
                                 check=True, capture_output=True, text=True).stdout
        member = archive.name
        for line in listing.splitlines():
            if ":     file format" in line:
                member = line.split(":")[0]
                continue
            symbol = SYMBOL.match(line)
            if symbol and is_writable_object(symbol) and not NOT_OURS.match(symbol["name"]):
                findings.append(Finding(archive.name, 0, f"{member}: {symbol['name']} in {symbol['section']} is a mutable "
                                        "global; pass it in, or make it constexpr"))
    return findings


def is_writable_object(symbol):
    section = symbol["section"]
    if not WRITABLE.match(section) or READ_ONLY_AFTER_START.match(section):
        return False
    # objdump marks objects with O, except thread-locals; d marks the section itself.
    return "O" in symbol["flags"] or (section.startswith(".t") and "d" not in symbol["flags"])
