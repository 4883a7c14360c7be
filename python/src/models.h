#ifndef X2IR_PYTHON_MODELS_H_
#define X2IR_PYTHON_MODELS_H_

#include <pybind11/pybind11.h>

#include <vector>

#include "scope.h"
#include "x2ir/core/io_file.h"

namespace x2ir::python {

// What was edited is sorted and whole, or an error.
void Settle(ModelScope& scope);
void NeedIr(const ModelScope& scope);
// Inputs and expected outputs: of an io file (a path), of a dict of tensors, or none.
std::vector<IoCase> CasesOf(const py::object& io, const Graph& graph);

void BindModel(py::module_& m);

}  // namespace x2ir::python

#endif  // X2IR_PYTHON_MODELS_H_
