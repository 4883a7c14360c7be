// Makes tables of protobuf messages (x2ir/formats/proto_text.h) of facts about their fields:
//
//   constexpr ProtoField kNetStateFields[] = {{"phase", 1, ProtoKind::kEnum, nullptr, &kPhase}, ...
//   const ProtoMessage kNetState = {"NetState", kNetStateFields};
//
// and the numbers of the fields as constants, for code that reads and writes the wire form:
//
//   namespace net_state_field { enum : uint32_t { kPhase = 1, kLevel = 2, kStage = 3 }; }
//
// Messages are called k and their names without package and dots. Of several files of facts the
// later ones add fields and messages to the first.
//
//   x2ir_gen_proto_tables FIELDS.json... MESSAGES.inc FIELDS.inc
#include <algorithm>
#include <cctype>
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

struct Field {
  int number;
  std::string name, type;
  bool repeated = false, one_of = false;
};
struct Tables {
  std::vector<std::string> messages, enums;  // in the order of the facts
  std::set<std::string> full_names;          // of messages, with their packages
  std::map<std::string, std::vector<Field>> fields;
  std::map<std::string, std::vector<std::pair<long, std::string>>> numbers;
};

// Without the package: from the first part on that is a message.
std::string Short(const std::set<std::string>& messages, const std::string& name) {
  size_t begin = 0;
  for (size_t dot = name.find('.'); dot != name.npos; dot = name.find('.', begin)) {
    if (messages.contains(name.substr(0, dot))) break;
    begin = dot + 1;
  }
  return name.substr(begin);
}

// {"messages": {NAME: [{"number", "name", "type", "label"}]}, "enums": {NAME: {VALUE: NUMBER}}}
void ReadObjects(const Json& json, Tables& tables) {
  std::set<std::string>& messages = tables.full_names;
  for (const auto& entry : json.at("messages").items()) messages.insert(entry.key());
  for (const auto& [name, fields] : json.at("messages").items()) {
    auto [it, fresh] = tables.fields.try_emplace(Short(messages, name));
    if (fresh) tables.messages.push_back(it->first);
    for (const Json& f : fields) {
      it->second.push_back({f.at("number").get<int>(), f.at("name").get<std::string>(),
                            Short(messages, f.at("type").get<std::string>()),
                            f.at("label").get<std::string>() == "repeated", f.contains("oneof")});
    }
  }
  for (const auto& [name, values] : json.at("enums").items()) {
    auto [it, fresh] = tables.numbers.try_emplace(Short(messages, name));
    if (fresh) tables.enums.push_back(it->first);
    for (const auto& [value, number] : values.items()) {
      it->second.emplace_back(number.get<long>(), value);
    }
  }
}

// {NAME: [[NUMBER, FIELD, "repeated TYPE", "oneof X"]]}; of an enumeration [[NUMBER, VALUE]]
void ReadLists(const Json& json, Tables& tables) {
  for (const auto& [name, rows] : json.items()) {
    const bool is_enum = !rows.empty() && rows[0].size() == 2;
    (is_enum ? tables.enums : tables.messages).push_back(name);
    if (is_enum) {
      for (const Json& row : rows) {
        tables.numbers[name].emplace_back(row[0].get<long>(), row[1].get<std::string>());
      }
      continue;
    }
    std::vector<Field>& fields = tables.fields[name];
    for (const Json& row : rows) {
      constexpr const char* kRepeated = "repeated ";
      std::string type = row[2].get<std::string>();
      const bool repeated = type.starts_with(kRepeated);
      if (repeated) type = type.substr(std::string(kRepeated).size());
      fields.push_back(
          {row[0].get<int>(), row[1].get<std::string>(), type, repeated, row.size() > 3});
    }
  }
}

std::string Constant(const std::string& name) {
  std::string constant = "k";
  for (const char c : name) {
    if (c != '.') constant += c;
  }
  return constant;
}

// "tensor_content", "kernelSize": kTensorContent, kKernelSize.
std::string FieldConstant(const std::string& name) {
  std::string constant = "k";
  bool begins = true;
  for (const char c : name) {
    if (c != '_') constant += begins ? static_cast<char>(std::toupper(c)) : c;
    begins = c == '_';
  }
  return constant;
}

// "NodeDef.AttrEntry", "LSTMParams": node_def_attr_entry_field, lstm_params_field.
std::string FieldNamespace(const std::string& name) {
  std::string words;
  for (size_t i = 0; i < name.size(); ++i) {
    const auto upper = [&](size_t at) { return at < name.size() && std::isupper(name[at]); };
    const auto lower = [&](size_t at) { return at < name.size() && std::islower(name[at]); };
    if (i > 0 && upper(i) && name[i - 1] != '.' && (!upper(i - 1) || lower(i + 1))) words += '_';
    words += name[i] == '.' ? '_' : static_cast<char>(std::tolower(name[i]));
  }
  return words + "_field";
}

