"""What the Slash paper (SIGMOD'22) says of its figures, in its own setting: up to 16 nodes of 10 cores, 100 Gb/s InfiniBand.

Its curves have no table, so these are the numbers that its text gives. Taken from the paper, not measured.
"""

SETTING = "16 nodes, each a 10-core Xeon Gold 5115 at 2.4 GHz, with ConnectX-4 EDR at 100 Gb/s"

CLAIMS = {
    "fig9a": ["Slash up to 12 times as fast as UpPar, 25 times as Flink", "up to 2 billion records/s, almost linear weak scaling"],
    "fig9b": ["Slash up to two orders of magnitude faster than UpPar and Flink", "almost linear weak scaling"],
    "fig9c": ["Slash up to 22 times as fast as UpPar, 104 times as Flink", "almost linear weak scaling"],
    "fig9d": ["Slash up to 8 times as fast as UpPar, 128 times as Flink"],
    "fig9e": ["Slash up to 1.7 times as fast as UpPar, 40 times as Flink"],
    "fig10a": ["Slash up to 95 % of the network, 11.2 of 11.8 GB/s, with two threads and 32 KiB", "UpPar up to 50 %, 5.9 GB/s"],
    "fig10b": ["Slash below 0.1 ms for buffers below 128 KiB, up to 1 ms from 1 MiB on", "UpPar about 10 % more"],
    "fig10d": ["Slash no slower, whatever the skew", "UpPar's throughput falls by up to 68 % with skew"],
    "fig10c": ["Slash 11.2 GB/s with two threads", "UpPar needs 10 threads for 91 % of the network, 11.8 GB/s"],
    "fig11": ["beside LightSaber on one node, Slash on 16 nodes up to 11.6 times as fast (YSB, CM), up to 4.4 times (NB7)"],
    "table1": ["Slash 42 instructions and 53 cycles a record, IPC 0.9",
               "UpPar's sender 166 instructions and 274 cycles, IPC 0.6; its receiver 78 and 276, IPC 0.4"],
    "credits": ["8 credits; 16 lose up to 3 %, 64 up to 10 %"],
    "epochs": ["an epoch of 64 MB"],
}
