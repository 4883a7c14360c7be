// Lexical pieces that shape.cc, type.cc and text.cc share: names, quoted strings, and the
// reading of a dim or a type in the middle of a longer text. Not for other rooms.
#ifndef X2IR_GRAPH_WRAPPER_TEXT_INTERNAL_H_
#define X2IR_GRAPH_WRAPPER_TEXT_INTERNAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/shape.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/graph_wrapper/type.h"

namespace x2ir::text_internal {

inline bool IsAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Letters, digits and underscores, no digit first.
bool IsIdentifier(std::string_view text);

// `text` in double quotes, escaped as in JSON. Bytes past 0x7f stay as they are.
std::string Quote(std::string_view text);
std::string QuoteUnlessIdentifier(std::string_view text);

// The readers below read at text[*pos] and advance *pos past the text that they took. On failure
// *pos is where the error is; the message does not say where.
void SkipSpace(std::string_view text, size_t* pos);  // and comments, # to the end of line
absl::StatusOr<std::string> ReadQuoted(std::string_view text, size_t* pos);
std::string_view ReadIdentifier(std::string_view text, size_t* pos);  // "" when there is none
absl::StatusOr<Dim> ReadDim(std::string_view text, size_t* pos);      // an expression or ?
absl::StatusOr<Type> ReadType(std::string_view text, size_t* pos);

// Names of values and attributes as text.h has them: a plain one, else "".
std::string_view ReadPlainName(std::string_view text, size_t* pos);
std::string NameText(std::string_view name);  // quoted unless plain

// The shortest text that reads back as the same number.
std::string NumberText(float value);
std::string NumberText(double value);
// The whole text as a number: digits, nan, inf, -inf. nullopt when it is none, or out of range.
std::optional<float> ToFloat(std::string_view text);
std::optional<double> ToDouble(std::string_view text);
// [+-]?[0-9A-Za-z.]+, with a sign after the e of an exponent.
std::string_view ReadNumberToken(std::string_view text, size_t* pos);

// "float32[2]{0.5, -1}"; only the type when there are more than `max_elements`, and for
// sparse tensors.
std::string TensorText(const Tensor& tensor, int64_t max_elements);
// The inverse. `zeros_left` is how many bytes of zeros (for tensors without elements) the
// reader may still make; they take no memory until they are written to.
absl::StatusOr<Tensor> ReadTensor(std::string_view text, size_t* pos, int64_t* zeros_left);
// A tensor of zeros of that type, which must be a tensor of static shape.
absl::StatusOr<Tensor> ZerosOfType(const Type& type, int64_t* zeros_left);

// As Dim::ToString, but a name that is not a plain expression is quoted, so that ReadDim gives
// the same dim.
std::string DimText(const Dim& dim);

}  // namespace x2ir::text_internal

#endif  // X2IR_GRAPH_WRAPPER_TEXT_INTERNAL_H_
