// TensorFlow: text.
#include "x2ir/graph_wrapper/strings.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/identities.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

Value* Text(TfArgs& a, std::string text) {
  return a.b().Constant(Tensor::Strings({}, {std::move(text)}));
}

absl::StatusOr<std::string> KnownText(TfArgs& a, size_t i, std::string_view what) {
  const Tensor* text = WithoutIdentities(a.in(i))->fixed_constant();
  if (!text) return Unimplemented("operand ", i, " (", what, ") is computed; expected a constant");
  if (!text->is_string() || text->num_elements() != 1) {
    return Invalid("operand ", i, " (", what, "): expected one string");
  }
  return text->strings()[0];
}

TfFn Case(std::string_view function) {
  return [function](TfArgs& a) -> absl::StatusOr<Values> {
    const std::string encoding = a.String("encoding", "");
    if (!encoding.empty() && encoding != "utf-8") return Unimplemented("encoding '", encoding, "'");
    const std::string name = StrCat(encoding.empty() ? "ascii_" : "", function);
    return Values{a.Op("string_map", {a.in(0)}, {{"function", name}})};
  };
}

Value* EncodeBase64(TfArgs& a) {
  const bool pad = a.Bool("pad", false);
  return a.Op("string_map", {a.in(0)},
              {{"function", pad ? "encode_base64_padded" : "encode_base64"}});
}

Value* DecodeBase64(TfArgs& a) {
  return a.Op("string_map", {a.in(0)}, {{"function", "decode_base64"}});
}

Value* StringLength(TfArgs& a) {
  const std::string unit = a.String("unit", "BYTE");
  return a.Cast(a.Op("string_length", {a.in(0)}, {{"unit", unit}}), DType::kInt32);
}

// A negative length is all the rest in bytes, but nothing in characters.
Value* Substr(TfArgs& a) {
  const std::string unit = a.String("unit", "BYTE");
  Value* length = a.AsInt64(a.in(2));
  if (unit != "BYTE") length = a.Op("max", {length, a.b().Int(0)});
  return a.Op("substring", {a.in(0), a.AsInt64(a.in(1)), length}, {{"unit", unit}});
}

Value* Replace(TfArgs& a, Value* x, std::string pattern, std::string rewrite, bool all = true) {
  return a.Op("regex_replace", {x},
              {{"pattern", std::move(pattern)},
               {"rewrite", std::move(rewrite)},
               {"replace_global", all ? 1 : 0}});
}

Value* Strip(TfArgs& a) { return Replace(a, a.in(0), R"(\A[\x09-\x0d ]+|[\x09-\x0d ]+\z)", ""); }

Value* StaticRegexReplace(TfArgs& a) {
  const std::string pattern = a.String("pattern", ""), rewrite = a.String("rewrite", "");
  return Replace(a, a.in(0), pattern, rewrite, a.Bool("replace_global", true));
}

absl::StatusOr<Value*> RegexReplace(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::string pattern, KnownText(a, 1, "pattern"));
  X2IR_ASSIGN_OR_RETURN(const std::string rewrite, KnownText(a, 2, "rewrite"));
  return Replace(a, a.in(0), pattern, rewrite, a.Bool("replace_global", true));
}

Value* StaticRegexFullMatch(TfArgs& a) {
  return a.Op("regex_full_match", {a.in(0)}, {{"pattern", a.String("pattern", "")}});
}

absl::StatusOr<Value*> RegexFullMatch(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::string pattern, KnownText(a, 1, "pattern"));
  return a.Op("regex_full_match", {a.in(0)}, {{"pattern", pattern}});
}

Value* HashBucket(TfArgs& a, Symbol method) {
  const std::vector<int64_t> key = a.IntList("key", {});
  return a.Op("string_hash", {a.in(0)},
              {{"buckets", a.Int("num_buckets", 0)}, {"key", key}, {"method", method.str()}});
}

Value* StringJoin(TfArgs& a) {
  const std::string separator = a.String("separator", "");
  Value* joined = a.in(0);
  for (size_t i = 1; i < a.num_inputs(); ++i) {
    if (!separator.empty()) joined = a.Op("string_concat", {joined, Text(a, separator)});
    joined = a.Op("string_concat", {joined, a.in(i)});
  }
  return a.num_inputs() == 1 ? a.Op("identity", {joined}) : joined;
}

// One axis after another, in the order that is given.
absl::StatusOr<Value*> ReduceJoin(TfArgs& a) {
  const bool keep = a.Bool("keep_dims", false);
  const std::string separator = a.String("separator", "");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> axes, a.KnownInts(1, "reduction_indices"));
  X2IR_ASSIGN_OR_RETURN(axes, NormalizeAxes(axes, rank));
  Value* v = a.Op("identity", {a.in(0)});
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto gone = std::count_if(axes.begin(), axes.begin() + static_cast<ptrdiff_t>(i),
                                    [&](int64_t axis) { return axis < axes[i]; });
    v = a.Op("string_join", {v}, {{"axis", axes[i] - gone}, {"separator", separator}});
  }
  std::sort(axes.begin(), axes.end());
  return keep && !axes.empty() ? Unsqueeze({a, v}, axes) : v;
}

