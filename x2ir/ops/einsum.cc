// The op einsum: any sum of products of tensors, written as an equation over axes.
#include "x2ir/ops/einsum.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/matmul.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"
#include "x2ir/ops/work.h"

namespace x2ir {
namespace {

// "i...j" as "i.j".
absl::StatusOr<std::string> ParseTerm(std::string_view text) {
  std::string term;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      if (text.substr(i, 3) != "..." || term.find('.') != std::string::npos) {
        return Invalid("equation: misplaced '.' in '", text, "'");
      }
      i += 2;
    } else if (!std::isalpha(static_cast<unsigned char>(c))) {
      return Invalid("equation: unexpected character in '", text, "'");
    }
    term += c;
  }
  return term;
}

}  // namespace

absl::StatusOr<Equation> ParseEquation(std::string_view text) {
  Equation equation;
  const size_t arrow = text.find("->");
  std::string_view left = text.substr(0, arrow);
  while (true) {
    const size_t comma = left.find(',');
    X2IR_ASSIGN_OR_RETURN(std::string term, ParseTerm(left.substr(0, comma)));
    equation.terms.push_back(std::move(term));
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  std::map<char, int> seen;
  for (const std::string& term : equation.terms) {
    for (char c : term) ++seen[c];
  }
  if (arrow == std::string_view::npos) {
    if (seen.count('.')) equation.result += '.';
    for (const auto& [letter, times] : seen) {
      if (letter != '.' && times == 1) equation.result += letter;
    }
    return equation;
  }
  X2IR_ASSIGN_OR_RETURN(equation.result, ParseTerm(text.substr(arrow + 2)));
  for (char c : equation.result) {
    if (!seen.count(c))
      return Invalid("equation: '", text, "': no operand has what the result has");
    if (std::count(equation.result.begin(), equation.result.end(), c) > 1) {
      return Invalid("equation: '", text, "': the result names an axis twice");
    }
  }
  return equation;
}

absl::StatusOr<Equation> ExpandEllipsis(Equation equation, const std::vector<int64_t>& ranks) {
  if (equation.terms.size() != ranks.size()) {
    return Invalid("equation has ", equation.terms.size(), " terms for ", ranks.size(),
                   " operands");
  }
  // Letters 1, 2, ... stay clear of those that people write.
  constexpr int64_t kLimit = 'A' - 1;
  const auto ellipsis = [](int64_t n) {
    std::string letters;
    for (int64_t i = n; i > 0; --i) letters += static_cast<char>(i);
    return letters;
  };
  int64_t widest = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    std::string& term = equation.terms[i];
    const size_t at = term.find('.');
    const int64_t named = static_cast<int64_t>(term.size()) - (at != std::string::npos);
    const int64_t rest = ranks[i] - named;
    if (rest < 0 || (rest > 0 && at == std::string::npos) || rest > kLimit) {
      return Invalid("operand ", i, " has rank ", ranks[i], ", but the equation names ", named,
                     " axes");
    }
    if (at != std::string::npos) term.replace(at, 1, ellipsis(rest));
    widest = std::max(widest, rest);
  }
  if (const size_t at = equation.result.find('.'); at != std::string::npos) {
    equation.result.replace(at, 1, ellipsis(widest));
  }
  return equation;
}

namespace {

// --- Inference ------------------------------------------------------------------------------

absl::Status InferEinsum(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType dtype, CommonDType(ctx, 0, ctx.num_inputs()));
  ctx.Set(0, dtype);
  X2IR_ASSIGN_OR_RETURN(Equation equation, ParseEquation(ctx.attrs().String("equation")));
  std::vector<int64_t> ranks;
  for (size_t i = 0; i < ctx.num_inputs(); ++i) {
    if (!ctx.shape(i)) return absl::OkStatus();
    ranks.push_back(ctx.rank(i));
  }
  X2IR_ASSIGN_OR_RETURN(equation, ExpandEllipsis(std::move(equation), ranks));
  std::map<char, Dim> sizes;
  for (size_t i = 0; i < ctx.num_inputs(); ++i) {
    for (int64_t k = 0; k < ranks[i]; ++k) {
      const Dim& dim = (*ctx.shape(i))[k];
      auto [it, fresh] = sizes.emplace(equation.terms[i][k], dim);
      if (fresh) continue;
      X2IR_ASSIGN_OR_RETURN(const Shape both, BroadcastShapes(Shape{it->second}, Shape{dim}));
      it->second = both[0];
    }
  }
  Shape out;
  for (char c : equation.result) out.Append(sizes[c]);
  return ctx.Return(dtype, std::move(out));
}

