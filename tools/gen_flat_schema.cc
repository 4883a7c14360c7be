// Makes what the build needs of a schema of FlatBuffers: reads facts/NAME-schema.json and writes
// the schema in FlatBuffers' own language, of which flatc makes a header (namespace x2ir.NAME_fb).
// Of TFLite's it also writes the constant arrays that x2ir/formats/tflite/schema.cc includes:
// operators, their options and the enums of these.
//
//   x2ir_gen_flat_schema NAME SCHEMA.json OUT.fbs [OUT.inc]
//
// It stops at what it does not know: a fact that is left out would get lost in silence.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void Fail(const std::string& what) { throw std::runtime_error(what); }

struct Schema {
  explicit Schema(const Json& json)
      : enums(json.at("enums")),
        unions(json.at("unions")),
        tables(json.at("tables")),
        structs(json.at("structs")) {
    for (const auto& [name, members] : unions.items()) {
      int64_t next = 1;
      for (const auto& [member, value] : members.items()) {
        if (value != next++) Fail("the numbers of union " + name + " have a gap at " + member);
        if (!tables.contains(member)) Fail("no table " + member);
      }
    }
  }
  const Json &enums, &unions, &tables, &structs;
};

// Fields in the order of their slots; the type of a union has the slot before it.
std::vector<Json> BySlot(const Json& fields) {
  std::vector<Json> sorted(fields.begin(), fields.end());
  std::sort(sorted.begin(), sorted.end(), [](const Json& a, const Json& b) {
    return a.at("slot").get<int>() < b.at("slot").get<int>();
  });
  int next = 0;
  for (const Json& field : sorted) {
    for (const auto& [key, value] : field.items()) {
      static const std::set<std::string> known = {"name",      "type",    "slot",
                                                  "type_slot", "default", "deprecated"};
      if (!known.count(key)) Fail("unknown key '" + key + "' in " + field.dump());
    }
    if (field.contains("type_slot") && field["type_slot"] != next++) {
      Fail("a slot is missing before " + field.dump());
    }
    if (field.at("slot") != next++) Fail("a slot is missing before " + field.dump());
  }
  return sorted;
}

void WriteFbs(const std::string& name_of_schema, const Schema& schema, const Json& json,
              std::ostream& out) {
  out << "// Made of facts/" << name_of_schema << "-schema.json.\nnamespace x2ir." << name_of_schema
      << "_fb;\n";
  for (const auto& [name, e] : schema.enums.items()) {
    out << "enum " << name << " : " << e.at("type").get<std::string>() << " {";
    for (const auto& [value, number] : e.at("values").items()) {
      out << value << " = " << number << ", ";
    }
    out << "}\n";
  }
  for (const auto& [name, members] : schema.unions.items()) {
    out << "union " << name << " {";
    for (const auto& [member, number] : members.items()) out << member << ", ";
    out << "}\n";
  }
  for (const auto& [name, fields] : schema.structs.items()) {
    out << "struct " << name << " {";
    for (const Json& field : fields) {
      out << field.at("name").get<std::string>() << ":" << field.at("type").get<std::string>()
          << "; ";
    }
    out << "}\n";
  }
  for (const auto& [name, fields] : schema.tables.items()) {
    out << "table " << name << " {\n";
    for (const Json& field : BySlot(fields)) {
      out << "  " << field.at("name").get<std::string>() << ":"
          << field.at("type").get<std::string>();
      if (field.contains("default")) out << " = " << field["default"].get<std::string>();
      out << " (id: " << field["slot"] << (field.value("deprecated", false) ? ", deprecated" : "")
          << ");\n";
    }
    out << "}\n";
  }
  out << "file_identifier \"" << json.at("file_identifier").get<std::string>() << "\";\n"
      << "root_type " << json.at("root_type").get<std::string>() << ";\n";
}

