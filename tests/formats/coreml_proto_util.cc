// Implements the JSON form of Core ML's messages. Shares no code with x2ir/formats.
#include "tests/formats/coreml_proto_util.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>

namespace x2ir::testing_util {
namespace {

using nlohmann::json;

const std::string kPackage = "CoreML.Specification.";

const json& Facts() {
  static const auto* const facts =
      new json(json::parse(std::ifstream(X2IR_SOURCE_DIR "/facts/coreml-proto-fields.json")));
  return *facts;
}

// The row of a field by its name or number; null where there is none.
json FieldOf(const std::string& message, std::string_view key, const json& wanted) {
  const json& messages = Facts()["messages"];
  if (!messages.contains(message)) {
    std::cerr << "no message " << message << "\n";
    std::abort();
  }
  for (const json& field : messages[message]) {
    if (field[std::string(key)] == wanted) return field;
  }
  return nullptr;
}

bool IsMessageType(const std::string& type) { return Facts()["messages"].contains(type); }
bool IsEnumType(const std::string& type) { return Facts()["enums"].contains(type); }

void PutCoremlVarint(std::string* out, uint64_t value) {
  for (; value >= 128; value /= 128) out->push_back(static_cast<char>(value % 128 + 128));
  out->push_back(static_cast<char>(value));
}

void PutField(std::string* out, const json& field, const json& value);

std::string EncodeOf(const std::string& message, const json& value) {
  std::string out;
  for (const auto& [name, entry] : value.items()) {
    const json field = FieldOf(message, "name", name);
    if (field.is_null()) {
      std::cerr << message << " has no field " << name << "\n";
      std::abort();
    }
    if (field["label"] == "repeated") {
      for (const json& each : entry) PutField(&out, field, each);
    } else {
      PutField(&out, field, entry);
    }
  }
  return out;
}

void PutField(std::string* out, const json& field, const json& value) {
  const std::string type = field["type"];
  const uint64_t number = field["number"];
  const auto put = [&](uint64_t wire) { PutCoremlVarint(out, number * 8 + wire); };
  if (IsMessageType(type) || type == "string" || type == "bytes") {
    const std::string bytes =
        IsMessageType(type) ? EncodeOf(type, value) : value.get<std::string>();
    put(2);
    PutCoremlVarint(out, bytes.size());
    out->append(bytes);
  } else if (type == "float") {
    put(5);
    const float f = value.get<float>();
    out->append(reinterpret_cast<const char*>(&f), 4);
  } else if (type == "double") {
    put(1);
    const double d = value.get<double>();
    out->append(reinterpret_cast<const char*>(&d), 8);
  } else {
    put(0);
    int64_t n = 0;
    if (IsEnumType(type)) {
      n = Facts()["enums"][type][value.get<std::string>()];
    } else if (value.is_boolean()) {
      n = value.get<bool>();
    } else {
      n = value.get<int64_t>();
    }
    PutCoremlVarint(out, static_cast<uint64_t>(n));
  }
}

struct Cursor {
  std::string_view bytes;
  size_t at = 0;
  bool broken = false;
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; at < bytes.size() && shift < 64; shift += 7) {
      const auto byte = static_cast<uint8_t>(bytes[at++]);
      value |= uint64_t{byte & 127u} << shift;
      if (byte < 128) return value;
    }
    broken = true;
    return 0;
  }
  std::string_view Take(size_t size) {
    if (size > bytes.size() - at) {
      broken = true;
      return {};
    }
    at += size;
    return bytes.substr(at - size, size);
  }
};

json NumberOf(const std::string& type, uint64_t value) {
  if (IsEnumType(type)) {
    for (const auto& [name, number] : Facts()["enums"][type].items()) {
      if (number == value) return name;
    }
  }
  if (type == "bool") return value != 0;
  return static_cast<int64_t>(value);
}

template <typename T>
T LoadOf(std::string_view bytes) {
  T value{};
  if (bytes.size() == sizeof(T)) std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

json DecodeOf(const std::string& message, std::string_view bytes) {
  json out = json::object();
  Cursor in{bytes};
  while (in.at < bytes.size() && !in.broken) {
    const size_t begin = in.at;
    const uint64_t tag = in.Varint(), wire = tag % 8;
    const json field = FieldOf(message, "number", tag / 8);
    if (field.is_null()) return {{"broken", begin}, {"message", message}};
    const std::string name = field["name"], type = field["type"];
    const bool repeated = field["label"] == "repeated";
    std::vector<json> values;
    if (wire == 0) {
      values.push_back(NumberOf(type, in.Varint()));
    } else if (wire == 1) {
      values.push_back(LoadOf<double>(in.Take(8)));
    } else if (wire == 5) {
      values.push_back(LoadOf<float>(in.Take(4)));
    } else if (wire == 2) {
      const uint64_t size = in.Varint();
      const std::string_view content = in.Take(size);
      if (IsMessageType(type)) {
        values.push_back(DecodeOf(type, content));
      } else if (type == "string" || type == "bytes") {
        values.emplace_back(std::string(content));
      } else {  // packed
        Cursor packed{content};
        while (packed.at < content.size() && !packed.broken) {
          values.push_back(type == "float"    ? json(LoadOf<float>(packed.Take(4)))
                           : type == "double" ? json(LoadOf<double>(packed.Take(8)))
                                              : NumberOf(type, packed.Varint()));
        }
        in.broken = in.broken || packed.broken;
      }
    } else {
      in.broken = true;
    }
    for (json& value : values) {
      if (repeated) {
        out[name].push_back(std::move(value));
      } else {
        out[name] = std::move(value);
      }
    }
  }
  if (in.broken) return {{"broken", in.at}, {"message", message}};
  return out;
}

}  // namespace

std::string EncodeCoreml(std::string_view message, const json& value) {
  return EncodeOf(kPackage + std::string(message), value);
}

json DecodeCoreml(std::string_view message, std::string_view bytes) {
  return DecodeOf(kPackage + std::string(message), bytes);
}

}  // namespace x2ir::testing_util
