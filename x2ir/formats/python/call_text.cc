#include <algorithm>
#include <limits>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "x2ir/formats/python/call_text_internal.h"
#include "x2ir/formats/python/framework_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::python {
namespace {

// Whether each call occurs once.
template <size_t kCount>
constexpr bool AllDiffer(const CallText (&rows)[kCount]) {
  for (size_t i = 0; i < kCount; ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (rows[i].op == rows[j].op) return false;
    }
  }
  return true;
}

constexpr CallText kRows[] = {
    // Arithmetic, comparisons, logic.
    {"aten::add.Tensor", "{self} + {other}", kSum},
    {"aten::sub.Tensor", "{self} - {other}", kSum},
    {"aten::mul.Tensor", "{self} * {other}", kProduct},
    {"aten::div.Tensor", "{self} / {other}", kProduct},
    {"aten::div.Tensor_mode", "torch.div(self, other, rounding_mode=None)"},
    {"aten::floor_divide.default", "{self} // {other}", kProduct},
    {"aten::remainder.Tensor", "{self} % {other}", kProduct},
    {"aten::fmod.Tensor", "torch.fmod(self, other)"},
    {"aten::pow.Tensor_Tensor", "{self} ** {exponent}", kPower},
    {"aten::matmul.default", "{self} @ {other}", kProduct},
    {"aten::neg.default", "-{self}", kUnary},
    {"aten::eq.Tensor", "{self} == {other}", kComparison},
    {"aten::ne.Tensor", "{self} != {other}", kComparison},
    {"aten::lt.Tensor", "{self} < {other}", kComparison},
    {"aten::le.Tensor", "{self} <= {other}", kComparison},
    {"aten::gt.Tensor", "{self} > {other}", kComparison},
    {"aten::ge.Tensor", "{self} >= {other}", kComparison},
    {"aten::logical_and.default", "{self} & {other}", kBitAnd},
    {"aten::logical_or.default", "{self} | {other}", kBitOr},
    {"aten::logical_xor.default", "{self} ^ {other}", kBitXor},
    {"aten::logical_not.default", "~{self}", kUnary},
    {"aten::bitwise_and.Tensor", "{self} & {other}", kBitAnd},
    {"aten::bitwise_or.Tensor", "{self} | {other}", kBitOr},
    {"aten::bitwise_xor.Tensor", "{self} ^ {other}", kBitXor},
    {"aten::bitwise_not.default", "~{self}", kUnary},
    {"aten::bitwise_left_shift.Tensor", "{self} << {other}", kShift},
    {"aten::bitwise_right_shift.Tensor", "{self} >> {other}", kShift},
    {"_operator::add", "{a} + {b}", kSum},
    {"_operator::sub", "{a} - {b}", kSum},
    {"_operator::mul", "{a} * {b}", kProduct},
    {"_operator::floordiv", "{a} // {b}", kProduct},
    {"_operator::mod", "{a} % {b}", kProduct},
    {"torch::sym_max", "max(a, b)"},
    {"torch::sym_min", "min(a, b)"},
    {"aten::resolve_conj.default", "self.resolve_conj()"},
    {"aten::multinomial.default", "torch.multinomial(self, num_samples, replacement=False)"},
    {"aten::scatter.value", "self.scatter(dim, index, value)"},
    {"aten::maximum.default", "torch.maximum(self, other)"},
    {"aten::minimum.default", "torch.minimum(self, other)"},
    {"aten::where.self", "torch.where(condition, self, other)"},
    {"aten::clamp.default", "self.clamp(min=None, max=None)"},
    {"aten::clamp.Tensor", "self.clamp(min=None, max=None)"},
    // Functions of elements.
    {"aten::_to_copy.default", "self.to(dtype)"},
    {"aten::view.dtype", "self.view(dtype)"},
    {"aten::clone.default", "{self}"},  // nothing is changed in place
    {"aten::alias.default", "{self}"},
    {"aten::gelu.default", "F.gelu(self, approximate=\"none\")"},
    {"aten::relu.default", "F.relu(self)"},
    {"python::relu6", "F.relu6(self)"},
    {"aten::leaky_relu.default", "F.leaky_relu(self, negative_slope=0.01)"},
    {"aten::elu.default", "F.elu(self, alpha=1.0)"},
    {"aten::celu.default", "F.celu(self, alpha=1.0)"},
    {"aten::selu.default", "F.selu(self)"},
    {"aten::silu.default", "F.silu(self)"},
    {"aten::mish.default", "F.mish(self)"},
    {"aten::hardswish.default", "F.hardswish(self)"},
    {"aten::hardsigmoid.default", "F.hardsigmoid(self)"},
    {"aten::hardtanh.default", "F.hardtanh(self, min_val=-1.0, max_val=1.0)"},
    {"aten::softplus.default", "F.softplus(self, beta=1.0, threshold=20.0)"},
    {"aten::prelu.default", "F.prelu(self, weight)"},
    {"aten::softmax.int", "self.softmax(dim) ; dtype"},
    {"aten::log_softmax.int", "self.log_softmax(dim) ; dtype"},
    // Layers that have no weights, or whose weights are computed.
    {"aten::linear.default", "F.linear(input, weight, bias=None)"},
    {"aten::addmm.default", "torch.addmm(self, mat1, mat2, beta=1.0, alpha=1.0)"},
    {"aten::einsum.default", "torch.einsum(equation, *tensors)"},
    {"aten::conv1d.default",
     "F.conv1d(input, weight, bias=None, stride~=1, padding~=0, dilation~=1, groups=1)"},
    {"aten::conv2d.default",
     "F.conv2d(input, weight, bias=None, stride~=1, padding~=0, dilation~=1, groups=1)"},
    {"aten::conv3d.default",
     "F.conv3d(input, weight, bias=None, stride~=1, padding~=0, dilation~=1, groups=1)"},
    {"aten::conv_transpose1d.default",
     "F.conv_transpose1d(input, weight, bias=None, stride~=1, padding~=0, output_padding~=0, "
     "groups=1, dilation~=1)"},
    {"aten::conv_transpose2d.input",
     "F.conv_transpose2d(input, weight, bias=None, stride~=1, padding~=0, output_padding~=0, "
     "groups=1, dilation~=1)"},
    {"aten::conv_transpose3d.input",
     "F.conv_transpose3d(input, weight, bias=None, stride~=1, padding~=0, output_padding~=0, "
     "groups=1, dilation~=1)"},
    {"aten::max_pool1d.default",
     "F.max_pool1d(self, kernel_size~, stride~=:kernel_size, padding~=0, dilation~=1, "
     "ceil_mode=False)"},
    {"aten::max_pool2d.default",
     "F.max_pool2d(self, kernel_size~, stride~=:kernel_size, padding~=0, dilation~=1, "
     "ceil_mode=False)"},
    {"aten::max_pool3d.default",
     "F.max_pool3d(self, kernel_size~, stride~=:kernel_size, padding~=0, dilation~=1, "
     "ceil_mode=False)"},
    {"aten::max_pool1d_with_indices.default",
     "F.max_pool1d_with_indices(self, kernel_size~, stride~=:kernel_size, padding~=0, dilation~=1, "
     "ceil_mode=False)"},
    {"aten::max_pool2d_with_indices.default",
     "F.max_pool2d_with_indices(self, kernel_size~, stride~=:kernel_size, padding~=0, dilation~=1, "
     "ceil_mode=False)"},
    {"aten::max_pool3d_with_indices.default",
     "F.max_pool3d_with_indices(self, kernel_size~, stride~=:kernel_size, padding~=0, dilation~=1, "
     "ceil_mode=False)"},
    {"aten::avg_pool1d.default",
     "F.avg_pool1d(self, kernel_size~, stride~=:kernel_size, padding~=0, ceil_mode=False, "
     "count_include_pad=True)"},
    {"aten::avg_pool2d.default",
     "F.avg_pool2d(self, kernel_size~, stride~=:kernel_size, padding~=0, ceil_mode=False, "
     "count_include_pad=True)"},
    {"aten::avg_pool3d.default",
     "F.avg_pool3d(self, kernel_size~, stride~=:kernel_size, padding~=0, ceil_mode=False, "
     "count_include_pad=True)"},
    {"aten::adaptive_avg_pool1d.default", "F.adaptive_avg_pool1d(self, output_size~)"},
    {"aten::adaptive_avg_pool2d.default", "F.adaptive_avg_pool2d(self, output_size~)"},
    {"aten::adaptive_avg_pool3d.default", "F.adaptive_avg_pool3d(self, output_size~)"},
    {"aten::batch_norm.default",
     "F.batch_norm(input, running_mean, running_var, weight=None, bias=None, eps=1e-05) ; training "
     "momentum cudnn_enabled"},
    // Those of F refuse to normalize one element.
    {"aten::instance_norm.default",
     "torch.instance_norm(input, weight+=None, bias+=None, running_mean+=None, running_var+=None, "
     "use_input_stats+=True, momentum+=0.1, eps+=1e-05, cudnn_enabled+=False)"},
    {"aten::group_norm.default",
     "torch.group_norm(input, num_groups, weight=None, bias=None, eps=1e-05) ; cudnn_enabled"},
    {"aten::layer_norm.default",
     "F.layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05) ; cudnn_enable"},
    {"aten::native_layer_norm.default",
     "torch.native_layer_norm(input, normalized_shape, weight, bias, eps)"},
    {"aten::rms_norm.default", "rms_norm(input, normalized_shape, weight=None, eps=None)"},
    {"aten::scaled_dot_product_attention.default",
     "scaled_dot_product_attention(query, key, value, attn_mask=None, is_causal=False, "
     "scale=None, enable_gqa=False) ; dropout_p"},
    {"aten::embedding.default",
     "F.embedding(indices, weight) ; padding_idx scale_grad_by_freq "
     "sparse"},
    {"aten::dropout.default", "{input}"},
    // Shapes.
    {"aten::reshape.default", "self.reshape(*shape)"},
    {"aten::flatten.using_ints", "self.flatten(start_dim, end_dim=-1)"},
    {"aten::permute.default", "self.permute(*dims)"},
    {"aten::squeeze.default", "self.squeeze()"},
    {"aten::unsqueeze.default", "self.unsqueeze(dim)"},
    {"aten::expand.default", "self.expand(*size) ; implicit"},
    {"aten::broadcast_tensors.default", "torch.broadcast_tensors(*tensors)"},
    {"aten::repeat.default", "self.repeat(*repeats)"},
    {"aten::cat.default", "torch.cat(tensors, dim=0)"},
    {"aten::stack.default", "torch.stack(tensors, dim=0)"},
    {"aten::split_with_sizes.default", "self.split(split_sizes, dim=0)"},
    {"aten::flip.default", "self.flip(*dims)"},
    {"aten::constant_pad_nd.default", "F.pad(self, pad, value=0)"},
    {"aten::pad.default", "F.pad(self, pad, mode=\"constant\", value=None)"},
    {"aten::tril.default", "self.tril(diagonal=0)"},
    {"aten::triu.default", "self.triu(diagonal=0)"},
    {"aten::pixel_shuffle.default", "F.pixel_shuffle(self, upscale_factor)"},
    {"aten::pixel_unshuffle.default", "F.pixel_unshuffle(self, downscale_factor)"},
    {"aten::unfold.default", "self.unfold(dimension, size, step)"},
    {"aten::col2im.default",
     "F.fold(self, output_size, kernel_size~, dilation~=1, padding~=0, stride~=1)"},
    // Gathering and scattering.
    {"aten::gather.default", "self.gather(dim, index) ; sparse_grad"},
    {"aten::scatter.src", "self.scatter(dim, index, src)"},
    {"aten::scatter_add.default", "self.scatter_add(dim, index, src)"},
    {"aten::scatter_reduce.two", "self.scatter_reduce(dim, index, src, reduce, include_self=True)"},
    {"aten::nonzero.default", "self.nonzero()"},
    {"aten::index_select.default", "self.index_select(dim, index)"},
    // Reductions.
    {"aten::sum.dim_IntList", "self.sum(dim~, keepdim=False, dtype=None)"},
    {"aten::mean.dim", "self.mean(dim~, keepdim=False) ; dtype"},
    {"aten::prod.dim_int", "self.prod(dim, keepdim=False, dtype=None)"},
    {"aten::amax.default", "self.amax(dim~, keepdim=False)"},
    {"aten::amin.default", "self.amin(dim~, keepdim=False)"},
    {"aten::logsumexp.default", "self.logsumexp(dim~, keepdim=False)"},
    {"aten::linalg_vector_norm.default",
     "torch.linalg.vector_norm(self, ord=2.0, dim~=None, keepdim=False) ; dtype"},
    {"aten::argmax.default", "self.argmax(dim=None, keepdim=False)"},
    {"aten::argmin.default", "self.argmin(dim=None, keepdim=False)"},
    {"aten::cumsum.default", "self.cumsum(dim, dtype=None)"},
    {"aten::cumprod.default", "self.cumprod(dim, dtype=None)"},
    {"python::topk", "topk(self, k, dim=-1, largest=True) ; sorted"},
    {"aten::topk.default", "self.topk(k, dim=-1, largest=True, sorted=True)"},
    {"aten::sort.stable", "self.sort(stable=False, dim=-1, descending=False)"},
    // Matrices.
    {"aten::linalg_det.default", "torch.linalg.det(A)"},
    {"aten::linalg_cholesky.default", "torch.linalg.cholesky(self, upper=False)"},
    {"aten::linalg_solve.default", "torch.linalg.solve(A, B, left=True)"},
    {"aten::linalg_solve_triangular.default",
     "torch.linalg.solve_triangular(self, B, upper!, left=True, unitriangular=False)"},
    // From nothing.
    {"aten::full.default", "torch.full(size, fill_value, dtype!@)"},
    {"aten::scalar_tensor.default", "torch.tensor(s, dtype=None@)"},
    {"aten::rand.default", "torch.rand(*size, dtype=None@)"},
    {"aten::randn.default", "torch.randn(*size, dtype=None@)"},
    // Images.
    {"aten::grid_sampler.default",
     "torch.grid_sampler(input, grid, interpolation_mode, "
     "padding_mode, align_corners)"},
    {"aten::affine_grid_generator.default", "F.affine_grid(theta, size, align_corners!)"},
    {"aten::rand_like.default", "torch.rand_like(self, dtype=None)"},
    {"aten::randn_like.default", "torch.randn_like(self, dtype=None)"},
    {"aten::zeros_like.default", "torch.zeros_like(self, dtype=None)"},
    {"aten::ones_like.default", "torch.ones_like(self, dtype=None)"},
    {"aten::full_like.default", "torch.full_like(self, fill_value, dtype=None)"},
    // Complex numbers, between pairs of real ones.
    {"aten::complex.default", "torch.complex(real, imag)"},
    {"aten::view_as_real.default", "torch.view_as_real({self}.resolve_conj())"},
    {"aten::detach.default", "{self}.detach()"},
    {"aten::view_as_complex.default", "torch.view_as_complex(self)"},
    {"aten::real.default", "torch.real(self)"},
    {"aten::imag.default", "torch.imag(self)"},
    {"aten::fft_fft.default", "torch.fft.fft(self, n=None, dim=-1, norm=None)"},
    {"aten::fft_ifft.default", "torch.fft.ifft(self, n=None, dim=-1, norm=None)"},
    {"aten::fft_rfft.default", "torch.fft.rfft(self, n=None, dim=-1, norm=None)"},
    {"aten::fft_irfft.default", "torch.fft.irfft(self, n=None, dim=-1, norm=None)"},
    // Numbers.
    {"aten::item.default", "self.item()"},
    // Lists, and None for what may be missing.
    {"python::list", "{elements}"},
    {"python::empty_list", "[]"},
    {"python::appended", "{self} + [{element}]", kSum},
    {"python::inserted", "inserted(self, element, position)"},
    {"python::erased", "erased(self, position=-1)"},
    {"python::element", "{self}[{position}]"},
    {"python::length", "torch.tensor(len({self}))"},
    {"python::cat", "torch.cat(self, dim=0)"},
    {"python::stack", "torch.stack(self, dim=0)"},
    {"python::split", "list({self}.split({size}, {dim}))"},
    {"python::split_with", "list({self}.split({sizes}.tolist(), {dim}))"},
    {"python::unbind", "list({self}.unbind({dim}))"},
    {"python::none", "None"},
    {"python::same", "{self}"},
    {"python::is_there", "torch.tensor({self} is not None)"},
    {"aten::sym_numel.default", "self.numel()"},
};
static_assert(AllDiffer(kRows));

