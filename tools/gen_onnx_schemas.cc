// Makes the ONNX schema tables: reads facts/onnx-schemas.json and facts/onnx-versions.txt and
// writes the constant arrays that x2ir/handlers/onnx/schema_table.cc includes.
//
//   x2ir_gen_onnx_schemas SCHEMAS.json VERSIONS.txt OUT.inc
//
// It knows every key of the input and stops at one that it does not know: a fact that the table
// cannot hold must not get lost in silence. So does a number that does not fit its field.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <iostream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/dtype.h"
#include "x2ir/handlers/onnx/schema_hash_internal.h"

namespace {

using Json = nlohmann::ordered_json;
using x2ir::DType;

[[noreturn]] void Fail(const std::string& what) { throw std::runtime_error(what); }

template <typename To>
To Fit(size_t n) {
  if (n > std::numeric_limits<To>::max()) Fail("table too large: " + std::to_string(n));
  return static_cast<To>(n);
}

void CheckKeys(const Json& object, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : object.items()) {
    bool found = false;
    for (std::string_view k : known) found = found || k == key;
    if (!found) Fail("unknown key '" + key + "' in " + object.dump());
  }
}

std::string Braced(size_t begin, size_t size) {
  return "{" + std::to_string(Fit<uint16_t>(begin)) + ", " + std::to_string(Fit<uint16_t>(size)) +
         "}";
}

// A C++ literal of exactly this value: hexadecimal, so that nothing is rounded. The input has
// nine digits, enough to name one float; strtof finds that one.
std::string FloatLiteral(const Json& number) {
  char text[64];
  std::snprintf(text, sizeof text, "%af", std::strtof(number.dump().c_str(), nullptr));
  return text;
}

std::string IntLiteral(int64_t value) {
  // The most negative number has no literal of its own.
  if (value == std::numeric_limits<int64_t>::min()) return "INT64_MIN";
  return "INT64_C(" + std::to_string(value) + ")";
}

std::string Bool(bool b) { return b ? "true" : "false"; }

// ONNX's spelling of element types. This program does not link the library, which is built
// after it, hence the table.
uint32_t DTypeBit(const std::string& name) {
  static const std::map<std::string, DType> types = {
      {"float", DType::kFloat32},
      {"uint8", DType::kUInt8},
      {"int8", DType::kInt8},
      {"uint16", DType::kUInt16},
      {"int16", DType::kInt16},
      {"int32", DType::kInt32},
      {"int64", DType::kInt64},
      {"string", DType::kString},
      {"bool", DType::kBool},
      {"float16", DType::kFloat16},
      {"double", DType::kFloat64},
      {"uint32", DType::kUInt32},
      {"uint64", DType::kUInt64},
      {"complex64", DType::kComplex64},
      {"complex128", DType::kComplex128},
      {"bfloat16", DType::kBFloat16},
      {"float8e4m3fn", DType::kFloat8E4M3FN},
      {"float8e4m3fnuz", DType::kFloat8E4M3FNUZ},
      {"float8e5m2", DType::kFloat8E5M2},
      {"float8e5m2fnuz", DType::kFloat8E5M2FNUZ},
      {"uint4", DType::kUInt4},
      {"int4", DType::kInt4},
      {"float4e2m1", DType::kFloat4E2M1},
      {"float8e8m0", DType::kFloat8E8M0},
      {"uint2", DType::kUInt2},
      {"int2", DType::kInt2},
  };
  static_assert(x2ir::kNumDTypes <= 32, "the masks have 32 bits");
  auto it = types.find(name);
  if (it == types.end()) Fail("unknown element type '" + name + "'");
  return uint32_t{1} << static_cast<int>(it->second);
}

// "seq(tensor(float))" without "seq(" and ")"; false when `text` is no `wrapper`.
bool Unwrap(std::string& text, std::string_view wrapper) {
  const std::string open = std::string(wrapper) + "(";
  if (text.rfind(open, 0) != 0 || text.back() != ')') return false;
  text = text.substr(open.size(), text.size() - open.size() - 1);
  return true;
}