void WriteTables(const Schema& schema, std::ostream& out) {
  std::map<std::string, int> enum_index;
  std::string enumerators, enums, fields, options;
  int count = 0;
  for (const auto& [name, e] : schema.enums.items()) {
    const int index = static_cast<int>(enum_index.size());
    enum_index[name] = index;
    enums += "    {\"" + name + "\", " + std::to_string(count) + ", " +
             std::to_string(e.at("values").size()) + "},\n";
    for (const auto& [value, number] : e["values"].items()) {
      enumerators += "    {\"" + value + "\", " + number.dump() + "},\n";
      ++count;
    }
  }
  static const std::map<std::string, std::string> kinds = {
      {"bool", "kBool"},    {"byte", "kByte"},  {"int", "kInt"},      {"int32", "kInt"},
      {"uint", "kUInt"},    {"long", "kLong"},  {"float", "kFloat"},  {"string", "kString"},
      {"[bool]", "kBools"}, {"[int]", "kInts"}, {"[long]", "kLongs"}, {"[float]", "kFloats"},
      {"[ubyte]", "kBytes"}};
  int field_count = 0, which = 0;
  for (const char* of : {"BuiltinOptions", "BuiltinOptions2"}) {
    ++which;
    for (const auto& [name, number] : schema.unions.at(of).items()) {
      const std::vector<Json> sorted = BySlot(schema.tables.at(name));
      options += "    {\"" + name + "\", " + std::to_string(which) + ", " + number.dump() + ", " +
                 std::to_string(field_count) + ", " + std::to_string(sorted.size()) + "},\n";
      for (const Json& field : sorted) {
        std::string type = field.at("type");
        std::string kind, enumeration = "-1", number_text = "0";
        const bool list =
            type.front() == '[' && schema.enums.contains(type.substr(1, type.size() - 2));
        const std::string e = list ? type.substr(1, type.size() - 2) : type;
        if (schema.enums.contains(e)) {
          const std::string base = schema.enums[e].at("type");
          if (base != "byte" && base != "int" && base != "int32" && base != "uint")
            Fail("enum of type " + base);
          kind = list ? "kInts" : base == "byte" ? "kByte" : base == "uint" ? "kUInt" : "kInt";
          if (list && base == "byte") Fail("a list of bytes that are an enum");
          enumeration = std::to_string(enum_index.at(e));
          if (field.contains("default")) {
            number_text = schema.enums[e]["values"].at(field["default"].get<std::string>()).dump();
          }
        } else {
          const auto found = kinds.find(type);
          if (found == kinds.end()) Fail("unknown type in " + field.dump());
          kind = found->second;
          if (field.contains("default")) {
            number_text = field["default"];
            if (number_text == "true") number_text = "1";
            if (number_text == "false") number_text = "0";
          }
        }
        fields += "    {\"" + field.at("name").get<std::string>() + "\", FieldKind::" + kind +
                  ", " + field.at("slot").dump() + ", " + enumeration + ", " + number_text + "},\n";
        ++field_count;
      }
    }
  }
  out << "constexpr Enumerator kEnumerators[] = {\n"
      << enumerators << "};\nconstexpr EnumRow kEnums[] = {\n"
      << enums << "};\nconstexpr Field kFields[] = {\n"
      << fields << "};\nconstexpr OptionsRow kOptions[] = {\n"
      << options << "};\n";
}

template <typename Write>
void WriteFile(const char* path, const Write& write) {
  std::ofstream out(path);
  write(out);
  if (!out.flush()) Fail(std::string("cannot write ") + path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    std::cerr << "usage: " << argv[0] << " NAME SCHEMA.json OUT.fbs [OUT.inc]\n";
    return 2;
  }
  try {
    std::ifstream in(argv[2]);
    if (!in) Fail(std::string("cannot read ") + argv[2]);
    const Json json = Json::parse(in);
    const Schema schema(json);
    WriteFile(argv[3], [&](std::ostream& out) { WriteFbs(argv[1], schema, json, out); });
    if (argc == 5) WriteFile(argv[4], [&](std::ostream& out) { WriteTables(schema, out); });
  } catch (const std::exception& e) {
    std::cerr << argv[0] << ": " << e.what() << "\n";
    for (int i = 3; i < argc; ++i) std::remove(argv[i]);
    return 1;
  }
}