struct Parameter {
  std::string_view python, schema;
  std::string_view default_text;
  bool has_default = false, named = false, splice = false, one_for_all = false, always = false;
};

// A row taken apart.
struct Signature {
  std::string_view text;  // of an expression with braces
  int precedence = kAtom;
  std::string_view function;  // "self.sum", "F.pad"
  std::vector<Parameter> parameters;
  std::vector<std::string_view> ignored;
  bool device = false;
};

Parameter ParseParameter(std::string_view text) {
  Parameter p;
  if (const size_t equals = text.find('='); equals != text.npos) {
    p.has_default = p.named = true;
    p.default_text = text.substr(equals + 1);
    text = text.substr(0, equals);
  }
  const auto drop = [&](char c) {
    if (!text.ends_with(c)) return false;
    text.remove_suffix(1);
    return true;
  };
  p.one_for_all = drop('~');
  if (drop('!')) p.named = true;
  p.always = drop('+');
  if (text.starts_with('*')) {
    p.splice = true;
    text.remove_prefix(1);
  }
  const size_t colon = text.find(':');
  p.python = text.substr(0, colon);
  p.schema = colon == text.npos ? p.python : text.substr(colon + 1);
  return p;
}

Signature ParseRow(const CallText& row) {
  Signature s;
  s.precedence = row.precedence;
  std::string_view text = row.text;
  if (const size_t mark = text.find(" ; "); mark != text.npos) {
    std::string_view rest = text.substr(mark + 3);
    text = text.substr(0, mark);
    while (!rest.empty()) {
      const size_t space = std::min(rest.find(' '), rest.size());
      s.ignored.push_back(rest.substr(0, space));
      rest.remove_prefix(std::min(space + 1, rest.size()));
    }
  }
  if (text.find('{') != text.npos || text.find('(') == text.npos) {
    s.text = text;
    return s;
  }
  const size_t open = text.find('(');
  s.function = text.substr(0, open);
  std::string_view list = text.substr(open + 1, text.size() - open - 2);
  if (list.ends_with('@')) {
    s.device = true;
    list.remove_suffix(1);
  }
  while (!list.empty()) {
    const size_t comma = std::min(list.find(", "), list.size());
    s.parameters.push_back(ParseParameter(list.substr(0, comma)));
    list.remove_prefix(std::min(comma + 2, list.size()));
  }
  return s;
}

