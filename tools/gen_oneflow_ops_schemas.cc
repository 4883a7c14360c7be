// Makes the table of OneFlow's operators: reads facts/oneflow-ops.json, the records of OneFlow's
// table definitions, and writes the lines that x2ir/formats/oneflow/schema.cc includes, ordered by
// name:
//
//   "dropout|in _add_to_output?|out mask|rate:f32=0. seed:i64=0"
//
// "?" is an operand that may be left out, "*" any number of them. Records that are no operators of
// a job (types, traits, regions) are left out.
//
//   x2ir_gen_oneflow_ops_schemas OPS.json OUT.inc
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void Fail(const std::string& what) { throw std::runtime_error(what); }

// A field of a record, its own or that of the class that it is of.
const Json* FieldOf(const Json& classes, const Json& record, const char* field) {
  for (const Json* at = &record;;) {
    if (at->contains(field)) return &at->at(field);
    const std::string name = at->value("class", "");
    if (name.empty() || !classes.contains(name)) return nullptr;
    at = &classes.at(name);
  }
}

// "TYPE:$name", without what a comment adds.
std::pair<std::string, std::string> Split(std::string text) {
  const size_t at = text.rfind('$');
  if (at == std::string::npos || at == 0) return {};
  std::string type = text.substr(0, at), name = text.substr(at + 1);
  while (!type.empty() && (type.back() == ' ' || type.back() == ':')) type.pop_back();
  name = name.substr(0, name.find(' '));
  return {type, name};
}

std::string Operands(const Json* list) {
  std::string line;
  for (const Json& entry : list ? *list : Json::array()) {
    const auto [type, name] = Split(entry.get<std::string>());
    if (name.empty() || type.starts_with("//")) continue;  // the rest of a comment
    if (!line.empty()) line += ' ';
    line += name;
    if (type.starts_with("Optional<")) line += '?';
    if (type.starts_with("Variadic<")) line += '*';
  }
  return line;
}

std::string Attributes(const Json* list) {
  static const std::map<std::string, std::string> kinds = {
      {"SI32Attr", "i32"},
      {"I32Attr", "i32"},
      {"SI64Attr", "i64"},
      {"BoolAttr", "bool"},
      {"F32Attr", "f32"},
      {"F64Attr", "f64"},
      {"StrAttr", "str"},
      {"ShapeAttr", "shape"},
      {"OneFlow_DataType", "dtype"},
      {"SI32ArrayAttr", "i32s"},
      {"SI64ArrayAttr", "i64s"},
      {"F32ArrayAttr", "f32s"},
      {"StrArrayAttr", "strs"},
      {"DTArrayAttr", "dtypes"},
      {"ShapeArrayAttr", "shapes"},
      {"ComplexDoubleAttr", "complex"},
      {"BytesAttr", "bytes"},
      {"OneFlow_MemoryFormat", "memory_format"},
      {"FlatSymbolRefAttr", "str"}};
  std::string line;
  for (const Json& entry : list ? *list : Json::array()) {
    auto [type, name] = Split(entry.get<std::string>());
    if (name.empty()) Fail("no attribute: " + entry.dump());
    std::string value;
    bool has_default = false;
    const std::string prefix = "DefaultValuedAttr<";
    if (type.starts_with(prefix)) {
      const size_t comma = type.find(','), from = type.find('"'), to = type.rfind('"');
      if (comma == std::string::npos || from == to) Fail("no default: " + type);
      value = type.substr(from + 1, to - from - 1);
      type = type.substr(prefix.size(), comma - prefix.size());
      std::erase_if(value, [](char c) { return c == '"' || c == '\\'; });
      has_default = true;
    }
    const auto kind = kinds.find(type);
    if (kind == kinds.end()) Fail("unknown type " + type + " of " + name);
    if (value.find_first_of(" |") != std::string::npos) Fail("unknown default " + value);
    if (!line.empty()) line += ' ';
    line += name + ":" + kind->second + (has_default ? "=" + value : "");
  }
  return line;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) Fail("usage: x2ir_gen_oneflow_ops_schemas OPS.json OUT.inc");
  std::ifstream in(argv[1]);
  if (!in) Fail(std::string("cannot read ") + argv[1]);
  const Json json = Json::parse(in);
  const Json& classes = json.at("classes");
  std::map<std::string, std::string> lines;
  for (const auto& [name, op] : json.at("ops").items()) {
    const std::string base = op.value("class", "");
    if (base.empty() || base == "IROp" || base == "ConcreteSystemOp") continue;
    lines[name] = Operands(FieldOf(classes, op, "inputs")) + "|" +
                  Operands(FieldOf(classes, op, "outputs")) + "|" +
                  Attributes(FieldOf(classes, op, "attrs"));
  }
  std::ofstream out(argv[2]);
  for (const auto& [name, line] : lines) out << "\"" << name << "|" << line << "\",\n";
  out.close();
  if (!out) Fail(std::string("cannot write ") + argv[2]);
  return 0;
} catch (const std::exception& e) {
  std::cerr << "x2ir_gen_oneflow_ops_schemas: " << e.what() << "\n";
  return 1;
}
