// The instructions of bytecode as statements.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "x2ir/formats/torch/bytecode_internal.h"
#include "x2ir/formats/torch/schemas.h"
#include "x2ir/graph_wrapper/readable.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::torch_script {
namespace {

std::string BytecodeReal(double value) {
  if (std::isnan(value)) return "float(\"nan\")";
  if (std::isinf(value)) return value < 0 ? "float(\"-inf\")" : "float(\"inf\")";
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  std::string out(buffer, end);
  if (out.find_first_of(".e") == out.npos) out += ".";
  return out;
}

// Operators that give nothing, of those that have the same name without the overload.
bool GivesNothing(std::string_view name, std::string_view overload) {
  static const auto* const kAlways = new absl::flat_hash_set<std::string_view>{
      "aten::extend",       "aten::insert",    "aten::clear",          "aten::reverse",
      "aten::remove",       "aten::Delete",    "aten::update",         "aten::warn",
      "aten::backward",     "aten::_backward", "aten::set_data",       "aten::manual_seed",
      "prim::Print",        "prim::SetAttr",   "prim::RaiseException", "aten::set_grad_enabled",
      "aten::_assert_async"};
  if (kAlways->contains(name)) return true;
  if (name == "aten::_set_item") return overload != "t";
  // In a list; that of a tensor gives two.
  return name == "aten::sort" && (overload == "int" || overload == "float" || overload == "bool" ||
                                  overload == "str" || overload == "any" || overload == "Tensor");
}

}  // namespace

// --- Values ---------------------------------------------------------------------------------

absl::StatusOr<BytecodeWriter::Value> BytecodeWriter::Pop() {
  if (stack_.size() <= floor_) return DataLoss("it takes a value that does not exist");
  Value value = std::move(stack_.back());
  stack_.pop_back();
  return value;
}

absl::StatusOr<std::vector<BytecodeWriter::Value>> BytecodeWriter::Pop(int64_t count) {
  if (count < 0 || static_cast<uint64_t>(count) > stack_.size() - floor_) {
    return DataLoss("it takes ", count, " values, but there are ", stack_.size() - floor_);
  }
  std::vector<Value> values(std::make_move_iterator(stack_.end() - count),
                            std::make_move_iterator(stack_.end()));
  stack_.resize(stack_.size() - static_cast<size_t>(count));
  return values;
}

absl::StatusOr<std::string> BytecodeWriter::PopList(int64_t count) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<Value> values, Pop(count));
  std::string out;
  for (size_t i = 0; i < values.size(); ++i) StrAppend(&out, i == 0 ? "" : ", ", values[i].text);
  return out;
}

// As what stands before "." and "[".
std::string BytecodeWriter::Operand(const std::string& text) {
  return IsBytecodeName(text) ? text : StrCat("(", text, ")");
}

// a = b; a, b = c, d
void BytecodeWriter::Assign(const std::vector<std::string>& to,
                            const std::vector<std::string>& from, std::string* line) {
  for (const auto* side : {&to, &from}) {
    if (side == &from) *line += " = ";
    for (size_t i = 0; i < side->size(); ++i) StrAppend(line, i == 0 ? "" : ", ", (*side)[i]);
  }
}

absl::StatusOr<std::string> BytecodeWriter::Register(int64_t index) {
  // Every register is the home of one value of the program. A name on the stack means what it did
  // when it came there.
  if (!stored_.insert(index).second) {
    return Unimplemented("register ", index, " is stored to in two places");
  }
  return StrCat("r", index);
}

absl::Status BytecodeWriter::Store(int64_t first, int64_t count) {
  X2IR_ASSIGN_OR_RETURN(std::vector<Value> values, Pop(count));
  std::vector<std::string> to, from;
  for (int64_t i = 0; i < count; ++i) {
    X2IR_ASSIGN_OR_RETURN(std::string name, Register(first + i));
    register_objects_[first + i] = values[i].object;
    if (!loaded_.contains(first + i)) continue;
    to.push_back(std::move(name));
    from.push_back(std::move(values[i].text));
  }
  if (to.empty()) return absl::OkStatus();
  std::string line;
  Assign(to, from, &line);
  Line(line);
  return absl::OkStatus();
}

