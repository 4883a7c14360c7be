"""Writes tests/data/mxnet/rows.txt: operators of MXNet on small constants, and what they give by
MXNet's documentation and kernels, computed with NumPy and PyTorch.

    PYTHONPATH=tests/handlers python3 tests/handlers/mxnet/rows.py tests/data/mxnet/rows.txt

Attributes are texts, as symbols have them. Functions of NumPy's (_np_, _npi_, _npx_) give NumPy's
types and shapes; others numbers of their operands' type, and no less than one axis.
"""
import sys

import element_rows
import layer_rows
import shape_rows
from symbol_rows import rows

rows.write(sys.argv[1])
