#ifndef X2IR_PYTHON_GRAPHS_H_
#define X2IR_PYTHON_GRAPHS_H_

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "scope.h"
#include "x2ir/graph_wrapper/attribute.h"

namespace x2ir::python {

// Attributes of a dict. `like` (may be null) gives kinds where Python's values leave them open.
AttributeMap ToAttributes(const py::dict& attributes, const AttributeMap* like = nullptr);
py::object FromAttribute(Scope& scope, const Attribute& attribute);
// Operands: values of this scope, or None.
std::vector<Value*> ToValues(Scope& scope, const py::iterable& values);

void BindGraph(py::module_& m);

}  // namespace x2ir::python

#endif  // X2IR_PYTHON_GRAPHS_H_
