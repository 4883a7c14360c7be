// What the reader and the writer of IR files share: the names in the schema.
#ifndef X2IR_FORMATS_IR_IR_INTERNAL_H_
#define X2IR_FORMATS_IR_IR_INTERNAL_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "x2ir/graph_wrapper/dtype.h"

namespace x2ir::ir {

inline constexpr std::string_view kFormat = "x2ir";
inline constexpr int64_t kVersion = 1;
inline constexpr std::string_view kExtension = ".safetensors";
// In the metadata of a weight file: who wrote it.
inline constexpr std::string_view kMark = "x2ir";
inline constexpr std::string_view kOfWeights = "weights of an IR model";
// A placeholder for the JSON file's own stem in the name of a weight file.
inline constexpr char kStem = '*';
inline constexpr int kMaxDepth = 200;      // of graphs in graphs
inline constexpr int64_t kMaxInline = 16;  // elements of a constant written in the JSON

// Calls f(T()) for the C++ type of an element type that the JSON can show as numbers or
// booleans; returns whether it is one.
template <typename F>
bool WithInlineType(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kBool: f(bool()); return true;
    case DType::kInt8: f(int8_t()); return true;
    case DType::kInt16: f(int16_t()); return true;
    case DType::kInt32: f(int32_t()); return true;
    case DType::kInt64: f(int64_t()); return true;
    case DType::kUInt8: f(uint8_t()); return true;
    case DType::kUInt16: f(uint16_t()); return true;
    case DType::kUInt32: f(uint32_t()); return true;
    case DType::kUInt64: f(uint64_t()); return true;
    case DType::kFloat32: f(float()); return true;
    case DType::kFloat64: f(double()); return true;
    default: return false;
  }
}

// The unsigned integer with the bits of a float, and the NaN that is written "nan".
template <typename T>
struct FloatBits;
template <>
struct FloatBits<float> {
  using Bits = uint32_t;
  static constexpr Bits kNan = 0x7fc00000;
};
template <>
struct FloatBits<double> {
  using Bits = uint64_t;
  static constexpr Bits kNan = 0x7ff8000000000000;
};

// Folder of a path with its slash ("" is the current one), and the name without extension.
struct PathParts {
  std::string folder;
  std::string stem;
};
PathParts SplitPath(const std::string& path);
// Of the file of weights beside a JSON file.
std::string WeightsPath(const std::string& json_path);

}  // namespace x2ir::ir

#endif  // X2IR_FORMATS_IR_IR_INTERNAL_H_
