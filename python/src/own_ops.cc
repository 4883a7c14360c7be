// Ops, dialects and formats that Python brings. Registrations stay for the life of the process;
// their functions may be replaced, so that a cell of a notebook can be run again.
#include "own_ops.h"

#include <pybind11/stl.h>

#include <map>
#include <tuple>

#include "errors.h"
#include "graphs.h"
#include "models.h"
#include "tensors.h"
#include "x2ir/core/dialect.h"
#include "x2ir/core/spec.h"
#include "x2ir/core/validate.h"
#include "x2ir/formats/format.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::python {
namespace {

struct PyLens {
  Lens lens;
};

// A function of Python that outlives the interpreter: nothing is taken apart at the end.
using Slot = py::object;
Slot& SlotOf(const std::string& key, bool* fresh) {
  static auto& slots = *new std::map<std::string, Slot*>;
  Slot*& slot = slots[key];
  *fresh = slot == nullptr;
  if (!slot) slot = new Slot;
  return *slot;
}

// One call of a handler: what it looks at and what it makes nodes with. Of no use afterwards.
struct PyRewrite {
  Rewrite* r;
  std::shared_ptr<Scope> scope;

  Rewrite& get() const {
    if (r) return *r;
    PyErr_SetString(PyExc_ReferenceError, "the handler has ended");
    throw py::error_already_set();
  }
};

py::object Made(const PyRewrite& self, const std::vector<Value*>& values) {
  Check(self.get().b.status());
  if (values.size() == 1) return py::cast(self.scope->Of(values[0]));
  py::tuple all(values.size());
  for (size_t i = 0; i < values.size(); ++i) all[i] = py::cast(self.scope->Of(values[i]));
  return all;
}

py::object MakeOp(const PyRewrite& self, const std::string& dialect, const std::string& op,
                  const py::iterable& operands, size_t outputs, const py::dict& attributes) {
  Rewrite& r = self.get();
  std::vector<Value*> values = ToValues(*self.scope, operands);
  AttributeMap attrs = ToAttributes(attributes, dialect.empty() ? nullptr : &r.attrs());
  return Made(self, dialect.empty() ? r.b.Ops(op, std::move(values), std::move(attrs), outputs)
                                    : r.b.Node(dialect, op, std::move(values), std::move(attrs),
                                               std::vector<bool>(outputs, true)));
}

absl::StatusOr<Values> Call(const Slot& slot, Rewrite& r) {
  const py::gil_scoped_acquire acquire;
  PyRewrite call{&r, std::make_shared<Scope>()};
  call.scope->read_only = true;
  const py::object handed = py::cast(&call, py::return_value_policy::copy);
  auto& seen = handed.cast<PyRewrite&>();
  absl::StatusOr<Values> result = Values();
  try {
    const py::object given = slot(handed);
    if (given.is_none()) {
      result = CannotExpress("the handler returns nothing");
    } else if (py::isinstance<ValueHandle>(given)) {
      result = ToValues(*call.scope, py::make_tuple(given));
    } else {
      result = ToValues(*call.scope, given.cast<py::iterable>());
    }
    if (result.ok() && result->size() != r.num_outputs()) {
      result = CannotExpress("the handler returns ", result->size(), " values for ",
                             r.num_outputs(), " outputs");
    }
  } catch (py::error_already_set& error) {
    const py::object unsupported = py::module_::import("x2ir._errors").attr("Unsupported");
    result = error.matches(unsupported)
                 ? Unimplemented(py::str(error.value()).cast<std::string>())
                 : Unimplemented("the handler raised ", std::string(error.what()));
  } catch (const std::exception& error) {
    result = Unimplemented("the handler failed: ", std::string(error.what()));
  }
  seen.r = nullptr;
  call.scope->ForgetAll();
  return result;
}

void RegisterForm(const std::string& dialect, const std::string& ir_op, const std::string& op,
                  int first, int last, const std::vector<PyLens>& rows, const py::object& reads,
                  const py::object& writes, const std::string& file, int line) {
  const SourcePlace place{Symbol(file).str().c_str(), line};
  std::vector<Lens> lenses;
  for (const PyLens& row : rows) lenses.push_back(row.lens);
  Code code;
  bool fresh = true;
  const auto handler = [&](const py::object& function, std::string_view what) -> Handler {
    if (function.is_none()) return nullptr;
    bool is_new = false;
    Slot& slot =
        SlotOf(StrCat(what, " ", dialect, " ", ir_op, " ", op, " ", first, " ", last), &is_new);
    slot = function;
    fresh = fresh && is_new;
    return [&slot](Rewrite& r) { return Call(slot, r); };
  };
  code.import = handler(reads, "reads");
  code.export_ = handler(writes, "writes");
  if (!fresh) return;
  // A second form would fail every conversion from now on.
  const bool imports = code.import || lenses.size() || !code.export_;
  const Form* other = code.export_ && !code.import ? nullptr : FindImportForm(dialect, op, first);
  if (imports && other) {
    throw py::value_error("how " + dialect + "." + op + " is read is already registered at " +
                          other->place.ToString());
  }
  other = code.import && !code.export_ ? nullptr : FindExportForm(dialect, ir_op, first);
  if (other) {
    throw py::value_error("how " + ir_op + " is written to " + dialect +
                          " is already registered at " + other->place.ToString());
  }
  Form form{dialect, op, ir_op, {first, last}, lenses, std::nullopt, true, true, place};
  if (code.import || code.export_) form.code = code;
  form.imports = !form.code || code.import;
  form.exports = !form.code || code.export_;
  if (const auto wrong = ValidateForm(form); !wrong.empty()) throw py::value_error(wrong.front());
  Spec::Register(std::move(form));
}

void RegisterFormatOf(const std::string& name, const std::string& dialect,
                      const std::vector<std::string>& extensions, const std::string& doc,
                      const py::object& mark, const py::object& reads, const py::object& writes) {
  bool fresh = false, fresh_writer = false;
  Slot& reader = SlotOf("read " + name, &fresh);
  Slot& writer = SlotOf("write " + name, &fresh_writer);
  if (fresh && FindFormat(name)) throw py::value_error("there is a format '" + name + "' already");
  reader = reads;
  writer = writes;
  if (!fresh) return;
  Format format;
  format.name = name;
  format.dialect = dialect;
  format.extensions = extensions;
  format.doc = doc;
  const std::string begins = mark.is_none() ? "" : mark.cast<std::string>();
  format.recognize = [begins](const Candidate& file) {
    const std::string_view head(reinterpret_cast<const char*>(file.head.data()), file.head.size());
    return !begins.empty() && head.substr(0, begins.size()) == begins ? Match::kCertain
                                                                      : Match::kNo;
  };
  if (!reads.is_none()) {
    format.read = [&reader](const Source& source, const ReadRequest&) -> absl::StatusOr<Model> {
      X2IR_ASSIGN_OR_RETURN(const auto file, source.Open());
      const py::gil_scoped_acquire acquire;
      try {
        const py::object model =
            reader(py::bytes(reinterpret_cast<const char*>(file->data()), file->size()));
        return model.cast<ModelScope&>().model.Clone();
      } catch (const std::exception& error) {
        return DataLoss("'", source.name(), "': ", std::string(error.what()));
      }
    };
  }
  if (!writes.is_none()) {
    format.write = [&writer](const Model& model, const Sink& sink,
                             const FormatOptions&) -> absl::Status {
      std::string bytes;
      {
        const py::gil_scoped_acquire acquire;
        try {
          auto scope = std::make_shared<ModelScope>(model.Clone());
          scope->is_ir = false;
          bytes = writer(scope).cast<py::bytes>();
        } catch (const std::exception& error) {
          return CannotExpress(std::string(error.what()));
        }
      }
      absl::StatusOr<AtomicFile> file = sink.Create(sink.name());
      if (!file.ok()) return file.status();
      X2IR_RETURN_IF_ERROR(file->Append(bytes));
      return file->Commit();
    };
  }
  RegisterFormat(std::move(format));
}

}  // namespace

