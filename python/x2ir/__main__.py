"""The program x2ir, with all its verbs: `python -m x2ir`, and the command `x2ir` of the package."""

import signal
import sys

from . import _x2ir


def main():
    # The program's own handling: temporary files go, and the shell sees what ended it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _x2ir.main(["x2ir", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