// --- Evaluation -----------------------------------------------------------------------------

using Sizes = std::map<char, int64_t>;

bool Has(const std::string& letters, char c) { return letters.find(c) != std::string::npos; }

// Numbers in row-major order, and the letters of their axes, each once.
template <typename T>
struct Factor {
  std::string letters;
  std::vector<T> numbers;
};

// The factor with other axes: `to` has some of its letters in any order; the others are summed
// up. Axes of size 1 do not spread.
template <typename T>
Factor<T> Rearranged(const Factor<T>& from, const std::string& to, const Sizes& own) {
  std::vector<int64_t> dims, strides;
  for (char c : from.letters) dims.push_back(own.at(c));
  const std::vector<int64_t> from_strides = Strides(dims);
  // Position in the result of each element, axis by axis; 0 along what is summed up.
  std::vector<int64_t> to_dims;
  for (char c : to) to_dims.push_back(own.at(c));
  const std::vector<int64_t> to_strides = Strides(to_dims);
  for (char c : from.letters) {
    const size_t at = to.find(c);
    strides.push_back(at == std::string::npos ? 0 : to_strides[at]);
  }
  Factor<T> out = {to, std::vector<T>(Count(to_dims), T(0))};
  std::vector<int64_t> index(dims.size(), 0);
  int64_t at = 0;
  for (const T& number : from.numbers) {
    if constexpr (std::is_floating_point_v<T>) {
      out.numbers[at] += number;
    } else {
      out.numbers[at] =
          static_cast<T>(static_cast<uint64_t>(out.numbers[at]) + static_cast<uint64_t>(number));
    }
    for (size_t k = index.size(); k-- > 0;) {
      at += strides[k];
      if (++index[k] < dims[k]) break;
      at -= dims[k] * strides[k];
      index[k] = 0;
    }
  }
  return out;
}

// An operand as a factor whose letters are `term`'s, each once (a repeated one is a diagonal),
// without those of size 1 that are larger elsewhere: they broadcast, so they do not matter.
template <typename T>
absl::StatusOr<Factor<T>> OperandFactor(const Tensor& in, const std::string& term,
                                        const Sizes& sizes) {
  const std::vector<int64_t> strides = Strides(in.dims());
  std::string letters;
  std::vector<int64_t> dims, steps;
  for (size_t k = 0; k < term.size(); ++k) {
    const int64_t size = in.dim(k);
    if (size == 1 && sizes.at(term[k]) != 1) continue;
    const size_t at = letters.find(term[k]);
    if (at != std::string::npos) {
      steps[at] += strides[k];
      continue;
    }
    letters += term[k];
    dims.push_back(size);
    steps.push_back(strides[k]);
  }
  const Tensor diagonal = StridedCopy(in, dims, steps);
  const Numbers<T> numbers(diagonal);
  return Factor<T>{letters, {numbers.span().begin(), numbers.span().end()}};
}