absl::Status BytecodeWriter::Put(std::string_view text, size_t end, std::string_view object,
                                 bool pure) {
  if (at_ + 1 < end) {
    const BytecodeInstruction& next = code_[at_ + 1];
    if (next.op == "STORE") {
      ++at_;
      X2IR_ASSIGN_OR_RETURN(const std::string name, Register(next.x));
      register_objects_[next.x] = object;
      if (loaded_.contains(next.x)) {
        Line(StrCat(name, " = ", text));
      } else if (!pure) {
        Line(text);
      }
      return absl::OkStatus();
    }
    // What gives several values stores them at once.
    if (next.op == "STOREN" && next.n > 1 && !pure) return Unpack(text, next.n, end);
    if (next.op == "DROP") {
      ++at_;
      if (!pure) Line(text);
      return absl::OkStatus();
    }
  }
  const std::string name = NewName('t');
  Line(StrCat(name, " = ", text));
  Push(name, object);
  return absl::OkStatus();
}

// An expression of several values, which the next instruction stores.
absl::Status BytecodeWriter::Unpack(std::string_view text, int64_t count, size_t end) {
  const bool follows = at_ + 1 < end;
  const BytecodeInstruction next = follows ? code_[at_ + 1] : BytecodeInstruction();
  const bool one = next.op == "STORE";
  if (!one && (next.op != "STOREN" || next.n < 0)) {
    return Unimplemented("several values that are not stored at once");
  }
  ++at_;
  const int64_t stored = one ? 1 : next.n;
  if (count >= 0 && count != stored) {
    return DataLoss("it gives ", count, " values, but ", stored, " are stored");
  }
  constexpr int64_t kMaxStored = 65535;
  if (stored > kMaxStored) return DataLoss(stored, " values are stored");
  std::string line;
  for (int64_t i = 0; i < stored; ++i) {
    X2IR_ASSIGN_OR_RETURN(const std::string name, Register(next.x + i));
    StrAppend(&line, name, ", ");
  }
  Line(StrCat(line, "= ", text));
  return absl::OkStatus();
}

std::string BytecodeWriter::Constant(const PickleValue& value) {
  const auto number = [](const PickleValue& v) -> std::string {
    switch (v.kind) {
      case PickleValue::kBool: return v.number ? "True" : "False";
      case PickleValue::kInt: return StrCat(v.number);
      case PickleValue::kFloat: return BytecodeReal(v.real);
      default: return {};
    }
  };
  std::string text = number(value);
  if (!text.empty()) return text;
  constexpr size_t kLongList = 12;
  switch (value.kind) {
    case PickleValue::kNone: return "None";
    case PickleValue::kString:
      if (value.text.size() <= kMaxBytecodeName) return BytecodeQuoted(value.text);
      break;
    case PickleValue::kList: {
      if (value.items.empty() || value.items.size() > kLongList) break;
      bool numbers = true;
      for (const PickleValue* item : value.items) {
        const std::string element = number(*item);
        numbers = numbers && !element.empty();
        StrAppend(&text, text.empty() ? "[" : ", ", element);
      }
      if (numbers) return text + "]";
      break;
    }
    default: break;
  }
  const auto [it, fresh] = constant_numbers_.try_emplace(&value, result_.constants.size());
  if (fresh) result_.constants.push_back(&value);
  return StrCat("CONSTANTS.c", it->second);
}

absl::StatusOr<const PickleValue*> BytecodeWriter::ConstantAt(int64_t index) const {
  if (index < 0 || static_cast<uint64_t>(index) >= constants_.size()) {
    return DataLoss("there are ", constants_.size(), " constants");
  }
  return constants_[static_cast<size_t>(index)];
}

std::string_view BytecodeWriter::TypeAt(int64_t index) const {
  if (index < 0 || static_cast<uint64_t>(index) >= types_.size()) return "Any";
  return types_[static_cast<size_t>(index)];
}

// --- Control --------------------------------------------------------------------------------

// Instructions [begin, end), which leave their values on the stack.
absl::Status BytecodeWriter::Range(size_t begin, size_t end) {
  constexpr size_t kMaxNesting = 150;
  constexpr size_t kMaxText = size_t{256} << 20;
  if (indent_ > kMaxNesting) {
    return Unimplemented("its blocks are nested more than ", kMaxNesting, " deep");
  }
  // Step moves at_ over instructions that belong together.
  for (at_ = begin; at_ < end; ++at_) {
    X2IR_RETURN_IF_ERROR(Step(end));
    if (written_ + out_.size() > kMaxText) {
      return Unimplemented("its text has more than ", kMaxText, " bytes");
    }
  }
  return absl::OkStatus();
}

