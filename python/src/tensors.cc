#include "tensors.h"

#include <cstring>
#include <utility>
#include <vector>

#include "dlpack.h"
#include "errors.h"
#include "x2ir/formats/npy/npy.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::python {
namespace {

// The letter of an element type in the buffer protocol; those that it has not are unsigned integers
// of the same width, packed ones bytes.
std::string FormatOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return "f";
    case DType::kFloat64: return "d";
    case DType::kFloat16: return "e";
    case DType::kInt8: return "b";
    case DType::kInt16: return "h";
    case DType::kInt32: return "i";
    case DType::kInt64: return "q";
    case DType::kUInt16:
    case DType::kBFloat16: return "H";
    case DType::kUInt32: return "I";
    case DType::kUInt64: return "Q";
    case DType::kBool: return "?";
    case DType::kComplex64: return "Zf";
    case DType::kComplex128: return "Zd";
    default: return "B";
  }
}

std::vector<py::ssize_t> StridesOf(const std::vector<py::ssize_t>& shape, py::ssize_t item) {
  std::vector<py::ssize_t> strides(shape.size());
  for (size_t i = shape.size(); i-- > 0; item *= shape[i]) strides[i] = item;
  return strides;
}

py::buffer_info BufferOf(PyTensor& self) {
  Tensor& t = self.tensor;
  if (t.is_string()) throw py::type_error("a tensor of strings has no buffer; use strings()");
  if (t.is_sparse()) t = Get(t.ToDense());
  if (self.writable) t.mutable_bytes();
  const int bits = BitWidth(t.dtype());
  std::vector<py::ssize_t> shape(t.dims().begin(), t.dims().end());
  if (bits < 8) shape = {static_cast<py::ssize_t>(t.nbytes())};
  const py::ssize_t item = bits < 8 ? 1 : bits / 8;
  static std::byte nothing[16];  // an empty array's address is not null
  void* data = t.nbytes() ? const_cast<std::byte*>(t.bytes().data()) : nothing;
  return py::buffer_info(data, item, FormatOf(t.dtype()), static_cast<py::ssize_t>(shape.size()),
                         shape, StridesOf(shape, item), /*readonly=*/!self.writable);
}

// pybind11 lets exceptions of a buffer function go into the interpreter, which knows none.
getbufferproc plain_getbuffer = nullptr;
int GetBuffer(PyObject* object, Py_buffer* view, int flags) {
  try {
    return plain_getbuffer(object, view, flags);
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const py::type_error& error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_BufferError, error.what());
  }
  view->obj = nullptr;
  return -1;
}

// --- DLPack -----------------------------------------------------------------------------------

std::optional<dlpack::DataType> DlTypeOf(DType dtype) {
  const auto bits = static_cast<uint8_t>(BitWidth(dtype));
  const auto type = [&](dlpack::Code code) { return dlpack::DataType{code, bits, 1}; };
  if (dtype == DType::kBool) return type(dlpack::kBool);
  if (dtype == DType::kBFloat16) return type(dlpack::kBFloat);
  if (bits < 8) return std::nullopt;
  if (IsSignedInt(dtype)) return type(dlpack::kInt);
  if (IsUnsignedInt(dtype)) return type(dlpack::kUInt);
  if (IsComplex(dtype)) return type(dlpack::kComplex);
  if (IsFloating(dtype) && bits >= 16) return type(dlpack::kFloat);
  return std::nullopt;
}

DType DTypeOfDl(const dlpack::DataType& type) {
  for (int i = 1; type.lanes == 1 && i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    const auto own = DlTypeOf(dtype);
    if (own && own->code == type.code && own->bits == type.bits) return dtype;
  }
  throw py::type_error("DLPack: there is no such element type");
}

constexpr char kFresh[] = "dltensor", kUsed[] = "used_dltensor";

