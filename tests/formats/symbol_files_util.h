// Files of MXNet and of NNVM, made from their description: graphs as JSON, and lists of arrays.
#ifndef X2IR_TESTS_FORMATS_SYMBOL_FILES_UTIL_H_
#define X2IR_TESTS_FORMATS_SYMBOL_FILES_UTIL_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace x2ir::symbol_files {

// How a list of MXNet writes an array: without a magic number, with 32 bits a size; versions 1
// to 3.
enum class Version { kLegacy, k1, k2, k3 };

struct Array {
  std::vector<int64_t> shape;
  std::string bytes;
  int32_t mxnet_type = 0;  // float32
  uint8_t tvm_code = 2, tvm_bits = 32;
};
Array Floats(std::vector<int64_t> shape, const std::vector<float>& values);

std::string ArrayBytes(const Array& array, Version version);
// Rows of a tensor of that shape; and one in compressed rows.
std::string RowSparse(const std::vector<int64_t>& shape, const std::vector<int64_t>& rows,
                      const std::vector<float>& values);
std::string Csr(const std::vector<int64_t>& shape, const std::vector<int64_t>& starts,
                const std::vector<int64_t>& columns, const std::vector<float>& values);
using Named = std::vector<std::pair<std::string, std::string>>;  // and the array's bytes
std::string MxnetList(const Named& arrays);

std::string TvmList(const std::vector<std::pair<std::string, Array>>& arrays);

// A node, with its attributes as JSON text ("" for none) under that key.
struct SymbolLine {
  std::string op, name;
  std::vector<std::vector<int>> inputs{};
  std::string attrs{}, key = "attrs", more{};
};
std::string SymbolJson(const std::vector<SymbolLine>& nodes, const std::string& heads,
                       const std::string& attrs = R"({"mxnet_version": ["int", 10700]})");

// A small network with a convolution, a normalization and a loss layer, as several ages of MXNet
// wrote it, and its parameters: weights of 1, a gamma of 5, which is fixed.
std::string NetworkJson(int version);  // 800, 905, 10700
std::string NetworkParams(Version version);

}  // namespace x2ir::symbol_files

#endif  // X2IR_TESTS_FORMATS_SYMBOL_FILES_UTIL_H_
