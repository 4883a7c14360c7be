#ifndef X2IR_PYTHON_OWN_OPS_H_
#define X2IR_PYTHON_OWN_OPS_H_

#include <pybind11/pybind11.h>

namespace x2ir::python {

// Ops, dialects and formats that Python brings.
void BindOwnOps(pybind11::module_& m);

}  // namespace x2ir::python

#endif  // X2IR_PYTHON_OWN_OPS_H_
