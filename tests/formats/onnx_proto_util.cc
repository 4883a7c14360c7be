// Implements the JSON form of ONNX protos. Shares no code with x2ir/formats.
#include "tests/formats/onnx_proto_util.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <vector>

namespace x2ir::testing_util {
namespace {

using nlohmann::json;

struct Field {
  uint32_t number;
  std::string name;
  std::string type;  // a scalar's name, or of a message with what it is nested in
  bool repeated;
  bool is_message;
};

struct Table {
  std::map<std::string, std::vector<Field>, std::less<>> messages;
};

bool IsScalar(const std::string& type) {
  static const std::set<std::string> kScalars = {"float",  "double", "int32", "int64",
                                                 "uint64", "string", "bytes"};
  return kScalars.contains(type);
}

const Table& GetTable() {
  static const Table* const table = [] {
    std::ifstream in(X2IR_SOURCE_DIR "/facts/onnx-proto-fields.json");
    const json facts = json::parse(in);
    auto* t = new Table;
    // Enums have pairs of number and name where messages have a type as well.
    const auto is_message = [&](const std::string& name) {
      return facts.contains(name) && facts[name][0].size() > 2;
    };
    for (const auto& [message, rows] : facts.items()) {
      if (!is_message(message)) continue;
      for (const json& row : rows) {
        Field field = {row[0], row[1], row[2], false, false};
        if (field.type.starts_with("repeated ")) {
          field.repeated = true;
          field.type = field.type.substr(9);
        }
        if (!IsScalar(field.type)) {
          // Nested names are looked for from the inside out.
          std::string scope = message;
          while (!facts.contains(scope + "." + field.type) && scope.find('.') != scope.npos) {
            scope.resize(scope.rfind('.'));
          }
          if (facts.contains(scope + "." + field.type)) field.type = scope + "." + field.type;
          field.is_message = is_message(field.type);
          if (!field.is_message) field.type = "int32";  // an enum
        }
        t->messages[message].push_back(field);
      }
    }
    return t;
  }();
  return *table;
}

const std::vector<Field>& FieldsOf(std::string_view message) {
  auto it = GetTable().messages.find(message);
  if (it == GetTable().messages.end()) {
    std::cerr << "no message " << message << "\n";
    std::abort();
  }
  return it->second;
}

const Field* FindField(std::string_view message, std::string_view name) {
  for (const Field& field : FieldsOf(message)) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

const Field* FindField(std::string_view message, uint32_t number) {
  for (const Field& field : FieldsOf(message)) {
    if (field.number == number) return &field;
  }
  return nullptr;
}

void PutVarint(std::string* out, uint64_t value) {
  while (value >= 128) {
    out->push_back(static_cast<char>(value % 128 + 128));
    value /= 128;
  }
  out->push_back(static_cast<char>(value));
}

void PutBytes(std::string* out, uint32_t number, std::string_view bytes) {
  PutVarint(out, number * 8 + 2);
  PutVarint(out, bytes.size());
  out->append(bytes);
}

int WireTypeOf(const std::string& type) {
  if (type == "float") return 5;
  if (type == "double") return 1;
  return type == "string" || type == "bytes" ? 2 : 0;
}

void PutNumber(std::string* out, const std::string& type, const json& value) {
  if (type == "float") {
    const float f = value.get<float>();
    out->append(reinterpret_cast<const char*>(&f), 4);
  } else if (type == "double") {
    const double d = value.get<double>();
    out->append(reinterpret_cast<const char*>(&d), 8);
  } else {
    PutVarint(out, value.is_number_unsigned() ? value.get<uint64_t>()
                                              : static_cast<uint64_t>(value.get<int64_t>()));
  }
}

void PutField(std::string* out, const Field& field, const json& value, Packing packing) {
  if (field.is_message) return PutBytes(out, field.number, EncodeProto(field.type, value, packing));
  if (WireTypeOf(field.type) == 2) return PutBytes(out, field.number, value.get<std::string>());
  PutVarint(out, field.number * 8 + WireTypeOf(field.type));
  PutNumber(out, field.type, value);
}

// The typed data of tensors is what onnx.proto declares as packed.
bool IsPacked(std::string_view message, const Field& field, Packing packing) {
  if (!field.repeated || field.is_message || WireTypeOf(field.type) == 2) return false;
  if (packing != Packing::kAsDeclared) return packing == Packing::kAlways;
  return message == "TensorProto" && field.name.ends_with("_data");
}

struct Cursor {
  std::string_view bytes;
  size_t pos = 0;
  bool ok = true;
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (pos >= bytes.size()) break;
      const uint64_t byte = static_cast<unsigned char>(bytes[pos++]);
      value += (byte % 128) << shift;
      if (byte < 128) return value;
    }
    ok = false;
    return 0;
  }
  std::string_view Take(uint64_t n) {
    if (n > bytes.size() - pos) {
      ok = false;
      n = 0;
    }
    pos += n;
    return bytes.substr(pos - n, n);
  }
};

json TakeNumber(Cursor* in, const std::string& type) {
  if (type == "float" || type == "double") {
    float f = 0;
    double d = 0;
    const std::string_view bytes = in->Take(type == "float" ? 4 : 8);
    if (!in->ok) return nullptr;
    std::memcpy(type == "float" ? static_cast<void*>(&f) : &d, bytes.data(), bytes.size());
    return type == "float" ? json(f) : json(d);
  }
  const uint64_t value = in->Varint();
  if (type == "uint64") return value;
  if (type == "int32") return static_cast<int32_t>(value);
  return static_cast<int64_t>(value);
}

void Compare(const std::string& at, const json& a, const json& b, std::string* out) {
  if (a == b || out->size() > 2000) return;
  if (a.is_object() && b.is_object()) {
    for (const auto& [key, value] : a.items()) {
      Compare(at + "/" + key, value, b.contains(key) ? b[key] : json(), out);
    }
    for (const auto& [key, value] : b.items()) {
      if (!a.contains(key)) Compare(at + "/" + key, json(), value, out);
    }
  } else if (a.is_array() && b.is_array() && a.size() == b.size()) {
    for (size_t i = 0; i < a.size(); ++i) {
      Compare(at + "/" + std::to_string(i), a[i], b[i], out);
    }
  } else {
    const auto text = [](const json& j) {
      return j.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 200);
    };
    *out += at + ": " + text(a) + " | " + text(b) + "\n";
  }
}

}  // namespace

