// TorchScript: the language in which torch.jit.save writes the code of a module, as a tree. It is a
// subset of Python: classes with typed attributes and methods, functions, and statements that
// return at their ends. Nothing here runs it (handlers/torch/script does).
#ifndef X2IR_FORMATS_TORCH_SCRIPT_H_
#define X2IR_FORMATS_TORCH_SCRIPT_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/torch/pickle.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/strings.h"

namespace X2IR_API x2ir {
namespace torch_script {

// An expression. Types are expressions too ("Optional[Tensor]", "__torch__.a.B").
struct Expr {
  enum Kind : uint8_t {
    kName,       // text
    kInt,        // number
    kFloat,      // real; "inf" and "nan" are names or calls, as the text has them
    kImaginary,  // real: 2.j
    kString,     // text, without escapes
    kTrue,
    kFalse,
    kNone,
    kEllipsis,
    kAttribute,    // args[0] . text
    kCall,         // args[0] ( args[1..] ); the last keywords.size() of them are named
    kIndex,        // args[0] [ args[1] ]; x[a, b] has a tuple
    kSlice,        // args[0] : args[1] : args[2], null where left out; only inside of an index
    kTuple,        // args
    kList,         // args
    kDict,         // args: keys and values in turn
    kListOf,       // [args[0] for args[1] in args[2] if args[3]]; args[3] may be null
    kDictOf,       // {args[0]: args[1] for args[2] in args[3] if args[4]}
    kUnary,        // text: "-", "+", "~", "not"; args[0]
    kBinary,       // text: "+", "**", "==", "in", "not in", "is", "is not", "and", ...
    kConditional,  // args[0] if args[1] else args[2]
    kStarred,      // * args[0]
  } kind = kNone;
  uint32_t offset = 0;  // of its first character in the file
  int64_t number = 0;
  double real = 0;
  std::string_view text;
  std::vector<const Expr*> args;
  std::vector<std::string_view> keywords;
};

struct FunctionDef;

struct Statement {
  enum Kind : uint8_t {
    kExpression,  // value
    kAssign,      // targets[0] = targets[1] = ... = value; `type` of x : T = v; value may be null
    kAugmented,   // targets[0] op= value; text: "+"
    kIf,          // value, body, otherwise
    kWhile,       // value, body
    kFor,         // targets[0] in value, body
    kReturn,      // value, may be null
    kRaise,       // value, may be null
    kAssert,      // value, type: the message, may be null
    kPass,
    kDef,     // function
    kWith,    // value as targets[0] (may be none), body
    kDelete,  // targets
    kBreak,
    kContinue,
  } kind = kPass;
  uint32_t offset = 0;
  std::string_view text;
  std::vector<const Expr*> targets;
  const Expr* value = nullptr;
  const Expr* type = nullptr;
  std::vector<const Statement*> body, otherwise;
  const FunctionDef* function = nullptr;
};

struct Parameter {
  std::string_view name;
  const Expr* type = nullptr;           // null: not said
  const Expr* default_value = nullptr;  // null: required
};

struct ParsedFile;
struct ClassDef;

struct FunctionDef {
  std::string_view name;
  std::vector<Parameter> parameters;  // `self` of a method too
  const Expr* returns = nullptr;
  std::vector<const Statement*> body;
  uint32_t offset = 0;
  const ParsedFile* file = nullptr;
  const ClassDef* of = nullptr;  // null: not a method
};

struct ClassDef {
  std::string_view name;
  std::string_view base;  // "Module", "NamedTuple", "Enum", "Interface"; empty: a plain class
  // name : type = value, in their order; either may be null. __annotations__["0"] = T is an
  // attribute "0" of type T.
  struct Field {
    std::string_view name;
    const Expr* type = nullptr;
    const Expr* value = nullptr;
  };
  std::vector<Field> fields;
  std::vector<const FunctionDef*> methods;
  const ParsedFile* file = nullptr;
  const FunctionDef* Method(std::string_view name) const;  // null: none
  const Field* FindField(std::string_view name) const;
};

// One file of code, parsed. Everything refers to its text, which must outlive it.
struct ParsedFile {
  std::string path;  // "__torch__/torch/nn/functional.py"
  std::string_view text;
  // op_version_set = N of old files; 0: not said.
  int64_t op_version_set = 0;
  absl::flat_hash_map<std::string_view, const ClassDef*> classes;
  absl::flat_hash_map<std::string_view, const FunctionDef*> functions;