const Signature* FindSignature(std::string_view op) {
  static const auto* table = [] {
    auto* all = new std::map<std::string_view, Signature>;
    for (const CallText& row : kRows) all->emplace(row.op, ParseRow(row));
    return all;
  }();
  const auto it = table->find(op);
  return it == table->end() ? nullptr : &it->second;
}

std::string InPackage(std::string_view text, const CallContext& context) {
  return absl::StrReplaceAll(ForAbsl(text), {{"torch.", StrCat(context.framework->package, ".")}});
}

// What a framework calls that function ("F.pad", "self.sum", "torch.cat"); "" for one of the file's
// own.
std::string FullName(std::string_view function) {
  if (function.starts_with("F.")) return StrCat("torch.nn.functional.", function.substr(2));
  if (function.starts_with("self.")) return StrCat("torch.Tensor.", function.substr(5));
  return function.starts_with("torch.") ? std::string(function) : "";
}

absl::Status Lacks(const CallContext& context, std::string_view what, const Call& call) {
  return CannotExpress(context.framework->name, " has no ", what, " (", call.op, ")");
}

// Whether the framework has the function, and the argument of that name.
absl::Status CheckName(std::string_view function, std::string_view argument, const Call& call,
                       const CallContext& context) {
  const Framework& framework = *context.framework;
  const std::string name = FullName(function);
  if (!framework.find || name.empty()) return absl::OkStatus();
  const Framework::Arguments* arguments = framework.find(name);
  if (!arguments) return Lacks(context, name.substr(6), call);
  const auto& names = arguments->names;
  if (!argument.empty() && arguments->known &&
      std::find(names.begin(), names.end(), argument) == names.end()) {
    return Lacks(context, StrCat(name.substr(6), " with '", argument, "'"), call);
  }
  return absl::OkStatus();
}

