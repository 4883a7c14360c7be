// The functions and classes of bytecode as files of code.
#include "x2ir/formats/torch/bytecode.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include "x2ir/formats/torch/bytecode_internal.h"
#include "x2ir/graph_wrapper/readable.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::torch_script {
namespace {

// Functions may share their instructions in the pickle.
constexpr size_t kMaxBytecodeInstructions = 1 << 24;

// A type as the pickle has it; "Any" where it cannot be one.
std::string_view BytecodeType(std::string_view text) {
  const bool fits = !text.empty() && text.size() <= kMaxBytecodeName &&
                    std::all_of(text.begin(), text.end(), [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') ||
                             std::string_view("_.,[]() ").find(c) != std::string_view::npos;
                    });
  return fits ? text : "Any";
}

bool IsBytecodeSequence(const PickleValue* value) { return value && value->is_sequence(); }

bool IsBytecodeText(const PickleValue& value) { return value.kind == PickleValue::kString; }

// ("name", value) of a tuple of such pairs; null: there is none.
const PickleValue* BytecodeField(const PickleValue* table, std::string_view name) {
  if (!IsBytecodeSequence(table)) return nullptr;
  for (const PickleValue* row : table->items) {
    if (IsBytecodeSequence(row) && row->items.size() == 2 &&
        row->items[0]->kind == PickleValue::kString && row->items[0]->text == name) {
      return row->items[1];
    }
  }
  return nullptr;
}

}  // namespace

bool IsBytecodeName(std::string_view text) {
  if (text.empty() || text.size() > kMaxBytecodeName || (text[0] >= '0' && text[0] <= '9')) {
    return false;
  }
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool IsQualifiedBytecodeName(std::string_view text) {
  if (text.size() > kMaxBytecodeName) return false;
  while (true) {
    const size_t dot = text.find('.');
    if (!IsBytecodeName(text.substr(0, dot))) return false;
    if (dot == text.npos) return true;
    text.remove_prefix(dot + 1);
  }
}

std::string BytecodeQuoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c >= ' ' && c < '\x7f') {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '\\';
    for (const int shift : {6, 3, 0}) out += static_cast<char>('0' + (byte >> shift & 7));
  }
  return out + "\"";
}

// --- Classes --------------------------------------------------------------------------------

BytecodeWriter::Class& BytecodeWriter::ClassOf(std::string_view name) {
  const auto [it, fresh] = classes_.try_emplace(name);
  if (fresh) class_order_.push_back(name);
  return it->second;
}

std::string_view BytecodeWriter::TypeOf(const PickleValue& value) const {
  switch (value.kind) {
    case PickleValue::kNone: return "NoneType";
    case PickleValue::kBool: return "bool";
    case PickleValue::kInt: return "int";
    case PickleValue::kFloat: return "float";
    case PickleValue::kComplex: return "complex";
    case PickleValue::kString: return "str";
    case PickleValue::kTensor: return "Tensor";
    case PickleValue::kDevice: return "Device";
    case PickleValue::kObject: return IsQualifiedBytecodeName(value.text) ? value.text : "Any";
    case PickleValue::kList:
    case PickleValue::kDict: return BytecodeType(value.type);
    default: return "Any";
  }
}

// The attributes of all classes in the data, in the order of the objects' states.
absl::Status BytecodeWriter::ReadClasses(const PickleValue* data) {
  absl::flat_hash_set<const PickleValue*> seen;
  std::vector<const PickleValue*> todo;
  const auto visit = [&](const PickleValue* value) {
    if (value && seen.insert(value).second) todo.push_back(value);
  };
  visit(data);
  while (!todo.empty()) {
    const PickleValue& value = *todo.back();
    todo.pop_back();
    for (auto it = value.items.rbegin(); it != value.items.rend(); ++it) visit(*it);
    visit(value.state);
    if (value.kind != PickleValue::kObject || !value.state ||
        value.state->kind != PickleValue::kDict || !IsQualifiedBytecodeName(value.text)) {
      continue;
    }
    Class& made = ClassOf(value.text);
    if (made.has_attributes) continue;
    made.has_attributes = true;
    const std::vector<const PickleValue*>& items = value.state->items;
    for (size_t i = 0; i + 1 < items.size(); i += 2) {
      const PickleValue& name = *items[i];
      if (name.kind != PickleValue::kString || name.text.size() > kMaxBytecodeName) {
        return DataLoss("an object of class '", value.text, "' has an attribute without a name");
      }
      const PickleValue& attribute = *items[i + 1];
      const bool object = attribute.kind == PickleValue::kObject;
      made.attributes.push_back(
          {name.text, TypeOf(attribute), object ? attribute.text : std::string_view()});
    }
  }
  return absl::OkStatus();
}

// --- Files ----------------------------------------------------------------------------------

