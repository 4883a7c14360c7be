// Makes the table of PyTorch's operator schemas: reads facts/torch-ops.json and writes the strings
// that x2ir/handlers/torch/schemas.cc includes, ordered by name ("aten::relu", "aten::add.Tensor"),
// without what they say of aliases ("Tensor(a)" is "Tensor").
//
//   x2ir_gen_torch_schemas OPS.json OUT.inc
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace {

// Drops "(a)", "(a -> *)" after a type's name; the lists of arguments and results stay.
std::string WithoutAliases(const std::string& schema) {
  std::string text;
  bool arguments = false;
  for (size_t i = 0; i < schema.size(); ++i) {
    const bool of_type =
        arguments && schema[i] == '(' && schema[i - 1] != ' ' && schema[i - 1] != '(';
    arguments = arguments || schema[i] == '(';
    if (!of_type) {
      text += schema[i];
      continue;
    }
    i = schema.find(')', i);
    if (i == std::string::npos) throw std::runtime_error("no end of an alias: " + schema);
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("usage: x2ir_gen_torch_schemas OPS.json OUT.inc");
  std::ifstream in(argv[1]);
  const nlohmann::json facts = nlohmann::json::parse(in);
  std::map<std::string, std::string> schemas;
  for (const nlohmann::json& op : facts.at("ops")) {
    const std::string schema = op.get<std::string>();
    const std::string name = schema.substr(0, schema.find('('));
    if (schema.find("->") == std::string::npos || schema.find('\\') != std::string::npos ||
        !schemas.emplace(name, WithoutAliases(schema)).second) {
      throw std::runtime_error("no schema, or one of a name that is there: " + schema);
    }
  }
  std::ofstream out(argv[2]);
  for (const auto& [name, schema] : schemas) out << nlohmann::json(schema).dump() << ",\n";
  out.close();
  if (!out) throw std::runtime_error(std::string("cannot write ") + argv[2]);
  return 0;
} catch (const std::exception& e) {
  std::cerr << "x2ir_gen_torch_schemas: " << e.what() << "\n";
  return 1;
}
