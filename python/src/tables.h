#ifndef X2IR_PYTHON_TABLES_H_
#define X2IR_PYTHON_TABLES_H_

#include <pybind11/pybind11.h>

namespace x2ir::python {

// What there is: ops, formats.
void BindTables(pybind11::module_& m);

}  // namespace x2ir::python

#endif  // X2IR_PYTHON_TABLES_H_
