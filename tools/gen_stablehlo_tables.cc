// Makes the tables of the dialects stablehlo, chlo, check and vhlo that
// x2ir/formats/mlir/dialects.cc includes, from facts/stablehlo-ops.json: operations with their
// attributes, and the codes that attributes and types have in bytecode.
//
//   x2ir_gen_stablehlo_tables FACTS.json OUT.inc
//
// It stops at what it does not know: a fact that is left out would get lost in silence.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void Fail(const std::string& what) { throw std::runtime_error(what); }

std::string Quoted(const std::string& text) { return "\"" + text + "\""; }

// "inputBatchDimension" as "input_batch_dimension".
std::string Snake(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::isupper(static_cast<unsigned char>(c))) out += '_';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

// 1.4.0 as 10400; "current" as a release that no other exceeds.
std::string Release(const std::string& text) {
  if (text == "current") return "kCurrent";
  int parts[3];
  if (std::sscanf(text.c_str(), "%d.%d.%d", parts, parts + 1, parts + 2) != 3) {
    Fail("not a version: " + text);
  }
  return std::to_string(parts[0] * 10000 + parts[1] * 100 + parts[2]);
}

// "scatter_v2" without "_v2".
std::string Unversioned(const std::string& name) {
  const size_t at = name.rfind("_v");
  if (at == std::string::npos) Fail("no version in " + name);
  return name.substr(0, at);
}

std::string FormOf(const std::string& type) {
  static const std::map<std::string, std::string> forms = {
      {"I64Attr", "kInt64"},
      {"I32Attr", "kInt32"},
      {"F32Attr", "kFloat32"},
      {"BoolAttr", "kBool"},
      {"UnitAttr", "kUnit"},
      {"StrAttr", "kString"},
      {"DenseI64ArrayAttr", "kInts"},
      {"DenseBoolArrayAttr", "kBools"},
      {"I64ElementsAttr", "kTensor"},
      {"ElementsAttr", "kTensor"},
      {"DictionaryAttr", "kDict"},
      {"FlatSymbolRefAttr", "kSymbol"},
      {"array of FlatSymbolRefAttr", "kSymbols"},
      {"array of enum Precision", "kEnums"},
      {"enum CustomCallApiVersion", "kApiVersion"},
      {"ArrayAttr", "kArray"}};
  const auto found = forms.find(type);
  if (found != forms.end()) return found->second;
  if (type.rfind("enum ", 0) == 0) return "kEnum";
  return type.rfind("array of ", 0) == 0 ? "kArray" : "kOther";
}

struct Facts {
  explicit Facts(const Json& json) : json(json) {}

  const Json* OpOf(const std::string& dialect, const std::string& name) const {
    const Json& ops = json.at(dialect);
    return ops.contains(name) ? &ops.at(name) : nullptr;
  }

  // How the flat form has an attribute of a VHLO operation, and whether it may be left out there:
  // as StableHLO's attribute of that name, or as the field of one of its structs.
  std::pair<std::string, bool> FlatAttribute(const std::string& op, const std::string& name) const {
    static const std::map<std::string, std::string> functions = {
        {"sym_name", "kString"}, {"sym_visibility", "kString"}, {"function_type", "kType"},
        {"arg_attrs", "kArray"}, {"res_attrs", "kArray"},       {"callee", "kSymbol"}};
    const auto function = functions.find(name);
    if (function != functions.end()) {
      return {function->second, name.size() > 9 && name != "function_type"};
    }
    if (name == "channel_id" || name == "channel_type") return {"kInt64", true};
    const Json* stable = OpOf("stablehlo", op);
    if (stable == nullptr) Fail("no stablehlo." + op);
    for (const Json& attribute : stable->value("attributes", Json::array())) {
      const std::string type = attribute.at("type");
      const bool optional = attribute.value("optional", false) || attribute.contains("default");
      if (attribute.at("name") == name) return {FormOf(type), optional};
      const Json& structs = json.at("attribute_structs");
      if (!structs.contains(type)) continue;
      for (const auto& [field, cpp] : structs.at(type).at("fields").items()) {
        if (Snake(field) != name) continue;
        if (cpp == "int64_t") return {"kInt64", optional};
        if (cpp == "bool") return {"kBool", optional};
        if (cpp == "Type") return {"kType", optional};
        if (cpp == "ArrayRef<int64_t>") return {"kInts", optional};
        Fail("field " + field + " of " + type);
      }
    }
    // What only old versions have.
    if (op == "dynamic_conv" && name == "padding") return {"kTensor", true};
    Fail("stablehlo." + op + " has no attribute " + name);
  }

  const Json& json;
};

class Tables {
 public:
  explicit Tables(const Json& json) : facts_(json), json_(json) {}