void BytecodeWriter::WriteFiles(BytecodeText* result) {
  std::vector<std::pair<std::string_view, std::string>> files;  // modules and their texts
  absl::flat_hash_map<std::string_view, size_t> places;
  const auto text_of = [&](std::string_view module) -> std::string& {
    const auto [it, fresh] = places.try_emplace(module, files.size());
    if (fresh) files.emplace_back(module, std::string());
    return files[it->second].second;
  };
  for (const std::string_view name : class_order_) {
    const Class& made = classes_.at(name);
    const size_t dot = name.rfind('.');
    if (dot == name.npos) continue;
    std::string& text = text_of(name.substr(0, dot));
    StrAppend(&text, "class ", name.substr(dot + 1), "(Module):\n");
    const size_t begin = text.size();
    for (const Class::Attribute& attribute : made.attributes) {
      if (IsBytecodeName(attribute.name)) {
        StrAppend(&text, "  ", attribute.name, " : ", attribute.type, "\n");
      } else {
        StrAppend(&text, "  __annotations__[", BytecodeQuoted(attribute.name),
                  "] = ", attribute.type, "\n");
      }
    }
    // Slots may have any number, but as many as are said in the code are few.
    if (made.slots <= static_cast<int64_t>(kMaxBytecodeName)) {
      const auto known = static_cast<int64_t>(made.attributes.size());
      for (int64_t i = known; i < made.slots; ++i) StrAppend(&text, "  _slot", i, " : Any\n");
    }
    text += made.methods;
    if (text.size() == begin) text += "  pass\n";
  }
  for (const FreeFunction& function : functions_) text_of(function.module) += function.text;
  for (auto& [module, text] : files) {
    BytecodeText::File& file = result->files.emplace_back();
    file.path = StrCat(module, ".py");
    std::replace(file.path.begin(), file.path.end() - 3, '.', '/');
    file.text.owner = std::make_shared<const std::string>(std::move(text));
    file.text.view = *file.text.owner;
  }
}

// --- Tables ---------------------------------------------------------------------------------

absl::Status BytecodeWriter::ReadTables(const PickleValue& code) {
  const PickleValue* const instructions = BytecodeField(&code, "instructions");
  const PickleValue* const operators = BytecodeField(&code, "operators");
  const PickleValue* const constants = BytecodeField(&code, "constants");
  const PickleValue* const types = BytecodeField(&code, "types");
  for (const PickleValue* table : {instructions, operators, constants, types}) {
    if (!IsBytecodeSequence(table)) {
      return DataLoss("it lacks one of instructions, operators, constants and types");
    }
  }
  instructions_seen_ += instructions->items.size();
  if (instructions_seen_ > kMaxBytecodeInstructions) {
    return Unimplemented("there are more than ", kMaxBytecodeInstructions, " instructions");
  }
  code_.clear();
  loaded_.clear();
  for (const PickleValue* row : instructions->items) {
    if (!IsBytecodeSequence(row) || row->items.size() != 3 || !IsBytecodeText(*row->items[0]) ||
        row->items[1]->kind != PickleValue::kInt || row->items[2]->kind != PickleValue::kInt) {
      return DataLoss("instruction ", code_.size(), " is not a name and two numbers");
    }
    // PyTorch has 32 bits for one and 16 for the other: sums of them never overflow here.
    for (const PickleValue* number : {row->items[1], row->items[2]}) {
      if (number->number != static_cast<int32_t>(number->number)) {
        return DataLoss("instruction ", code_.size(), " has the number ", number->number,
                        ", which takes more than 32 bits");
      }
    }
    code_.push_back({row->items[0]->text, row->items[1]->number, row->items[2]->number});
    const BytecodeInstruction& made = code_.back();
    if (made.op == "LOAD" || made.op == "MOVE") loaded_.insert(made.x);
  }
  operators_.clear();
  for (const PickleValue* row : operators->items) {
    const bool named = IsBytecodeSequence(row) && row->items.size() >= 2 &&
                       IsBytecodeText(*row->items[0]) && IsBytecodeText(*row->items[1]);
    if (!named || (row->items.size() > 2 && row->items[2]->kind != PickleValue::kInt)) {
      return DataLoss("operator ", operators_.size(), " is not two names and a number");
    }
    operators_.push_back({row->items[0]->text, row->items[1]->text,
                          row->items.size() > 2 ? row->items[2]->number : -1});
  }
  constants_ = constants->items;
  types_.clear();
  for (const PickleValue* type : types->items) {
    types_.push_back(IsBytecodeText(*type) ? BytecodeType(type->text) : "Any");
  }
  return absl::OkStatus();
}

