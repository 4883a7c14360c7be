#include "errors.h"

#include <pybind11/stl.h>

#include <algorithm>

#include "x2ir/formats/option_texts.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::python {
namespace {

// Names of models are bytes; Python's texts are not.
py::str Text(std::string_view text) {
  PyObject* object =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (!object) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(object);
}

py::list Texts(const std::vector<std::string>& texts) {
  py::list list;
  for (const std::string& text : texts) list.append(Text(WithWords(text)));
  return list;
}

}  // namespace

std::string WordOf(std::string_view option) {
  std::string word = OptionKey(option);
  std::replace(word.begin(), word.end(), '-', '_');
  return word;
}

std::string WithWords(std::string_view text) {
  return WithOptionNames(text, [](std::string_view name) {
    if (name.starts_with("no_")) return StrCat("option '", WordOf(name.substr(3)), "=False'");
    return OptionText(WordOf(name));
  });
}

namespace {

std::string Summary(const Report& r) {
  return StrCat("<x2ir.Report: ", r.nodes_read, " nodes read, ", r.nodes_written, " written, ",
                r.failures.size(), " ops failed>");
}

}  // namespace

void Raise(const absl::Status& status, const std::shared_ptr<Report>& report, Fault fault) {
  constexpr const char* kFaults[] = {"", "option", "input"};
  const py::object make = py::module_::import("x2ir._errors").attr("make");
  const std::optional<std::string> name = OptionOf(status);
  const py::object error =
      make(absl::StatusCodeToString(status.code()), Text(WithWords(std::string(status.message()))),
           report ? py::cast(report) : py::none(),
           name ? py::object(Text(WordOf(*name))) : py::none(), kFaults[static_cast<int>(fault)]);
  PyErr_SetObject(py::type::handle_of(error).ptr(), error.ptr());
  throw py::error_already_set();
}

bool Watch::GoOn(int64_t done, int64_t total) {
  constexpr std::chrono::milliseconds kPeriod{20};
  if (error_) return false;
  if (const auto now = Clock::now(); now - last_ >= kPeriod || (callback_ && done == total)) {
    last_ = now;
  } else {
    return true;
  }
  const py::gil_scoped_acquire acquire;
  try {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!callback_ || callback_.is_none()) return true;
    const py::object answer = callback_(done, total);
    return answer.is_none() || answer.cast<bool>();
  } catch (py::error_already_set& error) {
    error_.emplace(std::move(error));
    return false;
  }
}

namespace {

py::dict Counts(const std::map<std::string, int64_t>& counts) {
  py::dict result;
  for (const auto& [op, count] : counts) result[Text(op)] = count;
  return result;
}

}  // namespace

void BindReport(py::module_& m) {
  py::class_<Failure>(m, "Failure", "An op that could not be converted, for one reason.")
      .def_property_readonly("op", [](const Failure& f) { return Text(f.op); })
      .def_property_readonly(
          "node", [](const Failure& f) { return Text(f.nodes.empty() ? "" : f.nodes[0]); })
      .def_property_readonly("nodes",
                             [](const Failure& f) {
                               py::list nodes;
                               for (const std::string& node : f.nodes) nodes.append(Text(node));
                               return nodes;
                             })
      .def_property_readonly("reason", [](const Failure& f) { return Text(WithWords(f.reason)); })
      .def_property_readonly("hint", [](const Failure& f) { return Text(WithWords(f.hint)); })
      .def_property_readonly("code",
                             [](const Failure& f) { return absl::StatusCodeToString(f.code); })
      .def_readonly("count", &Failure::count)
      .def("__repr__", [](const Failure& f) {
        return Text(WithWords(StrCat("<x2ir.Failure ", f.op, ": ", f.reason, ">")));
      });
  py::class_<Report, std::shared_ptr<Report>>(m, "Report", "What a conversion did.")
      .def_readonly("nodes_read", &Report::nodes_read)
      .def_readonly("nodes_written", &Report::nodes_written)
      .def_property_readonly("mapped", &Report::mapped)
      .def_property_readonly("foreign", &Report::foreign)
      .def_property_readonly("ops",
                             [](const Report& r) {
                               py::dict ops;
                               for (const auto& [op, count] : r.ops) {
                                 ops[Text(op)] = py::dict(py::arg("mapped") = count.mapped,
                                                          py::arg("foreign") = count.foreign,
                                                          py::arg("lowered") = count.lowered);
                               }
                               return ops;
                             })
      .def_property_readonly("ops_read", [](const Report& r) { return Counts(r.ops_read); })
      .def_property_readonly("ops_written", [](const Report& r) { return Counts(r.ops_written); })
      .def_property_readonly("failures", [](const Report& r) { return py::cast(r.failures); })
      .def_property_readonly("warnings", [](const Report& r) { return Texts(r.warnings); })
      .def_property_readonly("notes", [](const Report& r) { return Texts(r.notes); })
      .def_property_readonly("checks", [](const Report& r) { return Texts(r.checks); })
      .def_property_readonly("passes",
                             [](const Report& r) {
                               py::dict passes;
                               for (const PassResult& pass : r.passes) {
                                 passes[Text(pass.name)] = pass.changes;
                               }
                               return passes;
                             })
      .def("to_json", [](const Report& r) { return Text(r.ToJson()); })
      .def("__str__",
           [](const Report& r) {
             return Text(r.failures.empty() ? Summary(r) : WithWords(r.FailuresText()));
           })
      .def("__repr__", [](const Report& r) { return Text(Summary(r)); });
}

}  // namespace x2ir::python