// The parts of each string of a vector, as a sparse matrix: its indices, its values, its shape.
absl::StatusOr<Values> Split(TfArgs& a, Value* x, std::string delimiter, int64_t splits,
                             bool skip_empty) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (rank != 1) return Invalid("expected a vector of strings, got rank ", rank);
  const Values split = a.b().Ops("string_split", {x},
                                 {{"delimiter", std::move(delimiter)}, {"maxsplit", splits}}, 2);
  Value* parts = split[0];  // [strings, most]
  Value* kept = a.Op("less", {Iota({a, SizeAt(a, parts, 1)}), Unsqueeze({a, split[1]}, {1})});
  if (skip_empty) kept = a.Op("and", {kept, Not(a.Op("equal", {parts, Text(a, "")}))});
  Value* indices = Transpose(a.Op("non_zero", {kept}), {1, 0});
  Value* values = a.Op("gather_nd", {parts, indices});
  Value* most = ShapeOf({a, parts}, 1);
  if (skip_empty) {
    // Parts that are kept move left, to adjacent columns.
    Value* ones = a.AsInt64(kept);
    Value* columns = a.Op("sub", {a.Op("cum_sum", {ones, a.b().Int(1)}), a.b().Int(1)});
    Value* column = Unsqueeze(a.Op("gather_nd", {columns, indices}), {1});
    Value* row = Slice({a, indices}, 1, a.b().Int(0), a.b().Int(1));
    indices = a.Op("concat", {row, column}, {{"axis", 1}});
    Value* counts =
        a.Op("concat", {a.b().Ints({0}), Reduce({a, ones}, "reduce_sum", {1})}, {{"axis", 0}});
    most = Reduce({a, counts}, "reduce_max", {0}, /*keep=*/true);
  }
  return Values{indices, values, Concat(a, {ShapeOf({a, parts}, 0, 1), most}, 0)};
}

// At any of these (ASCII) characters.
absl::StatusOr<Values> SplitAtAny(TfArgs& a, std::string_view characters, bool skip_empty) {
  std::string one(characters.substr(0, 1));
  Value* x = a.in(0);
  if (characters.size() > 1) {
    std::string pattern = "[";
    for (const char c : characters) {
      if (c & 0x80) return Unimplemented("delimiters beyond ASCII");
      constexpr std::string_view kDigits = "0123456789abcdef";
      StrAppend(&pattern, "\\x", kDigits.substr(c >> 4, 1), kDigits.substr(c & 15, 1));
    }
    // A backslash is an escape in the replacement.
    x = Replace(a, x, pattern + "]", one == "\\" ? "\\\\" : one);
  }
  return Split(a, x, std::move(one), -1, skip_empty);
}

absl::StatusOr<Values> StringSplit(TfArgs& a) {
  const bool skip_empty = a.Bool("skip_empty", true);
  X2IR_ASSIGN_OR_RETURN(const std::string delimiter, KnownText(a, 1, "delimiter"));
  if (delimiter.empty()) return Unimplemented("a string is split into its bytes");
  return SplitAtAny(a, delimiter, skip_empty);
}

absl::StatusOr<Values> StringSplitV2(TfArgs& a) {
  const int64_t splits = a.Int("maxsplit", -1);
  X2IR_ASSIGN_OR_RETURN(const std::string separator, KnownText(a, 1, "sep"));
  if (!separator.empty()) return Split(a, a.in(0), separator, std::max<int64_t>(splits, -1), false);
  a.Require(splits < 0, "maxsplit at white space");
  return SplitAtAny(a, " \t\n\v\f\r", true);
}

absl::StatusOr<Value*> AsString(TfArgs& a) {
  const DType t = a.in(0)->dtype();
  const int64_t precision = a.Int("precision", -1), width = a.Int("width", -1);
  const bool scientific = a.Bool("scientific", false), shortest = a.Bool("shortest", false);
  const std::string fill = a.String("fill", "");
  if (t == DType::kBool) {
    return a.Op("where", {a.in(0), Text(a, "true"), Text(a, "false")});
  }
  if (!IsInteger(t) && !IsFloating(t)) return Unimplemented("text of ", Name(t));
  if (scientific && shortest) return Invalid("scientific and shortest at once");
  if (IsInteger(t) && (scientific || shortest || precision >= 0)) {
    return Invalid("a notation or precision of integers");
  }
  if (width < 0 && !fill.empty() && fill != "0" && fill != "-") {
    return Unimplemented("fill '", fill, "' without a width");  // versions of TensorFlow differ
  }
  if (IsInteger(t) && width <= 0) return a.Cast(a.in(0), DType::kString);
  return a.Op("format_number", {a.in(0)},
              {{"flag", fill},
               {"notation", scientific ? "scientific"
                            : shortest ? "shortest"
                                       : "fixed"},
               {"precision", precision},
               {"width", width}});
}

Value* ToTfStringConcat(TfWriter& w) {
  return w.Tf("StringJoin", {w.in(0), w.in(1)}, {{"separator", ""}});
}

}  // namespace

X2IR_TF(string_concat).To("StringJoin", ToTfStringConcat).From("StringJoin", StringJoin);
X2IR_TF(string_map)
    .From({{"StringLower", Case("lower")},
           {"StringUpper", Case("upper")},
           {"DecodeBase64", DecodeBase64},
           {"EncodeBase64", EncodeBase64}});
X2IR_TF(string_hash)
    .From("StringToHashBucketFast", [](TfArgs& a) { return HashBucket(a, "farm"); })
    .From("StringToHashBucketStrong", [](TfArgs& a) { return HashBucket(a, "sip"); });
X2IR_TF(string_length).From("StringLength", StringLength);
X2IR_TF(substring).From("Substr", Substr);
X2IR_TF(string_join).From("ReduceJoin", ReduceJoin);
X2IR_TF(string_split).From({{"StringSplit", StringSplit}, {"StringSplitV2", StringSplitV2}});
X2IR_TF(format_number).From("AsString", AsString);
X2IR_TF(regex_full_match)
    .From({{"StaticRegexFullMatch", StaticRegexFullMatch}, {"RegexFullMatch", RegexFullMatch}});
X2IR_TF(regex_replace)
    .From({{"StringStrip", Strip},
           {"StaticRegexReplace", StaticRegexReplace},
           {"RegexReplace", RegexReplace}});

}  // namespace x2ir