// JF to the second block, the first block, JMP to the end, the second block.
absl::Status BytecodeWriter::If(size_t end) {
  const size_t start = at_;
  X2IR_ASSIGN_OR_RETURN(const Value condition, Pop());
  const int64_t to_second = code_[start].x;
  const auto limit = static_cast<int64_t>(end - start);
  if (to_second < 2 || to_second > limit) return DataLoss("it jumps out of its block");
  const size_t second = start + static_cast<size_t>(to_second);
  const BytecodeInstruction& jump = code_[second - 1];
  const auto rest = static_cast<int64_t>(end - (second - 1));
  if (jump.op != "JMP" || jump.x < 1 || jump.x > rest) {
    return Unimplemented("a jump that makes no blocks of an if");
  }
  const size_t after = second - 1 + static_cast<size_t>(jump.x);

  const size_t outer_floor = floor_;
  const size_t height = stack_.size();
  floor_ = height;
  std::vector<std::string> results;
  std::vector<std::string_view> objects;
  // The results of both blocks are the same variables.
  const auto block = [&](size_t block_begin, size_t block_end, bool is_second) -> absl::Status {
    ++indent_;
    const size_t before = out_.size();
    X2IR_RETURN_IF_ERROR(Range(block_begin, block_end));
    const size_t count = stack_.size() - height;
    if (is_second && count != results.size()) {
      at_ = start;
      return DataLoss("one block leaves ", results.size(), " values, the other ", count);
    }
    std::vector<std::string> values;
    for (size_t i = 0; i < count; ++i) {
      Value& value = stack_[height + i];
      values.push_back(std::move(value.text));
      if (!is_second) {
        results.push_back(NewName('t'));
        objects.push_back(value.object);
      } else if (value.object != objects[i]) {
        objects[i] = {};
      }
    }
    stack_.resize(height);
    if (count > 0) {
      std::string line;
      Assign(results, values, &line);
      Line(line);
    } else if (out_.size() == before) {
      Line("pass");
    }
    --indent_;
    return absl::OkStatus();
  };
  Line(StrCat("if ", condition.text, ":"));
  X2IR_RETURN_IF_ERROR(block(start + 1, second - 1, false));
  const size_t otherwise = out_.size();
  Line("else:");
  const size_t body = out_.size();
  X2IR_RETURN_IF_ERROR(block(second, after, true));
  // An empty block is left out.
  if (results.empty() && out_.size() - body == 2 * (indent_ + 1) + sizeof("pass")) {
    if (std::string_view(out_).substr(body).ends_with("pass\n")) out_.resize(otherwise);
  }
  floor_ = outer_floor;
  for (size_t i = 0; i < results.size(); ++i) Push(std::move(results[i]), objects[i]);
  at_ = after - 1;
  return absl::OkStatus();
}