py::capsule ToDlpack(PyTensor& self) {
  const auto type = DlTypeOf(self.tensor.dtype());
  if (!type || self.tensor.is_sparse()) {
    PyErr_SetString(PyExc_BufferError, StrCat("DLPack has no ", Name(self.tensor.dtype())).c_str());
    throw py::error_already_set();
  }
  struct Context {
    dlpack::ManagedTensor managed;
    Tensor tensor;
    std::vector<int64_t> shape, strides;
  };
  auto context = std::make_unique<Context>();
  // Consumers take it for theirs to write to: memory that others have, or a file's, is copied.
  self.tensor.mutable_bytes();
  context->tensor = self.tensor;
  context->shape = self.tensor.dims();
  context->strides.resize(context->shape.size());
  int64_t step = 1;
  for (size_t i = context->shape.size(); i-- > 0; step *= context->shape[i]) {
    context->strides[i] = step;
  }
  context->managed = {{const_cast<std::byte*>(self.tensor.bytes().data()),
                       {dlpack::kCpu, 0},
                       static_cast<int32_t>(context->shape.size()),
                       *type,
                       context->shape.data(),
                       context->strides.data(),
                       0},
                      context.get(),
                      [](dlpack::ManagedTensor* m) { delete static_cast<Context*>(m->context); }};
  dlpack::ManagedTensor* managed = &context.release()->managed;
  return py::capsule(managed, kFresh, [](PyObject* capsule) {
    if (!PyCapsule_IsValid(capsule, kFresh)) return;  // it was consumed
    auto* m = static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule, kFresh));
    if (m && m->deleter) m->deleter(m);
  });
}

// Elements in C order of memory with other strides.
void CopyStrided(const dlpack::Tensor& from, int axis, const std::byte* source, size_t item,
                 std::byte** target) {
  if (axis == from.ndim) {
    std::memcpy(*target, source, item);
    *target += item;
    return;
  }
  for (int64_t i = 0; i < from.shape[axis]; ++i) {
    CopyStrided(from, axis + 1, source + i * from.strides[axis] * static_cast<int64_t>(item), item,
                target);
  }
}

PyTensor FromDlpack(const py::object& object) {
  const py::object capsule =
      py::hasattr(object, "__dlpack__") ? py::object(object.attr("__dlpack__")()) : object;
  auto* m = static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), kFresh));
  if (!m) throw py::error_already_set();
  const dlpack::Tensor& t = m->tensor;
  if (t.device.type != dlpack::kCpu) {
    throw py::type_error("DLPack: the tensor is not in the memory of the CPU");
  }
  const DType dtype = DTypeOfDl(t.dtype);
  std::vector<int64_t> dims(t.shape, t.shape + t.ndim);
  const std::optional<int64_t> count = CheckedProduct(dims);
  const std::optional<int64_t> size = count ? ByteSize(dtype, *count) : std::nullopt;
  if (!size) throw py::value_error("DLPack: the shape is not valid");
  PyCapsule_SetName(capsule.ptr(), kUsed);
  const std::shared_ptr<const void> owner(m, [](const void* p) {
    auto* managed = static_cast<dlpack::ManagedTensor*>(const_cast<void*>(p));
    if (!managed->deleter) return;
    const py::gil_scoped_acquire acquire;
    managed->deleter(managed);
  });
  const auto* data = static_cast<const std::byte*>(t.data) + t.byte_offset;
  bool in_order = true;
  int64_t step = 1;
  for (int i = t.ndim; t.strides && *count != 0 && i-- > 0; step *= t.shape[i]) {
    in_order = in_order && (t.shape[i] == 1 || t.strides[i] == step);
  }
  if (in_order) {
    return {Get(Tensor::View(dtype, std::move(dims), {data, static_cast<size_t>(*size)}, owner))};
  }
  Tensor copy = Tensor::Zeros(dtype, std::move(dims));
  std::byte* target = copy.mutable_bytes().data();
  CopyStrided(t, 0, data, static_cast<size_t>(BitWidth(dtype)) / 8, &target);
  return {std::move(copy)};
}

PyTensor FromBuffer(const py::object& buffer, const std::string& dtype,
                    std::vector<int64_t> shape) {
  HeldBytes held = BytesOf(buffer);
  absl::StatusOr<Tensor> tensor =
      Tensor::View(DTypeOfName(dtype), std::move(shape), held.bytes, std::move(held.owner));
  if (!tensor.ok()) throw py::value_error(std::string(tensor.status().message()));
  return {*std::move(tensor)};
}

py::tuple ShapeOf(const Tensor& tensor) {
  py::tuple shape(tensor.dims().size());
  for (size_t i = 0; i < tensor.dims().size(); ++i) shape[i] = tensor.dims()[i];
  return shape;
}

}  // namespace

std::shared_ptr<const void> Keep(py::object object) {
  PyObject* const p = object.release().ptr();
  return std::shared_ptr<const void>(p, [](const void* kept) {
    if (!Py_IsInitialized()) return;
    const py::gil_scoped_acquire acquire;
    Py_DECREF(static_cast<PyObject*>(const_cast<void*>(kept)));
  });
}