// The product of two factors, summed up over letters that are not in `keep`.
template <typename T>
absl::StatusOr<Factor<T>> FactorProduct(const Factor<T>& a, const Factor<T>& b,
                                        const std::string& keep, const Sizes& sizes, DType dtype) {
  std::string batch, left, right, inner;
  for (char c : a.letters) {
    if (Has(b.letters, c)) {
      (Has(keep, c) ? batch : inner) += c;
    } else if (Has(keep, c)) {
      left += c;  // else it is summed up at once
    }
  }
  for (char c : b.letters) {
    if (!Has(a.letters, c) && Has(keep, c)) right += c;
  }
  const auto size = [&](const std::string& letters) {
    std::vector<int64_t> dims;
    for (char c : letters) dims.push_back(sizes.at(c));
    return dims;
  };
  const std::string letters = batch + left + right;
  X2IR_RETURN_IF_ERROR(CheckAllocation(dtype, size(letters)));
  const Factor<T> x = Rearranged(a, batch + left + inner, sizes);
  const Factor<T> y = Rearranged(b, batch + inner + right, sizes);
  Factor<T> out = {letters, std::vector<T>(Count(size(letters)), T(0))};
  const int64_t m = Count(size(left)), k = Count(size(inner)), n = Count(size(right));
  for (int64_t i = 0; !out.numbers.empty() && i < Count(size(batch)); ++i) {
    MatrixProduct(x.numbers.data() + i * m * k, y.numbers.data() + i * k * n,
                  out.numbers.data() + i * m * n, m, k, n);
  }
  return out;
}

absl::Status EvalEinsum(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(Equation equation, ParseEquation(ctx.attrs().String("equation")));
  const DType dtype = ctx.dtype(0);
  std::vector<int64_t> ranks;
  for (size_t i = 0; i < ctx.num_inputs(); ++i) {
    if (ctx.dtype(i) != dtype) return Invalid("operand ", i, ": expected ", Name(dtype));
    ranks.push_back(ctx.input(i).rank());
  }
  X2IR_ASSIGN_OR_RETURN(equation, ExpandEllipsis(std::move(equation), ranks));
  Sizes sizes;
  for (size_t i = 0; i < ranks.size(); ++i) {
    for (int64_t k = 0; k < ranks[i]; ++k) {
      const int64_t dim = ctx.input(i).dim(k);
      int64_t& size = sizes.emplace(equation.terms[i][k], dim).first->second;
      if (size == 1) size = dim;
      if (size != dim && dim != 1) {
        return Invalid("operand ", i, ", axis ", k, ": expected size ", size, ", got ", dim);
      }
    }
  }
  std::vector<int64_t> dims;
  for (char c : equation.result) dims.push_back(sizes.at(c));
  X2IR_RETURN_IF_ERROR(CheckAllocation(dtype, dims));
  return DispatchReal(dtype, [&](auto zero) -> absl::Status {
    using T = decltype(zero);
    X2IR_ASSIGN_OR_RETURN(Factor<T> product,
                          OperandFactor<T>(ctx.input(0), equation.terms[0], sizes));
    for (size_t i = 1; i < ctx.num_inputs(); ++i) {
      std::string keep = equation.result;
      for (size_t k = i + 1; k < ctx.num_inputs(); ++k) keep += equation.terms[k];
      X2IR_ASSIGN_OR_RETURN(const Factor<T> factor,
                            OperandFactor<T>(ctx.input(i), equation.terms[i], sizes));
      X2IR_ASSIGN_OR_RETURN(product, FactorProduct(product, factor, keep, sizes, dtype));
    }
    product = Rearranged(product, equation.result, sizes);
    return ctx.Return(FromNumbers<T>(dtype, dims, product.numbers));
  });
}

X2IR_OP(einsum)
    .Signature("inputs+ -> output")
    .Attrs("equation: string")
    .Functions(InferEinsum, EvalEinsum)
    .Opaque()
    .Heavy()
    .Doc(
        "The sum of products that the equation describes (\"bij,bjk->bik\"): letters name axes, "
        "those that the result lacks are summed up, an ellipsis stands for axes that broadcast.")
    .AllowsFloat16()
    .MultiplyAdds(WorkOfEinsum)
    .Complex(ComplexUse::kProducts);

}  // namespace
}  // namespace x2ir