// On the stack: 0, the most rounds, whether to begin, and what one round hands to the next. A round
// begins with its number and these, and ends with whether to go on and these.
absl::Status BytecodeWriter::Loop(size_t end) {
  const size_t start = at_;
  const int64_t length = code_[start].x;
  if (length < 2 || length > static_cast<int64_t>(end - start)) {
    return DataLoss("it jumps out of its block");
  }
  const size_t jump = start + static_cast<size_t>(length) - 1;
  if (code_[jump].op != "JMP" || code_[jump].x != 1 - length) {
    return Unimplemented("a jump that makes no block of a loop");
  }
  if (code_[start].n < 2) return DataLoss("it has no condition");
  X2IR_ASSIGN_OR_RETURN(std::vector<Value> frame, Pop(code_[start].n + 1));
  if (frame[0].text != "0") return Unimplemented("a loop that does not count from 0");
  const std::string most = std::move(frame[1].text);
  const std::string begins = std::move(frame[2].text);

  // What is handed on is in variables, which the end of a round assigns.
  std::vector<std::string> carried, values;
  std::vector<std::string_view> objects;
  for (size_t i = 3; i < frame.size(); ++i) {
    carried.push_back(NewName('s'));
    values.push_back(std::move(frame[i].text));
    objects.push_back(frame[i].object);
  }
  const std::string counter = NewName('i');
  const BytecodeInstruction& first = code_[start + 1];
  const bool stores = first.op == "STORE" || (first.op == "STOREN" && first.n > 0);
  const bool counts = first.op != "DROP" && (!stores || loaded_.contains(first.x));

  const size_t outer_floor = floor_;
  floor_ = stack_.size();
  Push(counter);
  for (size_t i = 0; i < carried.size(); ++i) Push(carried[i], objects[i]);
  std::string before = std::move(out_);
  out_.clear();
  ++indent_;
  X2IR_RETURN_IF_ERROR(Range(start + 1, jump));
  --indent_;
  std::string body = std::move(out_);
  out_ = std::move(before);
  at_ = start;
  if (stack_.size() != floor_ + 1 + carried.size()) {
    return DataLoss("its block leaves ", stack_.size() - floor_, " values, not ",
                    1 + carried.size());
  }
  std::vector<std::string> next;
  for (size_t i = floor_ + 1; i < stack_.size(); ++i) next.push_back(std::move(stack_[i].text));
  const std::string goes_on = std::move(stack_[floor_].text);
  stack_.resize(floor_);
  floor_ = outer_floor;

  constexpr std::string_view kNoLimit = "9223372036854775807";
  const bool is_for = begins == "True" && goes_on == "True";
  const bool limited = most != kNoLimit;
  std::vector<std::string> to = carried;
  std::string loop;
  if (is_for) {
    loop = StrCat("for ", counter, " in range(", most, "):");
  } else {
    const std::string condition = NewName('c');
    to.push_back(condition);
    next.push_back(goes_on);
    values.push_back(begins);
    loop = StrCat("while ", condition, ":");
    if (counts || limited) {
      to.push_back(counter);
      next.push_back(StrCat("torch.add(", counter, ", 1)"));
      values.push_back("0");
    }
    if (limited) {
      loop = StrCat("while torch.__and__(", condition, ", torch.lt(", counter, ", ", most, ")):");
    }
  }
  std::string line;
  if (!to.empty()) {
    Assign(to, values, &line);
    Line(line);
  }
  Line(loop);
  out_ += body;
  ++indent_;
  line.clear();
  if (!to.empty()) {
    Assign(to, next, &line);
    Line(line);
  } else if (body.empty()) {
    Line("pass");
  }
  --indent_;
  for (size_t i = 0; i < carried.size(); ++i) Push(std::move(carried[i]), objects[i]);
  at_ = jump;
  return absl::OkStatus();
}

absl::Status BytecodeWriter::Return(size_t end) {
  if (floor_ != 0 || end != code_.size() || at_ + 1 != end) {
    return Unimplemented("a return that is not the last instruction");
  }
  if (stack_.empty()) {
    Line("return None");
  } else if (stack_.size() == 1) {
    Line(StrCat("return ", stack_[0].text));
  } else {
    X2IR_ASSIGN_OR_RETURN(const std::string values, PopList(static_cast<int64_t>(stack_.size())));
    Line(StrCat("return (", values, ")"));
  }
  return absl::OkStatus();
}

// --- Instructions ---------------------------------------------------------------------------