class Tables {
 public:
  // Rows must come sorted by domain, name and version: lookup relies on it.
  void AddSchema(const Json& row) {
    CheckKeys(row, {"domain", "name", "since", "deprecated", "function", "inputs", "outputs",
                    "attributes", "types"});
    const std::string domain = row.at("domain"), name = row.at("name");
    const int since = row.at("since");
    if (!ops_.empty() && ops_.back().domain == domain && ops_.back().name == name) {
      if (since <= ops_.back().last) Fail("versions out of order: " + name);
    } else {
      ops_.push_back({domain, name, since, schemas_.size()});
    }
    ops_.back().last = since;

    const Json none = Json::object();
    const Json& vars = row.contains("types") ? row["types"] : none;
    std::map<std::string, size_t> var_index;  // of this schema
    const size_t first_type = types_.size();
    for (const auto& [var, allowed] : vars.items()) {
      var_index[var] = types_.size();
      types_.push_back(TypeRow(var, allowed));
    }
    const std::string types = Braced(first_type, types_.size() - first_type);
    const std::string inputs = AddOperands(row.at("inputs"), var_index);
    const std::string outputs = AddOperands(row.at("outputs"), var_index);
    const size_t first_attr = attrs_.size();
    if (row.contains("attributes")) {
      for (const auto& [attr, what] : row["attributes"].items()) AddAttr(attr, what);
    }
    const std::string attrs = Braced(first_attr, attrs_.size() - first_attr);
    schemas_.push_back("{" + Text(domain) + ", " + Text(name) + ", " + std::to_string(since) +
                       ", " + Bool(row.value("deprecated", false)) + ", " +
                       Bool(row.value("function", false)) + ", " + inputs + ", " + outputs + ", " +
                       attrs + ", " + types + "}");
  }

  // "1.4.1 | 4 | 9 | 1 | -": release, IR version, opset of ai.onnx, of ai.onnx.ml, training.
  void AddRelease(const std::string& line) {
    std::vector<std::string> cells(1);
    for (char c : line) {
      if (c == '|') {
        cells.emplace_back();
      } else if (c != ' ') {
        cells.back() += c;
      }
    }
    if (cells.size() != 5) Fail("bad release: " + line);
    const int ir = std::stoi(cells[1]), opset = std::stoi(cells[2]), ml = std::stoi(cells[3]);
    // Releases skip opsets at times (1, 5, 6): an opset belongs to the first that has it. The
    // oldest release with an opset also has the oldest IR version for it.
    while (static_cast<int>(opsets_.size()) < opset) {
      opsets_.push_back("{" + std::to_string(opsets_.size() + 1) + ", " + std::to_string(ir) +
                        ", " + std::to_string(ml) + "}");
    }
  }

  void Write(std::ostream& out) {
    out << "// Generated by tools/gen_onnx_schemas.cc; do not edit.\n";
    out << "constexpr char kText[] =";
    for (size_t i = 0; i < text_.size(); i += 80)
      out << "\n    \"" << Escaped(text_.substr(i, 80)) << "\"";
    if (text_.empty()) out << " \"\"";
    out << ";\n";
    WriteTable(out, "SchemaText", "kStrings", strings_);
    WriteTable(out, "int64_t", "kInts", ints_);
    WriteTable(out, "float", "kFloats", floats_);
    WriteTable(out, "SchemaType", "kTypes", types_);
    WriteTable(out, "SchemaOperand", "kOperands", operands_);
    WriteTable(out, "SchemaAttr", "kAttrs", attrs_);
    WriteTable(out, "OnnxSchema", "kSchemas", schemas_);
    WriteTable(out, "IndexSlot", "kIndex", Index());
    WriteTable(out, "OpsetRow", "kOpsets", opsets_);
  }

 private:
  struct Op {
    std::string domain, name;
    int last;      // the newest version so far
    size_t begin;  // its first row in schemas_
  };

