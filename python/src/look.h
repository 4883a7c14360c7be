#ifndef X2IR_PYTHON_LOOK_H_
#define X2IR_PYTHON_LOOK_H_

#include <pybind11/pybind11.h>

namespace x2ir::python {

// What verbs of the program say of models: compare, diff, cost, weights, view.
void BindLook(pybind11::module_& m);

}  // namespace x2ir::python

#endif  // X2IR_PYTHON_LOOK_H_
