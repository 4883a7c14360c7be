// The hash of the schema table's name index. The generator (tools/gen_onnx_schemas.cc) places
// the operators by it and schema_table.cc finds them by it, so both must see the same one.
#ifndef X2IR_HANDLERS_ONNX_SCHEMA_HASH_INTERNAL_H_
#define X2IR_HANDLERS_ONNX_SCHEMA_HASH_INTERNAL_H_

#include <cstdint>
#include <string_view>

namespace x2ir {

// FNV-1a over the domain, a separator and the name, its high bits mixed into the low ones.
constexpr uint32_t OnnxSchemaHash(std::string_view domain, std::string_view op) {
  uint32_t h = 2166136261u;
  auto add = [&h](char c) { h = (h ^ static_cast<unsigned char>(c)) * 16777619u; };
  for (char c : domain) add(c);
  add(':');
  for (char c : op) add(c);
  return h ^ (h >> 15);
}

}  // namespace x2ir

#endif  // X2IR_HANDLERS_ONNX_SCHEMA_HASH_INTERNAL_H_