absl::Status BytecodeWriter::Step(size_t end) {
  const BytecodeInstruction code = code_[at_];
  const std::string_view op = code.op;
  // Of one value, as a call.
  const auto call = [&](std::string_view function) -> absl::Status {
    X2IR_ASSIGN_OR_RETURN(const Value value, Pop());
    return Put(StrCat(function, "(", value.text, ")"), end);
  };
  const auto call_of = [&](std::string_view function, int64_t count) -> absl::Status {
    X2IR_ASSIGN_OR_RETURN(const std::string values, PopList(count));
    return Put(StrCat(function, "(", values, ")"), end);
  };
  if (op == "LOAD" || op == "MOVE") {
    if (!stored_.contains(code.x)) return DataLoss("the register holds no value");
    Push(StrCat("r", code.x), register_objects_[code.x]);
    return absl::OkStatus();
  }
  if (op == "LOADC") {
    X2IR_ASSIGN_OR_RETURN(const PickleValue* const value, ConstantAt(code.x));
    Push(Constant(*value));
    return absl::OkStatus();
  }
  if (op == "STORE") return Store(code.x, 1);
  if (op == "STOREN") return Store(code.x, code.n);
  if (op == "DROP") return Pop().status();
  if (op == "DROPR" || op == "UNCHECKED_CAST") return absl::OkStatus();
  if (op == "OP" || op == "OPN") return Operate(end);
  if (op == "JF") return If(end);
  if (op == "LOOP") return Loop(end);
  if (op == "RET") return Return(end);
  if (op == "GET_ATTR" || op == "SET_ATTR") return Attribute(end);
  if (op == "LIST_CONSTRUCT" || op == "TUPLE_CONSTRUCT" || op == "NAMED_TUPLE_CONSTRUCT" ||
      op == "DICT_CONSTRUCT") {
    return Construct();
  }
  if (op == "LIST_UNPACK") {
    X2IR_ASSIGN_OR_RETURN(const Value value, Pop());
    return Unpack(value.text, code.x, end);
  }
  if (op == "TUPLE_SLICE") {
    X2IR_ASSIGN_OR_RETURN(const Value value, Pop());
    return Put(StrCat(Operand(value.text), "[", code.x, ":", code.x + code.n, "]"), end);
  }
  if (op == "TUPLE_INDEX" || op == "DICT_INDEX") {
    X2IR_ASSIGN_OR_RETURN(const Value index, Pop());
    X2IR_ASSIGN_OR_RETURN(const Value value, Pop());
    return Put(StrCat(Operand(value.text), "[", index.text, "]"), end);
  }
  if (op == "CREATE_OBJECT") {
    const std::string_view type = TypeAt(code.x);
    if (!IsQualifiedBytecodeName(type) || !type.starts_with("__torch__."))
      return DataLoss("it makes an object of no class");
    return Put(StrCat(type, ".__new__(", type, ")"), end, type);
  }
  if (op == "ISINSTANCE") {
    if (code.n < 1 || static_cast<uint64_t>(code.n) > types_.size()) {
      return DataLoss("there are ", types_.size(), " types");
    }
    constexpr int64_t kManyTypes = 16;
    if (code.n > kManyTypes) return Unimplemented("a choice of ", code.n, " types");
    X2IR_ASSIGN_OR_RETURN(const Value value, Pop());
    std::string types;
    for (int64_t i = 0; i < code.n; ++i) {
      StrAppend(&types, i == 0 ? "" : ", ", TypeAt(code.x + i));
    }
    if (code.n > 1) types = StrCat("(", types, ")");
    return Put(StrCat("isinstance(", value.text, ", ", types, ")"), end);
  }
  if (op == "RAISE_EXCEPTION") {
    // Old files have the message only.
    const int64_t count = stack_.size() - floor_ >= 2 ? 2 : 1;
    X2IR_ASSIGN_OR_RETURN(const std::string values, PopList(count));
    Line(StrCat("ops.prim.RaiseException(", values, ")"));
    return absl::OkStatus();
  }
  if (op == "WARN") {
    X2IR_ASSIGN_OR_RETURN(const std::string values, PopList(2));
    Line(StrCat("torch.warn(", values, ")"));
    return absl::OkStatus();
  }
  if (op == "UN_INITIALIZED") return Put("uninitialized(Any)", end);
  if (op == "__IS__") return call_of("torch.__is__", 2);
  if (op == "__ISNOT__") return call_of("torch.__isnot__", 2);
  if (op == "__NOT__") return call("torch.__not__");
  if (op == "FORMAT") return call_of("torch.format", code.x);
  if (op == "DIM") return call("torch.dim");
  if (op == "DEVICE") return call("ops.prim.device");
  if (op == "DTYPE") return call("ops.prim.dtype");
  if (op == "IS_CUDA") return call("ops.prim.is_cuda");
  if (op == "NUM_TO_TENSOR") return call("ops.prim.NumToTensor");
  if (op == "TO_LIST") return ToList(end);
  if (op == "INTERFACE_CALL") return CallMethod(end);
  if (op == "JMP") return Unimplemented("a jump that belongs to no if or loop");
  return Unimplemented("the instruction is not read");
}

