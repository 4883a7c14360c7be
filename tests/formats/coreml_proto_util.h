// Core ML's messages as JSON, by the field table in facts/coreml-proto-fields.json: tests write
// what a file holds and look at what was written, independently of the reader and the writer.
//
//   EncodeCoreml("Model", R"({"specificationVersion": 7, "description": {...}})"_json)
//
// Names of messages are without the package "CoreML.Specification". Repeated fields are arrays,
// maps arrays of {"key", "value"}; enums are their names; bytes are strings.
#ifndef TESTS_FORMATS_COREML_PROTO_UTIL_H_
#define TESTS_FORMATS_COREML_PROTO_UTIL_H_

#include <string>
#include <string_view>

#include "nlohmann/json.hpp"

namespace x2ir::testing_util {

// Dies on a field that the message does not have.
std::string EncodeCoreml(std::string_view message, const nlohmann::json& value);
// A field that the table does not have, and what is no message, is {"broken": offset}.
nlohmann::json DecodeCoreml(std::string_view message, std::string_view bytes);

}  // namespace x2ir::testing_util

#endif  // TESTS_FORMATS_COREML_PROTO_UTIL_H_
