// StableHLO, CHLO and VHLO: modules of MLIR (formats/mlir/) as graphs of dialect "stablehlo", and
// back.
//
// The graph. A node's op is the operation's name without "stablehlo." ("add", "dot_general"); those
// of other MLIR dialects keep theirs ("chlo.erf", "check.expect_close"). Attributes are those of
// VHLO (facts/stablehlo-ops.json, "vhlo"), that is, structs are in pieces: convolution has
// "input_batch_dimension" (int), "input_spatial_dimensions" (ints), ...; dot_general
// "lhs_batching_dimensions", ...; gather "offset_dims", ... Their kinds in the graph:
//   integers, bools, index attributes   int ("lower", "dimension")
//   array<i64>, dense<> of integers     ints, row by row ("padding": low 0, high 0, low 1, ...)
//   array<i1>                           ints of 0 and 1 ("window_reversal")
//   f32, f64                            double ("epsilon")
//   enums                               string: the case ("comparison_direction": "LT",
//                                       "fft_type": "RFFT"); of lists ("precision_config"): strings
//   "value" of constant                 a tensor; where all elements are equal and many, of rank 0
//   strings, symbols                    string ("call_target_name")
//   dictionaries ("backend_config")     one attribute for each entry: "backend_config.k"
//   regions                             a graph ("body", "cond", "true_branch", "comparator",
//   "select",
//                                       "update_computation"); "branches": graphs. Inputs are the
//                                       block's arguments, outputs what it returns; values from
//                                       outside are used as they are.
// The node's results have the types that the file declares. Tuples are taken apart and tokens left
// out when a file is read, so that neither is in a graph. Calls of functions are nodes of op
// "func::NAME", and the functions are the model's. A quantized tensor has the type of its storage,
// and the annotation kQuantized tells the rest.
#ifndef X2IR_FORMATS_STABLEHLO_STABLEHLO_H_
#define X2IR_FORMATS_STABLEHLO_STABLEHLO_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/mlir/module.h"
#include "x2ir/formats/options.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {
namespace stablehlo {

inline constexpr char kDialect[] = "stablehlo";
inline constexpr char kFunctionDomain[] = "func";  // of calls: "func::NAME"
// Attributes of a function's arguments and results that tell what a user calls them.
inline constexpr char kArgumentName[] = "jax.arg_info";
inline constexpr char kResultName[] = "jax.result_info";

// An annotation (extra) of values: mlir::Quantization as text, QuantizationText's.
inline constexpr char kQuantized[] = "stablehlo.quantized";
std::string QuantizationText(const mlir::Quantization& quantization);
absl::StatusOr<mlir::Quantization> ParseQuantization(std::string_view text);

// The graph of function "main", or of the only public one, or of `entry`. With `checks`, each check
// of the file adds its operands to the graph's outputs (inspect/checks.h); else checks are left
// out, with a warning.
struct GraphOptions {
  std::string entry;
  bool checks = false;
};
absl::StatusOr<Model> GraphOf(const mlir::Module& module, const GraphOptions& options);

// The module of a graph of dialect "stablehlo", in the flat form.
absl::StatusOr<mlir::Module> ModuleOf(const Model& model);

// Modules have three forms. The flat form is what GraphOf takes and ModuleOf makes: operations are
// "stablehlo.add", "chlo.erf", "func.func", "func.call", "func.return"; attributes are those of
// VHLO, of plain kinds. GraphOf takes structs ("dimension_numbers") as well.
//   * Text has structs: WithStructs makes them of the flat attributes.
//   * Bytecode has VHLO: FromVhlo makes the flat form of it (vhlo.h), and ToVhlo the reverse.
absl::Status WithStructs(mlir::Module& module);

}  // namespace stablehlo
}  // namespace x2ir

#endif  // X2IR_FORMATS_STABLEHLO_STABLEHLO_H_
