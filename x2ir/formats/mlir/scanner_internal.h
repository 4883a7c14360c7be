// The words of MLIR's text, its types and its attributes.
#ifndef X2IR_FORMATS_MLIR_SCANNER_INTERNAL_H_
#define X2IR_FORMATS_MLIR_SCANNER_INTERNAL_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/mlir/module.h"
#include "x2ir/formats/text_cursor_internal.h"

namespace x2ir::mlir {

bool IsWordChar(char c);

class Scanner : public TextCursor {
 public:
  explicit Scanner(std::string_view text) : TextCursor(text) {}

 protected:
  // The next character that is neither space nor comment.
  char Next();
  bool TakeChar(char c);
  absl::Status ExpectChar(char c);
  // A text that begins here; a word only where it ends.
  bool TakeText(std::string_view text);
  absl::Status ExpectText(std::string_view text);
  // What WordChars follow; empty if none does.
  std::string_view PeekWord();
  absl::StatusOr<std::string_view> Word();
  absl::StatusOr<int64_t> Integer();
  absl::StatusOr<std::string> String();
  absl::Status SkipString();                 // which may be very long
  absl::StatusOr<std::string> SymbolName();  // after '@'
  // The content of brackets of any kind with the brackets; the cursor is at the first.
  absl::StatusOr<std::string_view> Balanced();
  // " loc(...)", if it is there.
  absl::Status SkipLocation();
};

class AttrParser : public Scanner {
 public:
  explicit AttrParser(std::string_view text) : Scanner(text) {}
  absl::StatusOr<TypeRef> ParseType();
  absl::StatusOr<Attr> ParseAttr();
  // The same where a number or a text has no type after it: what follows ':' is something else.
  absl::StatusOr<Attr> ParseUntypedAttr();
  bool AtEnd() { return Next() == '\0'; }

 protected:
  // "T" or "(T, T)"; "T, T".
  absl::StatusOr<std::vector<TypeRef>> ParseTypes();
  absl::StatusOr<std::vector<TypeRef>> ParseTypeList();
  // "{a = 1, b}", with the brace that it begins with.
  absl::Status ParseDict(AttrList* list);
  // "#alias = ...", "!alias = ...".
  absl::Status ParseAlias();
  // "{-# ... #-}" at the end of the text, which is cut off.
  absl::Status ParseResources();
  // "[1, 2]" of integers.
  absl::StatusOr<std::vector<int64_t>> ParseInts();
  // "[b, 0, f]x[0, i, o]->[b, 0, f]" of a convolution, as fields.
  absl::StatusOr<AttrList> ParseConvLists();

 private:
  absl::StatusOr<TypeRef> ParseTypeInside();
  absl::StatusOr<TypeRef> ParseTensor();
  absl::StatusOr<TypeRef> ParseQuantized();
  absl::StatusOr<TypeRef> ParseFunctionType();
  absl::StatusOr<Attr> ParseAttrInside();
  absl::StatusOr<Attr> ParseNumber();
  absl::StatusOr<Attr> ParseArray();
  absl::StatusOr<Attr> ParseDenseArray();
  absl::StatusOr<Attr> ParseDense();
  absl::StatusOr<Attr> ParseDenseResource();
  absl::StatusOr<Attr> ParseDialectAttr();
  absl::StatusOr<Attr> ParseStructBody(std::string name);
  absl::StatusOr<Attr> ParseConvBody(std::string name);
  absl::StatusOr<double> ParseScale();

  absl::flat_hash_map<std::string_view, TypeRef> types_;  // by the text of a tensor's type
  StringMap<TypeRef> type_aliases_;
  StringMap<Attr> attr_aliases_;
  StringMap<std::string_view> resources_;  // "0x..."
  int depth_ = 0;
  bool untyped_ = false;
};

// The elements of dense<...>: `text` is what is between the brackets. Of a type without elements of
// ours: nullopt.
absl::StatusOr<Attr> DenseElements(std::string_view text, const TypeRef& type);
// The bytes of "0x...": of packed bools, of four-bit integers in bytes, ...
absl::StatusOr<Tensor> TensorOfBytes(std::string bytes, const Type& type, bool* splat);
absl::StatusOr<std::string> BytesOfHex(std::string_view hex);

// "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]" as the fields of a convolution's dimension numbers.
absl::StatusOr<AttrList> ConvFields(std::string_view text);

}  // namespace x2ir::mlir

#endif  // X2IR_FORMATS_MLIR_SCANNER_INTERNAL_H_