  void Write(std::ostream& out) {
    Ops();
    for (const auto& [name, e] : json_.at("enums").items()) Enum(name, e);
    for (const char* dialect : {"vhlo", "stablehlo", "chlo"}) Codes(dialect);
    const Json& versions = json_.at("versions");
    out << "constexpr std::string_view kReleases = \"" << versions.at("minimum").get<std::string>()
        << " to " << versions.at("current").get<std::string>() << "\";\n"
        << "constexpr BytecodeVersion kBytecodeVersions[] = {\n";
    for (const Json& pair : versions.at("mlir_bytecode_version")) {
      out << "    {" << Release(pair.at(0)) << ", " << pair.at(1) << "},\n";
    }
    out << "};\nconstexpr AttrFact kAttrFacts[] = {\n"
        << attributes_ << "};\n"
        << "constexpr OpRow kOps[] = {\n";
    std::sort(ops_.begin(), ops_.end());
    for (const auto& [name, row] : ops_) out << row;
    out << "};\nconstexpr EnumCase kCases[] = {\n"
        << cases_ << "};\n"
        << "constexpr EnumRow kEnumRows[] = {\n"
        << enums_ << "};\n"
        << "constexpr CodedField kFields[] = {\n"
        << fields_ << "};\n"
        << "constexpr CodedRow kAttrCodes[] = {\n"
        << attr_codes_ << "};\n"
        << "constexpr CodedRow kTypeCodes[] = {\n"
        << type_codes_ << "};\n";
  }

 private:
  struct Attribute {
    std::string name, form;
    bool optional;
    bool operator<(const Attribute& other) const { return name < other.name; }
  };

  void Op(const std::string& name, std::vector<Attribute> attributes, const Json& op,
          const std::string& since, const std::string& until) {
    std::sort(attributes.begin(), attributes.end());
    bool variadic = false;
    size_t operands = 0;
    for (const Json& operand : op.value("operands", Json::array())) {
      ++operands;
      if (operand.is_string()) variadic |= operand.get<std::string>().back() == '*';
    }
    ops_.emplace_back(name, "    {" + Quoted(name) + ", " + std::to_string(attribute_count_) +
                                ", " + std::to_string(attributes.size()) + ", " + since + ", " +
                                until + ", " + (variadic ? "-1" : std::to_string(operands)) +
                                "},\n");
    for (const Attribute& a : attributes) {
      attributes_ += "    {" + Quoted(a.name) + ", Form::" + a.form + ", " +
                     (a.optional ? "true" : "false") + "},\n";
    }
    attribute_count_ += attributes.size();
  }

  void Ops() {
    for (const char* dialect : {"stablehlo", "chlo"}) {
      for (const auto& [name, op] : json_.at(dialect).items()) {
        std::vector<Attribute> attributes;
        for (const Json& a : op.value("attributes", Json::array())) {
          attributes.push_back({a.at("name"), FormOf(a.at("type")),
                                a.value("optional", false) || a.contains("default")});
        }
        Op(std::string(dialect) + "." + name, std::move(attributes), op, "0", "kCurrent");
      }
    }
    for (const auto& [name, op] : json_.at("vhlo").items()) {
      std::vector<Attribute> attributes;
      for (const std::string a : op.at("attributes")) {
        const auto [form, optional] = facts_.FlatAttribute(Unversioned(name), a);
        attributes.push_back({a, form, optional});
      }
      Op("vhlo." + name, std::move(attributes), op, Release(op.at("since")),
         Release(op.at("until")));
    }
  }

  void Enum(const std::string& name, const Json& e) {
    enum_index_[name] = static_cast<int>(enum_index_.size());
    enums_ += "    {" + std::to_string(case_count_) + ", " + std::to_string(e.at("cases").size()) +
              "},\n";
    for (const auto& [text, number] : e.at("cases").items()) {
      cases_ += "    {" + Quoted(text) + ", " + number.dump() + "},\n";
      ++case_count_;
    }
  }

  // The mnemonic of a class, "comparison_direction", without a version; "" if there is none.
  std::string Mnemonic(const char* section, const std::string& dialect,
                       const std::string& of) const {
    for (const auto& [name, entry] : json_.at(section).items()) {
      if (entry.at("class") != of || name.rfind(dialect + ".", 0) != 0) continue;
      const std::string mnemonic = name.substr(dialect.size() + 1);
      return dialect == "vhlo" ? Unversioned(mnemonic) : mnemonic;
    }
    return "";
  }

  static std::string FieldKind(const std::string& kind) {
    static const std::map<std::string, std::string> kinds = {
        {"varint", "kVarint"},
        {"varint (encoded enum)", "kEnum"},
        {"svarint", "kInt"},
        {"svarint[]", "kInts"},
        {"list of svarint", "kInts"},
        {"Attribute", "kAttr"},
        {"Attribute (optional)", "kOptionalAttr"},
        {"Attribute[]", "kAttrs"},
        {"<Attribute, Attribute>[]", "kPairs"},
        {"Type", "kType"},
        {"Type[]", "kTypes"},
        {"APFloat", "kFloat"},
        {"list of APFloat", "kFloats"},
        {"APInt", "kApInt"},
        {"string", "kString"},
        {"blob", "kBlob"}};
    const auto found = kinds.find(kind);
    if (found == kinds.end()) Fail("unknown encoding " + kind);
    return found->second;
  }