// The arguments. Old files do not say them, but the first instruction stores them.
absl::Status BytecodeWriter::ReadSchema(const PickleValue* schema, std::string_view of) {
  arguments_.clear();
  returns_ = "Any";
  if (const PickleValue* arguments = BytecodeField(schema, "arguments");
      IsBytecodeSequence(arguments)) {
    absl::flat_hash_set<std::string_view> names;
    for (const PickleValue* argument : arguments->items) {
      const PickleValue* name = BytecodeField(argument, "name");
      const PickleValue* type = BytecodeField(argument, "type");
      if (!name || !IsBytecodeText(*name) || !IsBytecodeName(name->text) ||
          !names.insert(name->text).second) {
        return DataLoss("argument ", arguments_.size(), " has no name of its own");
      }
      arguments_.emplace_back(name->text,
                              type && IsBytecodeText(*type) ? BytecodeType(type->text) : "Any");
    }
    const PickleValue* returns = BytecodeField(schema, "returns");
    if (IsBytecodeSequence(returns) && returns->items.size() == 1) {
      const PickleValue* type = BytecodeField(returns->items[0], "type");
      if (type && IsBytecodeText(*type)) returns_ = BytecodeType(type->text);
    }
    return absl::OkStatus();
  }
  if (code_.empty()) return absl::OkStatus();
  const int64_t count = code_[0].op == "STORE" ? 1 : code_[0].op == "STOREN" ? code_[0].n : 0;
  static constexpr std::string_view kNames[] = {"self", "x",  "x2", "x3", "x4",  "x5",
                                                "x6",   "x7", "x8", "x9", "x10", "x11"};
  if (count < 0 || count > static_cast<int64_t>(std::size(kNames))) {
    return Unimplemented("it does not say what its ", count, " arguments are");
  }
  for (int64_t i = 0; i < count; ++i) {
    arguments_.emplace_back(kNames[i], i == 0 ? of : std::string_view("Any"));
  }
  return absl::OkStatus();
}

// --- Functions ------------------------------------------------------------------------------

absl::Status BytecodeWriter::WriteFunction(const PickleValue& function) {
  if (!IsBytecodeSequence(&function) || function.items.size() < 2 ||
      !IsBytecodeText(*function.items[0])) {
    return DataLoss("a function that is not a name and code");
  }
  const std::string_view name = function.items[0]->text;
  const auto annotated = [&](const absl::Status& status) {
    return Annotate(status, StrCat("function '", Printable(name.substr(0, 200)), "'"));
  };
  const size_t dot = name.rfind('.');
  if (!IsQualifiedBytecodeName(name) || dot == name.npos) {
    return annotated(DataLoss("it has no name of a module"));
  }
  const std::string_view owner = name.substr(0, dot);
  if (const absl::Status status = ReadTables(*function.items[1]); !status.ok()) {
    return annotated(status);
  }
  const PickleValue* schema = function.items.size() > 2 ? function.items[2] : nullptr;
  if (const absl::Status status = ReadSchema(schema, owner); !status.ok()) {
    return annotated(status);
  }
  stored_.clear();
  register_objects_.clear();
  stack_.clear();
  floor_ = 0;
  names_ = 0;
  out_.clear();
  // A method, or a function of a module.
  const bool method = !arguments_.empty() && arguments_[0].second == owner;
  indent_ = method ? 1 : 0;
  std::string head = StrCat("def ", name.substr(dot + 1), "(");
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const auto& [argument, type] = arguments_[i];
    StrAppend(&head, i == 0 ? "" : ", ", argument, ": ", type);
    Push(std::string(argument), classes_.contains(type) ? type : std::string_view());
    if (i == 0 && method) stack_.back().object = owner;
  }
  Line(StrCat(head, ") -> ", returns_, ":"));
  ++indent_;
  if (!function_names_.insert(name).second) return annotated(DataLoss("it is defined twice"));
  if (method) ClassOf(owner);
  if (const absl::Status status = Range(0, code_.size()); !status.ok()) {
    std::string where = StrCat("instruction ", at_);
    if (at_ < code_.size()) {
      StrAppend(&where, " (", Printable(code_[at_].op.substr(0, 40)), " ", code_[at_].x, " ",
                code_[at_].n, ")");
    }
    return annotated(Annotate(status, where));
  }
  if (code_.empty() || code_.back().op != "RET") {
    return annotated(DataLoss("it does not end with a return"));
  }
  if (method) {
    Class& made = ClassOf(owner);
    if (std::any_of(made.attributes.begin(), made.attributes.end(),
                    [&](const Class::Attribute& a) { return a.name == name.substr(dot + 1); })) {
      return annotated(DataLoss("an attribute has its name"));
    }
    made.methods += out_;
    written_ += out_.size();
  } else {
    written_ += out_.size();
    functions_.push_back({owner, std::move(out_)});
  }
  return absl::OkStatus();
}

absl::StatusOr<BytecodeText> BytecodeWriter::Write(const PickleValue& bytecode,
                                                   const PickleValue* data) {
  if (!IsBytecodeSequence(&bytecode)) return DataLoss("the bytecode is not a list of functions");
  X2IR_RETURN_IF_ERROR(ReadClasses(data));
  for (size_t i = 0; i < bytecode.items.size(); ++i) {
    // The first may be the version.
    if (i == 0 && bytecode.items[i]->kind == PickleValue::kInt) continue;
    X2IR_RETURN_IF_ERROR(WriteFunction(*bytecode.items[i]));
  }
  WriteFiles(&result_);
  return std::move(result_);
}

absl::StatusOr<BytecodeText> WriteBytecodeAsScript(const PickleValue& bytecode,
                                                   const PickleValue* data) {
  return BytecodeWriter().Write(bytecode, data);
}

}  // namespace x2ir::torch_script
