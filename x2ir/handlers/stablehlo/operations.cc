#include "x2ir/handlers/stablehlo/operations.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "x2ir/graph_wrapper/dtype.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

// Operands with the element types that they may have: a: any, b: bool, c: complex, f: floats, i:
// integers, s: signed integers; *: any number of operands. Attributes with their kinds: i: int, d:
// double, l: ints, s: string, t: tensor, g: graph, G: graphs. Then how many results; -1: any
// number.
struct Operation {
  std::string_view op, operands, attrs;
  int results = 1;
};
constexpr Operation kOperations[] = {
    {"abs", "operand:fcs", ""},
    {"add", "lhs:a rhs:a", ""},
    {"and", "lhs:bi rhs:bi", ""},
    {"atan2", "lhs:fc rhs:fc", ""},
    {"batch_norm_grad", "operand:f scale:f mean:f variance:f grad_output:f",
     "epsilon:d feature_index:i", 3},
    {"batch_norm_inference", "operand:f scale:f offset:f mean:f variance:f",
     "epsilon:d feature_index:i"},
    {"batch_norm_training", "operand:f scale:f offset:f", "epsilon:d feature_index:i", 3},
    {"bitcast_convert", "operand:a", ""},
    {"broadcast_in_dim", "operand:a", "broadcast_dimensions:l"},
    {"broadcast", "operand:a", "broadcast_sizes:l"},
    {"case", "index:s", "branches:G", -1},
    {"cbrt", "operand:fc", ""},
    {"ceil", "operand:f", ""},
    {"cholesky", "a:fc", "lower:i"},
    {"clamp", "min:a operand:a max:a", ""},
    {"count_leading_zeros", "operand:i", ""},
    {"compare", "lhs:a rhs:a", "comparison_direction:s compare_type:s"},
    {"complex", "lhs:f rhs:f", ""},
    {"concatenate", "inputs:a*", "dimension:i"},
    {"constant", "", "value:t"},
    {"convert", "operand:a", ""},
    {"convolution", "lhs:a rhs:a",
     "window_strides:l padding:l lhs_dilation:l rhs_dilation:l window_reversal:l "
     "input_batch_dimension:i input_feature_dimension:i input_spatial_dimensions:l "
     "kernel_input_feature_dimension:i kernel_output_feature_dimension:i "
     "kernel_spatial_dimensions:l output_batch_dimension:i output_feature_dimension:i "
     "output_spatial_dimensions:l feature_group_count:i batch_group_count:i"},
    {"cosine", "operand:fc", ""},
    {"divide", "lhs:fci rhs:fci", ""},
    {"dot_general", "lhs:a rhs:a",
     "lhs_batching_dimensions:l rhs_batching_dimensions:l lhs_contracting_dimensions:l "
     "rhs_contracting_dimensions:l"},
    {"dot", "lhs:a rhs:a", ""},
    {"dynamic_broadcast_in_dim", "operand:a output_dimensions:i",
     "broadcast_dimensions:l known_expanding_dimensions:l known_nonexpanding_dimensions:l"},
    {"dynamic_conv", "lhs:a rhs:a padding:i",
     "window_strides:l lhs_dilation:l rhs_dilation:l window_reversal:l input_batch_dimension:i "
     "input_feature_dimension:i input_spatial_dimensions:l kernel_input_feature_dimension:i "
     "kernel_output_feature_dimension:i kernel_spatial_dimensions:l output_batch_dimension:i "
     "output_feature_dimension:i output_spatial_dimensions:l feature_group_count:i "
     "batch_group_count:i"},
    {"dynamic_gather", "operand:a start_indices:i slice_sizes:i",
     "offset_dims:l collapsed_slice_dims:l operand_batching_dims:l start_indices_batching_dims:l "
     "start_index_map:l index_vector_dim:i indices_are_sorted:i"},
    {"dynamic_iota", "output_shape:i", "iota_dimension:i"},
    {"dynamic_pad",
     "operand:a padding_value:a edge_padding_low:i edge_padding_high:i interior_padding:i", ""},
    {"dynamic_reshape", "operand:a output_shape:i", ""},
    {"dynamic_slice", "operand:a start_indices:i*", "slice_sizes:l"},
    {"dynamic_update_slice", "operand:a update:a start_indices:i*", ""},
    {"einsum", "lhs:a rhs:a", "einsum_config:s"},
    {"exponential", "operand:fc", ""},
    {"exponential_minus_one", "operand:fc", ""},
    {"fft", "operand:fc", "fft_type:s fft_length:l"},
    {"floor", "operand:f", ""},
    {"gather", "operand:a start_indices:i",
     "offset_dims:l collapsed_slice_dims:l operand_batching_dims:l start_indices_batching_dims:l "
     "start_index_map:l index_vector_dim:i slice_sizes:l indices_are_sorted:i"},
    {"get_dimension_size", "operand:a", "dimension:i"},
    {"if", "pred:b", "true_branch:g false_branch:g", -1},
    {"imag", "operand:fc", ""},
    {"iota", "", "iota_dimension:i"},
    {"is_finite", "x:f", ""},
    {"log_plus_one", "operand:fc", ""},
    {"log", "operand:fc", ""},
    {"logistic", "operand:fc", ""},
    {"map", "inputs:a*", "dimensions:l computation:g"},
    {"maximum", "lhs:a rhs:a", ""},
    {"minimum", "lhs:a rhs:a", ""},
    {"multiply", "lhs:a rhs:a", ""},
    {"negate", "operand:fci", ""},
    {"not", "operand:bi", ""},
    {"optimization_barrier", "operand:a*", "", -1},
    {"or", "lhs:bi rhs:bi", ""},
    {"pad", "operand:a padding_value:a",
     "edge_padding_low:l edge_padding_high:l interior_padding:l"},
    {"popcnt", "operand:i", ""},
    {"power", "lhs:fci rhs:fci", ""},
    {"real_dynamic_slice", "operand:a start_indices:i limit_indices:i strides:i", ""},
    {"real", "operand:fc", ""},
    {"reduce", "operands:a*", "dimensions:l body:g", -1},
    {"reduce_precision", "operand:f", "exponent_bits:i mantissa_bits:i"},
    {"reduce_window", "operands:a*",
     "window_dimensions:l window_strides:l base_dilations:l window_dilations:l padding:l body:g",
     -1},
    {"remainder", "lhs:fci rhs:fci", ""},
    {"reshape", "operand:a", ""},
    {"reverse", "operand:a", "dimensions:l"},
    {"rng_bit_generator", "initial_state:fi", "rng_algorithm:s", 2},
    {"rng", "a:fbi b:fbi shape:i", "rng_distribution:s"},
    {"round_nearest_even", "operand:f", ""},
    {"round_nearest_afz", "operand:f", ""},
    {"rsqrt", "operand:fc", ""},
    {"scatter", "operands:a*",
     "update_window_dims:l inserted_window_dims:l input_batching_dims:l "
     "scatter_indices_batching_dims:l scatter_dims_to_operand_dims:l index_vector_dim:i "
     "indices_are_sorted:i unique_indices:i update_computation:g",
     -1},
    {"select_and_scatter", "operand:a source:a init_value:a",
     "window_dimensions:l window_strides:l padding:l select:g scatter:g"},
    {"select", "pred:b on_true:a on_false:a", ""},
    {"set_dimension_size", "operand:a size:s", "dimension:i"},
    {"shift_left", "lhs:i rhs:i", ""},
    {"shift_right_arithmetic", "lhs:i rhs:i", ""},
    {"shift_right_logical", "lhs:i rhs:i", ""},
    {"sign", "operand:fcs", ""},
    {"sine", "operand:fc", ""},
    {"slice", "operand:a", "start_indices:l limit_indices:l strides:l"},
    {"sort", "inputs:a*", "dimension:i is_stable:i comparator:g", -1},
    {"sqrt", "operand:fc", ""},
    {"subtract", "lhs:fci rhs:fci", ""},
    {"tan", "operand:fc", ""},
    {"tanh", "operand:fc", ""},
    {"torch_index_select", "operand:a index:a", "dim:i batch_dims:i"},
    {"transpose", "operand:a", "permutation:l"},
    {"triangular_solve", "a:fc b:fc", "left_side:i lower:i unit_diagonal:i transpose_a:s"},
    {"unary_einsum", "operand:a", "einsum_config:s"},
    {"uniform_dequantize", "operand:a", ""},
    {"uniform_quantize", "operand:f", ""},
    {"while", "operand:a*", "cond:g body:g", -1},
    {"xor", "lhs:bi rhs:bi", ""},
    {"chlo.acos", "operand:fc", ""},
    {"chlo.acosh", "operand:fc", ""},
    {"chlo._asin_acos_kernel", "operand:c", ""},
    {"chlo.asin", "operand:fc", ""},
    {"chlo.asinh", "operand:fc", ""},
    {"chlo.atan", "operand:fc", ""},
    {"chlo.atanh", "operand:fc", ""},
    {"chlo.bessel_i1e", "operand:fc", ""},
    {"chlo.broadcast_add", "lhs:a rhs:a", "broadcast_dimensions:l"},
    {"chlo.broadcast_and", "lhs:bi rhs:bi", "broadcast_dimensions:l"},
    {"chlo.broadcast_atan2", "lhs:a rhs:a", "broadcast_dimensions:l"},
    {"chlo.broadcast_compare", "lhs:a rhs:a",
     "broadcast_dimensions:l comparison_direction:s compare_type:s"},
    {"chlo.broadcast_complex", "lhs:f rhs:f", "broadcast_dimensions:l"},
    {"chlo.broadcast_divide", "lhs:a rhs:a", "broadcast_dimensions:l"},
    {"chlo.broadcast_maximum", "lhs:a rhs:a", "broadcast_dimensions:l"},
    {"chlo.broadcast_minimum", "lhs:a rhs:a", "broadcast_dimensions:l"},
    {"chlo.broadcast_multiply", "lhs:a rhs:a", "broadcast_dimensions:l"},
    {"chlo.broadcast_next_after", "lhs:a rhs:a", "broadcast_dimensions:l"},
    {"chlo.broadcast_or", "lhs:bi rhs:bi", "broadcast_dimensions:l"},
    {"chlo.broadcast_polygamma", "lhs:a rhs:a", "broadcast_dimensions:l"},
    {"chlo.broadcast_power", "lhs:a rhs:a", "broadcast_dimensions:l"},
    {"chlo.broadcast_remainder", "lhs:a rhs:a", "broadcast_dimensions:l"},
    {"chlo.broadcast_select", "pred:b on_true:a on_false:a", ""},
    {"chlo.broadcast_shift_left", "lhs:a rhs:a", "broadcast_dimensions:l"},
    {"chlo.broadcast_shift_right_arithmetic", "lhs:a rhs:a", "broadcast_dimensions:l"},
    {"chlo.broadcast_shift_right_logical", "lhs:a rhs:a", "broadcast_dimensions:l"},
    {"chlo.broadcast_subtract", "lhs:a rhs:a", "broadcast_dimensions:l"},
    {"chlo.broadcast_xor", "lhs:bi rhs:bi", "broadcast_dimensions:l"},
    {"chlo.broadcast_zeta", "lhs:f rhs:f", "broadcast_dimensions:l"},
    {"chlo.conj", "operand:fc", ""},
    {"chlo.constant_like", "operand:a", "value:t"},
    {"chlo.constant", "", "value:t"},
    {"chlo.cosh", "operand:fc", ""},
    {"chlo.digamma", "operand:f", ""},
    {"chlo.erf_inv", "operand:f", ""},
    {"chlo.erf", "operand:f", ""},
    {"chlo.erfc", "operand:f", ""},
    {"chlo.is_inf", "operand:f", ""},
    {"chlo.is_neg_inf", "operand:f", ""},
    {"chlo.is_pos_inf", "operand:f", ""},
    {"chlo.lgamma", "operand:f", ""},
    {"chlo.mulhi", "lhs:i rhs:i", ""},
    {"chlo.next_after", "x:f y:f", ""},
    {"chlo.polygamma", "n:f x:f", ""},
    {"chlo.ragged_dot", "lhs:a rhs:a group_sizes:a",
     "lhs_batching_dimensions:l rhs_batching_dimensions:l lhs_contracting_dimensions:l "
     "rhs_contracting_dimensions:l lhs_ragged_dimensions:l rhs_group_dimensions:l"},
    {"chlo.scan", "operands:a*", "dimension:i scan_dim_size:i is_reverse:i is_associative:i body:g",
     -1},
    {"chlo.sinh", "operand:fc", ""},
    {"chlo.square", "operand:fc", ""},
    {"chlo.tan", "operand:fc", ""},
    {"chlo.top_k", "operand:a k:a", "is_stable:i", 2},
    {"chlo.zeta", "x:f q:f", ""},
};

