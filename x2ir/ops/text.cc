// More ops on text, most of which no target has: string_map, string_length, substring,
// string_join, format_number.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/choice_attr.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/string_util.h"

namespace x2ir {
namespace {

using Strings = std::vector<std::string>;

// --- string_map -----------------------------------------------------------------------------

using Mapped = absl::StatusOr<std::string>;

// What is upper case beyond ASCII depends on the locale.
template <std::string (*kCase)(std::string_view)>
Mapped LocaleCase(const std::string& text) {
  if (std::any_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; })) {
    return Unimplemented("the case of '", text.substr(0, 40), "' depends on the locale");
  }
  return kCase(text);
}
std::string Lower(std::string_view text) {
  return absl::AsciiStrToLower({text.data(), text.size()});
}
std::string Upper(std::string_view text) {
  return absl::AsciiStrToUpper({text.data(), text.size()});
}

Mapped DecodeBase64(const std::string& text) {
  std::string out;
  const bool padded = absl::WebSafeBase64Unescape(text, &out);
  if (padded && text.find_first_of(" \t\n\v\f\r") == std::string::npos) return out;
  return Invalid("'", text.substr(0, 40), "' is no web-safe base64");
}
Mapped EncodeBase64(const std::string& text) { return absl::WebSafeBase64Escape(text); }
Mapped EncodePaddedBase64(const std::string& text) {
  std::string out = absl::WebSafeBase64Escape(text);
  out.append((4 - out.size() % 4) % 4, '=');
  return out;
}

struct Function {
  std::string_view name;
  Mapped (*fn)(const std::string&);
};
constexpr Function kFunctions[] = {
    {"ascii_lower", [](const std::string& text) -> Mapped { return Lower(text); }},
    {"ascii_upper", [](const std::string& text) -> Mapped { return Upper(text); }},
    {"decode_base64", DecodeBase64},
    {"encode_base64", EncodeBase64},
    {"encode_base64_padded", EncodePaddedBase64},
    {"lower", LocaleCase<Lower>},
    {"upper", LocaleCase<Upper>},
};

absl::StatusOr<const Function*> FunctionOf(const AttributeMap& attrs) {
  const std::string& name = attrs.String("function");
  for (const Function& row : kFunctions) {
    if (row.name == name) return &row;
  }
  return Invalid("function: unknown name '", name, "'");
}

absl::Status InferMap(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectStrings(ctx, 0));
  X2IR_RETURN_IF_ERROR(FunctionOf(ctx.attrs()).status());
  return SameAsFirst(ctx);
}

absl::Status EvalMap(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectStrings(ctx, 0));
  X2IR_ASSIGN_OR_RETURN(const Function* function, FunctionOf(ctx.attrs()));
  Strings out;
  TextBudget budget;
  for (const std::string& text : ctx.input(0).strings()) {
    X2IR_RETURN_IF_ERROR(budget.Take(text.size()));
    X2IR_ASSIGN_OR_RETURN(std::string mapped, function->fn(text));
    out.push_back(std::move(mapped));
  }
  return ctx.Return(Tensor::Strings(ctx.dims(0), std::move(out)));
}

X2IR_OP(string_map)
    .Signature("x -> y")
    .Attrs("function: string")
    .Functions(InferMap, EvalMap)
    .Opaque()
    .Doc(
        "A function of each string: ascii_lower and ascii_upper (other bytes stay), lower and "
        "upper (beyond ASCII as the locale has it), decode_base64, encode_base64 and "
        "encode_base64_padded (in the web-safe alphabet).")
    .AllowsFloat16();

// --- string_length --------------------------------------------------------------------------

absl::StatusOr<bool> CountsCharacters(const AttributeMap& attrs) {
  return ChoiceAttr<bool>(attrs, "unit", {"BYTE", "UTF8_CHAR"});
}

absl::Status InferStringLength(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectStrings(ctx, 0));
  X2IR_RETURN_IF_ERROR(CountsCharacters(ctx.attrs()).status());
  return ShapeAsFirst(ctx, DType::kInt64);
}

absl::Status EvalStringLength(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectStrings(ctx, 0));
  X2IR_ASSIGN_OR_RETURN(const bool characters, CountsCharacters(ctx.attrs()));
  std::vector<int64_t> lengths;
  for (const std::string& text : ctx.input(0).strings()) {
    const auto others =
        characters ? std::count_if(text.begin(), text.end(), ContinuesCharacter) : 0;
    lengths.push_back(static_cast<int64_t>(text.size()) - others);
  }
  return ctx.Return(Tensor::Of<int64_t>(ctx.dims(0), lengths));
}

