// Makes the table of the ops that TensorFlow.js executes: reads facts/tfjs-ops.json and writes the
// lines that x2ir/handlers/tfjs/ops.cc includes, ordered by name: {"MaxPool", "", "ksize padding
// strides"},
//
//   x2ir_gen_tfjs_ops_schemas OPS.json OUT.inc
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: x2ir_gen_tfjs_ops_schemas OPS.json OUT.inc\n";
    return 2;
  }
  try {
    std::ifstream in(argv[1]);
    const auto facts = nlohmann::json::parse(in);
    std::ofstream out(argv[2]);
    for (const auto& op : facts.at("ops")) {
      std::string attrs;
      for (const auto& attr : op.at(1)) {
        if (!attrs.empty()) attrs += ' ';
        attrs += attr.get<std::string>();
      }
      out << "{\"" << op.at(0).get<std::string>() << "\", \"\", \"" << attrs << "\"},\n";
    }
    if (!out.flush()) throw std::runtime_error("cannot write it");
  } catch (const std::exception& e) {
    std::cerr << argv[1] << ": " << e.what() << "\n";
    return 1;
  }
  return 0;
}