// The functions that an expression with braces calls.
absl::Status CheckNamesIn(std::string_view text, const Call& call, const CallContext& context) {
  for (size_t open = text.find('('); open != text.npos; open = text.find('(', open + 1)) {
    size_t start = open;
    while (start > 0 && (absl::ascii_isalnum(static_cast<unsigned char>(text[start - 1])) ||
                         text[start - 1] == '_' || text[start - 1] == '.')) {
      --start;
    }
    std::string name(text.substr(start, open - start));
    if (name.starts_with('.')) name.insert(0, "self");
    X2IR_RETURN_IF_ERROR(CheckName(name, "", call, context));
  }
  return absl::OkStatus();
}

bool IsSimple(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
  });
}

// "{self} + {other}". The right operand of an operator binds tighter than the operator: a - (b -
// c).
absl::StatusOr<Expr> TextOfOperator(const Signature& s, const Call& call,
                                    const CallContext& context) {
  X2IR_RETURN_IF_ERROR(CheckNamesIn(s.text, call, context));
  std::string out;
  int precedence = s.precedence;
  std::string_view rest = s.text;
  std::vector<std::string_view> used;
  bool simple = s.precedence == kPower;
  for (bool first = rest.starts_with('{'); !rest.empty(); first = false) {
    const size_t open = std::min(rest.find('{'), rest.size());
    out += InPackage(rest.substr(0, open), context);
    rest.remove_prefix(open);
    if (rest.empty()) break;
    const size_t close = rest.find('}');
    const std::string_view name = rest.substr(1, close - 1);
    rest.remove_prefix(close + 1);
    used.push_back(name);
    const Argument* argument = call.Find(name);
    if (!argument || argument->items.empty()) return Unimplemented(call.op, ": no '", name, "'");
    const bool both = s.precedence == kComparison || s.precedence == kPower;
    const bool member = rest.starts_with('.') || rest.starts_with('[');
    const int tight = member                  ? int{kAtom}
                      : s.precedence == kAtom ? 0
                                              : s.precedence + (first && !both ? 0 : 1);
    const Expr expr = TextOfArgument(*argument, context);
    const std::string text = expr.In(tight);
    simple = simple && IsSimple(text);
    out += text;
    if (out.size() == expr.text.size() && rest.empty()) precedence = expr.precedence;
  }
  for (const Argument& argument : call.arguments) {
    if (std::find(used.begin(), used.end(), argument.name) != used.end()) continue;
    if (std::find(s.ignored.begin(), s.ignored.end(), argument.name) != s.ignored.end()) continue;
    const int64_t* i =
        argument.items.size() == 1 ? std::get_if<int64_t>(&argument.items[0]) : nullptr;
    if (argument.name == "alpha" && i && *i == 1) continue;
    if (call.IsNone(argument.name) || call.op == "aten::dropout.default") continue;
    return Unimplemented(call.op, " with '", argument.name, "'");
  }
  // Black hugs powers of plain names and numbers.
  if (simple) out = absl::StrReplaceAll(out, {{" ** ", "**"}});
  return Expr{std::move(out), precedence};
}