X2IR_OP(string_length)
    .Signature("x -> y")
    .Attrs("unit = 'BYTE'")
    .Functions(InferStringLength, EvalStringLength)
    .Opaque()
    .Doc("How many bytes, or characters of UTF-8 (UTF8_CHAR), each string has.")
    .AllowsFloat16();

// --- substring ------------------------------------------------------------------------------

absl::Status InferSubstring(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectStrings(ctx, 0));
  X2IR_RETURN_IF_ERROR(CountsCharacters(ctx.attrs()).status());
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 1, "start"));
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 2, "length"));
  return BroadcastAllAs(ctx, DType::kString);
}

// Where characters begin, and the end; all bytes of text without characters.
std::vector<size_t> Borders(std::string_view text) {
  std::vector<size_t> borders;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == 0 || !ContinuesCharacter(text[i])) borders.push_back(i);
  }
  borders.push_back(text.size());
  return borders;
}

absl::Status EvalSubstring(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectStrings(ctx, 0));
  X2IR_ASSIGN_OR_RETURN(const bool characters, CountsCharacters(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> dims, BroadcastDims(ctx.dims(0), ctx.dims(1)));
  X2IR_ASSIGN_OR_RETURN(dims, BroadcastDims(dims, ctx.dims(2)));
  X2IR_RETURN_IF_ERROR(CheckCount(dims));
  const Tensor x = BroadcastTo(ctx.input(0), dims);
  X2IR_ASSIGN_OR_RETURN(const auto starts, BroadcastTo(ctx.input(1), dims).ToInts());
  X2IR_ASSIGN_OR_RETURN(const auto lengths, BroadcastTo(ctx.input(2), dims).ToInts());
  Strings out(starts.size());
  TextBudget budget;
  for (size_t i = 0; i < out.size(); ++i) {
    const std::string& text = x.strings()[i];
    X2IR_RETURN_IF_ERROR(budget.Take(text.size()));
    const std::vector<size_t> borders = characters ? Borders(text) : std::vector<size_t>();
    const int64_t size = static_cast<int64_t>(characters ? borders.size() - 1 : text.size());
    const int64_t start = starts[i] < 0 ? starts[i] + size : starts[i];
    if (start < 0 || start > size) {
      return Invalid("start ", starts[i], " in a string of ", size);
    }
    const int64_t rest = size - start;
    const int64_t end = start + (lengths[i] < 0 ? rest : std::min(lengths[i], rest));
    const size_t from = characters ? borders[start] : static_cast<size_t>(start);
    const size_t to = characters ? borders[end] : static_cast<size_t>(end);
    out[i] = text.substr(from, to - from);
  }
  return ctx.Return(Tensor::Strings(std::move(dims), std::move(out)));
}

X2IR_OP(substring)
    .Signature("x, start, length -> y")
    .Attrs("unit = 'BYTE'")
    .Functions(InferSubstring, EvalSubstring)
    .Opaque()
    .Doc(
        "Up to length bytes, or characters of UTF-8 (UTF8_CHAR), of each string from start on, "
        "which counts from the end where it is negative; all the rest where length is. Broadcast "
        "together.")
    .AllowsFloat16();

// --- string_join ----------------------------------------------------------------------------

absl::Status InferJoin(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectStrings(ctx, 0));
  ctx.Set(0, DType::kString);
  if (!ctx.shape(0)) return absl::OkStatus();
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(ctx.attrs().Int("axis"), ctx.rank(0)));
  std::vector<Dim> dims(ctx.shape(0)->dims().begin(), ctx.shape(0)->dims().end());
  dims.erase(dims.begin() + axis);
  return ctx.Return(DType::kString, Shape(std::move(dims)));
}

absl::Status EvalJoin(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectStrings(ctx, 0));
  const Tensor& x = ctx.input(0);
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(ctx.attrs().Int("axis"), x.rank()));
  std::vector<int64_t> dims = x.dims();
  dims.erase(dims.begin() + axis);
  X2IR_RETURN_IF_ERROR(CheckCount(dims));  // of nothing at all there are as many as one likes
  const std::string& separator = ctx.attrs().String("separator");
  const AxisView view = ViewAt(x.dims(), axis);
  Strings out(static_cast<size_t>(view.outer * view.inner));
  TextBudget budget;
  for (int64_t i = 0; i < view.outer; ++i) {
    for (int64_t k = 0; k < view.inner; ++k) {
      std::string& joined = out[i * view.inner + k];
      for (int64_t j = 0; j < view.size; ++j) {
        const std::string& text = x.strings()[(i * view.size + j) * view.inner + k];
        X2IR_RETURN_IF_ERROR(budget.Take(text.size() + separator.size()));
        if (j > 0) joined += separator;
        joined += text;
      }
    }
  }
  return ctx.Return(Tensor::Strings(std::move(dims), std::move(out)));
}