std::string EncodeProto(std::string_view message, const json& value, Packing packing) {
  std::string out;
  for (const Field& field : FieldsOf(message)) {
    if (!value.contains(field.name)) continue;
    const json& v = value[field.name];
    if (IsPacked(message, field, packing)) {
      std::string numbers;
      for (const json& element : v) PutNumber(&numbers, field.type, element);
      PutBytes(&out, field.number, numbers);
    } else if (field.repeated) {
      for (const json& element : v) PutField(&out, field, element, packing);
    } else {
      PutField(&out, field, v, packing);
    }
  }
  for (const auto& [key, v] : value.items()) {
    if (key.starts_with("#")) {
      const uint32_t number = static_cast<uint32_t>(std::stoul(key.substr(1)));
      const bool text = v.is_string();
      PutField(&out, {number, key, text ? "string" : "int64", false, false}, v, packing);
    } else if (FindField(message, key) == nullptr) {
      std::cerr << message << " has no field " << key << "\n";
      std::abort();
    }
  }
  return out;
}

json DecodeProto(std::string_view message, std::string_view bytes) {
  json out = json::object();
  Cursor in{bytes};
  while (in.ok && in.pos < bytes.size()) {
    const uint64_t tag = in.Varint();
    const int wire = static_cast<int>(tag % 8);
    const Field* field = FindField(message, static_cast<uint32_t>(tag / 8));
    if (field == nullptr) {
      const std::string key = "#" + std::to_string(tag / 8);
      out[key] = wire == 2 ? json(std::string(in.Take(in.Varint()))) : json(in.Varint());
      continue;
    }
    json value;
    if (wire != 2) {
      in.ok = in.ok && wire == WireTypeOf(field->type);
      value = TakeNumber(&in, field->type);
    } else {
      const std::string_view part = in.Take(in.Varint());
      if (field->is_message) {
        value = DecodeProto(field->type, part);
      } else if (WireTypeOf(field->type) == 2) {
        value = std::string(part);
      } else {
        Cursor packed{part};
        while (packed.ok && packed.pos < part.size()) {
          out[field->name].push_back(TakeNumber(&packed, field->type));
        }
        in.ok = in.ok && packed.ok;
        continue;
      }
    }
    if (field->repeated) {
      out[field->name].push_back(std::move(value));
    } else {
      out[field->name] = std::move(value);
    }
  }
  return in.ok ? out : json{{"broken", in.pos}};
}

void CollectFields(std::string_view message, const json& value, std::set<std::string>* fields) {
  for (const auto& [key, v] : value.items()) {
    const Field* field = FindField(message, key);
    if (field == nullptr) continue;
    fields->insert(std::string(message) + "." + key);
    if (!field->is_message) continue;
    if (field->repeated) {
      for (const json& element : v) CollectFields(field->type, element, fields);
    } else {
      CollectFields(field->type, v, fields);
    }
  }
}

std::set<std::string> AllFields() {
  std::set<std::string> all;
  for (const auto& [message, fields] : GetTable().messages) {
    for (const Field& field : fields) all.insert(message + "." + field.name);
  }
  return all;
}

std::string Differences(const json& a, const json& b) {
  std::string out;
  Compare("", a, b, &out);
  return out;
}

}  // namespace x2ir::testing_util
