// Tensors between x2ir and Python: the buffer protocol and DLPack, in and out, without a copy where
// memory allows it. NumPy is not needed (x2ir/_arrays.py makes its arrays of buffers).
#ifndef X2IR_PYTHON_TENSORS_H_
#define X2IR_PYTHON_TENSORS_H_

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>

#include "absl/types/span.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/ops/eval.h"

namespace x2ir::python {

namespace py = pybind11;

struct PyTensor {
  Tensor tensor;
  // Whether a consumer may write to its memory: true for results, which are not shared.
  bool writable = false;
};

// Keeps a Python object; the last one to let go takes the GIL.
std::shared_ptr<const void> Keep(py::object object);
// The bytes of an object with the buffer protocol, contiguous, which live as long as the owner.
HeldBytes BytesOf(const py::object& object);
py::str TextOf(std::string_view text);
std::string Words(const py::handle& text);  // the bytes that TextOf was given
DType DTypeOfName(const std::string& name);
// A tensor, list, dict or None.
py::object FromDatum(const Datum& datum);

void BindTensor(py::module_& m);

}  // namespace x2ir::python

#endif  // X2IR_PYTHON_TENSORS_H_
