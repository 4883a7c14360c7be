// Makes the table of OneFlow's names: reads facts/oneflow-names.txt and writes the strings that
// x2ir/formats/python/oneflow.cc includes, ordered by name ("flow.cat(inputs, dim)").
//
//   x2ir_gen_oneflow_schemas NAMES.txt OUT.inc
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

int main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("usage: x2ir_gen_oneflow_schemas NAMES.txt OUT.inc");
  std::ifstream in(argv[1]);
  std::map<std::string, std::string> names;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const bool plain = line.find_first_of("\\\"") == std::string::npos;
    if (!plain || !names.emplace(line.substr(0, line.find('(')), line).second) {
      throw std::runtime_error("no name, or one that is there: " + line);
    }
  }
  if (names.empty()) throw std::runtime_error(std::string("cannot read ") + argv[1]);
  std::ofstream out(argv[2]);
  for (const auto& [name, line] : names) out << "\"" << line << "\",\n";
  out.close();
  if (!out) throw std::runtime_error(std::string("cannot write ") + argv[2]);
  return 0;
} catch (const std::exception& e) {
  std::cerr << "x2ir_gen_oneflow_schemas: " << e.what() << "\n";
  return 1;
}