absl::StatusOr<Expr> TextOfFunction(const Signature& s, const Call& call,
                                    const CallContext& context) {
  X2IR_RETURN_IF_ERROR(CheckName(s.function, "", call, context));
  std::string out = InPackage(s.function, context);
  std::vector<std::string> arguments;
  std::vector<std::string_view> used = s.ignored;
  const bool method = s.function.starts_with("self.");
  if (method) {
    const Argument* self = call.Find("self");
    if (!self) return Unimplemented(call.op, " without self");
    out = StrCat(TextOfArgument(*self, context).In(kAtom), s.function.substr(4));
    used.push_back("self");
  }
  std::map<std::string_view, std::string> texts;
  for (const Parameter& p : s.parameters) {
    used.push_back(p.schema);
    const Argument* argument = call.Find(p.schema);
    if (!argument) {
      if (p.always) arguments.emplace_back(p.default_text);
      if (!p.has_default && !p.named) return Unimplemented(call.op, " without '", p.schema, "'");
      continue;
    }
    if (p.splice && argument->is_list) {
      for (const Item& item : argument->items) {
        arguments.push_back(TextOfArgument({"", {item}, false}, context).text);
      }
      if (argument->items.empty()) arguments.push_back(p.schema == "tensors" ? "" : "()");
      continue;
    }
    std::string text = TextOfArgument(*argument, context, p.one_for_all).text;
    texts[p.schema] = text;
    if (p.has_default && !p.always) {
      std::string_view expected = p.default_text;
      if (expected.starts_with(':')) expected = texts[expected.substr(1)];
      if (text == expected) continue;
      // An empty list is what is not given: a stride that is the kernel's.
      if (p.default_text.starts_with(':') && text == "()") continue;
    }
    const bool named = p.named && !p.always;
    if (named) X2IR_RETURN_IF_ERROR(CheckName(s.function, p.python, call, context));
    arguments.push_back(named ? StrCat(p.python, "=", text) : std::move(text));
  }
  for (const Argument& argument : call.arguments) {
    if (std::find(used.begin(), used.end(), argument.name) == used.end() &&
        !call.IsNone(argument.name)) {
      return Unimplemented(call.op, " with '", argument.name, "'");
    }
  }
  StrAppend(&out, "(", absl::StrJoin(arguments, ", "), s.device ? context.device : "", ")");
  return Expr{std::move(out)};
}

// --- Forms of their own -----------------------------------------------------------------------

std::string Colons(int64_t dim) {
  std::string text;
  for (int64_t i = 0; i < dim; ++i) text += ":, ";
  return text;
}
std::string BeforeAxis(int64_t dim) { return dim == -1 ? "..., " : Colons(dim); }

Expr SelfOf(const Call& call, const CallContext& context) {
  return TextOfArgument(*call.Find("self"), context);
}

bool IsInt(const Item& item, int64_t number) {
  const int64_t* i = std::get_if<int64_t>(&item);
  return i && *i == number;
}

