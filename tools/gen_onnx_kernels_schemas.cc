// Makes the table of kernels that ONNX Runtime does not have: reads facts/onnxruntime-kernels.txt
// and writes the rows that x2ir/handlers/onnx/kernels.cc includes.
//
//   x2ir_gen_onnx_kernels_schemas KERNELS.txt OUT.inc
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

int main(int argc, char** argv) try {
  if (argc != 3)
    throw std::runtime_error("usage: x2ir_gen_onnx_kernels_schemas KERNELS.txt OUT.inc");
  std::ifstream in(argv[1]);
  std::ofstream out(argv[2]);
  int rows = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string op, last, types;
    int first = 0, operand = 0;
    if (!(words >> op >> first >> last >> operand >> std::ws && std::getline(words, types)) ||
        line.find_first_of("\\\"") != std::string::npos) {
      throw std::runtime_error("not an operator, two opsets, an operand and types: " + line);
    }
    const int end = last == "-" ? 0 : std::stoi(last);
    if (end != 0 && end < first) throw std::runtime_error("opsets in the wrong order: " + line);
    out << "{\"" << op << "\", " << first << ", " << (end == 0 ? "kOn" : last) << ", " << operand
        << ", \"" << types << "\"},\n";
    ++rows;
  }
  if (rows == 0) throw std::runtime_error(std::string("cannot read ") + argv[1]);
  out.close();
  if (!out) throw std::runtime_error(std::string("cannot write ") + argv[2]);
  return 0;
} catch (const std::exception& e) {
  std::cerr << "x2ir_gen_onnx_kernels_schemas: " << e.what() << "\n";
  return 1;
}
