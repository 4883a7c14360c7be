// Makes the table of the printed forms of operations: reads facts/stablehlo-ops.json and writes the
// lines that x2ir/formats/mlir/syntax.cc includes, ordered by name:
//
//   "stablehlo.add|lhs rhs|result||$lhs `,` $rhs attr-dict `:` ..."
//
// operands, results, regions, syntax; "*" any number of them. Operations that print in the generic
// form alone have no line; those with a form of their own code have the syntax "custom".
//
//   x2ir_gen_mlir_syntax OPS.json OUT.inc
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace {

using Json = nlohmann::json;

[[noreturn]] void Fail(const std::string& what) { throw std::runtime_error(what); }

std::string Names(const Json& op, const char* field) {
  std::string line;
  if (!op.contains(field) || op.at(field).is_null()) return line;
  for (const Json& entry : op.at(field)) {
    if (!line.empty()) line += ' ';
    line += entry.at("name").is_null() ? "_" : entry.at("name").get<std::string>();
    if (entry.value("variadic", false)) line += '*';
  }
  return line;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) Fail("usage: x2ir_gen_mlir_syntax OPS.json OUT.inc");
  std::ifstream in(argv[1]);
  if (!in) Fail(std::string("cannot read ") + argv[1]);
  const Json json = Json::parse(in);
  std::map<std::string, std::string> lines;
  for (const std::string dialect : {"stablehlo", "chlo", "check"}) {
    for (const auto& [name, op] : json.at(dialect).items()) {
      std::string syntax;
      const Json& tokens = op.at("syntax");
      if (tokens.is_array()) {
        for (const Json& token : tokens) {
          syntax += (syntax.empty() ? "" : " ") + token.get<std::string>();
        }
      } else if (tokens == "generic") {
        continue;
      } else if (tokens == "custom") {
        syntax = "custom";
      } else {
        Fail("an unknown syntax of " + name);
      }
      lines[dialect + "." + name] = Names(op, "operands") + "|" + Names(op, "results") + "|" +
                                    Names(op, "regions") + "|" + syntax;
    }
  }
  std::ofstream out(argv[2]);
  for (const auto& [name, line] : lines) out << "R\"(" << name << "|" << line << ")\",\n";
  out.close();
  if (!out) Fail(std::string("cannot write ") + argv[2]);
  return 0;
} catch (const std::exception& e) {
  std::cerr << "x2ir_gen_mlir_syntax: " << e.what() << "\n";
  return 1;
}