absl::StatusOr<Expr> TextOfSlice(const Call& call, const CallContext& context) {
  const int64_t dim = call.Int("dim", 0);
  if (dim < -1 || !call.Find("self")) return Unimplemented(call.op, ": axis ", dim);
  const auto bound = [&](std::string_view name, int64_t nothing) -> std::string {
    const Argument* argument = call.Find(name);
    if (!argument || call.IsNone(name) || IsInt(argument->items[0], nothing)) return "";
    return TextOfArgument(*argument, context).text;
  };
  const std::string start = bound("start", 0);
  const std::string end = bound("end", std::numeric_limits<int64_t>::max());
  const std::string step = bound("step", 1);
  // Black puts spaces around the colon where a bound is more than a name or a number.
  const auto is_plain = [](std::string_view text) {
    return text.find(' ') == text.npos && text.find('(') == text.npos;
  };
  const bool spaced = !is_plain(start) || !is_plain(end);
  std::string text = start;
  if (spaced && !start.empty()) text += ' ';
  text += ':';
  if (spaced && !end.empty()) text += ' ';
  text += end;
  if (!step.empty()) StrAppend(&text, spaced ? " : " : ":", step);
  return Expr{StrCat(SelfOf(call, context).In(kAtom), "[", BeforeAxis(dim), text, "]")};
}

absl::StatusOr<Expr> TextOfSelect(const Call& call, const CallContext& context) {
  const int64_t dim = call.Int("dim", 0);
  if (dim < -1 || !call.Find("index")) return Unimplemented(call.op, ": axis ", dim);
  return Expr{StrCat(SelfOf(call, context).In(kAtom), "[", BeforeAxis(dim),
                     TextOfArgument(*call.Find("index"), context).text, "]")};
}

// x[:, i, j]
absl::StatusOr<std::string> IndexText(const Call& call, const CallContext& context) {
  const Argument* indices = call.Find("indices");
  if (!indices || indices->items.empty()) return Unimplemented(call.op, " without indices");
  std::vector<std::string> parts;
  for (const Item& item : indices->items) {
    if (std::holds_alternative<None>(item)) {
      parts.push_back(":");
    } else {
      parts.push_back(TextOfArgument({"", {item}, false}, context).text);
    }
  }
  while (parts.size() > 1 && parts.back() == ":") parts.pop_back();
  return absl::StrJoin(parts, ", ");
}

absl::StatusOr<Expr> TextOfIndex(const Call& call, const CallContext& context) {
  X2IR_ASSIGN_OR_RETURN(const std::string text, IndexText(call, context));
  return Expr{StrCat(SelfOf(call, context).In(kAtom), "[", text, "]")};
}

// torch.index_put takes a list of tensors.
absl::StatusOr<Expr> TextOfIndexPut(const Call& call, const CallContext& context) {
  const Argument* indices = call.Find("indices");
  const Argument* values = call.Find("values");
  if (!indices || !values) return Unimplemented(call.op, " without indices");
  std::vector<std::string> parts;
  for (const Item& item : indices->items) {
    if (std::holds_alternative<None>(item)) return Unimplemented(call.op, " of some axes");
    parts.push_back(TextOfArgument({"", {item}, false}, context).text);
  }
  const Argument* accumulate = call.Find("accumulate");
  const bool adds =
      accumulate && accumulate->items.size() == 1 && accumulate->items[0] == Item(true);
  return Expr{StrCat(SelfOf(call, context).In(kAtom), ".index_put(", Tuple(parts), ", ",
                     TextOfArgument(*values, context).text, adds ? ", accumulate=True" : "", ")")};
}

// One axis at a time, as it was before PyTorch 2.0; the last one first, so that none moves.
absl::StatusOr<Expr> TextOfSqueeze(const Call& call, const CallContext& context) {
  std::vector<int64_t> axes = call.Ints("dim");
  const Value* x = call.Tensor("self");
  const int64_t rank = x && x->shape() ? x->shape()->rank() : 0;
  for (int64_t& axis : axes) {
    if (axis < 0 && rank > 0) axis += rank;
  }
  std::sort(axes.rbegin(), axes.rend());
  if (!axes.empty() && axes.front() >= 0 && axes.back() < 0) {
    return Unimplemented(call.op, ": axes from both ends");
  }
  std::string text = SelfOf(call, context).In(kAtom);
  const auto squeeze = [&](int64_t axis) { StrAppend(&text, ".squeeze(", axis, ")"); };
  // Axes counted from the end: the one farthest from it first.
  for (const int64_t axis : axes) {
    if (axis >= 0) squeeze(axis);
  }
  std::reverse(axes.begin(), axes.end());
  for (const int64_t axis : axes) {
    if (axis < 0) squeeze(axis);
  }
  return Expr{std::move(text), axes.empty() ? SelfOf(call, context).precedence : int{kAtom}};
}

absl::StatusOr<Expr> TextOfSize(const Call& call, const CallContext& context) {
  const Argument* self = call.Find("self");
  if (!self) return Unimplemented(call.op, " without self");
  return Expr{StrCat(TextOfArgument(*self, context).In(kAtom), ".shape[", call.Int("dim", 0), "]")};
}

