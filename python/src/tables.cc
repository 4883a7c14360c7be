#include "tables.h"

#include <pybind11/stl.h>

#include <algorithm>

#include "errors.h"
#include "tensors.h"
#include "x2ir/core/conversion_options.h"
#include "x2ir/formats/format.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/inspect/ops_table.h"

namespace x2ir::python {
namespace {

// Help texts speak of the flags of the programs: "--keep-io", "--no-optimize".
std::string HelpInWords(std::string_view help) {
  std::string text;
  for (size_t at; (at = help.find("--")) != help.npos;) {
    text += help.substr(0, at);
    help.remove_prefix(at + 2);
    const bool off = help.starts_with("no-");
    if (off) help.remove_prefix(3);
    const size_t end = help.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-");
    const std::string_view flag = help.substr(0, end);
    StrAppend(&text, WordOf(flag), off ? "=False" : "");
    help.remove_prefix(flag.size());
  }
  return StrCat(text, help);
}

py::list OptionsOf(const std::vector<OptionDef>& defs) {
  py::list options;
  for (const OptionDef& def : defs) {
    options.append(py::dict(py::arg("name") = WordOf(def.name),
                            py::arg("help") = TextOf(HelpInWords(def.help))));
  }
  return options;
}

// One option of conversions, by its keyword; those of formats that have one of the same name
// are one.
struct KnownOption {
  const OptionDef* def;
  bool reads = false, writes = false;
  std::vector<std::string> formats;  // whose it is; empty: of every conversion
};

std::vector<KnownOption> KnownOptions() {
  std::vector<KnownOption> all;
  for (const ConversionOption& option : ConversionOptions()) {
    all.push_back({&option.def,
                   option.side != ConversionOption::kExport,
                   option.side != ConversionOption::kImport,
                   {}});
  }
  const size_t of_conversions = all.size();
  const auto add = [&](const Format& format, const OptionDef& def, bool reads) {
    const auto same = [&](const KnownOption& known) { return known.def->name == def.name; };
    auto it = std::find_if(all.begin(), all.end(), same);
    if (it == all.end()) it = all.insert(all.end(), {&def, false, false, {}});
    (reads ? it->reads : it->writes) = true;
    const bool own = static_cast<size_t>(it - all.begin()) >= of_conversions;
    if (own && (it->formats.empty() || it->formats.back() != format.name)) {
      it->formats.push_back(format.name);
    }
  };
  for (const Format* format : AllFormats()) {
    for (const OptionDef& def : format->read_options) add(*format, def, true);
    for (const OptionDef& def : format->write_options) add(*format, def, false);
  }
  return all;
}

}  // namespace

void BindTables(py::module_& m) {
  m.def("ops_json", [](const std::string& dialect, std::optional<int> opset) {
    return TextOf(GetOptions(MakeOpsTable(dialect, opset)).ToJson());
  });
  m.def("options", [] {
    constexpr const char* kTypes[] = {"flag", "int", "size", "text", "choice", "list"};
    py::list all;
    for (const KnownOption& option : KnownOptions()) {
      const OptionDef& def = *option.def;
      all.append(py::dict(py::arg("name") = WordOf(def.name), py::arg("type") = kTypes[def.type],
                          py::arg("help") = TextOf(HelpInWords(def.help)),
                          py::arg("choices") = def.choices, py::arg("reads") = option.reads,
                          py::arg("writes") = option.writes, py::arg("formats") = option.formats));
    }
    return all;
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
