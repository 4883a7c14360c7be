// The extension module x2ir._x2ir. What users see is x2ir/__init__.py.
#include <pybind11/pybind11.h>

#include "errors.h"
#include "graphs.h"
#include "look.h"
#include "models.h"
#include "own_ops.h"
#include "tables.h"
#include "tensors.h"

PYBIND11_MODULE(_x2ir, m) {
  using namespace x2ir::python;  // NOLINT
  m.attr("__version__") = X2IR_VERSION;
  BindReport(m);
  BindTensor(m);
  BindGraph(m);
  BindModel(m);
  BindLook(m);
  BindTables(m);
  BindOwnOps(m);
}