// aten::upsample_bilinear2d.vec and its like.
absl::StatusOr<Expr> SpellUpsample(const Call& call, const CallContext& context) {
  const std::string_view op = std::string_view(call.op).substr(6);
  const bool exact = op.starts_with("_upsample_nearest_exact");
  const std::string_view mode = exact                                    ? "nearest-exact"
                                : op.starts_with("upsample_nearest")     ? "nearest"
                                : op.starts_with("upsample_linear1d")    ? "linear"
                                : op.starts_with("upsample_bilinear2d")  ? "bilinear"
                                : op.starts_with("upsample_trilinear3d") ? "trilinear"
                                                                         : "bicubic";
  std::string text = StrCat("F.interpolate(", TextOfArgument(*call.Find("input"), context).text);
  if (!call.IsNone("output_size")) {
    StrAppend(&text, ", size=", TextOfArgument(*call.Find("output_size"), context, true).text);
  } else {
    StrAppend(&text,
              ", scale_factor=", TextOfArgument(*call.Find("scale_factors"), context, true).text);
  }
  StrAppend(&text, ", mode=\"", mode, "\"");
  const Argument* corners = call.Find("align_corners");
  if (corners && corners->items.size() == 1 && corners->items[0] == Item(true)) {
    text += ", align_corners=True";
  }
  return Expr{text + ")"};
}

// y, (h, c) = torch.lstm(...): the weights are a list.
absl::StatusOr<Expr> SpellRecurrent(const Call& call, const CallContext& context) {
  std::vector<std::string> arguments;
  for (const char* name : {"input", "hx", "params", "has_biases", "num_layers", "dropout", "train",
                           "bidirectional", "batch_first"}) {
    const Argument* argument = call.Find(name);
    if (!argument) return Unimplemented(call.op, " without '", name, "'");
    arguments.push_back(TextOfArgument(*argument, context).text);
  }
  const std::string_view op = std::string_view(call.op).substr(6);
  return Expr{StrCat(context.framework->package, ".", op.substr(0, op.find('.')), "(",
                     absl::StrJoin(arguments, ", "), ")")};
}

// x @ weight + bias, with a weight that another layer has.
absl::StatusOr<Expr> SpellLinear(const Call& call, const CallContext& context) {
  const auto text = [&](std::string_view name) {
    return TextOfArgument(*call.Find(name), context);
  };
  std::string weight = text("other").In(kAtom);
  if (weight.ends_with(".t()")) {
    weight.resize(weight.size() - 4);
  } else {
    weight += ".t()";
  }
  return Expr{StrCat("F.linear(", text("self").text, ", ", weight, ", ", text("bias").text, ")")};
}

// Always with all three results, which Python's function has only where they are asked for.
absl::StatusOr<Expr> SpellUnique(const Call& call, const CallContext& context) {
  const Argument* dim = call.Find("dim");
  const Argument* sorted = call.Find("sorted");
  std::string text =
      StrCat("torch.unique(", SelfOf(call, context).text,
             sorted ? StrCat(", sorted=", TextOfArgument(*sorted, context).text) : std::string(),
             ", return_inverse=True, return_counts=True");
  if (dim) StrAppend(&text, ", dim=", TextOfArgument(*dim, context).text);
  return Expr{text + ")"};
}

absl::StatusOr<Expr> SpellBroadcast(const Call& call, const CallContext& context) {
  const std::string self = SelfOf(call, context).In(kAtom);
  return Expr{StrCat(self, ".expand(", context.framework->package, ".broadcast_shapes(", self,
                     ".shape, ", TextOfArgument(*call.Find("size"), context).text, "))")};
}

// Without what is so anyway.
absl::StatusOr<Expr> SpellArange(const Call& call, const CallContext& context) {
  const Argument *start = call.Find("start"), *end = call.Find("end"), *step = call.Find("step");
  const Argument* dtype = call.Find("dtype");
  if (!start || !end || end->items.size() != 1) return Unimplemented(call.op, " without an end");
  const auto is = [](const Argument* argument, int64_t number) {
    return argument && argument->items.size() == 1 && argument->items[0] == Item(number);
  };
  const auto is_int = [](const Argument* argument) {
    return !argument ||
           (argument->items.size() == 1 && (std::holds_alternative<int64_t>(argument->items[0]) ||
                                            std::holds_alternative<Dim>(argument->items[0])));
  };
  const bool steps = step && !is(step, 1);
  std::vector<std::string> arguments;
  if (steps || !is(start, 0)) arguments.push_back(TextOfArgument(*start, context).text);
  arguments.push_back(TextOfArgument(*end, context).text);
  if (steps) arguments.push_back(TextOfArgument(*step, context).text);
  const bool counts = is_int(start) && is_int(end) && is_int(step);
  if (dtype && !(counts && dtype->items.size() == 1 && dtype->items[0] == Item(DType::kInt64))) {
    arguments.push_back(StrCat("dtype=", TextOfArgument(*dtype, context).text));
  }
  return Expr{StrCat(context.framework->package, ".arange(", absl::StrJoin(arguments, ", "),
                     context.device, ")")};
}

