#!/usr/bin/env python3
"""Makes x2ir/inspect/produced_ops.inc of what test programs recorded.

    mkdir made && X2IR_PRODUCED_OPS=$PWD/made ctest --test-dir build && \\
        tests/golden/produced_ops.py made

Run it after rows were added or changed; docs/*_ops.md are written from the table
(X2IR_UPDATE_GOLDEN=1 build/tests/x2ir_golden_test).
"""

import collections
import pathlib
import sys

ROOT = pathlib.Path(__file__).parents[2] / "x2ir"
TABLE = ROOT / "inspect" / "produced_ops.inc"
HANDLERS = ROOT / "handlers"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    counts = collections.defaultdict(collections.Counter)
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.txt")):
        for line in path.read_text().splitlines():
            op, ir, count = line.split("\t")
            # Tests have dialects of their own.
            if (HANDLERS / op.split(".")[0]).is_dir():
                counts[op][ir] += int(count)
    lines = ["// Written by tests/golden/produced_ops.py; do not edit."]
    for op in sorted(counts, key=lambda name: name.encode()):
        made = sorted(counts[op], key=lambda ir: (-counts[op][ir], ir))
        lines.append('{"%s", "%s"},' % (op, " ".join(made)))
    TABLE.write_text("\n".join(lines) + "\n")
    print(f"{len(lines) - 1} operators")


main()