bool IsOfClass(DType t, std::string_view classes) {
  const auto has = [&](char c) { return classes.find(c) != std::string_view::npos; };
  if (t == DType::kUndefined) return true;  // not known
  if (t == DType::kString) return false;
  if (has('a')) return true;
  if (t == DType::kBool) return has('b');
  if (IsComplex(t)) return has('c');
  if (IsFloating(t)) return has('f');
  return has('i') || (has('s') && IsSignedInt(t));
}

std::optional<AttrKind> KindOf(char letter) {
  switch (letter) {
    case 'i': return AttrKind::kInt;
    case 'd': return AttrKind::kDouble;
    case 'l': return AttrKind::kInts;
    case 's': return AttrKind::kString;
    case 't': return AttrKind::kTensor;
    case 'g': return AttrKind::kGraph;
    case 'G': return AttrKind::kGraphs;
    default: return std::nullopt;
  }
}

struct Parsed {
  struct Operand {
    std::string_view name, classes;
    bool many = false;
  };
  std::vector<Operand> operands;
  std::vector<std::pair<std::string_view, AttrKind>> attrs;
  int results = 1;
};

std::vector<std::pair<std::string_view, std::string_view>> Words(std::string_view text) {
  std::vector<std::pair<std::string_view, std::string_view>> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    const size_t colon = word.find(':');
    words.emplace_back(word.substr(0, colon), word.substr(colon + 1));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return words;
}

