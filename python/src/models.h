#ifndef X2IR_PYTHON_MODELS_H_
#define X2IR_PYTHON_MODELS_H_

#include <pybind11/pybind11.h>

#include "scope.h"

namespace x2ir::python {

void BindModel(py::module_& m);

}  // namespace x2ir::python

#endif  // X2IR_PYTHON_MODELS_H_
