// Ops on text: string_concat, string_split, string_normalizer, tf_idf_vectorizer.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "x2ir/ops/choice_attr.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"
#include "x2ir/ops/string_util.h"

namespace x2ir {
namespace {

using Strings = std::vector<std::string>;

template <typename T>
const T* Find(const AttributeMap& attrs, const char* name) {
  const Attribute* attr = attrs.Find(name);
  return attr ? attr->get<T>() : nullptr;
}

// --- string_concat --------------------------------------------------------------------------

absl::Status InferStringConcat(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectStrings(ctx, 0));
  X2IR_RETURN_IF_ERROR(ExpectStrings(ctx, 1));
  return BroadcastAllAs(ctx, DType::kString);
}

absl::Status EvalStringConcat(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectStrings(ctx, 0));
  X2IR_RETURN_IF_ERROR(ExpectStrings(ctx, 1));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, BroadcastDims(ctx.dims(0), ctx.dims(1)));
  X2IR_RETURN_IF_ERROR(CheckCount(dims));
  const Tensor a = BroadcastTo(ctx.input(0), dims), b = BroadcastTo(ctx.input(1), dims);
  Strings out(a.num_elements());
  TextBudget budget;
  for (size_t i = 0; i < out.size(); ++i) {
    X2IR_RETURN_IF_ERROR(budget.Take(a.strings()[i].size() + b.strings()[i].size()));
    out[i] = a.strings()[i] + b.strings()[i];
  }
  return ctx.Return(Tensor::Strings(dims, std::move(out)));
}

X2IR_OP(string_concat)
    .Signature("x, y -> z")
    .Functions(InferStringConcat, EvalStringConcat)
    .Elementwise(NumberUse::kFixed)
    .Doc("x followed by y, element by element, broadcast together.")
    .AllowsFloat16();

// --- string_split ---------------------------------------------------------------------------

absl::Status InferStringSplit(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectStrings(ctx, 0));
  ctx.Set(0, DType::kString);
  ctx.Set(1, DType::kInt64);
  if (!ctx.shape(0)) return absl::OkStatus();
  Shape parts = *ctx.shape(0);
  ctx.Set(1, DType::kInt64, parts);
  parts.Append(Dim());
  return ctx.Return(DType::kString, std::move(parts));
}

// Bytes of the white space character (of Unicode, and the ASCII separators) that text starts
// with; 0 for another character.
size_t SpaceAt(std::string_view text) {
  if (text.empty()) return 0;
  const unsigned char c = text[0];
  if (c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31)) return 1;
  if (c < 0x80) return 0;
  const std::string_view two = text.substr(0, 2), three = text.substr(0, 3);
  if (two == "\xC2\x85" || two == "\xC2\xA0") return 2;
  if (three == "\xE1\x9A\x80" || three == "\xE2\x81\x9F" || three == "\xE3\x80\x80") return 3;
  if (three.size() == 3 && three.substr(0, 2) == "\xE2\x80") {
    const unsigned char last = three[2];
    if (last <= 0x8A || last == 0xA8 || last == 0xA9 || last == 0xAF) return 3;
  }
  return 0;
}

std::string_view SkipSpace(std::string_view text) {
  while (const size_t n = SpaceAt(text)) text.remove_prefix(n);
  return text;
}

// The parts between runs of white space; after `splits` splits (-1: no limit) the rest as it is.
Strings SplitAtSpace(std::string_view text, int64_t splits) {
  Strings parts;
  for (text = SkipSpace(text); !text.empty(); text = SkipSpace(text)) {
    size_t end = 0;
    if (static_cast<int64_t>(parts.size()) == splits) end = text.size();
    while (end < text.size() && SpaceAt(text.substr(end)) == 0) ++end;
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return parts;
}

Strings SplitAt(std::string_view text, std::string_view delimiter, int64_t splits) {
  Strings parts;
  while (static_cast<int64_t>(parts.size()) != splits) {
    const size_t end = text.find(delimiter);
    if (end == std::string_view::npos) break;
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + delimiter.size());
  }
  parts.emplace_back(text);
  return parts;
}