const std::map<std::string_view, Parsed>& Operations() {
  static const auto* const all = [] {
    auto* parsed = new std::map<std::string_view, Parsed>;
    for (const Operation& row : kOperations) {
      Parsed& op = (*parsed)[row.op];
      for (const auto& [name, classes] : Words(row.operands)) {
        op.operands.push_back({name, classes, classes.ends_with('*')});
      }
      for (const auto& [name, kind] : Words(row.attrs)) {
        if (const auto known = KindOf(kind[0])) op.attrs.emplace_back(name, *known);
      }
      op.results = row.results;
    }
    return parsed;
  }();
  return *all;
}

}  // namespace

std::vector<std::string> CheckStablehloNode(const Node& node) {
  const auto found = Operations().find(node.op().view());
  if (found == Operations().end()) return {};
  const Parsed& op = found->second;
  std::vector<std::string> problems;
  const bool many = !op.operands.empty() && op.operands.back().many;
  if (many ? node.num_inputs() + 1 < op.operands.size() : node.num_inputs() != op.operands.size()) {
    problems.push_back(StrCat("it has ", node.num_inputs(), " operands, not ", op.operands.size()));
    return problems;
  }
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    const Parsed::Operand& operand = op.operands[std::min(i, op.operands.size() - 1)];
    const Value* value = node.input(i);
    if (!value) {
      problems.push_back(StrCat("operand '", operand.name, "' is left out"));
    } else if ((value->type().is_known() && !value->type().is_tensor()) ||
               !IsOfClass(value->dtype(), operand.classes)) {
      problems.push_back(
          StrCat("operand '", operand.name, "' may not be ", value->type().ToString()));
    }
  }
  if (op.results >= 0 && node.num_outputs() > static_cast<size_t>(op.results)) {
    problems.push_back(StrCat("it has ", node.num_outputs(), " results, not ", op.results));
  }
  for (const auto& [name, attr] : node.attrs()) {
    const auto known =
        std::find_if(op.attrs.begin(), op.attrs.end(),
                     [&name = name](const auto& a) { return a.first == name.view(); });
    if (known == op.attrs.end()) {
      problems.push_back(StrCat("it has no attribute '", name.view(), "'"));
    } else if (attr.kind() != known->second) {
      problems.push_back(StrCat("attribute '", name.view(), "' is of another kind"));
    }
  }
  return problems;
}

}  // namespace x2ir
