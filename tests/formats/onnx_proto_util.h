// ONNX protos as JSON, by the field table in facts/onnx-proto-fields.json: tests write what
// a file holds and compare what came out, independently of the reader and the writer.
//
//   EncodeProto("ModelProto", R"({"ir_version": 8, "graph": {"name": "g"}})"_json)
//
// Repeated fields are arrays; enums are numbers; bytes are strings (any bytes). The key
// "#N" is an unknown field N: a string, or a number.
#ifndef TESTS_FORMATS_ONNX_PROTO_UTIL_H_
#define TESTS_FORMATS_ONNX_PROTO_UTIL_H_

#include <set>
#include <string>
#include <string_view>

#include "nlohmann/json.hpp"

namespace x2ir::testing_util {

// Numbers are packed as onnx.proto says, or everywhere, or nowhere.
enum class Packing { kAsDeclared, kAlways, kNever };

// Dies on a field that the message does not have.
std::string EncodeProto(std::string_view message, const nlohmann::json& value,
                        Packing packing = Packing::kAsDeclared);
// Takes numbers packed or not. A broken message gives {"broken": offset}.
nlohmann::json DecodeProto(std::string_view message, std::string_view bytes);

// "Message.field" of every field that occurs in `value`.
void CollectFields(std::string_view message, const nlohmann::json& value,
                   std::set<std::string>* fields);
// The same for all that the table has.
std::set<std::string> AllFields();

// Where two decoded protos differ, one place a line; empty when equal.
std::string Differences(const nlohmann::json& a, const nlohmann::json& b);

}  // namespace x2ir::testing_util

#endif  // TESTS_FORMATS_ONNX_PROTO_UTIL_H_