HeldBytes BytesOf(const py::object& object) {
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), view.get(), PyBUF_C_CONTIGUOUS) != 0) {
    throw py::error_already_set();
  }
  const auto* data = static_cast<const std::byte*>(view->buf);
  const auto size = static_cast<size_t>(view->len);
  std::shared_ptr<const void> owner(view.release(), [](const void* p) {
    auto* held = static_cast<Py_buffer*>(const_cast<void*>(p));
    if (Py_IsInitialized()) {
      const py::gil_scoped_acquire acquire;
      PyBuffer_Release(held);
    }
    delete held;
  });
  return {{data, size}, std::move(owner)};
}

std::string Words(const py::handle& text) {
  // Names of models are bytes, and come back as they went out.
  PyObject* bytes = PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape");
  if (!bytes) throw py::error_already_set();
  return py::reinterpret_steal<py::bytes>(bytes);
}

py::str TextOf(std::string_view text) {
  PyObject* object =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  if (!object) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(object);
}

DType DTypeOfName(const std::string& name) {
  const std::optional<DType> dtype = ParseDType(name);
  if (!dtype) throw py::type_error("there is no element type '" + name + "'");
  return *dtype;
}

py::object FromDatum(const Datum& datum) {
  if (const Tensor* tensor = datum.tensor()) return py::cast(PyTensor{*tensor, true});
  if (const DatumSequence* sequence = datum.sequence()) {
    py::list list;
    for (const Datum& item : *sequence) list.append(FromDatum(item));
    return list;
  }
  if (const DatumMap* map = datum.map()) {
    py::list pairs;
    for (const auto& [key, value] : *map)
      pairs.append(py::make_tuple(FromDatum(key), FromDatum(value)));
    return py::module_::import("x2ir._arrays").attr("as_dict")(pairs);
  }
  return py::none();
}

void BindTensor(py::module_& m) {
  py::class_<PyTensor> type(
      m, "Tensor", py::buffer_protocol(),
      "An element type, a shape, and a view of memory that others may have: the "
      "buffer protocol and DLPack give it on.\n\n"
      "Tensor(buffer, dtype, shape) is one over contiguous bytes, not copied. "
      "ValueError where the sizes do not agree.");
  type.def(py::init(&FromBuffer), py::arg("buffer"), py::arg("dtype"), py::arg("shape"))
      .def_static("from_dlpack", &FromDlpack)
      .def_static("from_strings",
                  [](std::vector<std::string> values, std::vector<int64_t> shape) {
                    const std::optional<int64_t> count = CheckedProduct(shape);
                    if (!count || static_cast<size_t>(*count) != values.size()) {
                      throw py::value_error("the shape is not that of the strings");
                    }
                    return PyTensor{Tensor::Strings(std::move(shape), std::move(values))};
                  })
      .def_property_readonly("dtype",
                             [](const PyTensor& t) { return std::string(Name(t.tensor.dtype())); })
      .def_property_readonly("shape", [](const PyTensor& t) { return ShapeOf(t.tensor); })
      .def_property_readonly("nbytes", [](const PyTensor& t) { return t.tensor.nbytes(); })
      .def_property_readonly("writable", [](const PyTensor& t) { return t.writable; })
      .def("strings",
           [](const PyTensor& t) {
             if (!t.tensor.is_string()) throw py::type_error("it holds no strings");
             py::list list;
             for (const std::string& text : t.tensor.strings()) list.append(TextOf(text));
             return list;
           })
      .def(
          "__dlpack__", [](PyTensor& t, const py::object&) { return ToDlpack(t); },
          py::arg("stream") = py::none())
      .def("__dlpack_device__", [](const PyTensor&) { return py::make_tuple(dlpack::kCpu, 0); })
      .def("__repr__",
           [](const PyTensor& t) {
             return StrCat("<x2ir.Tensor ", t.tensor.type().ToString(), ">");
           })
      .def_buffer(&BufferOf);
  m.def("write_npy",
        [](const std::string& path, const PyTensor& t) { Check(WriteNpy(path, t.tensor)); });
  // An io file (core/io_file.h).
  m.def("write_io", [](const std::string& path, const py::dict& arrays) {
    std::vector<NamedTensor> tensors;
    for (const auto& [name, tensor] : arrays) {
      tensors.push_back({Words(name), tensor.cast<const PyTensor&>().tensor});
    }
    Check(WriteSafetensors(path, tensors));
  });
  PyBufferProcs* procs = reinterpret_cast<PyTypeObject*>(type.ptr())->tp_as_buffer;
  plain_getbuffer = std::exchange(procs->bf_getbuffer, &GetBuffer);
}

}  // namespace x2ir::python