const std::map<std::string_view, CallTextFn>& OwnForms() {
  static const auto& forms = *new std::map<std::string_view, CallTextFn>{
      {"aten::slice.Tensor", TextOfSlice},
      {"aten::select.int", TextOfSelect},
      {"aten::index.Tensor", TextOfIndex},
      {"aten::index_put.default", TextOfIndexPut},
      {"aten::squeeze.dims", TextOfSqueeze},
      {"aten::sym_size.int", TextOfSize},
      {"aten::upsample_nearest1d.vec", SpellUpsample},
      {"aten::upsample_nearest2d.vec", SpellUpsample},
      {"aten::upsample_nearest3d.vec", SpellUpsample},
      {"aten::_upsample_nearest_exact1d.vec", SpellUpsample},
      {"aten::_upsample_nearest_exact2d.vec", SpellUpsample},
      {"aten::_upsample_nearest_exact3d.vec", SpellUpsample},
      {"aten::upsample_linear1d.vec", SpellUpsample},
      {"aten::upsample_bilinear2d.vec", SpellUpsample},
      {"aten::upsample_trilinear3d.vec", SpellUpsample},
      {"aten::upsample_bicubic2d.vec", SpellUpsample},
      {"python::broadcast_to", SpellBroadcast},
      {"python::linear", SpellLinear},
      {"aten::_unique2.default", SpellUnique},
      {"aten::unique_dim.default", SpellUnique},
      {"aten::arange.start_step", SpellArange},
      {"aten::lstm.input", SpellRecurrent},
      {"aten::gru.input", SpellRecurrent},
      {"aten::rnn_tanh.input", SpellRecurrent},
      {"aten::rnn_relu.input", SpellRecurrent},
  };
  return forms;
}

// Functions of one tensor that are methods under the operator's own name: aten::exp.default.
constexpr std::string_view kMethods[] = {
    "abs",   "acos",     "acosh",  "asin",       "asinh",    "atan",     "atanh",
    "ceil",  "cos",      "cosh",   "erf",        "erfc",     "exp",      "expm1",
    "floor", "isfinite", "isinf",  "isnan",      "isneginf", "isposinf", "log",
    "log10", "log1p",    "log2",   "reciprocal", "round",    "rsqrt",    "sigmoid",
    "sign",  "sin",      "sinh",   "sqrt",       "square",   "tan",      "tanh",
    "trunc", "frac",     "lgamma", "digamma",    "erfinv",   "positive", "contiguous"};

}  // namespace

Expr TextOfArgument(const Argument& argument, const CallContext& context, bool one_for_all) {
  std::vector<std::string> texts;
  Expr last;
  for (const Item& item : argument.items) {
    if (std::holds_alternative<None>(item)) {
      last = {"None"};
    } else if (const Operand* operand = std::get_if<Operand>(&item)) {
      last = context.operand(*operand, !argument.is_list);
    } else if (const int64_t* i = std::get_if<int64_t>(&item)) {
      last = {StrCat(*i), *i < 0 ? int{kUnary} : int{kAtom}};
    } else if (const double* d = std::get_if<double>(&item)) {
      last = {FloatLiteral(*d, !context.exact), *d < 0 ? int{kUnary} : int{kAtom}};
    } else if (const bool* b = std::get_if<bool>(&item)) {
      last = {*b ? "True" : "False"};
    } else if (const std::string* s = std::get_if<std::string>(&item)) {
      last = {StringLiteral(*s)};
    } else if (const DType* t = std::get_if<DType>(&item)) {
      last = {context.framework->TypeName(*t)};
    } else {
      last = context.size(std::get<Dim>(item));
    }
    texts.push_back(last.text);
  }
  if (!argument.is_list) return last;
  const bool tensors = argument.name == "elements" ||
                       std::any_of(argument.items.begin(), argument.items.end(), [](const Item& i) {
                         const Operand* operand = std::get_if<Operand>(&i);
                         return operand && operand->number == 0;
                       });
  const bool same = !texts.empty() && std::all_of(texts.begin(), texts.end(),
                                                  [&](const auto& t) { return t == texts[0]; });
  if (one_for_all && same) return {texts[0]};
  if (tensors || argument.name == "split_sizes") {
    return {StrCat("[", absl::StrJoin(texts, ", "), "]")};
  }
  return {Tuple(texts)};
}

absl::StatusOr<Expr> TextOfRow(const CallText& row, const Call& call, const CallContext& context) {
  if (row.text.empty()) return CannotExpress(context.framework->name, " has no ", call.op);
  const Signature signature = ParseRow(row);
  return signature.text.empty() ? TextOfFunction(signature, call, context)
                                : TextOfOperator(signature, call, context);
}

absl::StatusOr<Expr> TextOfCall(const Call& call, const CallContext& context) {
  for (const CallForm& form : context.framework->forms) {
    if (form.op == call.op) return form.spell(call, context);
  }
  for (const CallText& row : context.framework->rows) {
    if (row.op == call.op) return TextOfRow(row, call, context);
  }
  return TextOfUsualCall(call, context);
}

absl::StatusOr<Expr> TextOfUsualCall(const Call& call, const CallContext& context) {
  if (const auto it = OwnForms().find(call.op); it != OwnForms().end()) {
    return it->second(call, context);
  }
  if (const Signature* signature = FindSignature(call.op)) {
    return signature->text.empty() ? TextOfFunction(*signature, call, context)
                                   : TextOfOperator(*signature, call, context);
  }
  std::string_view name = call.op;
  if (name.starts_with("aten::") && name.ends_with(".default") && call.arguments.size() == 1) {
    name = name.substr(6, name.size() - 14);
    if (std::find(std::begin(kMethods), std::end(kMethods), name) != std::end(kMethods)) {
      const Expr self = TextOfArgument(call.arguments[0], context);
      const Framework& framework = *context.framework;
      if (framework.Has(StrCat("torch.Tensor.", name))) {
        return Expr{StrCat(self.In(kAtom), ".", name, "()")};
      }
      if (!framework.Has(StrCat("torch.", name))) return Lacks(context, name, call);
      return Expr{StrCat(framework.package, ".", name, "(", self.text, ")")};
    }
  }
  return Unimplemented(call.op);
}

}  // namespace x2ir::python