const std::map<std::string, std::string>& Kinds() {
  static const std::map<std::string, std::string> kinds = {
      {"int32", "kInt32"},   {"uint32", "kUInt32"}, {"int64", "kInt64"},
      {"uint64", "kUInt64"}, {"bool", "kBool"},     {"float", "kFloat"},
      {"double", "kDouble"}, {"string", "kString"}, {"bytes", "kBytes"}};
  return kinds;
}

// The type as it is named within the message: in the innermost scope that has one.
template <typename Map>
std::string Resolve(const Map& map, std::string scope, const std::string& type) {
  for (;;) {
    const std::string name = scope.empty() ? type : scope + "." + type;
    if (map.count(name)) return name;
    if (scope.empty()) return "";
    const size_t dot = scope.rfind('.');
    scope = dot == scope.npos ? "" : scope.substr(0, dot);
  }
}

std::string Row(const Tables& tables, const std::string& message, const Field& field) {
  std::string kind, of = "nullptr, nullptr";
  if (const auto plain = Kinds().find(field.type); plain != Kinds().end()) {
    kind = plain->second;
  } else if (const std::string inner = Resolve(tables.fields, message, field.type);
             !inner.empty()) {
    kind = "kMessage";
    of = "&" + Constant(inner) + ", nullptr";
  } else if (const std::string values = Resolve(tables.numbers, message, field.type);
             !values.empty()) {
    kind = "kEnum";
    of = "nullptr, &" + Constant(values);
  } else {
    throw std::runtime_error(message + "." + field.name + " is of the unknown type " + field.type);
  }
  const char* rule = field.repeated ? "kMany" : field.one_of ? "kOneOf" : "kOne";
  return "    {\"" + field.name + "\", " + std::to_string(field.number) + ", ProtoKind::" + kind +
         ", " + of + ", ProtoRule::" + rule + "},\n";
}

Tables Read(const std::vector<std::string>& facts) {
  Tables tables;
  for (const std::string& path : facts) {
    std::ifstream in(path);
    if (!in) throw std::runtime_error("cannot read " + path);
    const Json json = Json::parse(in);
    if (json.contains("messages")) {
      ReadObjects(json, tables);
    } else {
      ReadLists(json, tables);
    }
  }
  return tables;
}

void WriteMessages(Tables& tables, std::ostream& out) {
  for (const std::string& name : tables.enums) {
    out << "constexpr ProtoEnumValue " << Constant(name) << "Values[] = {\n";
    for (const auto& [number, value] : tables.numbers[name]) {
      out << "    {\"" << value << "\", " << number << "},\n";
    }
    out << "};\n[[maybe_unused]] constexpr ProtoEnum " << Constant(name) << " = ProtoEnumOf<"
        << Constant(name) << "Values>();\n";
  }
  for (const std::string& name : tables.messages) {
    out << "extern const ProtoMessage " << Constant(name) << ";\n";
  }
  for (const std::string& name : tables.messages) {
    const std::string constant = Constant(name);
    if (tables.fields[name].empty()) {
      out << "const ProtoMessage " << constant << " = {\"" << name << "\", {}};\n";
      continue;
    }
    out << "constexpr ProtoField " << constant << "Fields[] = {\n";
    for (const Field& field : tables.fields[name]) {
      if (field.type != "fixed32") out << Row(tables, name, field);  // of no message that is text
    }
    out << "};\nconst ProtoMessage " << constant << " = {\"" << name << "\", " << constant
        << "Fields};\n";
  }
}

void WriteFields(Tables& tables, std::ostream& out) {
  for (const std::string& name : tables.messages) {
    if (tables.fields[name].empty()) continue;
    out << "namespace " << FieldNamespace(name) << " {\nenum : uint32_t {\n";
    for (const Field& field : tables.fields[name]) {
      out << "  " << FieldConstant(field.name) << " = " << field.number << ",\n";
    }
    out << "};\n}\n";
  }
}

void Run(std::vector<std::string> paths) {
  const std::string fields = paths.back(), messages = paths[paths.size() - 2];
  paths.resize(paths.size() - 2);
  Tables tables = Read(paths);
  const auto write = [&](const std::string& path, void (*part)(Tables&, std::ostream&)) {
    std::ofstream out(path);
    part(tables, out);
    out.flush();
    if (!out) throw std::runtime_error("cannot write " + path);
  };
  write(messages, WriteMessages);
  write(fields, WriteFields);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: x2ir_gen_proto_tables FIELDS.json... MESSAGES.inc FIELDS.inc\n";
    return 2;
  }
  try {
    Run(std::vector<std::string>(argv + 1, argv + argc));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "x2ir_gen_proto_tables: " << error.what() << '\n';
    return 1;
  }
}