// Lists, tuples and dicts stay on the stack as they are written: nothing can happen to the
// variables in them.
absl::Status BytecodeWriter::Construct() {
  const BytecodeInstruction& code = code_[at_];
  if (code.op == "DICT_CONSTRUCT") {
    X2IR_ASSIGN_OR_RETURN(const std::vector<Value> values, Pop(code.n));
    if (values.size() % 2 != 0) return DataLoss("it makes a dict of ", values.size(), " values");
    std::string text = "{";
    for (size_t i = 0; i + 1 < values.size(); i += 2) {
      StrAppend(&text, i == 0 ? "" : ", ", values[i].text, ": ", values[i + 1].text);
    }
    Push(StrCat("annotate(", TypeAt(code.x), ", ", text, "})"));
    return absl::OkStatus();
  }
  const bool tuple = code.op == "TUPLE_CONSTRUCT";
  const int64_t count = tuple ? code.x : code.n;
  X2IR_ASSIGN_OR_RETURN(const std::string values, PopList(count));
  if (code.op == "LIST_CONSTRUCT") {
    const std::string_view type = TypeAt(code.x);
    if (count == 0 || type.find("Optional") != type.npos) {
      Push(StrCat("annotate(", type, ", [", values, "])"));
    } else {
      Push(StrCat("[", values, "]"));
    }
    return absl::OkStatus();
  }
  // The type of a tuple with names is "__torch__.A[NamedTuple, ...]" where its class is not in the
  // file. Its elements go by their numbers.
  const std::string_view type = tuple ? std::string_view() : TypeAt(code.x);
  const bool named = IsQualifiedBytecodeName(type) && classes_.contains(type);
  Push(
      StrCat(named ? type : std::string_view(), "(", values, count == 1 && !named ? "," : "", ")"));
  return absl::OkStatus();
}

absl::Status BytecodeWriter::Attribute(size_t end) {
  const BytecodeInstruction code = code_[at_];
  const bool set = code.op == "SET_ATTR";
  Value value;
  if (set) {
    X2IR_ASSIGN_OR_RETURN(value, Pop());
  }
  X2IR_ASSIGN_OR_RETURN(const Value object, Pop());
  if (code.x < 0) return DataLoss("it has no attribute of this number");
  std::string name = StrCat("_slot", code.x);
  std::string_view type;
  if (const auto it = classes_.find(object.object); it != classes_.end()) {
    Class& made = it->second;
    if (static_cast<uint64_t>(code.x) < made.attributes.size()) {
      const Class::Attribute& attribute = made.attributes[static_cast<size_t>(code.x)];
      name = std::string(attribute.name);
      type = attribute.object;
    } else {
      made.slots = std::max(made.slots, code.x + 1);
    }
  }
  const bool plain = IsBytecodeName(name);
  if (set) {
    if (!plain) return Unimplemented("a value is assigned to attribute '", Printable(name), "'");
    Line(StrCat(Operand(object.text), ".", name, " = ", value.text));
    return absl::OkStatus();
  }
  return Put(plain ? StrCat(Operand(object.text), ".", name)
                   : StrCat("getattr(", object.text, ", ", BytecodeQuoted(name), ")"),
             end, type, true);
}

// The name of the method is a constant; the object is the first of the arguments.
absl::Status BytecodeWriter::CallMethod(size_t end) {
  const BytecodeInstruction code = code_[at_];
  X2IR_ASSIGN_OR_RETURN(const PickleValue* const name, ConstantAt(code.x));
  if (name->kind != PickleValue::kString || !IsBytecodeName(name->text)) {
    return DataLoss("it calls a method without a name");
  }
  if (code.n < 1) return DataLoss("it calls a method of no object");
  X2IR_ASSIGN_OR_RETURN(const std::string values, PopList(code.n - 1));
  X2IR_ASSIGN_OR_RETURN(const Value object, Pop());
  return Put(StrCat(Operand(object.text), ".", name->text, "(", values, ")"), end);
}

// Of a tensor, the number of its dimensions, and a number for the type of its elements.
absl::Status BytecodeWriter::ToList(size_t end) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<Value> values, Pop(3));
  static constexpr std::string_view kTypes[] = {"int", "float", "bool", "complex"};
  constexpr int kMaxDims = 64;
  int dims = -1, element = -1;
  const auto number = [](const std::string& text, int* out) {
    const char* const end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, *out);
    return result.ec == std::errc() && result.ptr == end;
  };
  if (!number(values[1].text, &dims) || !number(values[2].text, &element) || dims < 0 ||
      dims > kMaxDims || element < 0 || element >= static_cast<int>(std::size(kTypes))) {
    return Unimplemented("a list of a type that is not a constant");
  }
  std::string type(kTypes[element]);
  for (int i = 0; i < dims; ++i) type = StrCat("List[", type, "]");
  return Put(StrCat("annotate(", type, ", ", Operand(values[0].text), ".tolist())"), end);
}