absl::Status EvalStringSplit(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectStrings(ctx, 0));
  const std::string& delimiter = ctx.attrs().String("delimiter");
  const int64_t splits = std::max<int64_t>(ctx.attrs().Int("maxsplit"), -1);
  std::vector<Strings> all;
  std::vector<int64_t> counts;
  size_t most = 0;
  for (const std::string& text : ctx.input(0).strings()) {
    all.push_back(delimiter.empty() ? SplitAtSpace(text, splits)
                                    : SplitAt(text, delimiter, splits));
    counts.push_back(static_cast<int64_t>(all.back().size()));
    most = std::max(most, all.back().size());
  }
  std::vector<int64_t> dims = ctx.dims(0);
  dims.push_back(static_cast<int64_t>(most));
  X2IR_RETURN_IF_ERROR(CheckCount(dims));
  Strings out(all.size() * most);
  for (size_t i = 0; i < all.size(); ++i) {
    std::move(all[i].begin(), all[i].end(), out.begin() + i * most);
  }
  ctx.Set(0, Tensor::Strings(std::move(dims), std::move(out)));
  ctx.Set(1, Tensor::Of<int64_t>(ctx.dims(0), counts));
  return absl::OkStatus();
}

X2IR_OP(string_split)
    .Signature("x -> y, z")
    .Attrs("delimiter = '', maxsplit = -1")
    .Functions(InferStringSplit, EvalStringSplit)
    .Opaque()
    .Heavy()
    .Doc(
        "The parts of each string along a new last axis, filled up with empty strings, and their "
        "numbers. An empty delimiter is any run of white space; at most maxsplit splits unless "
        "negative.")
    .AllowsFloat16();

// --- string_normalizer ----------------------------------------------------------------------

absl::Status InferStringNormalizer(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectStrings(ctx, 0));
  ctx.Set(0, DType::kString);
  X2IR_RETURN_IF_ERROR(CheckChoice(ctx.attrs(), "case_change_action", {"NONE", "LOWER", "UPPER"}));
  const Shape* x = ctx.shape(0);
  if (!x) return absl::OkStatus();
  if (x->rank() != 1 && x->rank() != 2) return Invalid("expected rank 1 or 2, got ", x->rank());
  if (x->rank() == 2) X2IR_RETURN_IF_ERROR(SameDim((*x)[0], 1).status());
  const Dim& count = (*x)[x->rank() - 1];
  const Strings* stopwords = Find<Strings>(ctx.attrs(), "stopwords");
  Dim kept =
      (!stopwords || stopwords->empty()) && count.is_static() && count.value() > 0 ? count : Dim();
  return ctx.Return(DType::kString, x->rank() == 1 ? Shape{kept} : Shape{1, kept});
}

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

absl::Status EvalStringNormalizer(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectStrings(ctx, 0));
  const Tensor& x = ctx.input(0);
  if (x.rank() != 1 && !(x.rank() == 2 && x.dim(0) == 1)) {
    return Invalid("expected [C] or [1,C], got ", DimsText(x.dims()));
  }
  const std::string& action = ctx.attrs().String("case_change_action");
  const bool exact = ctx.attrs().Int("is_case_sensitive") != 0;
  Strings stopwords;
  if (const Strings* words = Find<Strings>(ctx.attrs(), "stopwords")) stopwords = *words;
  // What is upper case beyond ASCII depends on the locale; that of C has none.
  const std::string* locale = Find<std::string>(ctx.attrs(), "locale");
  const bool of_c = locale && *locale == "C";
  auto needs_locale = [](const std::string& text) {
    return Unimplemented("the case of '", text, "' depends on the locale");
  };
  for (std::string& word : stopwords) {
    if (exact) continue;
    if (!of_c && !IsAscii(word)) return needs_locale(word);
    word = absl::AsciiStrToLower(word);
  }
  Strings out;
  for (const std::string& text : x.strings()) {
    if (!of_c && !IsAscii(text) && (action != "NONE" || (!exact && !stopwords.empty()))) {
      return needs_locale(text);
    }
    const std::string key = exact ? text : std::string(absl::AsciiStrToLower(text));
    if (std::find(stopwords.begin(), stopwords.end(), key) != stopwords.end()) continue;
    out.push_back(action == "LOWER"   ? std::string(absl::AsciiStrToLower(text))
                  : action == "UPPER" ? std::string(absl::AsciiStrToUpper(text))
                                      : text);
  }
  if (out.empty()) out.emplace_back();
  const int64_t n = static_cast<int64_t>(out.size());
  return ctx.Return(Tensor::Strings(
      x.rank() == 1 ? std::vector<int64_t>{n} : std::vector<int64_t>{1, n}, std::move(out)));
}

