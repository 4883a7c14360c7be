// Makes the table of Core ML's messages: reads facts/coreml-proto-fields.json and writes the lines
// that x2ir/formats/coreml/fields.cc includes, ordered by name:
//
//   "message ConvolutionLayerParams|1 outputChannels uint64|20 kernelSize uint64*"
//   "enum ReduceLayerParams.ReduceAxis|0 CHW|1 HW"
//
// "*" is a repeated field. Names are without the package that they share.
//
//   x2ir_gen_coreml_schemas FIELDS.json OUT.inc
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>

namespace {

using Json = nlohmann::ordered_json;

std::string Short(const std::string& name) {
  static const std::string package = "CoreML.Specification.";
  return name.starts_with(package) ? name.substr(package.size()) : name;
}

int Run(const std::string& facts, const std::string& output) {
  std::ifstream in(facts);
  if (!in) throw std::runtime_error("cannot read " + facts);
  const Json json = Json::parse(in);
  std::set<std::string> lines;
  for (const auto& [name, fields] : json.at("messages").items()) {
    std::string line = "message " + Short(name);
    for (const Json& field : fields) {
      line += '|' + std::to_string(field.at("number").get<int>()) + ' ' +
              field.at("name").get<std::string>() + ' ' +
              Short(field.at("type").get<std::string>());
      if (field.at("label").get<std::string>() == "repeated") line += '*';
    }
    lines.insert(line);
  }
  for (const auto& [name, values] : json.at("enums").items()) {
    std::map<int, std::string> by_number;
    for (const auto& [value, number] : values.items()) by_number[number.get<int>()] = value;
    std::string line = "enum " + Short(name);
    for (const auto& [number, value] : by_number) {
      line += '|' + std::to_string(number) + ' ' + value;
    }
    lines.insert(line);
  }
  std::ofstream out(output);
  for (const std::string& line : lines) out << '"' << line << "\",\n";
  out.flush();
  if (!out) throw std::runtime_error("cannot write " + output);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: x2ir_gen_coreml_schemas FIELDS.json OUT.inc\n";
    return 2;
  }
  try {
    return Run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::cerr << "x2ir_gen_coreml_schemas: " << error.what() << '\n';
    return 1;
  }
}