absl::Status BytecodeWriter::Operate(size_t end) {
  const BytecodeInstruction code = code_[at_];
  if (code.x < 0 || static_cast<uint64_t>(code.x) >= operators_.size()) {
    return DataLoss("there are ", operators_.size(), " operators");
  }
  const BytecodeOperator& op = operators_[static_cast<size_t>(code.x)];
  const size_t colons = op.name.find("::");
  const std::string_view domain = op.name.substr(0, colons);
  const std::string_view name =
      colons == op.name.npos ? std::string_view() : op.name.substr(colons + 2);
  if (!IsBytecodeName(domain) || !IsBytecodeName(name)) {
    return DataLoss("operator '", Printable(op.name.substr(0, 100)), "' has no name");
  }
  if (op.overload.size() > kMaxBytecodeName) return DataLoss("an operator has a very long name");
  const std::string_view overload = op.overload.empty() ? "default" : op.overload;
  const TorchSchema* schema = FindTorchSchema(StrCat(op.name, ".", overload));
  // The operators that write to an operand have the arguments of those that do not.
  if (!schema && name.ends_with('_')) {
    schema = FindTorchSchema(StrCat(op.name.substr(0, op.name.size() - 1), ".", overload));
  }
  int64_t count = code.op == "OPN" ? code.n : op.arguments;
  if (count < 0 && schema) count = static_cast<int64_t>(schema->parameters.size());
  // These have one operand whatever the file says.
  const bool unpack = op.name == "prim::TupleUnpack" || op.name == "prim::ListUnpack";
  if (count < 0 && unpack) count = 1;
  if (count < 0) {
    return Unimplemented("the file does not say how many arguments operator '", op.name, "' has");
  }
  // What is computed goes to the last operand, after those that are left out.
  if (op.overload == "out" || op.overload.ends_with("_out")) {
    return Unimplemented("operator '", op.name, ".", op.overload, "' writes to an operand");
  }
  X2IR_ASSIGN_OR_RETURN(const std::vector<Value> values, Pop(count));
  if (op.name == "prim::unchecked_cast" || op.name == "prim::unchecked_unwrap_optional") {
    if (values.size() != 1) return DataLoss("operator '", op.name, "' has not one operand");
    Push(values[0].text, values[0].object);
    return absl::OkStatus();
  }
  if (unpack) {
    if (values.size() != 1) return DataLoss("operator '", op.name, "' has not one operand");
    return Unpack(values[0].text, -1, end);
  }
  std::string arguments;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) arguments += ", ";
    if (schema && i < schema->parameters.size() && schema->parameters[i].keyword_only) {
      StrAppend(&arguments, schema->parameters[i].name, "=");
    }
    arguments += values[i].text;
  }
  // What has a form of its own in the text.
  if (values.size() == 2 && (op.name == "aten::__getitem__" || op.name == "prim::TupleIndex")) {
    return Put(StrCat(Operand(values[0].text), "[", values[1].text, "]"), end);
  }
  if (values.size() == 1 && (op.name == "prim::EnumName" || op.name == "prim::EnumValue")) {
    return Put(StrCat(Operand(values[0].text), name == "EnumName" ? ".name" : ".value"), end);
  }
  struct Special {
    std::string_view name, before;
  };
  static constexpr Special kSpecials[] = {
      {"aten::Int", "int("},
      {"aten::Float", "float("},
      {"aten::Bool", "bool("},
      {"aten::str", "str("},
      {"aten::sorted", "sorted("},
      {"aten::IntImplicit", "annotate(int, "},
      {"aten::FloatImplicit", "annotate(float, "},
      {"aten::ScalarImplicit", "annotate(number, "},
      {"prim::Print", "print("},
      {"prim::Uninitialized", "uninitialized(Any"},
  };
  std::string text;
  for (const Special& special : kSpecials) {
    if (special.name == op.name) text = special.before;
  }
  if (text.empty()) {
    text = domain == "aten" ? StrCat("torch.", name, "(") : StrCat("ops.", domain, ".", name, "(");
  }
  StrAppend(&text, arguments, ")");
  if (GivesNothing(op.name, op.overload)) {
    Line(text);
    return absl::OkStatus();
  }
  return Put(text, end);
}

}  // namespace x2ir::torch_script