X2IR_OP(string_normalizer)
    .Signature("x -> y")
    .Attrs("case_change_action = 'NONE', is_case_sensitive = 0, locale: string?")
    .Attr("stopwords", Attribute::Strings{})
    .Functions(InferStringNormalizer, EvalStringNormalizer)
    .Opaque()
    .Doc(
        "The strings of a row that are no stopwords, in lower or upper case if asked for; one "
        "empty string when none is left.")
    .AllowsFloat16();

// --- tf_idf_vectorizer ----------------------------------------------------------------------

// One more than the largest column.
absl::StatusOr<int64_t> TfIdfColumns(const AttributeMap& attrs) {
  int64_t size = 0;
  for (const int64_t column : attrs.Ints("ngram_indexes")) {
    if (column < 0 || column > int64_t{1} << 40) return Invalid("ngram_indexes: ", column);
    size = std::max(size, column + 1);
  }
  if (size == 0) return Invalid("ngram_indexes: expected some");
  return size;
}

absl::Status CheckTfIdf(const AttributeMap& attrs) {
  X2IR_RETURN_IF_ERROR(CheckChoice(attrs, "mode", {"TF", "IDF", "TFIDF"}));
  if (attrs.Int("min_gram_length") < 1 ||
      attrs.Int("max_gram_length") < attrs.Int("min_gram_length") ||
      attrs.Int("max_skip_count") < 0) {
    return Invalid("gram lengths from ", attrs.Int("min_gram_length"), " to ",
                   attrs.Int("max_gram_length"), ", skips up to ", attrs.Int("max_skip_count"));
  }
  return absl::OkStatus();
}

absl::Status InferTfIdf(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const int64_t size, TfIdfColumns(ctx.attrs()));
  const Shape* x = ctx.shape(0);
  if (x && x->rank() > 2) return Invalid("expected rank 0, 1 or 2, got ", x->rank());
  ctx.Set(0, DType::kFloat32);
  if (x) ctx.Set(0, DType::kFloat32, x->rank() == 2 ? Shape{(*x)[0], size} : Shape{size});
  return absl::OkStatus();
}

