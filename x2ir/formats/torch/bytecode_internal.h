// What the two files that write bytecode as a text have in common.
#ifndef X2IR_FORMATS_TORCH_BYTECODE_INTERNAL_H_
#define X2IR_FORMATS_TORCH_BYTECODE_INTERNAL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/torch/bytecode.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::torch_script {

// What is longer is no name, and no constant that is written where it is used: the text is then
// some times as large as the bytecode, and not its square.
inline constexpr size_t kMaxBytecodeName = 300;

bool IsBytecodeName(std::string_view text);
// "__torch__.a.B"
bool IsQualifiedBytecodeName(std::string_view text);
std::string BytecodeQuoted(std::string_view text);

struct BytecodeInstruction {
  std::string_view op;
  int64_t x = 0, n = 0;
};

struct BytecodeOperator {
  std::string_view name, overload;
  int64_t arguments = -1;  // -1: not said
};

class BytecodeWriter {
 public:
  absl::StatusOr<BytecodeText> Write(const PickleValue& bytecode, const PickleValue* data);

 private:
  // A class of the data, or of a function's name.
  struct Class {
    struct Attribute {
      std::string_view name, type, object;  // object: its class, where it is an object
    };
    std::vector<Attribute> attributes;  // by their numbers
    bool has_attributes = false;        // known from the data
    int64_t slots = 0;                  // that the code has, where they are not
    std::string methods;
  };
  // A value on the stack, as an expression. It is a variable or a constant, or a list and the like
  // of these: what has a place in an order is kept in a variable.
  struct Value {
    std::string text;
    std::string_view object;  // its class, where it is known
  };

  absl::Status ReadClasses(const PickleValue* data);
  Class& ClassOf(std::string_view name);
  std::string_view TypeOf(const PickleValue& value) const;

  absl::Status WriteFunction(const PickleValue& function);
  absl::Status ReadTables(const PickleValue& code);
  absl::Status ReadSchema(const PickleValue* schema, std::string_view of);
  void WriteFiles(BytecodeText* result);

  absl::Status Range(size_t begin, size_t end);
  absl::Status Step(size_t end);
  absl::Status Construct();
  absl::Status Operate(size_t end);
  absl::Status If(size_t end);
  absl::Status Loop(size_t end);
  absl::Status Return(size_t end);
  absl::Status Attribute(size_t end);
  absl::Status CallMethod(size_t end);
  absl::Status ToList(size_t end);

  absl::StatusOr<Value> Pop();
  absl::StatusOr<std::vector<Value>> Pop(int64_t count);
  // The last values of the stack as "a, b".
  absl::StatusOr<std::string> PopList(int64_t count);
  void Push(std::string text, std::string_view object = {}) {
    stack_.push_back({std::move(text), object});
  }
  void Line(std::string_view text) {
    out_.append(2 * indent_, ' ');
    StrAppend(&out_, text, "\n");
  }
  std::string NewName(char letter) { return StrCat(std::string_view(&letter, 1), ++names_); }
  // An expression that has its place in the order: to the registers that the next instruction
  // stores to, or to a new variable.
  absl::Status Put(std::string_view text, size_t end, std::string_view object = {},
                   bool pure = false);
  absl::Status Unpack(std::string_view text, int64_t count, size_t end);
  absl::StatusOr<std::string> Register(int64_t index);
  absl::Status Store(int64_t first, int64_t count);
  std::string Constant(const PickleValue& value);
  absl::StatusOr<const PickleValue*> ConstantAt(int64_t index) const;
  std::string_view TypeAt(int64_t index) const;
  static void Assign(const std::vector<std::string>& to, const std::vector<std::string>& from,
                     std::string* line);
  static std::string Operand(const std::string& text);

  BytecodeText result_;
  absl::flat_hash_map<const PickleValue*, size_t> constant_numbers_;
  // In the order of the text.
  std::vector<std::string_view> class_order_;
  absl::flat_hash_map<std::string_view, Class> classes_;
  struct FreeFunction {
    std::string_view module;
    std::string text;
  };
  std::vector<FreeFunction> functions_;
  absl::flat_hash_set<std::string_view> function_names_;
  size_t instructions_seen_ = 0;
  size_t written_ = 0;  // bytes of the functions before

  // Of the function that is written.
  std::vector<BytecodeInstruction> code_;
  std::vector<BytecodeOperator> operators_;
  std::vector<const PickleValue*> constants_;
  std::vector<std::string_view> types_;
  std::vector<std::pair<std::string_view, std::string_view>> arguments_;  // names and types
  std::string_view returns_;
  absl::flat_hash_set<int64_t> loaded_, stored_;  // registers
  absl::flat_hash_map<int64_t, std::string_view> register_objects_;
  std::vector<Value> stack_;
  size_t floor_ = 0;  // of the stack: what is below is not of this block
  size_t at_ = 0;     // the instruction
  std::string out_;
  size_t indent_ = 0;
  size_t names_ = 0;
};

}  // namespace x2ir::torch_script

#endif  // X2IR_FORMATS_TORCH_BYTECODE_INTERNAL_H_