void BindOwnOps(py::module_& m) {
  py::class_<PyRewrite>(
      m, "Rewrite",
      "What a handler works with: the node that it looks at, and nodes that it makes.")
      .def_property_readonly(
          "node",
          [](const PyRewrite& self) { return self.scope->Of(const_cast<Node*>(&self.get().node)); })
      .def_property_readonly("opset", [](const PyRewrite& self) { return self.get().opset; })
      .def("_make", &MakeOp)
      .def("_constant", [](const PyRewrite& self, const PyTensor& tensor, const std::string& hint) {
        return self.scope->Of(self.get().b.Constant(tensor.tensor, hint));
      });
  py::class_<PyLens>(m, "Lens");
  const auto attribute = [](const py::object& value) {
    py::dict one;
    one["value"] = value;
    return *ToAttributes(one).Find("value");
  };
  const auto lens = [](Lens l) { return PyLens{std::move(l)}; };
  m.def("same", [lens](const std::string& name) { return lens(Same(name)); });
  m.def("renamed", [lens](const std::string& ir, const std::string& foreign) {
    return lens(Renamed(ir, foreign));
  });
  m.def("dropped", [lens](const std::string& foreign) { return lens(Dropped(foreign)); });
  m.def("fixed", [lens, attribute](const std::string& ir, const py::object& value) {
    return lens(Fixed(ir, attribute(value)));
  });
  m.def("foreign_fixed", [lens, attribute](const std::string& foreign, const py::object& value) {
    return lens(ForeignFixed(foreign, attribute(value)));
  });
  m.def("default", [lens, attribute](const std::string& name, const py::object& value) {
    return lens(Attr(name, attribute(value)));
  });
  m.def("operand_as_attr", [lens](const std::string& ir, const std::string& foreign) {
    return lens(OperandAsAttr(ir, foreign));
  });
  m.def("register_dialect", [](const std::string& name) {
    if (!FindDialect(name)) RegisterDialect({.name = name});
  });
  m.def("register_form", &RegisterForm);
  m.def("register_format", &RegisterFormatOf);
  m.def("validate_dialect", &ValidateDialect);
}

}  // namespace x2ir::python