X2IR_OP(string_join)
    .Signature("x -> y")
    .Attrs("axis: int, separator = ''")
    .Functions(InferJoin, EvalJoin)
    .Opaque()
    .Doc("The strings along an axis as one, the separator between them; the axis goes.")
    .AllowsFloat16();

// --- format_number --------------------------------------------------------------------------

// As C's printf has them.
struct Format {
  std::string flag;
  int width, precision;
  char conversion;
};

absl::StatusOr<Format> FormatOf(const AttributeMap& attrs) {
  constexpr int64_t kWidest = 4096;
  const std::string &flag = attrs.String("flag"), &notation = attrs.String("notation");
  const int64_t width = attrs.Int("width"), precision = attrs.Int("precision");
  if (flag.size() > 1 || flag.find_first_not_of("-+ 0#") != std::string::npos) {
    return Invalid("flag: expected one of -, +, space, 0 and #, got '", flag, "'");
  }
  if (width > kWidest || precision > kWidest) {
    return Unimplemented("numbers of width ", width, ", precision ", precision);
  }
  const size_t at = notation == "fixed"        ? 0
                    : notation == "scientific" ? 1
                    : notation == "shortest"   ? 2
                                               : 3;
  if (at == 3) return Invalid("notation: unknown name '", notation, "'");
  return Format{flag, static_cast<int>(std::max<int64_t>(width, 0)),
                static_cast<int>(std::max<int64_t>(precision, -1)), "feg"[at]};
}

absl::Status InferFormat(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(FormatOf(ctx.attrs()).status());
  return ShapeAsFirst(ctx, DType::kString);
}

template <typename T>
std::string Formatted(const Format& format, T value) {
  std::string text(static_cast<size_t>(format.width + std::max(format.precision, 0) + 400), '\0');
  int size = 0;
  if constexpr (std::is_floating_point_v<T>) {
    // A negative precision is one left out.
    const std::string how = StrCat("%", format.flag, "*.*", std::string(1, format.conversion));
    size = std::snprintf(text.data(), text.size(), how.c_str(), format.width, format.precision,
                         static_cast<double>(value));
  } else if constexpr (std::is_signed_v<T>) {
    const std::string how = StrCat("%", format.flag, "*lld");
    size = std::snprintf(text.data(), text.size(), how.c_str(), format.width,
                         static_cast<long long>(value));  // NOLINT: printf's type
  } else {
    const std::string how = StrCat("%", format.flag, "*llu");
    size = std::snprintf(text.data(), text.size(), how.c_str(), format.width,
                         static_cast<unsigned long long>(value));  // NOLINT: printf's type
  }
  text.resize(static_cast<size_t>(std::max(size, 0)));
  return text;
}

absl::Status EvalFormat(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Format format, FormatOf(ctx.attrs()));
  if (IsInteger(ctx.dtype(0)) && format.flag == "#") {
    return Invalid("flag # has no meaning for integers");
  }
  X2IR_RETURN_IF_ERROR(CheckCount(ctx.dims(0)));
  Strings out;
  X2IR_RETURN_IF_ERROR(DispatchReal(ctx.dtype(0), [&](auto zero) -> absl::Status {
    const Numbers<decltype(zero)> numbers(ctx.input(0));
    TextBudget budget;
    for (const auto value : numbers.span()) {
      out.push_back(Formatted(format, value));
      X2IR_RETURN_IF_ERROR(budget.Take(out.back().size()));
    }
    return absl::OkStatus();
  }));
  return ctx.Return(Tensor::Strings(ctx.dims(0), std::move(out)));
}

X2IR_OP(format_number)
    .Signature("x -> y")
    .Attrs("flag = '', notation = 'fixed', precision = -1, width = -1")
    .Functions(InferFormat, EvalFormat)
    .Opaque()
    .Doc(
        "Numbers as text, as C's printf writes them: fixed is %f, scientific %e, shortest %g; "
        "integers are %d whatever the notation. Negative widths and precisions are left out.")
    .NeedsFloat32(float32_for::kText);

}  // namespace
}  // namespace x2ir