template <typename T>
absl::Status TfIdf(EvalContext& ctx, absl::Span<const T> x, const std::vector<T>* pool) {
  const AttributeMap& attrs = ctx.attrs();
  X2IR_RETURN_IF_ERROR(CheckTfIdf(attrs));
  X2IR_ASSIGN_OR_RETURN(const int64_t size, TfIdfColumns(attrs));
  if (!pool) return Invalid("the pool is of another type than the operand");
  const auto& starts = attrs.Ints("ngram_counts");
  const auto& columns = attrs.Ints("ngram_indexes");
  const int64_t min_n = attrs.Int("min_gram_length"), max_n = attrs.Int("max_gram_length");
  // The n-grams that count, each with its column.
  std::map<std::vector<T>, int64_t> grams;
  size_t id = 0;
  for (size_t k = 0; k < starts.size(); ++k) {
    const int64_t n = static_cast<int64_t>(k) + 1, total = static_cast<int64_t>(pool->size());
    const int64_t first = starts[k], last = k + 1 < starts.size() ? starts[k + 1] : total;
    if (first < 0 || last < first || last > total || (last - first) % n != 0) {
      return Invalid("ngram_counts: pool items ", first, " to ", last, " are no ", n, "-grams");
    }
    for (int64_t i = first; i < last; i += n, ++id) {
      if (id >= columns.size()) return Invalid("ngram_indexes: fewer than there are n-grams");
      if (n < min_n || n > max_n) continue;
      grams[{pool->begin() + i, pool->begin() + i + n}] = columns[id];
    }
  }
  const std::string& mode = attrs.String("mode");
  const auto* weights = mode == "TF" ? nullptr : Find<Attribute::Floats>(attrs, "weights");
  if (weights && weights->empty()) weights = nullptr;
  if (weights) {
    // Some read weights by n-gram and some by column; where that is not the same, nothing is sure.
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i >= weights->size() || columns[i] >= static_cast<int64_t>(weights->size()) ||
          (*weights)[i] != (*weights)[columns[i]]) {
        return Unimplemented("weights that are not in the order of ngram_indexes");
      }
    }
  }
  const int64_t rank = ctx.input(0).rank();
  const int64_t rows = rank == 2 ? ctx.dims(0)[0] : 1;
  const int64_t length = rank == 0 ? 1 : ctx.dims(0).back();
  if (rank > 2 || rows < 1) return Invalid("expected [C] or [B,C], got ", DimsText(ctx.dims(0)));
  std::vector<int64_t> dims = {rows, size};
  if (rank < 2) dims.erase(dims.begin());
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat32, dims));
  NumbersOut<float> out(DType::kFloat32, dims);
  const int64_t longest = std::min<int64_t>(max_n, static_cast<int64_t>(starts.size()));
  for (int64_t row = 0; length > 0 && row < rows; ++row) {
    const T* items = x.data() + row * length;
    int64_t from_n = min_n;
    for (int64_t step = 1; step - 1 <= attrs.Int("max_skip_count"); ++step) {
      // Too far apart for any n-gram, now and from here on.
      if (from_n > longest || (from_n > 1 && step > (length - 1) / (from_n - 1))) break;
      for (int64_t i = 0; i < length; ++i) {
        std::vector<T> gram;
        for (int64_t at = i; at < length; at += step) {
          gram.push_back(items[at]);
          const int64_t n = static_cast<int64_t>(gram.size());
          if (n > longest) break;
          if (n < from_n) continue;
          if (auto it = grams.find(gram); it != grams.end()) out[row * size + it->second] += 1;
        }
      }
      // Single items are the same at any distance.
      if (from_n == 1) from_n = 2;
    }
  }
  for (int64_t i = 0; mode != "TF" && i < out.size(); ++i) {
    const int64_t column = i % size;
    const bool weighed = weights && column < static_cast<int64_t>(weights->size());
    const float w = weighed ? (*weights)[column] : 1.0f;
    out[i] = mode == "TFIDF" ? out[i] * w : (out[i] > 0 ? w : 0);
  }
  return ctx.Return(out.Finish());
}

absl::Status EvalTfIdf(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  if (x.is_string()) {
    return TfIdf<std::string>(ctx, x.strings(), Find<Strings>(ctx.attrs(), "pool_strings"));
  }
  if (x.dtype() != DType::kInt32 && x.dtype() != DType::kInt64) {
    return Invalid("expected strings, int32 or int64, got ", Name(x.dtype()));
  }
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> ints, x.ToInts());
  return TfIdf<int64_t>(ctx, ints, Find<Attribute::Ints>(ctx.attrs(), "pool_int64s"));
}

X2IR_OP(tf_idf_vectorizer)
    .Signature("x -> y")
    .Attrs(
        "max_gram_length: int, max_skip_count: int, min_gram_length: int, mode: string, "
        "ngram_counts: ints, ngram_indexes: ints, pool_int64s: ints?, pool_strings: strings?, "
        "weights: floats?")
    .Functions(InferTfIdf, EvalTfIdf)
    .Opaque()
    .Heavy()
    .Doc(
        "How often each n-gram of the pool occurs in a row, its items up to max_skip_count apart: "
        "the count (TF), the weight where it occurs at all (IDF), or both multiplied (TFIDF).")
    .AllowsFloat16();

}  // namespace
}  // namespace x2ir
