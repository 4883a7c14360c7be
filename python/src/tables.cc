#include "tables.h"

#include <pybind11/stl.h>

#include "errors.h"
#include "tensors.h"
#include "x2ir/core/ops_table.h"
#include "x2ir/formats/format.h"

namespace x2ir::python {
namespace {

py::list OptionsOf(const std::vector<OptionDef>& defs) {
  py::list options;
  for (const OptionDef& def : defs) {
    options.append(
        py::dict(py::arg("name") = WordOf(def.name), py::arg("help") = TextOf(def.help)));
  }
  return options;
}

}  // namespace

void BindTables(py::module_& m) {
  m.def("ops_json", [](const std::string& dialect, std::optional<int> opset) {
    return TextOf(GetOptions(MakeOpsTable(dialect, opset)).ToJson());
  });
  m.def("formats", [] {
    py::list all;
    for (const Format* format : AllFormats()) {
      all.append(py::dict(
          py::arg("name") = format->name, py::arg("doc") = TextOf(format->doc),
          py::arg("dialect") = format->dialect, py::arg("extensions") = format->extensions,
          py::arg("reads") = format->read != nullptr, py::arg("writes") = format->write != nullptr,
          py::arg("read_options") = OptionsOf(format->read_options),
          py::arg("write_options") = OptionsOf(format->write_options)));
    }
    return all;
  });
}

}  // namespace x2ir::python