  std::deque<Expr> exprs;
  std::deque<Statement> statements;
  std::deque<FunctionDef> function_defs;
  std::deque<ClassDef> class_defs;
  std::deque<std::string> strings;  // those with escapes
};

// DataLoss with file, line and column where the text is not of the language. Expressions and
// statements may be nested 200 deep.
absl::StatusOr<std::unique_ptr<ParsedFile>> ParseScript(std::string path, std::string_view text);

// A place in the source that the code was made from.
struct SourcePlaceOf {
  std::string file;  // "model.py"; empty: not known
  int64_t line = 0;
};

// An argument of the method that is read, flattened: a tensor, or a number, is an input of the
// graph; a list of tensors is as many as the caller says, a tuple its parts.
struct InputLayout {
  enum Kind : uint8_t {
    kTensor,
    kInt,
    kFloat,
    kBool,
    kText,     // text
    kDefault,  // it keeps its default value
    kNone,
    kTuple,  // parts; fields: their names, each with a line break, where they have some
    kList,   // parts
  } kind = kTensor;
  // Of kTensor: it is None, or has its default value, unless the type of the input is decided.
  // Until then that is an optional tensor.
  bool optional = false;
  std::string name;  // of the input: "x", "images_0"
  std::string fields;
  // Of a number that the caller gives: it is no input, but `integer` or `number`.
  bool literal = false;
  int64_t integer = 0;
  double number = 0;  // of kFloat, and 0 or 1 of kBool
  std::string text;
  const Expr* default_value = nullptr;
  std::vector<InputLayout> parts;
};

// An archive of torch.jit.save, or of the lite interpreter.
struct Program : SourceProgram {
  std::vector<std::unique_ptr<ParsedFile>> files;
  // The object that was saved, and the constants that the code calls CONSTANTS.c0, c1, ...
  std::unique_ptr<Pickle> data, constants;
  std::vector<const PickleValue*> constant_values;
  // Of the file: operators that changed their meaning are those of this version.
  int64_t version = 0;
  std::vector<ZipArchive::Bytes> texts;  // of the files
  BlobPtr file;
  // What is read of it: a method of the object, and its arguments but the object itself.
  const FunctionDef* method = nullptr;
  std::vector<InputLayout> inputs;

  // "__torch__.a.b.C": class C in __torch__/a/b.py. Null: there is none.
  const ClassDef* FindClass(std::string_view qualified_name) const;
  const FunctionDef* FindFunction(std::string_view qualified_name) const;
  // The name of a function with the names of its file and class: "__torch__.a.b.C.forward".
  static std::string QualifiedName(const FunctionDef& function);
  // From the file's debug table; an empty file name when it does not say.
  SourcePlaceOf PlaceOf(const ParsedFile& file, uint32_t offset) const;

  absl::flat_hash_map<std::string, const ParsedFile*> by_path;  // "__torch__/a/b.py"
  // Of each file with one, its debug table: offsets of the code, ascending, and the places.
  struct DebugEntry {
    uint32_t offset = 0;
    uint32_t file = 0;  // in debug_files
    int64_t line = 0;
  };
  absl::flat_hash_map<const ParsedFile*, std::vector<DebugEntry>> debug;
  std::vector<std::string> debug_files;
};

// The archive's program. DataLoss where it is broken, Unimplemented for what is not read.
absl::StatusOr<std::shared_ptr<Program>> OpenScript(ZipArchive zip);
// A model that holds the program: its graph has the inputs of the method, and one node, for what
// the method does. `arguments`: "NAME=5" (a number or text), "NAME=3" (a list of three tensors),
// "NAME=none", "NAME=input" (one that has a default, or is optional, is an input). An option error
// ("function", "arguments") for names that do not exist.
absl::StatusOr<Model> ReadScript(ZipArchive zip, const std::string& method,
                                 const std::vector<std::string>& arguments);
// Whether an archive is one of torch.jit.save: it holds code, or bytecode.
bool HoldsScript(const ZipArchive& zip);

}  // namespace torch_script
}  // namespace x2ir

#endif  // X2IR_FORMATS_TORCH_SCRIPT_H_
