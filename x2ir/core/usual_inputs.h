// Inputs of language models that callers seldom give, by the names that transformers and Optimum
// use: all tokens count, positions are counted, there is no earlier step.
#ifndef X2IR_CORE_USUAL_INPUTS_H_
#define X2IR_CORE_USUAL_INPUTS_H_

#include <optional>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {

// The inputs, one for each input of the graph, where some that are missing get their usual value:
//   attention_mask, encoder_attention_mask, decoder_attention_mask   ones
//   token_type_ids                                                   zeros
//   position_ids                                                     counted from the past's length
//   past_key_values.*, past_conv.*, past_ssm.*                       of length 0, else zeros
// Only where the other inputs tell their sizes.
std::vector<std::optional<Tensor>> WithUsualInputs(const Graph& graph,
                                                   absl::Span<const std::optional<Tensor>> inputs);

// Whether an output is what a later step takes (present.0.key): files of cases seldom have it, and
// then it is not compared.
bool IsModelState(std::string_view output);

}  // namespace x2ir

#endif  // X2IR_CORE_USUAL_INPUTS_H_