  void Codes(const std::string& dialect) {
    const Json& codes = json_.at("bytecode_codes").at(dialect);
    const auto since = [&](const char* section, const std::string& of,
                           const std::string& mnemonic) {
      if (dialect != "vhlo") return std::string("0");
      std::string key = of.substr(0, of.find("V1") + 2);
      if (!json_.at(section).contains(key)) key = mnemonic + "_v1";
      return Release(json_.at(section).at(key).at("since"));
    };
    for (const auto& [of, entry] : codes.at("AttributeCode").items()) {
      std::string class_name = of;
      // Two names lack the suffix that their classes have.
      if (class_name.size() < 4 || class_name.substr(class_name.size() - 4) != "Attr") {
        class_name += "Attr";
      }
      std::string mnemonic = Mnemonic("attribute_structs", dialect, class_name);
      if (mnemonic.empty()) Fail("no structure of " + of);
      const std::string enum_name = class_name.substr(0, class_name.size() - 4);
      Json fields = entry.at("fields");
      // Facts leave out the fields of some newer attributes of StableHLO. Those of VHLO hold for
      // them where both are made of the same parts.
      const bool is_enum = enum_index_.count(enum_name) != 0;
      if (fields.empty() && dialect == "stablehlo" && !is_enum && !SameAsVhlo(enum_name)) continue;
      if (fields.empty() && dialect == "stablehlo") {
        fields = json_.at("bytecode_codes")
                     .at("vhlo")
                     .at("AttributeCode")
                     .at(enum_name + "V1Attr")
                     .at("fields");
      }
      Row(&attr_codes_, dialect, entry.at("code"), mnemonic, fields,
          since("vhlo_attribute_versions", of, mnemonic), is_enum ? enum_index_.at(enum_name) : -1);
    }
    for (const auto& [of, entry] : codes.at("TypeCode").items()) {
      std::string mnemonic = Mnemonic("dialect_types", dialect, of);
      if (of == "RankedTensorV1TypeWithEncoding") mnemonic = "encoded_tensor";
      if (mnemonic == "tf31") mnemonic = "tf32";  // its name in VHLO's text has a slip
      if (mnemonic == "bool") mnemonic = "i1";
      if (mnemonic.empty()) Fail("no type of " + of);
      Row(&type_codes_, dialect, entry.at("code"), mnemonic, entry.at("fields"),
          since("vhlo_type_versions", of, mnemonic), -1);
    }
  }

  bool SameAsVhlo(const std::string& name) const {
    std::map<std::string, std::string> structs[2];
    for (const auto& [key, entry] : json_.at("attribute_structs").items()) {
      for (int i : {0, 1}) {
        if (entry.at("class") != name + (i ? "V1Attr" : "Attr")) continue;
        for (const auto& [field, cpp] : entry.at("fields").items()) {
          const std::string type = cpp;
          structs[i][Snake(field)] =
              type.find("ModeAttr") != std::string::npos ? "mlir::Attribute" : type;
        }
      }
    }
    return !structs[0].empty() && structs[0] == structs[1];
  }

  void Row(std::string* rows, const std::string& dialect, const Json& code,
           const std::string& mnemonic, const Json& fields, const std::string& since,
           int enumeration) {
    *rows += "    {" + Quoted(dialect) + ", " + code.dump() + ", " + Quoted(mnemonic) + ", " +
             std::to_string(field_count_) + ", " + std::to_string(fields.size()) + ", " + since +
             ", " + std::to_string(enumeration) + "},\n";
    for (const Json& field : fields) {
      fields_ +=
          "    {" + Quoted(Snake(field.at(0))) + ", FieldKind::" + FieldKind(field.at(1)) + "},\n";
      ++field_count_;
    }
  }

  Facts facts_;
  const Json& json_;
  std::vector<std::pair<std::string, std::string>> ops_;
  std::map<std::string, int> enum_index_;
  std::string attributes_, cases_, enums_, fields_, attr_codes_, type_codes_;
  size_t attribute_count_ = 0, case_count_ = 0, field_count_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: " << argv[0] << " FACTS.json OUT.inc\n";
    return 2;
  }
  try {
    std::ifstream in(argv[1]);
    if (!in) Fail(std::string("cannot read ") + argv[1]);
    const Json json = Json::parse(in);
    std::ofstream out(argv[2]);
    Tables(json).Write(out);
    if (!out.flush()) Fail(std::string("cannot write ") + argv[2]);
  } catch (const std::exception& e) {
    std::cerr << argv[0] << ": " << e.what() << "\n";
    std::remove(argv[2]);
    return 1;
  }
}