  static std::string Escaped(std::string_view text) {
    std::string out;
    for (char c : text) {
      if (c == '"' || c == '\\' || c < ' ' || c > '~') {
        char octal[8];
        std::snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned char>(c));
        out += octal;
      } else {
        out += c;
      }
    }
    return out;
  }

  static void WriteTable(std::ostream& out, const char* type, const char* name,
                         const std::vector<std::string>& rows) {
    out << "constexpr " << type << " " << name << "[] = {\n";
    // An array has at least one element; nothing refers to this one.
    if (rows.empty()) out << "    {},\n";
    for (const std::string& row : rows) out << "    " << row << ",\n";
    out << "};\n";
  }

  std::string Text(const std::string& s) {
    auto [it, is_new] = texts_.emplace(s, text_.size());
    if (is_new) text_ += s;
    return Braced(it->second, s.size());
  }

  // Lists of strings repeat a lot (sets of types): equal ones share their rows.
  std::string StringList(const Json& list) {
    std::vector<std::string> rows;
    for (const Json& s : list) rows.push_back(Text(s.get<std::string>()));
    auto [it, is_new] = string_lists_.emplace(rows, strings_.size());
    if (is_new) strings_.insert(strings_.end(), rows.begin(), rows.end());
    return Braced(it->second, rows.size());
  }

  std::string TypeRow(const std::string& name, const Json& allowed) {
    uint32_t tensors = 0, sequences = 0, optionals = 0, optional_sequences = 0;
    bool maps = false;
    for (const Json& item : allowed) {
      std::string type = item.get<std::string>();
      if (type.find("map(") != std::string::npos) {
        maps = true;
        continue;
      }
      const bool optional = Unwrap(type, "optional"), sequence = Unwrap(type, "seq");
      if (!Unwrap(type, "tensor")) Fail("unknown type " + item.dump());
      (optional ? (sequence ? optional_sequences : optionals) : (sequence ? sequences : tensors)) |=
          DTypeBit(type);
    }
    std::ostringstream row;
    row << "{" << Text(name) << ", " << StringList(allowed) << std::hex << ", 0x" << tensors
        << ", 0x" << sequences << ", 0x" << optionals << ", 0x" << optional_sequences << ", "
        << Bool(maps) << "}";
    return row.str();
  }

  size_t FixedType(const std::string& type) {
    auto [it, is_new] = fixed_types_.emplace(type, types_.size());
    if (is_new) types_.push_back(TypeRow(type, Json::array({type})));
    return it->second;
  }

  std::string AddOperands(const Json& list, const std::map<std::string, size_t>& vars) {
    const size_t begin = operands_.size();
    for (const Json& operand : list) {
      CheckKeys(operand, {"name", "type", "option", "min", "heterogeneous"});
      const std::string type = operand.at("type"), option = operand.value("option", "");
      const auto var = vars.find(type);
      const size_t type_index = var != vars.end() ? var->second : FixedType(type);
      std::string arity;
      size_t min = 0;
      if (option.empty()) {
        arity = "kRequired";
        min = 1;
      } else if (option == "optional") {
        arity = "kOptional";
      } else if (option == "variadic") {
        arity = "kVariadic";
        min = operand.at("min");
      } else {
        Fail("unknown option in " + operand.dump());
      }
      operands_.push_back("{" + Text(operand.at("name")) + ", " +
                          std::to_string(Fit<uint16_t>(type_index)) + ", SchemaArity::" + arity +
                          ", " + Bool(operand.value("heterogeneous", false)) + ", " +
                          std::to_string(Fit<uint8_t>(min)) + "}");
    }
    return Braced(begin, operands_.size() - begin);
  }

  void AddAttr(const std::string& name, const Json& attr) {
    static const std::map<std::string, std::string> kinds = {
        {"float", "kFloat"},
        {"int", "kInt"},
        {"string", "kString"},
        {"tensor", "kTensor"},
        {"graph", "kGraph"},
        {"floats", "kFloats"},
        {"ints", "kInts"},
        {"strings", "kStrings"},
        {"tensors", "kTensors"},
        {"graphs", "kGraphs"},
        {"sparse_tensor", "kSparseTensor"},
        {"sparse_tensors", "kSparseTensors"},
        {"type_proto", "kTypeProto"},
        {"type_protos", "kTypeProtos"},
    };
    CheckKeys(attr, {"type", "required", "default"});
    const std::string type = attr.at("type");
    if (!kinds.count(type)) Fail("unknown attribute type " + type);
    std::string f = "0", i = "0", text = "{0, 0}", list = "{0, 0}";
    const bool has_default = attr.contains("default");
    if (has_default) {
      const Json& value = attr["default"];
      if (type == "float") {
        f = FloatLiteral(value);
      } else if (type == "int") {
        i = IntLiteral(value.get<int64_t>());
      } else if (type == "string") {
        text = Text(value.get<std::string>());
      } else if (type == "floats") {
        list = Braced(floats_.size(), value.size());
        for (const Json& v : value) floats_.push_back(FloatLiteral(v));
      } else if (type == "ints") {
        list = Braced(ints_.size(), value.size());
        for (const Json& v : value) ints_.push_back(IntLiteral(v.get<int64_t>()));
      } else if (type == "strings") {
        list = StringList(value);
      } else {
        Fail("no room for a default of type " + type);
      }
    }
    attrs_.push_back("{" + Text(name) + ", SchemaAttrKind::" + kinds.at(type) + ", " +
                     Bool(attr.value("required", false)) + ", " + Bool(has_default) + ", " + f +
                     ", " + i + ", " + text + ", " + list + "}");
  }

  // The name index: open addressing, at most half full.
  std::vector<std::string> Index() const {
    size_t size = 1;
    while (size < 2 * ops_.size() + 1) size *= 2;
    std::vector<std::string> slots(size, "{{0, 0}}");
    std::vector<bool> taken(size);
    for (size_t i = 0; i < ops_.size(); ++i) {
      const size_t end = i + 1 < ops_.size() ? ops_[i + 1].begin : schemas_.size();
      size_t slot = x2ir::OnnxSchemaHash(ops_[i].domain, ops_[i].name) & (size - 1);
      while (taken[slot]) slot = (slot + 1) & (size - 1);
      taken[slot] = true;
      slots[slot] = "{" + Braced(ops_[i].begin, end - ops_[i].begin) + "}";
    }
    return slots;
  }

  std::string text_;
  std::map<std::string, size_t> texts_, fixed_types_;
  std::map<std::vector<std::string>, size_t> string_lists_;
  std::vector<std::string> strings_, ints_, floats_, types_, operands_, attrs_, schemas_, opsets_;
  std::vector<Op> ops_;
};

void Run(const char* schemas_path, const char* versions_path, const char* out_path) {
  Tables tables;
  std::ifstream schemas(schemas_path);
  if (!schemas) Fail(std::string("cannot read ") + schemas_path);
  for (const Json& row : Json::parse(schemas)) tables.AddSchema(row);

  std::ifstream versions(versions_path);
  std::string line;
  if (!std::getline(versions, line)) Fail(std::string("cannot read ") + versions_path);
  if (line != "release | IR version | ai.onnx opset | ai.onnx.ml | training") {
    Fail("unknown columns: " + line);
  }
  while (std::getline(versions, line)) tables.AddRelease(line);

  std::ofstream out(out_path);
  tables.Write(out);
  if (!out.flush()) Fail(std::string("cannot write ") + out_path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: " << argv[0] << " SCHEMAS.json VERSIONS.txt OUT.inc\n";
    return 2;
  }
  try {
    Run(argv[1], argv[2], argv[3]);
  } catch (const std::exception& e) {
    std::cerr << argv[0] << ": " << e.what() << "\n";
    std::remove(argv[3]);
    return 1;
  }
}
